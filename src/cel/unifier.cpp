#include "cel/unifier.h"

namespace gang::cel {
namespace {

bool less_specific(const Type& a, const Type& b) {
  if (is_dyn(a) || a.kind == TypeKind::kParam) return true;
  if (is_dyn(b) || b.kind == TypeKind::kParam) return false;
  if (a.kind != b.kind) return false;
  if (a.kind == TypeKind::kType) return true;
  if (a.params.empty() && b.params.empty()) return is_exactly(a, b);
  if (a.name != b.name || a.params.size() != b.params.size()) return false;
  for (std::size_t i = 0; i < a.params.size(); ++i) {
    if (!less_specific(*a.params[i], *b.params[i])) return false;
  }
  return true;
}

bool nullable(const Type& type) {
  switch (type.kind) {
    case TypeKind::kOpaque:
    case TypeKind::kStruct:
    case TypeKind::kDuration:
    case TypeKind::kTimestamp:
    case TypeKind::kNull:
      return true;
    default:
      return false;
  }
}

}  // namespace

const Type& most_general(const Type& a, const Type& b) {
  return less_specific(a, b) ? a : b;
}

const Type& Unifier::new_variable() {
  bound_.push_back(nullptr);
  return pool_.variable(static_cast<std::int32_t>(bound_.size() - 1));
}

bool Unifier::assignable(const std::vector<const Type*>& given,
                         const std::vector<const Type*>& wanted) {
  journal_.clear();
  if (fit_all(given, wanted)) return true;
  for (; !journal_.empty(); journal_.pop_back()) {
    bound_[journal_.back().first] = journal_.back().second;
  }
  return false;
}

bool Unifier::fit_all(const std::vector<const Type*>& given,
                      const std::vector<const Type*>& wanted) {
  if (given.size() != wanted.size()) return false;
  for (std::size_t i = 0; i < given.size(); ++i) {
    if (!fits(*given[i], *wanted[i])) return false;
  }
  return true;
}

bool Unifier::fits(const Type& given, const Type& wanted) {
  if (wanted.kind == TypeKind::kParam) {
    const Substitution found = substitutes(given, wanted);
    if (found == Substitution::kOk) return true;
    if (found == Substitution::kNoBound) return false;
  }
  if (given.kind == TypeKind::kParam) return substitutes(wanted, given) == Substitution::kOk;
  if (is_dyn_or_error(given) || is_dyn_or_error(wanted)) return true;
  if (given.kind == TypeKind::kNull) return nullable(wanted);
  if (wanted.kind == TypeKind::kNull) return nullable(given);
  if (given.kind != wanted.kind) return false;
  switch (given.kind) {
    case TypeKind::kType:
      return true;
    case TypeKind::kOpaque:
    case TypeKind::kList:
    case TypeKind::kMap:
      return given.name == wanted.name && fit_all(given.params, wanted.params);
    default:
      return given.name == wanted.name;
  }
}

Unifier::Substitution Unifier::substitutes(const Type& type, const Type& variable) {
  if (is_exactly(type, variable)) return Substitution::kOk;
  if (const Type* now = bound(variable)) {
    if (is_exactly(type, *now)) return Substitution::kOk;
    if (!fits(type, *now)) return Substitution::kNoBound;
    const Type& general = most_general(type, *now);
    if (absent_in(variable, general)) bind(variable, general);
    return Substitution::kOk;
  }
  if (!absent_in(variable, type)) return Substitution::kNo;
  bind(variable, type);
  return Substitution::kOk;
}

bool Unifier::absent_in(const Type& variable, const Type& within) const {
  if (is_exactly(variable, within)) return false;
  if (within.kind == TypeKind::kParam) {
    const Type* now = bound(within);
    return now == nullptr || absent_in(variable, *now);
  }
  for (const Type* param : within.params) {
    if (!absent_in(variable, *param)) return false;
  }
  return true;
}

const Type* Unifier::bound(const Type& type) const {
  return type.variable < 0 ? nullptr : bound_[static_cast<std::size_t>(type.variable)];
}

void Unifier::bind(const Type& variable, const Type& type) {
  const auto number = static_cast<std::size_t>(variable.variable);
  journal_.emplace_back(number, bound_[number]);
  bound_[number] = &type;
}

const Type& Unifier::substitute(const Type& type, bool unbound_is_dyn) {
  if (const Type* now = bound(type)) return substitute(*now, unbound_is_dyn);
  if (type.kind == TypeKind::kParam) {
    return unbound_is_dyn ? simple_type(TypeKind::kDyn) : type;
  }
  if (type.params.empty()) return type;
  std::vector<const Type*> params;
  bool changed = false;
  for (const Type* param : type.params) {
    params.push_back(&substitute(*param, unbound_is_dyn));
    changed = changed || params.back() != param;
  }
  return changed ? pool_.with_params(type, std::move(params)) : type;
}

}  // namespace gang::cel
