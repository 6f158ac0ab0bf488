// What upstream refuses of an expression whose types fit: bad constants, mixed literals, bad
// formats.
#pragma once

#include <cstdint>
#include <vector>

#include "cel/ast.h"
#include "cel/checker.h"
#include "cel/lexer.h"

namespace gang::cel {

/// Returns the work that constant patterns took.
std::uint64_t validate(const Ast& ast, const Checked& checked, std::vector<Issue>& issues);

}  // namespace gang::cel
