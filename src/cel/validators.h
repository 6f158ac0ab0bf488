// What upstream refuses of an expression whose types fit: bad constants, mixed literals, bad
// formats.
#pragma once

#include <vector>

#include "cel/ast.h"
#include "cel/checker.h"
#include "cel/lexer.h"

namespace gang::cel {

void validate(const Ast& ast, const Checked& checked, std::vector<Issue>& issues);

}  // namespace gang::cel
