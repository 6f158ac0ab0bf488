// Gives every node its type, and every call its overloads; refuses what cannot fit.
#pragma once

#include <vector>

#include "cel/ast.h"
#include "cel/declarations.h"
#include "cel/lexer.h"
#include "cel/types.h"

namespace gang::cel {

/// What the checker found out about one node.
struct Finding {
  const Type* type = nullptr;
  std::vector<const Overload*> overloads;  ///< call: the candidates that fit
  const Type* type_value = nullptr;        ///< identifier: the type that it stands for
};

/// The findings of an expression by id of the node. Owns their types.
class Checked {
 public:
  explicit Checked(std::int64_t id_max) : findings_(static_cast<std::size_t>(id_max) + 1) {}

  Finding& at(const Expr& expr) { return findings_[static_cast<std::size_t>(expr.id)]; }
  [[nodiscard]] const Finding& at(const Expr& expr) const {
    return findings_[static_cast<std::size_t>(expr.id)];
  }
  [[nodiscard]] const Type& type(const Expr& expr) const { return *at(expr).type; }
  std::vector<Finding>& all() { return findings_; }
  TypePool& pool() { return pool_; }

 private:
  std::vector<Finding> findings_;
  TypePool pool_;
};

/// Rewrites names with dots in `ast` into single nodes. The findings count only without issues.
[[nodiscard]] Checked check(Ast& ast, std::vector<Issue>& issues);

}  // namespace gang::cel
