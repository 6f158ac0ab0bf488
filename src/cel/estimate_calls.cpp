#include "cel/estimate_calls.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace gang::cel {
namespace {

std::uint64_t sum(std::uint64_t a, std::uint64_t b) {
  std::uint64_t result = 0;
  return __builtin_add_overflow(a, b, &result) ? UINT64_MAX : result;
}
std::uint64_t product(std::uint64_t a, std::uint64_t b) {
  std::uint64_t result = 0;
  return __builtin_mul_overflow(a, b, &result) ? UINT64_MAX : result;
}
std::uint64_t scaled_up(std::uint64_t value, double factor) {
  const double result = std::ceil(static_cast<double>(value) * factor);
  return result >= 0x1p64 ? UINT64_MAX : static_cast<std::uint64_t>(result);
}

constexpr double kScan = 0.1;      // of text, by size
constexpr double kPattern = 0.25;  // of a regular expression, by size
constexpr CostRange kOne{1, 1};

SizeRange size_of(const EstimateNode& node) {
  if (node.size) return *node.size;
  return declared_size(node.path).value_or(SizeRange::any());
}

// The elements of a list operand, or nothing where it is none.
std::optional<EstimateNode> element_of(const EstimateNode& list) {
  if (list.type->params.empty()) return std::nullopt;
  EstimateNode element{nullptr, list.type->params[0], list.path, std::nullopt};
  if (!element.path.empty()) element.path.emplace_back("@items");
  return element;
}

// Everything that the rules look at.
struct Call {
  std::string_view function;
  std::string_view overload;
  const CallNodes& nodes;

