#include "cel/estimate.h"

#include <map>
#include <string_view>
#include <vector>

#include "cel/estimate_calls.h"
#include "cel/utf8.h"

namespace gang::cel {
namespace {

constexpr CostRange kOne{1, 1};
constexpr CostRange kListBase{10, 10};
constexpr CostRange kMapBase{30, 30};
constexpr CostRange kStructBase{40, 40};
constexpr SizeRange kNothingYet{UINT64_MAX, 0};

using Path = std::vector<std::string_view>;

// Sizes of the entries of a list or map.
struct EntrySizes {
  bool is_list = true;
  SizeRange key;
  SizeRange value;
};

std::optional<EntrySizes> united(const std::optional<EntrySizes>& a,
                                 const std::optional<EntrySizes>& b) {
  if (!a || !b) return std::nullopt;
  return EntrySizes{a->is_list, a->key.united(b->key), a->value.united(b->value)};
}

// What a local variable stands for.
struct Local {
  Path path;
  std::optional<SizeRange> size;
  std::optional<EntrySizes> entries;
};

bool is_scalar(const Type& type) {
  switch (type.kind) {
    case TypeKind::kBool:
    case TypeKind::kInt:
    case TypeKind::kUint:
    case TypeKind::kDouble:
    case TypeKind::kDuration:
    case TypeKind::kTimestamp:
      return true;
    default:
      return unwrapped(type) != nullptr && is_scalar(*unwrapped(type));
  }
}

std::optional<SizeRange> literal_size(const Expr& expr) {
  switch (expr.kind) {
    case ExprKind::kList:
      return SizeRange::fixed(expr.args.size());
    case ExprKind::kMap:
      return SizeRange::fixed(expr.args.size() / 2);
    case ExprKind::kLiteral:
      break;
    default:
      return std::nullopt;
  }
  const Value& value = expr.literal;
  if (value.is(Kind::kString)) return SizeRange::fixed(code_point_count(value.as_text()));
  return SizeRange::fixed(value.is(Kind::kBytes) ? value.extent() : 1);
}

class Estimator {
 public:
  explicit Estimator(const Checked& checked) : checked_(checked) {}

  CostRange cost(const Expr& expr);

 private:
  CostRange ident(const Expr& expr);
  CostRange select(const Expr& expr);
  CostRange call(const Expr& expr);
  CostRange list(const Expr& expr);
  CostRange map(const Expr& expr);
  CostRange comprehension(const Expr& expr);
  CostRange bound(const Expr& expr);
  CallRange overload_cost(const Expr& expr, std::string_view overload, const CallNodes& nodes,
                          const std::vector<CostRange>& costs);

  void declare_iteration(const Expr& expr);
  [[nodiscard]] Local entry_of(const Expr& range, bool is_key, bool is_single);
  void declare(std::string_view name, Local local) { locals_[name].push_back(std::move(local)); }
  void undeclare(std::string_view name) { locals_[name].pop_back(); }
  const Local* local(const Expr& expr) {
    if (expr.kind != ExprKind::kIdent) return nullptr;
    const auto found = locals_.find(expr.name);
    return found == locals_.end() || found->second.empty() ? nullptr : &found->second.back();
  }

  Path path(const Expr& expr) {
    if (const Local* known = local(expr)) return known->path;
    const auto found = paths_.find(expr.id);
    return found == paths_.end() ? Path{} : found->second;
  }
  Path longer(Path path, std::string_view step) {
    path.push_back(step);
    return path;
  }
  EstimateNode node(const Expr& expr);
  std::optional<SizeRange> size(const Expr& expr);
  std::optional<EntrySizes> entries(const Expr& expr);
  SizeRange size_or_any(const Expr& expr) { return size(expr).value_or(SizeRange::any()); }
  void set_size(const Expr& expr, const std::optional<SizeRange>& size) {
    if (size) sizes_[expr.id] = *size;
  }
  void set_entries(const Expr& expr, const std::optional<EntrySizes>& entries) {
    if (entries) entries_[expr.id] = *entries;
  }

