#include "cel/checker.h"

#include <map>
#include <optional>
#include <string>

#include "cel/unifier.h"

namespace gang::cel {
namespace {

using Types = std::vector<const Type*>;

const Type& error_type() {
  return simple_type(TypeKind::kError);
}
const Type& dyn_type() {
  return simple_type(TypeKind::kDyn);
}
const Type& bool_type() {
  return simple_type(TypeKind::kBool);
}

TypeKind literal_type(Kind kind) {
  switch (kind) {
    case Kind::kNull:
      return TypeKind::kNull;
    case Kind::kBool:
      return TypeKind::kBool;
    case Kind::kInt:
      return TypeKind::kInt;
    case Kind::kUint:
      return TypeKind::kUint;
    case Kind::kDouble:
      return TypeKind::kDouble;
    case Kind::kBytes:
      return TypeKind::kBytes;
    default:
      return TypeKind::kString;
  }
}

// "a.b.c" where the tree under `expr` is only names.
std::optional<std::string> qualified_name(const Expr& expr) {
  if (expr.kind == ExprKind::kIdent) return std::string(expr.name);
  if (expr.kind != ExprKind::kSelect || expr.test_only) return std::nullopt;
  std::optional<std::string> prefix = qualified_name(*expr.target);
  if (prefix) *prefix += "." + std::string(expr.name);
  return prefix;
}

std::string_view without_dot(std::string_view name) {
  return name.starts_with(".") ? name.substr(1) : name;
}

class Checker {
 public:
  Checker(Ast& ast, Checked& checked, std::vector<Issue>& issues)
      : ast_(ast), checked_(checked), issues_(issues), unifier_(checked.pool()) {}

  void run() {
    check(*ast_.root);
    for (Finding& finding : checked_.all()) {
      if (finding.type != nullptr) finding.type = &unifier_.substitute(*finding.type, true);
    }
    if (checked_.pool().overflowed()) complain(*ast_.root, "types of the expression are too large");
  }

 private:
  void complain(const Expr& expr, std::string message) {
    issues_.push_back({expr.offset, std::move(message)});
  }
  void mismatch(const Expr& expr, const Type& wanted, const Type& found) {
    complain(expr, "expected type '" + text(wanted) + "' but found '" + text(found) + "'");
  }
  std::string text(const Type& type) { return type_text(unifier_.substitute(type, false)); }
  void undeclared(const Expr& expr, std::string_view name) {
    complain(expr, "undeclared reference to '" + std::string(name) + "' (in container '')");
    set(expr, error_type());
  }

  const Type& type(const Expr& expr) { return checked_.type(expr); }
  void set(const Expr& expr, const Type& type) { checked_.at(expr).type = &type; }

  void check(Expr& expr);
  bool resolve_name(Expr& expr, const std::string& name);
  void check_ident(Expr& expr);
  void check_select(Expr& expr);
  const Type& select_field(const Expr& expr, Expr& operand, std::string_view field, bool optional);
  void check_call(Expr& expr);
  void resolve(Expr& expr, const std::vector<Overload>& function);
  const Type* try_overload(const Overload& overload, const Types& given);
  void check_list(Expr& expr);
  void check_map(Expr& expr);
  void check_struct(Expr& expr);
  void check_comprehension(Expr& expr);
  void declare_iteration(const Expr& expr, const Type& range);
  const Type& entry_type(const Expr& value, bool optional);
  const Type& join(const Type* before, const Type& now);
  void expect(const Expr& expr, const Type& wanted) {
    if (!unifier_.assignable(wanted, type(expr))) mismatch(expr, wanted, type(expr));
  }

  void declare(std::string_view name, const Type& type) { locals_[name].push_back(&type); }
  void undeclare(std::string_view name) { locals_[name].pop_back(); }
  const Type* local(std::string_view name) {
    const auto found = locals_.find(name);
    return found == locals_.end() || found->second.empty() ? nullptr : found->second.back();
  }

