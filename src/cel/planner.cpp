#include "cel/planner.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>

#include "cel/lists.h"
#include "cel/maps.h"
#include "cel/nodes.h"
#include "cel/text_of.h"

namespace gang::cel {
namespace {

using Nodes = std::vector<const Node*>;

// Calls of these with a constant are computed when planned, and an error is one of the program.
constexpr std::array<std::string_view, 10> kConversions = {
    "bool", "bytes", "double", "duration", "dyn", "int", "string", "timestamp", "type", "uint"};
// Calls of these with constants are computed once, and cost each time.
constexpr std::array<std::string_view, 5> kRemembered = {"quantity", "semver", "ip", "cidr", "url"};

template <std::size_t N>
bool contains(const std::array<std::string_view, N>& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

bool all_constant(const Nodes& nodes) {
  return std::ranges::all_of(nodes, [](const Node* n) { return n->constant() != nullptr; });
}

// Whole numbers that a double holds exactly, as upstream converts them.
std::optional<std::int64_t> exact_int(double value) {
  if (value != std::trunc(value) || std::fabs(value) >= 0x1p63) return std::nullopt;
  return static_cast<std::int64_t>(value);
}
std::optional<std::uint64_t> exact_uint(double value) {
  if (value != std::trunc(value) || value < 0 || value >= 0x1p64) return std::nullopt;
  return static_cast<std::uint64_t>(value);
}

// A constant that is looked for, and the numbers of other types that are found there too. False: it
// is of no type that has a table.
bool add_member(Arena& arena, MapObject& members, const Value& member) {
  const auto add = [&](const Value& key) { map_put(arena, members, key, Value::boolean(true)); };
  add(member);
  switch (member.kind()) {
    case Kind::kBool:
    case Kind::kString:
      return true;
    case Kind::kDouble:
      if (const auto whole = exact_int(member.as_double())) add(Value::integer(*whole));
      if (const auto whole = exact_uint(member.as_double())) add(Value::unsigned_integer(*whole));
      return true;
    case Kind::kInt:
      add(Value::real(static_cast<double>(member.as_int())));
      if (member.as_int() >= 0) add(Value::unsigned_integer(member.as_uint()));
      return true;
    case Kind::kUint:
      add(Value::real(static_cast<double>(member.as_uint())));
      if (member.as_uint() <= INT64_MAX) add(Value::integer(member.as_int()));
      return true;
    default:
      return false;
  }
}

class Planner {
 public:
  explicit Planner(const Checked& checked) : checked_(checked) {
    frame_.begin(Value(), UINT64_MAX, 0);
  }

  Result<Plan> run(const Expr& root) {
    plan_.root = plan(root);
    if (!error_.empty()) return fail(Code::kInvalidArgument, error_);
    plan_.constants = std::move(frame_.arena);
    return std::move(plan_);
  }

 private:
  struct Variable {
    VariableRole role;
    const FoldNode* fold;
  };

  Node* plan(const Expr& expr);
  Node* plan_ident(const Expr& expr);
  Node* plan_select(const Expr& expr);
  Node* plan_call(const Expr& expr);
  Node* plan_conditional(const Expr& expr, const Nodes& args);
  Node* plan_index(const Expr& expr, bool optional);
  Node* plan_operator(const Expr& expr, Nodes args);
  Node* optimized(const Expr& expr, const Nodes& args, const CallNode& call);
  Node* plan_membership(const Expr& expr, const Nodes& args);
  Node* plan_list(const Expr& expr);
  Node* plan_map(const Expr& expr);
  Node* plan_fold(const Expr& expr);

  Callee callee(const Expr& expr, const Nodes& args);
  void compile_pattern(const Nodes& args, Callee& callee);
  AttributeNode* attribute_of(Node* node);
  Attribute* branch(const Node* node);
  Nodes plan_all(const std::vector<Expr*>& exprs);

  template <class T, class... Args>
  T* node(Args&&... args) {
    auto made = std::make_unique<T>(std::forward<Args>(args)...);
    T* raw = made.get();
    plan_.nodes.push_back(std::move(made));
    return raw;
  }
  template <class T, class... Args>
  T* attribute(Args&&... args) {
    auto made = std::make_unique<T>(std::forward<Args>(args)...);
    T* raw = made.get();
    plan_.attributes.push_back(std::move(made));
    return raw;
  }
  const Qualifier* keep(const Qualifier& qualifier) {
    plan_.qualifiers.push_back(std::make_unique<Qualifier>(qualifier));
    return plan_.qualifiers.back().get();
  }
  Node* constant(std::int64_t id, const Value& value) { return node<ConstantNode>(id, value); }
  Node* wrong(const Expr& expr, std::string message) {
    if (error_.empty()) error_ = std::move(message);
    return constant(expr.id, Value());
  }

  const Checked& checked_;
  Plan plan_;
  Frame frame_;
  std::string error_;
  std::map<std::string_view, std::vector<Variable>> variables_;
};

Node* Planner::plan(const Expr& expr) {
  switch (expr.kind) {
    case ExprKind::kLiteral: {
      Value value = expr.literal;
      if (value.is(Kind::kString) || value.is(Kind::kBytes)) {
        value = Value::text(value.kind(), frame_.arena.copy(value.as_text()));
      }
      return constant(expr.id, value);
    }
    case ExprKind::kIdent:
      return plan_ident(expr);
    case ExprKind::kSelect:
      return plan_select(expr);
    case ExprKind::kCall:
      return plan_call(expr);
    case ExprKind::kList:
      return plan_list(expr);
    case ExprKind::kMap:
      return plan_map(expr);
    case ExprKind::kStruct:
      return node<StructNode>(expr.id, plan_all(expr.args), expr.optional);
    case ExprKind::kComprehension:
      return plan_fold(expr);
  }
  return nullptr;
}

Nodes Planner::plan_all(const std::vector<Expr*>& exprs) {
  Nodes nodes;
  nodes.reserve(exprs.size());
  for (const Expr* expr : exprs) nodes.push_back(plan(*expr));
  return nodes;
}

Node* Planner::plan_ident(const Expr& expr) {
  if (const Type* type = checked_.at(expr).type_value) {
    return constant(expr.id, Value::text(Kind::kType, type->name));
  }
  Variable variable{VariableRole::kDevice, nullptr};
  const auto found = variables_.find(expr.name);
  if (found != variables_.end() && !found->second.empty()) variable = found->second.back();
  Attribute* read = attribute<VariableAttribute>(expr.id, variable.role, variable.fold);
  return node<AttributeNode>(read);
}

// The node as an attribute to which qualifiers can be added.
AttributeNode* Planner::attribute_of(Node* made) {
  if (AttributeNode* already = made->as_attribute()) return already;
  return node<AttributeNode>(attribute<RelativeAttribute>(made->id(), made));
}

Node* Planner::plan_select(const Expr& expr) {
  AttributeNode* operand = attribute_of(plan(*expr.target));
  Qualifier qualifier{expr.id};
  qualifier.is_test = expr.test_only;
  qualifier.key = Value::string(frame_.arena.copy(expr.name));
  operand->attribute().add(keep(qualifier));
  if (expr.test_only) operand->make_test();
  return operand;
}

Node* Planner::plan_index(const Expr& expr, bool optional) {
  Node* operand = plan(*expr.args[0]);
  Node* index = plan(*expr.args[1]);
  Qualifier qualifier{expr.id, optional};
  if (const Value* key = index->constant()) {
    const bool is_key = key->is(Kind::kString) || key->is(Kind::kInt) || key->is(Kind::kUint) ||
                        key->is(Kind::kBool) || key->is(Kind::kDouble);
    if (!is_key) return wrong(expr, "invalid qualifier type: " + text_of(*key));
    qualifier.key = *key;
  } else if (AttributeNode* computed = index->as_attribute()) {
    qualifier.computed = &computed->attribute();
  } else {
    qualifier.computed = attribute<RelativeAttribute>(expr.id, index);
    qualifier.drops_own = true;
  }
  AttributeNode* made = attribute_of(operand);
  made->attribute().add(keep(qualifier));
  return made;
}

Attribute* Planner::branch(const Node* made) {
  AttributeNode* read = const_cast<Node*>(made)->as_attribute();
  return read != nullptr ? &read->attribute() : attribute<RelativeAttribute>(made->id(), made);
}

Node* Planner::plan_conditional(const Expr& expr, const Nodes& args) {
  Attribute* chosen =
      attribute<ConditionalAttribute>(expr.id, args[0], branch(args[1]), branch(args[2]));
  return node<AttributeNode>(chosen);
}

Node* Planner::plan_call(const Expr& expr) {
  if (expr.name == op::kIndex) return plan_index(expr, false);
  if (expr.name == op::kOptIndex || expr.name == op::kOptSelect) return plan_index(expr, true);
  Nodes args;
  if (expr.target != nullptr) args.push_back(plan(*expr.target));
  for (const Expr* arg : expr.args) args.push_back(plan(*arg));
  if (expr.name == op::kConditional) return plan_conditional(expr, args);
  if (expr.name == op::kAnd) return node<LogicNode>(expr.id, false, std::move(args));
  if (expr.name == op::kOr) return node<LogicNode>(expr.id, true, std::move(args));
  if (args.size() == 2 && expr.target != nullptr && (expr.name == "or" || expr.name == "orValue")) {
    return node<OptionalOrNode>(expr.id, args[0], args[1], expr.name == "orValue");
  }
  return plan_operator(expr, std::move(args));
}

// Compiles the pattern of matches(), find() and findAll() where it is constant.
void Planner::compile_pattern(const Nodes& args, Callee& callee) {
  if (args.size() < 2) return;
  const Value* pattern = args[1]->constant();
  if (pattern == nullptr || !pattern->is(Kind::kString)) return;
  if (!error_.empty()) return;
  CompiledRegex made = compile_regex(pattern->as_text());
  plan_.regex_work += made.work;
  error_ = made.error;
  if (error_.empty() && plan_.regex_work > kPatternsWorkMax) error_ = "its patterns are too large";
  if (!error_.empty()) return;
  callee.regex = made.regex.get();
  callee.stops_at_error = true;
  plan_.regexes.push_back(std::move(made.regex));
}

// What the call runs, and how: as upstream binds one overload, an operator, or all overloads.
Callee Planner::callee(const Expr& expr, const Nodes& args) {
  const std::vector<const Overload*>& overloads = checked_.at(expr).overloads;
  const std::string_view only = overloads.size() == 1 ? overloads[0]->id : std::string_view();
  Callee made;
  made.cost = cost_rule(overloads[0]->function, only);
  made.takes_errors = expr.name == op::kNotStrictlyFalse;
  made.stops_at_error = args.size() > 2 || only == "string_format";
  if (const Operator* serving = find_operator(expr.name)) {
    made.call = serving->call;
    made.accepts = serving->accepts;
  } else if (overloads.size() == 1) {
    made.call = find_builtin(only);
    // flatten() asks for the types of its arguments by itself.
    if (!only.starts_with("list_flatten")) made.overload = overloads[0];
  } else {
    made.dispatch = find_function(overloads[0]->function);
    made.stops_at_error = true;
  }
  const bool is_regex = expr.name == "matches" || expr.name == "find" || expr.name == "findAll";
  if (is_regex) compile_pattern(args, made);
  return made;
}

Node* Planner::plan_operator(const Expr& expr, Nodes args) {
  const Callee made = callee(expr, args);
  const std::string_view function = checked_.at(expr).overloads[0]->function;
  auto* call = node<CallNode>(expr.id, function, args, made);
  if (Node* better = optimized(expr, args, *call)) return better;
  if (contains(kRemembered, function) && !args.empty() && all_constant(args)) {
    call->remember(call->exec(frame_));
  }
  return call;
}

// A constant or a table in place of the call, or null.
Node* Planner::optimized(const Expr& expr, const Nodes& args, const CallNode& call) {
  const std::vector<const Overload*>& overloads = checked_.at(expr).overloads;
  const bool in_list = overloads.size() == 1 && overloads[0]->id == "in_list";
  if (in_list && args[1]->constant() != nullptr) return plan_membership(expr, args);
  if (args.size() != 1 || !contains(kConversions, expr.name) || !all_constant(args)) return nullptr;
  const Value value = call.exec(frame_);
  if (value.is_error()) return wrong(expr, std::string(value.as_text()));
  return constant(expr.id, value);
}

Node* Planner::plan_membership(const Expr& expr, const Nodes& args) {
  const Value& list = *args[1]->constant();
  const std::int64_t size = list_size(list);
  if (size == 0) return constant(expr.id, Value::boolean(false));
  MapObject* members = make_map(frame_.arena, 3 * static_cast<std::size_t>(size));
  for (std::int64_t i = 0; i < size; ++i) {
    if (!add_member(frame_.arena, *members, list_item(list, i))) return nullptr;
  }
  return node<MembershipNode>(expr.id, args[0], members);
}

Node* Planner::plan_list(const Expr& expr) {
  Nodes elements = plan_all(expr.args);
  const bool is_constant = all_constant(elements);
  auto* list = node<ListNode>(expr.id, std::move(elements), expr.optional);
  return is_constant ? constant(expr.id, list->make(frame_)) : list;
}

Node* Planner::plan_map(const Expr& expr) {
  Nodes entries = plan_all(expr.args);
  const bool is_constant = all_constant(entries);
  auto* map = node<MapNode>(expr.id, std::move(entries), expr.optional);
  return is_constant ? constant(expr.id, map->make(frame_)) : map;
}

Node* Planner::plan_fold(const Expr& expr) {
  auto* fold = node<FoldNode>(expr.id, plan_.slot_count++);
  fold->has_two_variables = !expr.iter_var2.empty();
  fold->init = plan(*expr.init);
  fold->range = plan(*expr.range);
  variables_[expr.name].push_back({VariableRole::kAccumulated, fold});
  // A name that is both is the accumulator, as upstream resolves it.
  const auto declare = [&](std::string_view name, VariableRole role) {
    if (!name.empty() && name != expr.name) variables_[name].push_back({role, fold});
  };
  const auto undeclare = [&](std::string_view name) {
    if (!name.empty() && name != expr.name) variables_[name].pop_back();
  };
  declare(expr.iter_var, VariableRole::kFirst);
  declare(expr.iter_var2, VariableRole::kSecond);
  fold->condition = plan(*expr.condition);
  fold->step = plan(*expr.step);
  undeclare(expr.iter_var2);
  undeclare(expr.iter_var);
  fold->result = plan(*expr.result);
  variables_[expr.name].pop_back();
  return fold;
}

}  // namespace

Result<Plan> make_plan(const Ast& ast, const Checked& checked) {
  return Planner(checked).run(*ast.root);
}

}  // namespace gang::cel
