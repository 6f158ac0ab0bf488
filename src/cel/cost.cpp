#include "cel/cost.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "cel/lists.h"
#include "cel/maps.h"
#include "cel/named_formats.h"
#include "cel/utf8.h"

namespace gang::cel {
namespace {

constexpr std::uint64_t kListCost = 10;

std::uint64_t scaled(double size, double factor) {
  return static_cast<std::uint64_t>(std::ceil(size * factor));
}
std::uint64_t scan(std::uint64_t size) {
  return scaled(static_cast<double>(size), 0.1);
}

std::uint64_t saturated_product(std::uint64_t a, std::uint64_t b) {
  std::uint64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

// `size` entries with so much work each, one call, one new list.
std::uint64_t new_list_cost(double factor, std::uint64_t size) {
  const double scaled_size = static_cast<double>(size) * (factor < 0 ? 1 : factor);
  const std::uint64_t whole =
      scaled_size >= 0x1p64 ? UINT64_MAX : static_cast<std::uint64_t>(scaled_size);
  return whole > UINT64_MAX - 1 - kListCost ? UINT64_MAX : whole + 1 + kListCost;
}

std::uint64_t traversal(Frame& frame, const Value& value) {
  if (!frame.spend(1)) return 0;
  std::uint64_t cost = 0;
  switch (value.kind()) {
    case Kind::kString:
    case Kind::kBytes:
      return static_cast<std::uint64_t>(static_cast<double>(value.extent()) * 0.1);
    case Kind::kList:
      for (std::int64_t i = 0; i < list_size(value) && !frame.is_cancelled; ++i) {
        if (!frame.spend(value.as<ListObject>().depth)) return 0;
        cost += traversal(frame, list_item(value, i));
      }
      return cost;
    case Kind::kMap: {
      const MapObject& map = value.as<MapObject>();
      for (std::int64_t i = 0; i < map.size && !frame.is_cancelled; ++i) {
        cost += traversal(frame, map.entries[i].key) + traversal(frame, map.entries[i].value);
      }
      return cost;
    }
    default:
      return 1;
  }
}

bool is_object(const Value& value) {
  switch (value.kind()) {
    case Kind::kQuantity:
    case Kind::kSemver:
    case Kind::kIp:
    case Kind::kCidr:
    case Kind::kUrl:
    case Kind::kNamedFormat:
      return true;
    default:
      return false;
  }
}

std::uint64_t self_compare(const Value& list) {
  if (!list.is(Kind::kList) || list_size(list) == 0) return new_list_cost(2.0, 0);
  const auto size = static_cast<std::uint64_t>(list_size(list));
  const Value first = list_item(list, 0);
  const bool text = first.is(Kind::kString) || first.is(Kind::kBytes);
  return new_list_cost(text ? 2.1 : 2.0, saturated_product(size, size));
}

std::uint64_t regex_cost(std::uint64_t text, std::uint64_t pattern) {
  return scaled(1.0 + static_cast<double>(text), 0.1) * scaled(static_cast<double>(pattern), 0.25);
}

std::uint64_t sets_cost(double factor, std::uint64_t left, std::uint64_t right) {
  const double product = static_cast<double>(left * right) * factor;
  return product >= 0x1p64 ? UINT64_MAX : 1 + static_cast<std::uint64_t>(product);
}

std::uint64_t selector_cost(std::uint64_t length) {
  return kListCost + scan(length) + scaled(scaled(static_cast<double>(length), 0.5), 50.0);
}

struct FunctionRule {
  std::string_view name;
  CostRule rule;
};

// By overload, where that decides.
constexpr std::array kByOverload = std::to_array<FunctionRule>({
    {"list_sets_contains_list", CostRule::kSets},
    {"list_sets_intersects_list", CostRule::kSets},
    {"list_sets_equivalent_list", CostRule::kSetsTwice},
    {"list_slice", CostRule::kListOfResult},
    {"lists_range", CostRule::kListOfResult},
    {"list_reverse", CostRule::kListOfResult},
    {"list_flatten", CostRule::kFlatten},
    {"list_flatten_int", CostRule::kFlatten},
    {"list_distinct", CostRule::kSelfCompareFirst},
    {"cidr_ip", CostRule::kOne},
    {"cidr_contains_ip_string", CostRule::kContainsIpText},
    {"cidr_contains_cidr_string", CostRule::kContainsCidrText},
    {"string_to_bytes", CostRule::kScanFirst},
    {"bytes_to_string", CostRule::kScanFirst},
    {"strings_quote", CostRule::kScanFirst},
    {"string_format", CostRule::kScanFirst},
    {"starts_with_string", CostRule::kScanSecond},
    {"ends_with_string", CostRule::kScanSecond},
    {"in_list", CostRule::kSizeOfSecond},
    {"add_string", CostRule::kConcatenation},
    {"add_bytes", CostRule::kConcatenation},
    {"matches", CostRule::kRegex},
    {"matches_string", CostRule::kRegex},
    {"contains_string", CostRule::kContains},
    {"equals", CostRule::kEquality},
    {"not_equals", CostRule::kShorter},
});

// By function, whatever overload it is.
constexpr std::array kByFunction = std::to_array<FunctionRule>({
    {"isSorted", CostRule::kTraversal},     {"sum", CostRule::kTraversal},
    {"max", CostRule::kTraversal},          {"min", CostRule::kTraversal},
    {"indexOf", CostRule::kTraversal},      {"lastIndexOf", CostRule::kTraversal},
    {"includes", CostRule::kTraversal},     {"url", CostRule::kScanFirst},
    {"lowerAscii", CostRule::kScanFirst},   {"upperAscii", CostRule::kScanFirst},
    {"substring", CostRule::kScanFirst},    {"trim", CostRule::kScanFirst},
    {"replace", CostRule::kScanTwice},      {"split", CostRule::kScanTwice},
    {"join", CostRule::kScanResultTwice},   {"find", CostRule::kRegex},
    {"findAll", CostRule::kRegex},          {"cidr", CostRule::kScanFirst},
    {"isIP", CostRule::kScanFirst},         {"isCIDR", CostRule::kScanFirst},
    {"ip", CostRule::kScanFirst},           {"ip.isCanonical", CostRule::kScanTwice},
    {"containsIP", CostRule::kContainsIp},  {"containsCIDR", CostRule::kContainsCidr},
    {"quantity", CostRule::kScanFirst},     {"isQuantity", CostRule::kScanFirst},
    {"semver", CostRule::kScanFirst},       {"isSemver", CostRule::kScanFirst},
    {"validate", CostRule::kValidate},      {"check", CostRule::kAuthorization},
    {"fieldSelector", CostRule::kSelector}, {"labelSelector", CostRule::kSelector},
});

template <std::size_t N>
const FunctionRule* find_rule(const std::array<FunctionRule, N>& rules, std::string_view name) {
  const auto found = std::ranges::find(rules, name, &FunctionRule::name);
  return found == rules.end() ? nullptr : &*found;
}

bool is_text_order(std::string_view overload) {
  const bool order = overload.starts_with("less_") || overload.starts_with("greater_");
  return order && (overload.ends_with("_string") || overload.ends_with("_bytes"));
}

std::uint64_t contains_cost(CostRule rule, std::uint64_t network, std::uint64_t other) {
  std::uint64_t cost = scan(network + network);
  const bool is_cidr = rule == CostRule::kContainsCidr || rule == CostRule::kContainsCidrText;
  if (is_cidr) cost += scan(network) + 1;
  const bool is_text = rule == CostRule::kContainsIpText || rule == CostRule::kContainsCidrText;
  return is_text ? cost + scan(other) : cost;
}

std::uint64_t validate_cost(const Value& format, std::uint64_t size) {
  if (!format.is(Kind::kNamedFormat)) return 1;
  return regex_cost(size, format.as<NamedFormat>().regex_size);
}

}  // namespace

std::uint64_t size_of(const Value& value) {
  switch (value.kind()) {
    case Kind::kString:
      return code_point_count(value.as_text());
    case Kind::kBytes:
      return value.extent();
    case Kind::kList:
      return static_cast<std::uint64_t>(list_size(value));
    case Kind::kMap:
      return static_cast<std::uint64_t>(map_size(value));
    case Kind::kIp:
      return value.as<IpObject>().size;
    case Kind::kCidr:
      return (value.as<CidrObject>().prefix + 7U) / 8;
    default:
      return 1;
  }
}

CostRule cost_rule(std::string_view function, std::string_view overload) {
  if (const FunctionRule* rule = find_rule(kByOverload, overload)) return rule->rule;
  if (overload.ends_with("_sort")) return CostRule::kSelfCompareFirst;
  if (overload.ends_with("_sortByAssociatedKeys")) return CostRule::kSelfCompareSecond;
  if (is_text_order(overload)) return CostRule::kShorter;
  const FunctionRule* rule = find_rule(kByFunction, function);
  return rule == nullptr ? CostRule::kOne : rule->rule;
}

std::uint64_t call_cost(Frame& frame, CostRule rule, std::span<const Value> args,
                        const Value& result) {
  const auto size = [&](std::size_t i) { return size_of(args[i]); };
  switch (rule) {
    case CostRule::kOne:
      return 1;
    case CostRule::kTraversal:
      return traversal(frame, args[0]);
    case CostRule::kScanFirst:
      return scan(size(0));
    case CostRule::kScanSecond:
      return scan(size(1));
    case CostRule::kScanTwice:
      return scaled(static_cast<double>(size(0)) * 2, 0.1);
    case CostRule::kScanResultTwice:
      return scaled(static_cast<double>(size_of(result)) * 2, 0.1);
    case CostRule::kEquality:
      return is_object(args[0]) ? 1 : scan(std::min(size(0), size(1)));
    case CostRule::kShorter:
      return scan(std::min(size(0), size(1)));
    case CostRule::kConcatenation:
      return scan(size(0) + size(1));
    case CostRule::kSizeOfSecond:
      return size(1);
    case CostRule::kRegex:
      return regex_cost(size(0), size(1));
    case CostRule::kContains:
      return scan(size(0)) * scan(size(1));
    case CostRule::kContainsIp:
    case CostRule::kContainsIpText:
    case CostRule::kContainsCidr:
    case CostRule::kContainsCidrText:
      return contains_cost(rule, size(0), size(1));
    case CostRule::kValidate:
      return validate_cost(args[0], size(1));
    case CostRule::kListOfResult:
      return new_list_cost(1, size_of(result));
    case CostRule::kFlatten: {
      const bool has_depth = args.size() == 2 && args[1].is(Kind::kInt);
      return new_list_cost(has_depth ? static_cast<double>(args[1].as_int()) : 1, size(0));
    }
    case CostRule::kSelfCompareFirst:
      return self_compare(args[0]);
    case CostRule::kSelfCompareSecond:
      return self_compare(args[1]);
    case CostRule::kSets:
      return sets_cost(1, size(0), size(1));
    case CostRule::kSetsTwice:
      return sets_cost(2, size(0), size(1));
    case CostRule::kAuthorization:
      return 350'000;
    case CostRule::kSelector:
      return args.size() < 2 ? 1 : selector_cost(size(1));
  }
  return 1;
}

}  // namespace gang::cel