  [[nodiscard]] bool has_target() const { return nodes.target.has_value(); }
  [[nodiscard]] SizeRange target() const { return size_of(*nodes.target); }
  [[nodiscard]] SizeRange arg(std::size_t i) const { return size_of(nodes.args[i]); }
  [[nodiscard]] std::size_t count() const { return nodes.args.size(); }
  // Sizes that the expression itself says: what upstream's operators go by.
  [[nodiscard]] SizeRange known(std::size_t i) const {
    return nodes.args[i].size.value_or(SizeRange::any());
  }
  [[nodiscard]] SizeRange known_target() const {
    return nodes.target->size.value_or(SizeRange::any());
  }
  [[nodiscard]] std::uint64_t constant(std::size_t i, std::uint64_t otherwise) const {
    const Expr& expr = *nodes.args[i].expr;
    if (expr.kind != ExprKind::kLiteral || !expr.literal.is(Kind::kInt)) return otherwise;
    return expr.literal.as_int() < 0 ? 0 : static_cast<std::uint64_t>(expr.literal.as_int());
  }
};

using Rule = std::optional<CallRange> (*)(const Call& call);

CallRange new_list(double factor, SizeRange size) {
  return {size.scaled(factor) + kOne + CostRange{10, 10}, size};
}

std::optional<CallRange> flat(const Call&) {
  return CallRange{};
}

std::optional<CallRange> traversal(const Call& call) {
  if (!call.has_target()) return std::nullopt;
  CostRange each = kOne;
  if (const std::optional<EstimateNode> element = element_of(*call.nodes.target)) {
    const TypeKind kind = element->type->kind;
    if (kind == TypeKind::kString || kind == TypeKind::kBytes) {
      each = each + size_of(*element).scaled(kScan);
    }
    return CallRange{call.target().times(each), std::nullopt};
  }
  if (call.function == "includes") return CallRange{call.target().times(each), std::nullopt};
  return CallRange{call.target().scaled(kScan), std::nullopt};
}

std::optional<CallRange> url(const Call& call) {
  if (call.count() != 1) return std::nullopt;
  return CallRange{call.arg(0).scaled(kScan), call.arg(0)};
}

std::optional<CallRange> transform(const Call& call) {
  if (!call.has_target()) return std::nullopt;
  return CallRange{call.target().scaled(kScan), call.target()};
}

// The result of replace(): the longest from as many and as long replacements as can be.
SizeRange replaced_size(SizeRange text, SizeRange part, SizeRange with) {
  Range count;
  Range kept;
  if (part.min == 0) {
    count.max = text.max < UINT64_MAX ? text.max + 1 : text.max;
    kept.max = text.max;
  } else if (with.max <= part.min) {
    kept.max = text.max;
  } else {
    count.max =
        scaled_up(1, std::ceil(static_cast<double>(text.max) / static_cast<double>(part.min)));
  }
  if (part.max == 0) {
    count.min = text.min < UINT64_MAX ? text.min + 1 : text.min;
    kept.min = text.min;
  } else if (part.max <= with.min) {
    kept.min = text.min;
  } else {
    count.min =
        scaled_up(1, std::ceil(static_cast<double>(text.min) / static_cast<double>(part.max)));
  }
  return count.times(with) + kept;
}

std::optional<CallRange> replace(const Call& call) {
  if (!call.has_target() || call.count() < 2) return std::nullopt;
  return CallRange{call.target().scaled(2 * kScan),
                   replaced_size(call.target(), call.arg(0), call.arg(1))};
}

std::optional<CallRange> split(const Call& call) {
  if (!call.has_target()) return std::nullopt;
  std::uint64_t most = call.target().max;
  if (call.count() > 1) {
    const Expr& limit = *call.nodes.args[1].expr;
    const bool constant = limit.kind == ExprKind::kLiteral && limit.literal.is(Kind::kInt);
    if (constant) most = static_cast<std::uint64_t>(limit.literal.as_int());
  }
  return CallRange{call.target().scaled(2 * kScan), SizeRange{0, most}};
}

std::optional<CallRange> join(const Call& call) {
  if (!call.has_target()) return std::nullopt;
  const SizeRange list = call.target();
  SizeRange size;
  if (const auto element = element_of(*call.nodes.target)) size = list.times(size_of(*element));
  if (call.count() > 0) {
    const Range separators{list.min > 0 ? list.min - 1 : 0, list.max > 0 ? list.max - 1 : 0};
    size = size + call.arg(0).times(separators);
  }
  return CallRange{size.scaled(kScan), size};
}

std::optional<CallRange> find(const Call& call) {
  if (!call.has_target() || call.count() < 1) return std::nullopt;
  const CostRange text = (call.target() + kOne).scaled(kScan);
  return CallRange{text.times(call.arg(0).scaled(kPattern)), SizeRange{0, call.target().max}};
}

std::optional<CallRange> parsed(const Call& call) {
  if (call.overload == "cidr_ip") return CallRange{};
  if (call.count() < 1) return std::nullopt;
  return CallRange{call.arg(0).scaled(kScan), std::nullopt};
}

std::optional<CallRange> canonical(const Call& call) {
  return CallRange{call.arg(0).scaled(2 * kScan), std::nullopt};
}

std::optional<CallRange> network(const Call& call) {
  constexpr SizeRange kBytes{4, 16};
  CostRange cost = (kBytes + kBytes).scaled(kScan);
  if (call.function == "containsCIDR") cost = cost + kBytes.scaled(kScan) + kOne;
  if (call.overload.ends_with("_string")) cost = cost + call.arg(0).scaled(kScan);
  return CallRange{cost, std::nullopt};
}

std::optional<CallRange> validate(const Call& call) {
  return CallRange{call.arg(0).scaled(kScan).scaled(128 * kPattern), std::nullopt};
}

std::optional<CallRange> check(const Call&) {
  return CallRange{{350'000, 350'000}, std::nullopt};
}

std::optional<CallRange> selector(const Call& call) {
  if (call.count() != 1) return std::nullopt;
  const SizeRange size = call.arg(0);
  const CostRange requirements = size.scaled(0.5).scaled(50);
  return CallRange{CostRange{10, 10} + size.scaled(kScan) + requirements, std::nullopt};
}

// Equality of two objects of one type of Kubernetes.
std::optional<CallRange> equality(const Call& call) {
  if (call.count() != 2) return std::nullopt;
  const Type& left = *call.nodes.args[0].type;
  if (!is_exactly(left, *call.nodes.args[1].type)) return std::nullopt;
  constexpr std::array<std::string_view, 4> kFlat = {"net.IP", "net.CIDR", "kubernetes.Quantity",
                                                     "kubernetes.Semver"};
  if (std::ranges::find(kFlat, left.name) != kFlat.end()) return CallRange{};
  if (left.name == "kubernetes.NamedFormat") return CallRange{CostRange{1, 64}.scaled(kScan), {}};
  if (left.name == "kubernetes.URL") {
    const std::optional<SizeRange>& size = call.nodes.args[1].size;
    return CallRange{CostRange{1, size ? size->max : 1}.scaled(kScan), std::nullopt};
  }
  if (left.kind == TypeKind::kStruct && left.name.starts_with("kubernetes.authorization.")) {
    return CallRange{};
  }
  return std::nullopt;
}

struct NamedRule {
  std::string_view function;
  Rule rule;
};

constexpr std::array kRules = std::to_array<NamedRule>({
    {"isSorted", traversal},
    {"sum", traversal},
    {"max", traversal},
    {"min", traversal},
    {"indexOf", traversal},
    {"lastIndexOf", traversal},
    {"includes", traversal},
    {"url", url},
    {"lowerAscii", transform},
    {"upperAscii", transform},
    {"substring", transform},
    {"trim", transform},
    {"replace", replace},
    {"split", split},
    {"join", join},
    {"find", find},
    {"findAll", find},
    {"cidr", parsed},
    {"isIP", parsed},
    {"isCIDR", parsed},
    {"ip", parsed},
    {"ip.isCanonical", canonical},
    {"containsIP", network},
    {"containsCIDR", network},
    {"quantity", parsed},
    {"isQuantity", parsed},
    {"semver", parsed},
    {"isSemver", parsed},
    {"validate", validate},
    {"format.named", flat},
    {"check", check},
    {"fieldSelector", selector},
    {"labelSelector", selector},
    {"_==_", equality},
});

// Lists and sets, by overload.
std::optional<CallRange> list_rule(const Call& call) {
  const std::string_view overload = call.overload;
  if (overload == "list_slice") {
    const std::uint64_t start = call.constant(0, 0);
    const std::uint64_t end = call.constant(1, call.target().max);
    return new_list(1, SizeRange::fixed(end - start));
  }
  if (overload == "lists_range") return new_list(1, SizeRange::fixed(call.constant(0, UINT64_MAX)));
  if (overload == "list_reverse") return new_list(1, call.target());
  if (overload == "list_flatten" || overload == "list_flatten_int") {
    const std::uint64_t depth = call.count() == 1 ? call.constant(0, UINT64_MAX) : 1;
    return new_list(static_cast<double>(depth), call.target());
  }
  if (overload == "list_distinct") return new_list(2, call.target().times(call.target()));
  if (overload.ends_with("_sort") || overload.ends_with("_sortByAssociatedKeys")) {
    const SizeRange size = overload.ends_with("_sort") ? call.target() : call.arg(0);
    const bool text = overload.starts_with("list_string_") || overload.starts_with("list_bytes_");
    return new_list(text ? 2.0 + kScan : 2.0, size.times(size));
  }
  if (overload.starts_with("list_sets_")) {
    const double factor = overload == "list_sets_equivalent_list" ? 2 : 1;
    const CostRange cost = call.arg(0).times(call.arg(1)).scaled(factor) + kOne;
    return CallRange{cost, std::nullopt};
  }
  return std::nullopt;
}

bool is_text_order(std::string_view overload) {
  const bool order = overload.starts_with("less_") || overload.starts_with("greater_");
  return order && (overload.ends_with("_string") || overload.ends_with("_bytes"));
}

CallRange compared(const Call& call) {
  const std::uint64_t most = std::min(call.known(0).max, call.known(1).max);
  return {CostRange{most > 0 ? 1U : 0U, most}.scaled(kScan), std::nullopt};
}

CallRange matched(const Call& call) {
  const SizeRange text = call.has_target() ? call.known_target() : call.known(0);
  const SizeRange pattern = call.known(call.has_target() ? 0 : 1);
  return {(text + kOne).scaled(kScan).times(pattern.scaled(kPattern)), std::nullopt};
}

// Operators and functions of the language itself.
CallRange base_rule(const Call& call) {
  const std::string_view overload = call.overload;
  const auto scan = [&](std::size_t i) { return call.known(i).scaled(kScan); };
  if (overload == "string_format") return {call.known_target().scaled(kScan), std::nullopt};
  if (overload == "string_to_bytes") {
    // Upstream multiplies without looking: what overflows wraps.
    return {scan(0), SizeRange{call.known(0).min, call.known(0).max * 4}};
  }
  if (overload == "bytes_to_string")
    return {scan(0), SizeRange{call.known(0).min / 4, call.known(0).max}};
  if (overload == "strings_quote") {
    return {scan(0), SizeRange{call.known(0).min + 2, call.known(0).max * 2 + 2}};
  }
  if (overload == "starts_with_string" || overload == "ends_with_string")
    return {scan(0), std::nullopt};
  if (overload == "in_list") return {call.known(1).scaled(1), std::nullopt};
  if (overload == "matches" || overload == "matches_string") return matched(call);
  if (overload == "contains_string") {
    return {call.known_target().scaled(kScan).times(scan(0)), std::nullopt};
  }
  if (overload == "add_list") return {kOne, call.known(0) + call.known(1)};
  if (overload == "add_string" || overload == "add_bytes") {
    const SizeRange size = call.known(0) + call.known(1);
    return {size.scaled(kScan), size};
  }
  const bool equality = overload == "equals" || overload == "not_equals";
  return equality || is_text_order(overload) ? compared(call) : CallRange{};
}

}  // namespace

