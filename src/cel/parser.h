// From tokens to a tree, with the limits of upstream's parser: depth and size.
#pragma once

#include <string_view>
#include <vector>

#include "cel/ast.h"
#include "cel/lexer.h"

namespace gang::cel {

/// Fills `ast` (macros expanded); what is wrong goes to `issues`, and the tree counts only without
/// any.
void parse(std::string_view source, Ast& ast, std::vector<Issue>& issues);

}  // namespace gang::cel
