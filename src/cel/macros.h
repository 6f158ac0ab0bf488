// Macros: calls that the parser replaces by comprehensions (all, exists, map, filter, bind, ...).
#pragma once

#include <string_view>
#include <vector>

#include "cel/ast.h"
#include "cel/lexer.h"

namespace gang::cel {

/// A call that may be a macro. `target` is null for has().
struct MacroCall {
  std::string_view function;
  Expr* target = nullptr;
  std::vector<Expr*> args;
  std::uint32_t offset = 0;
};

/// The replacement, or null where the call is none. A wrong use is an issue and still gives a node.
[[nodiscard]] Expr* expand_macro(Ast& ast, const MacroCall& call, std::vector<Issue>& issues);

}  // namespace gang::cel