  Ast& ast_;
  Checked& checked_;
  std::vector<Issue>& issues_;
  Unifier unifier_;
  std::map<std::string_view, Types> locals_;
};

void Checker::check(Expr& expr) {
  switch (expr.kind) {
    case ExprKind::kLiteral:
      return set(expr, simple_type(literal_type(expr.literal.kind())));
    case ExprKind::kIdent:
      return check_ident(expr);
    case ExprKind::kSelect:
      return check_select(expr);
    case ExprKind::kCall:
      return check_call(expr);
    case ExprKind::kList:
      return check_list(expr);
    case ExprKind::kMap:
      return check_map(expr);
    case ExprKind::kStruct:
      return check_struct(expr);
    case ExprKind::kComprehension:
      return check_comprehension(expr);
  }
}

// Makes the node an identifier of this global name, if there is one.
bool Checker::resolve_name(Expr& expr, const std::string& name) {
  const std::string_view global = without_dot(name);
  const Type* type_value = find_type_value(global);
  if (type_value == nullptr && global != "device") return false;
  if (type_value == nullptr) {
    set(expr, device_type());
  } else {
    checked_.at(expr).type_value = type_value;
    set(expr, checked_.pool().type_of(*type_value));
  }
  const bool hidden = local(global.substr(0, global.find('.'))) != nullptr;
  expr.kind = ExprKind::kIdent;
  expr.name = ast_.arena().copy((hidden ? "." : "") + std::string(global));
  return true;
}

void Checker::check_ident(Expr& expr) {
  const Type* found = expr.name.starts_with(".") ? nullptr : local(expr.name);
  if (found != nullptr) return set(expr, *found);
  if (!resolve_name(expr, std::string(expr.name))) undeclared(expr, expr.name);
}

void Checker::check_select(Expr& expr) {
  if (!expr.test_only) {
    const std::optional<std::string> name = qualified_name(expr);
    const bool is_local =
        name && !name->starts_with(".") && local(name->substr(0, name->find('.'))) != nullptr;
    if (name && !is_local && resolve_name(expr, *name)) return;
  }
  const Type& field = select_field(expr, *expr.target, expr.name, false);
  set(expr, unifier_.substitute(expr.test_only ? bool_type() : field, false));
}

const Type& Checker::select_field(const Expr& expr, Expr& operand, std::string_view field,
                                  bool optional) {
  check(operand);
  const Type& given = unifier_.substitute(type(operand), false);
  const Type* inner = unwrapped(given);
  const Type& target = inner == nullptr ? given : *inner;
  const Type* result = &error_type();
  if (target.kind == TypeKind::kMap) {
    result = target.params[1];
  } else if (target.kind == TypeKind::kStruct) {
    const Type* found = target.name == device_type().name ? device_field(field) : nullptr;
    if (found != nullptr) {
      result = found;
    } else {
      complain(expr, "undefined field '" + std::string(field) + "'");
    }
  } else {
    if (target.kind == TypeKind::kParam) {
      static_cast<void>(unifier_.assignable(dyn_type(), target));
    } else if (!is_dyn_or_error(target)) {
      complain(expr, "type '" + text(target) + "' does not support field selection");
    }
    result = &dyn_type();
  }
  return inner != nullptr || optional ? checked_.pool().optional(*result) : *result;
}

void Checker::check_call(Expr& expr) {
  if (expr.name == op::kOptSelect) {
    const Type& field = select_field(expr, *expr.args[0], expr.args[1]->literal.as_text(), true);
    set(*expr.args[1], simple_type(TypeKind::kString));
    set(expr, unifier_.substitute(field, false));
    checked_.at(expr).overloads = {&find_function(op::kOptSelect)->front()};
    return;
  }
  for (Expr* arg : expr.args) check(*arg);
  if (expr.target != nullptr) {
    if (const std::optional<std::string> prefix = qualified_name(*expr.target)) {
      const std::string name = *prefix + "." + std::string(expr.name);
      if (const std::vector<Overload>* function = find_function(without_dot(name))) {
        expr.target = nullptr;
        expr.name = function->front().function;
        return resolve(expr, *function);
      }
    }
    check(*expr.target);
  }
  const std::vector<Overload>* function = find_function(without_dot(expr.name));
  if (function == nullptr) return undeclared(expr, expr.name);
  expr.name = function->front().function;
  resolve(expr, *function);
}

// The result type of the overload for these arguments, or null where they do not fit.
const Type* Checker::try_overload(const Overload& overload, const Types& given) {
  if (overload.args.size() != given.size()) return nullptr;
  if (!overload.is_generic) {
    return unifier_.assignable(given, overload.args) ? overload.result : nullptr;
  }
  std::map<std::string_view, const Type*> fresh;
  const auto instantiate = [&](const auto& self, const Type& type) -> const Type& {
    if (type.kind == TypeKind::kParam) {
      const Type*& variable = fresh[type.name];
      if (variable == nullptr) variable = &unifier_.new_variable();
      return *variable;
    }
    if (type.params.empty()) return type;
    Types params;
    for (const Type* param : type.params) params.push_back(&self(self, *param));
    return checked_.pool().with_params(type, std::move(params));
  };
  Types wanted;
  for (const Type* arg : overload.args) wanted.push_back(&instantiate(instantiate, *arg));
  const Type& result = instantiate(instantiate, *overload.result);
  if (!unifier_.assignable(given, wanted)) return nullptr;
  return &unifier_.substitute(result, false);
}

void Checker::resolve(Expr& expr, const std::vector<Overload>& function) {
  Types given;
  if (expr.target != nullptr) given.push_back(&type(*expr.target));
  for (const Expr* arg : expr.args) given.push_back(&type(*arg));
  const CallStyle style = expr.target == nullptr ? CallStyle::kGlobal : CallStyle::kMember;
  const bool logical = expr.name == op::kAnd || expr.name == op::kOr;
  const Type* result = nullptr;
  std::vector<const Overload*>& overloads = checked_.at(expr).overloads;
  if (logical) {
    for (const Expr* arg : expr.args) {
      if (!unifier_.assignable(type(*arg), bool_type())) mismatch(*arg, bool_type(), type(*arg));
    }
  }
  for (const Overload& overload : function) {
    if (overload.style != style) continue;
    const Type* found = logical ? &bool_type() : try_overload(overload, given);
    if (found == nullptr) continue;
    overloads.push_back(&overload);
    if (result == nullptr) {
      result = found;
    } else if (!is_dyn(*result) && !is_exactly(*found, *result)) {
      result = &dyn_type();
    }
  }
  if (result != nullptr) return set(expr, *result);
  std::string types;
  for (std::size_t i = 0; i < given.size(); ++i) {
    const bool is_target = i == 0 && expr.target != nullptr;
    types += type_text(unifier_.substitute(*given[i], true));
    if (is_target) types += ".(";
    if (!is_target && i + 1 < given.size()) types += ", ";
  }
  complain(expr, "found no matching overload for '" + std::string(expr.name) + "' applied to '" +
                     (expr.target != nullptr ? "" : "(") + types + ")'");
  set(expr, error_type());
}

const Type& Checker::entry_type(const Expr& value, bool optional) {
  const Type& found = type(value);
  if (!optional) return found;
  const Type* inner = unwrapped(found);
  if (inner != nullptr) return *inner;
  if (!is_dyn(found)) mismatch(value, checked_.pool().optional(found), found);
  return found;
}

const Type& Checker::join(const Type* before, const Type& now) {
  if (before == nullptr) return now;
  // Entries that differ make the literal dynamic; validate() then refuses it where it must not be.
  return unifier_.assignable(*before, now) ? most_general(*before, now) : dyn_type();
}

void Checker::check_list(Expr& expr) {
  const Type* element = nullptr;
  for (std::size_t i = 0; i < expr.args.size(); ++i) {
    check(*expr.args[i]);
    element = &join(element, entry_type(*expr.args[i], expr.optional[i]));
  }
  if (element == nullptr) element = &unifier_.new_variable();
  set(expr, checked_.pool().list(*element));
}

void Checker::check_map(Expr& expr) {
  const Type* key = nullptr;
  const Type* value = nullptr;
  for (std::size_t i = 0; i < expr.args.size(); i += 2) {
    check(*expr.args[i]);
    key = &join(key, type(*expr.args[i]));
    check(*expr.args[i + 1]);
    value = &join(value, entry_type(*expr.args[i + 1], expr.optional[i / 2]));
  }
  if (key == nullptr) {
    key = &unifier_.new_variable();
    value = &unifier_.new_variable();
  }
  set(expr, checked_.pool().map(*key, *value));
}

void Checker::check_struct(Expr& expr) {
  if (without_dot(expr.name) != device_type().name) return undeclared(expr, expr.name);
  set(expr, device_type());
  for (std::size_t i = 0; i < expr.args.size(); ++i) {
    check(*expr.args[i]);
    const Type* wanted = device_field(expr.fields[i]);
    if (wanted == nullptr) {
      complain(expr, "undefined field '" + std::string(expr.fields[i]) + "'");
      continue;
    }
    const Type& found = entry_type(*expr.args[i], expr.optional[i]);
    if (!unifier_.assignable(*wanted, found)) {
      complain(expr, "expected type of field '" + std::string(expr.fields[i]) + "' is '" +
                         text(*wanted) + "' but provided type is '" + text(found) + "'");
    }
  }
}

void Checker::declare_iteration(const Expr& expr, const Type& range) {
  const Type* first = &dyn_type();
  const Type* second = &dyn_type();
  if (range.kind == TypeKind::kList) {
    first = expr.iter_var2.empty() ? range.params[0] : &simple_type(TypeKind::kInt);
    second = range.params[0];
  } else if (range.kind == TypeKind::kMap) {
    first = range.params[0];
    second = range.params[1];
  } else if (is_dyn_or_error(range) || range.kind == TypeKind::kParam) {
    static_cast<void>(unifier_.assignable(dyn_type(), range));
  } else {
    complain(*expr.range, "expression of type '" + text(range) +
                              "' cannot be range of a comprehension (must be list, map, or "
                              "dynamic)");
    first = second = &error_type();
  }
  declare(expr.iter_var, *first);
  if (!expr.iter_var2.empty()) declare(expr.iter_var2, *second);
}

void Checker::check_comprehension(Expr& expr) {
  check(*expr.range);
  check(*expr.init);
  const Type& range = unifier_.substitute(type(*expr.range), false);
  const Type& accumulated = type(*expr.init);
  declare(expr.name, accumulated);
  declare_iteration(expr, range);
  check(*expr.condition);
  expect(*expr.condition, bool_type());
  check(*expr.step);
  expect(*expr.step, accumulated);
  undeclare(expr.iter_var);
  if (!expr.iter_var2.empty()) undeclare(expr.iter_var2);
  check(*expr.result);
  undeclare(expr.name);
  set(expr, unifier_.substitute(type(*expr.result), false));
}

}  // namespace

Checked check(Ast& ast, std::vector<Issue>& issues) {
  Checked checked(ast.id_max());
  Checker(ast, checked, issues).run();
  return checked;
}

}  // namespace gang::cel