Range Range::operator+(const Range& other) const {
  return {sum(min, other.min), sum(max, other.max)};
}
Range Range::times(const Range& other) const {
  return {product(min, other.min), product(max, other.max)};
}
Range Range::scaled(double factor) const {
  return {scaled_up(min, factor), scaled_up(max, factor)};
}
Range Range::united(const Range& other) const {
  return {std::min(min, other.min), std::max(max, other.max)};
}

CallRange estimate_call(std::string_view function, std::string_view overload,
                        const CallNodes& nodes) {
  const Call call{function, overload, nodes};
  if (const std::optional<CallRange> said = list_rule(call)) return *said;
  const auto rule = std::ranges::find(kRules, function, &NamedRule::function);
  if (rule != kRules.end()) {
    if (const std::optional<CallRange> said = rule->rule(call)) return *said;
  }
  return base_rule(call);
}

std::optional<SizeRange> declared_size(const std::vector<std::string_view>& path) {
  constexpr std::uint64_t kDomain = 63;
  constexpr std::uint64_t kId = 32;
  constexpr std::uint64_t kEntries = 32;
  constexpr std::uint64_t kAttribute = 64;
  if (path.empty() || path[0] != "device") return std::nullopt;
  if (path.size() == 1) return SizeRange{0, 0};
  const bool is_attribute = path[1] == "attributes";
  if (path.size() == 2 && path[1] == "driver") return SizeRange{0, kDomain};
  if (path.size() == 2 && path[1] == "allowMultipleAllocations") return SizeRange{0, 1};
  if (!is_attribute && path[1] != "capacity") return std::nullopt;
  if (path.size() == 2) return SizeRange{0, kEntries};
  const auto is_value = [](std::string_view step) { return step == "@values" || step == "@items"; };
  if (path[2] == "@keys")
    return path.size() == 3 ? std::optional(SizeRange{0, kDomain}) : std::nullopt;
  if (!is_value(path[2])) return std::nullopt;
  if (path.size() == 3) return SizeRange{0, kEntries};
  if (path[3] == "@keys") return path.size() == 4 ? std::optional(SizeRange{0, kId}) : std::nullopt;
  if (path.size() > 4) return std::nullopt;
  if (is_attribute) return SizeRange{0, kAttribute};
  return is_value(path[3]) ? std::optional(SizeRange{0, 0}) : std::nullopt;
}

}  // namespace gang::cel
