// Which types may stand for which: assignability with type variables, as upstream's checker decides
// it.
#pragma once

#include <utility>
#include <vector>

#include "cel/types.h"

namespace gang::cel {

/// The bindings of type variables while one expression is checked.
class Unifier {
 public:
  explicit Unifier(TypePool& pool) : pool_(pool) {}

  const Type& new_variable();

  /// Whether each of `given` can be used as the one of `wanted` at its place; binds variables only
  /// if so.
  bool assignable(const std::vector<const Type*>& given, const std::vector<const Type*>& wanted);
  bool assignable(const Type& given, const Type& wanted) { return assignable({&given}, {&wanted}); }

  /// The type with its variables replaced; unbound ones stay, or become dyn.
  const Type& substitute(const Type& type, bool unbound_is_dyn);

 private:
  bool fits(const Type& given, const Type& wanted);
  bool fit_all(const std::vector<const Type*>& given, const std::vector<const Type*>& wanted);
  enum class Substitution { kOk, kNo, kNoBound };
  Substitution substitutes(const Type& type, const Type& variable);
  [[nodiscard]] bool absent_in(const Type& variable, const Type& within) const;
  [[nodiscard]] const Type* bound(const Type& type) const;
  void bind(const Type& variable, const Type& type);

  TypePool& pool_;
  std::vector<const Type*> bound_;
  std::vector<std::pair<std::size_t, const Type*>> journal_;  // variable, what it was
};

/// The more general one of two types of which one can be used as the other.
[[nodiscard]] const Type& most_general(const Type& a, const Type& b);

}  // namespace gang::cel