  const Checked& checked_;
  std::map<std::int64_t, Path> paths_;
  std::map<std::int64_t, SizeRange> sizes_;
  std::map<std::int64_t, EntrySizes> entries_;
  std::map<std::string_view, std::vector<Local>> locals_;
};

CostRange Estimator::cost(const Expr& expr) {
  switch (expr.kind) {
    case ExprKind::kLiteral:
      return {};
    case ExprKind::kIdent:
      return ident(expr);
    case ExprKind::kSelect:
      return select(expr);
    case ExprKind::kCall:
      return call(expr);
    case ExprKind::kList:
      return list(expr);
    case ExprKind::kMap:
      return map(expr);
    case ExprKind::kStruct: {
      CostRange sum;
      for (const Expr* value : expr.args) sum = sum + cost(*value);
      return sum + kStructBase;
    }
    case ExprKind::kComprehension: {
      const bool is_bind = expr.range->kind == ExprKind::kList && expr.range->args.empty() &&
                           expr.condition->kind == ExprKind::kLiteral &&
                           expr.condition->literal.is_false() && expr.name != "__result__";
      return is_bind ? bound(expr) : comprehension(expr);
    }
  }
  return {};
}

CostRange Estimator::ident(const Expr& expr) {
  const Local* known = local(expr);
  paths_[expr.id] = known != nullptr ? known->path : Path{expr.name};
  return kOne;
}

CostRange Estimator::select(const Expr& expr) {
  CostRange sum = cost(*expr.target);
  if (expr.test_only) return sum;
  const TypeKind target = checked_.type(*expr.target).kind;
  const bool charged =
      target == TypeKind::kMap || target == TypeKind::kStruct || target == TypeKind::kParam;
  if (charged) sum = sum + kOne;
  paths_[expr.id] = longer(path(*expr.target), expr.name);
  return sum;
}

EstimateNode Estimator::node(const Expr& expr) {
  Path known = path(expr);
  if (!known.empty() && (known[0] == kAccumulator || known[0] == "__result__")) known.clear();
  return {&expr, &checked_.type(expr), std::move(known), size(expr)};
}

CostRange Estimator::call(const Expr& expr) {
  if (expr.name == "dyn") {
    const CostRange argument = cost(*expr.args[0]);
    set_size(expr, size(*expr.args[0]));
    set_entries(expr, entries(*expr.args[0]));
    return kOne + argument;
  }
  CallNodes nodes;
  std::vector<CostRange> costs;
  for (const Expr* arg : expr.args) {
    costs.push_back(cost(*arg));
    nodes.args.push_back(node(*arg));
  }
  CostRange sum;
  if (expr.target != nullptr) {
    sum = cost(*expr.target);
    nodes.target = node(*expr.target);
  }
  CostRange widest{UINT64_MAX, 0};
  std::optional<SizeRange> result;
  for (const Overload* overload : checked_.at(expr).overloads) {
    const CallRange one = overload_cost(expr, overload->id, nodes, costs);
    widest = widest.united(one.cost);
    if (one.result) result = result ? result->united(*one.result) : *one.result;
    const bool index_list = overload->id == "index_list";
    if (index_list || overload->id == "index_map") {
      const std::optional<EntrySizes> of = entries(*expr.args[0]);
      result = of ? std::optional<SizeRange>(of->value) : std::nullopt;
      paths_[expr.id] = longer(path(*expr.args[0]), index_list ? "@items" : "@values");
    }
    if (!result) result = size(expr);
  }
  set_size(expr, result);
  return sum + widest;
}

// What library functions say of themselves comes first, then what operators do with sizes.
CallRange Estimator::overload_cost(const Expr& expr, std::string_view overload,
                                   const CallNodes& nodes, const std::vector<CostRange>& costs) {
  CostRange arguments;
  for (const CostRange& one : costs) arguments = arguments + one;
  if (overload == "logical_or" || overload == "logical_and") {
    return {{costs[0].min, (costs[0] + costs[1]).max}, std::nullopt};
  }
  if (overload == "conditional") {
    const SizeRange either = size_or_any(*expr.args[1]).united(size_or_any(*expr.args[2]));
    set_entries(expr, united(entries(*expr.args[1]), entries(*expr.args[2])));
    return {costs[0] + costs[1].united(costs[2]), either};
  }
  if (overload == "add_list" || overload == "add_string" || overload == "add_bytes") {
    set_entries(expr, united(entries(*expr.args[0]), entries(*expr.args[1])));
  }
  CallRange call = estimate_call(expr.name, overload, nodes);
  call.cost = call.cost + arguments;
  return call;
}

CostRange Estimator::list(const Expr& expr) {
  CostRange sum;
  SizeRange item = kNothingYet;
  if (expr.args.empty()) item.min = 0;
  for (const Expr* element : expr.args) {
    sum = sum + cost(*element);
    item = item.united(size_or_any(*element));
  }
  set_entries(expr, EntrySizes{true, SizeRange::fixed(1), item});
  return sum + kListBase;
}

CostRange Estimator::map(const Expr& expr) {
  CostRange sum;
  SizeRange key = kNothingYet;
  SizeRange value = kNothingYet;
  if (expr.args.empty()) key.min = value.min = 0;
  for (std::size_t i = 0; i < expr.args.size(); i += 2) {
    sum = sum + cost(*expr.args[i]);
    sum = sum + cost(*expr.args[i + 1]);
    key = key.united(size_or_any(*expr.args[i]));
    value = value.united(size_or_any(*expr.args[i + 1]));
  }
  set_entries(expr, EntrySizes{false, key, value});
  return sum + kMapBase;
}

// The variable that holds a key or a value of the range; a single one holds elements or keys.
Local Estimator::entry_of(const Expr& range, bool is_key, bool is_single) {
  const std::optional<EntrySizes> known = entries(range);
  const bool is_list = known ? known->is_list : checked_.type(range).kind == TypeKind::kList;
  std::string_view step = is_key ? "@keys" : "@values";
  if (is_list) step = is_key && !is_single ? "@indices" : "@items";
  const bool takes_value = !is_key || (is_single && is_list);
  Local made{longer(path(range), step), std::nullopt, std::nullopt};
  if (known) made.size = takes_value ? known->value : known->key;
  return made;
}

void Estimator::declare_iteration(const Expr& expr) {
  if (expr.iter_var2.empty()) return declare(expr.iter_var, entry_of(*expr.range, true, true));
  declare(expr.iter_var, entry_of(*expr.range, true, false));
  declare(expr.iter_var2, entry_of(*expr.range, false, false));
}

CostRange Estimator::comprehension(const Expr& expr) {
  CostRange sum = cost(*expr.range);
  sum = sum + cost(*expr.init);
  declare(expr.name, {path(*expr.init), size(*expr.init), entries(*expr.init)});
  declare_iteration(expr);
  const CostRange condition = cost(*expr.condition);
  const CostRange step = cost(*expr.step);
  undeclare(expr.iter_var);
  if (!expr.iter_var2.empty()) undeclare(expr.iter_var2);
  sum = sum + cost(*expr.result);
  undeclare(expr.name);
  const SizeRange count = size_or_any(*expr.range);
  sum = sum + count.times(step + condition);
  if (expr.init->kind == ExprKind::kLiteral) set_size(expr, size(*expr.init));
  if (expr.init->kind == ExprKind::kList || expr.init->kind == ExprKind::kMap) {
    set_size(expr, count);
    set_entries(expr, entries(*expr.step));
  }
  return sum;
}

CostRange Estimator::bound(const Expr& expr) {
  CostRange sum = cost(*expr.range);
  sum = sum + cost(*expr.init);
  declare(expr.name, {path(*expr.init), size(*expr.init), entries(*expr.init)});
  sum = sum + cost(*expr.result);
  undeclare(expr.name);
  set_size(expr, size(*expr.result));
  set_entries(expr, entries(*expr.result));
  return sum;
}

std::optional<SizeRange> Estimator::size(const Expr& expr) {
  if (const auto known = sizes_.find(expr.id); known != sizes_.end()) return known->second;
  if (const std::optional<SizeRange> literal = literal_size(expr)) return literal;
  if (const std::optional<SizeRange> declared = declared_size(path(expr))) {
    sizes_[expr.id] = *declared;
    return declared;
  }
  if (is_scalar(checked_.type(expr))) return SizeRange::fixed(1);
  const Local* known = local(expr);
  return known == nullptr ? std::nullopt : known->size;
}

std::optional<EntrySizes> Estimator::entries(const Expr& expr) {
  if (const auto known = entries_.find(expr.id); known != entries_.end()) return known->second;
  const Local* known = local(expr);
  return known == nullptr ? std::nullopt : known->entries;
}

}  // namespace

std::uint64_t estimate_cost(const Ast& ast, const Checked& checked) {
  return Estimator(checked).cost(*ast.root).max;
}

}  // namespace gang::cel
