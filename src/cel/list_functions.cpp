#include <algorithm>
#include <array>
#include <numeric>
#include <string>
#include <vector>

#include "cel/comparison.h"
#include "cel/functions.h"
#include "cel/list_order.h"
#include "cel/lists.h"
#include "cel/text_of.h"

namespace gang::cel {
namespace {

using Args = std::span<const Value>;

constexpr std::int64_t kRangeMax = 1'000'000;

// The items, unless they are too many.
bool items_of(Frame& frame, const Value& list, std::vector<Value>& items) {
  const std::int64_t size = list_size(list);
  if (!frame.spend(static_cast<std::uint64_t>(size))) return false;
  items.reserve(static_cast<std::size_t>(size));
  for (std::int64_t i = 0; i < size; ++i) items.push_back(list_item(list, i));
  return true;
}

Value is_sorted(Frame& frame, Args args) {
  std::vector<Value> items;
  if (!items_of(frame, args[0], items)) return Frame::cancelled();
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (!has_order(items[i])) return Frame::no_overload();
    if (i == 0) continue;
    const Value order = compare(frame, items[i - 1], items[i]);
    if (!order.is_error() && order.as_int() > 0) return Value::boolean(false);
  }
  return Value::boolean(true);
}

template <Kind kKind>
Value sum(Frame& frame, Args args) {
  std::vector<Value> items;
  if (!items_of(frame, args[0], items)) return Frame::cancelled();
  Value total = kKind == Kind::kInt      ? Value::integer(0)
                : kKind == Kind::kUint   ? Value::unsigned_integer(0)
                : kKind == Kind::kDouble ? Value::real(0)
                                         : Value::duration(0);
  const Operator* add = find_operator("_+_");
  for (const Value& item : items) {
    if (!add->accepts(item)) return Frame::no_overload();
    total = add->call(frame, std::array{total, item});
    if (total.is_error()) return total;
    if (!add->accepts(total)) return Frame::no_overload();
  }
  return total;
}

template <bool kMax>
Value extreme(Frame& frame, Args args) {
  std::vector<Value> items;
  if (!items_of(frame, args[0], items)) return Frame::cancelled();
  if (items.empty()) {
    return Value::error(kMax ? "max called on empty list" : "min called on empty list");
  }
  Value best = items[0];
  for (const Value& item : items) {
    if (!has_order(item)) return Frame::no_overload();
    const Value order = compare(frame, best, item);
    if (!order.is_error() && order.as_int() == (kMax ? -1 : 1)) best = item;
  }
  return best;
}

template <bool kLast>
Value index_of(Frame& frame, Args args) {
  const std::int64_t size = list_size(args[0]);
  for (std::int64_t n = 0; n < size; ++n) {
    if (!frame.spend(1)) return Frame::cancelled();
    const std::int64_t i = kLast ? size - 1 - n : n;
    if (equal_by_left(frame, list_item(args[0], i), args[1]).is_true()) return Value::integer(i);
  }
  return Value::integer(-1);
}

Value includes(Frame& frame, Args args) {
  if (!args[0].is(Kind::kList)) {
    return Value::boolean(equal_by_left(frame, args[0], args[1]).is_true());
  }
  return Value::boolean(index_of<false>(frame, args).as_int() >= 0);
}

Value slice(Frame& frame, Args args) {
  const std::int64_t start = args[1].as_int();
  const std::int64_t end = args[2].as_int();
  const std::int64_t size = list_size(args[0]);
  const std::string call =
      "cannot slice(" + std::to_string(start) + ", " + std::to_string(end) + "), ";
  if (start < 0 || end < 0) return frame.fail(call + "negative indexes not supported");
  if (start > end) return frame.fail(call + "start index must be less than or equal to end index");
  if (size < end) return frame.fail(call + "list is length " + std::to_string(size));
  if (!frame.spend(static_cast<std::uint64_t>(end - start))) return Frame::cancelled();
  std::vector<Value> items;
  for (std::int64_t i = start; i < end; ++i) items.push_back(list_item(args[0], i));
  return new_list(frame, items);
}

bool flatten_into(Frame& frame, const Value& list, std::int64_t depth, std::vector<Value>& items) {
  for (std::int64_t i = 0; i < list_size(list); ++i) {
    if (!frame.spend(1)) return false;
    const Value item = list_item(list, i);
    if (!item.is(Kind::kList) || depth == 0) {
      items.push_back(item);
    } else if (!flatten_into(frame, item, depth - 1, items)) {
      return false;
    }
  }
  return true;
}

Value flatten(Frame& frame, Args args) {
  const bool fits = args[0].is(Kind::kList) && (args.size() == 1 || args[1].is(Kind::kInt));
  if (!fits) return Value::error("no such overload: flatten");
  const std::int64_t depth = args.size() > 1 ? args[1].as_int() : 1;
  if (depth < 0) return Value::error("level must be non-negative");
  std::vector<Value> items;
  if (!flatten_into(frame, args[0], depth, items)) return Frame::cancelled();
  return new_list(frame, items);
}

}  // namespace

Value sorted_by_keys(Frame& frame, const Value& list, const Value& keys) {
  if (!list.is(Kind::kList) || !keys.is(Kind::kList)) return Frame::no_overload();
  if (list_size(list) != list_size(keys)) {
    return frame.fail(
        "@sortByAssociatedKeys() expected a list of the same size as the associated "
        "keys list");
  }
  std::vector<Value> items;
  std::vector<Value> order;
  if (!items_of(frame, list, items) || !items_of(frame, keys, order)) return Frame::cancelled();
  if (order.empty()) return list;
  if (!has_order(order[0])) return Value::error("list elements must be comparable");
  for (const Value& key : order) {
    const bool same = key.kind() == order[0].kind();
    if (!same && order.size() > 1) return Value::error("list elements must have the same type");
  }
  std::vector<std::size_t> places(items.size());
  std::iota(places.begin(), places.end(), std::size_t{0});
  std::ranges::stable_sort(places, [&](std::size_t a, std::size_t b) {
    const Value c = compare(frame, order[a], order[b]);
    return !c.is_error() && c.as_int() < 0;
  });
  std::vector<Value> result;
  result.reserve(places.size());
  for (const std::size_t place : places) result.push_back(items[place]);
  return new_list(frame, result);
}

namespace {

Value range(Frame& frame, Args args) {
  const std::int64_t size = args[0].as_int();
  if (size < 0) {
    return frame.fail("lists.range: size must be non-negative, got " + std::to_string(size));
  }
  if (size > kRangeMax) {
    return frame.fail("lists.range: size " + std::to_string(size) + " exceeds maximum allowed (" +
                      std::to_string(kRangeMax) + ")");
  }
  if (!frame.spend(static_cast<std::uint64_t>(size))) return Frame::cancelled();
  std::vector<Value> items;
  items.reserve(static_cast<std::size_t>(size));
  for (std::int64_t i = 0; i < size; ++i) items.push_back(Value::integer(i));
  return new_list(frame, items);
}

Value reverse(Frame& frame, Args args) {
  std::vector<Value> items;
  if (!items_of(frame, args[0], items)) return Frame::cancelled();
  std::ranges::reverse(items);
  return new_list(frame, items);
}

Value distinct(Frame& frame, Args args) {
  std::vector<Value> items;
  if (!items_of(frame, args[0], items)) return Frame::cancelled();
  if (items.empty()) return args[0];
  std::vector<Value> unique;
  for (const Value& item : items) {
    bool seen = false;
    for (std::size_t i = 0; i < unique.size() && !seen; ++i) {
      if (!frame.spend(1)) return Frame::cancelled();
      seen = equal_by_left(frame, item, unique[i]).is_true();
    }
    if (!seen) unique.push_back(item);
  }
  return new_list(frame, unique);
}

constexpr std::array kBuiltins = std::to_array<NamedBuiltin>({
    {"list_int_is_sorted_bool", is_sorted},
    {"list_uint_is_sorted_bool", is_sorted},
    {"list_double_is_sorted_bool", is_sorted},
    {"list_bool_is_sorted_bool", is_sorted},
    {"list_duration_is_sorted_bool", is_sorted},
    {"list_timestamp_is_sorted_bool", is_sorted},
    {"list_string_is_sorted_bool", is_sorted},
    {"list_bytes_is_sorted_bool", is_sorted},
    {"list_int_sum_int", sum<Kind::kInt>},
    {"list_uint_sum_uint", sum<Kind::kUint>},
    {"list_double_sum_double", sum<Kind::kDouble>},
    {"list_duration_sum_duration", sum<Kind::kDuration>},
    {"list_int_max_int", extreme<true>},
    {"list_uint_max_uint", extreme<true>},
    {"list_double_max_double", extreme<true>},
    {"list_bool_max_bool", extreme<true>},
    {"list_duration_max_duration", extreme<true>},
    {"list_timestamp_max_timestamp", extreme<true>},
    {"list_string_max_string", extreme<true>},
    {"list_bytes_max_bytes", extreme<true>},
    {"list_int_min_int", extreme<false>},
    {"list_uint_min_uint", extreme<false>},
    {"list_double_min_double", extreme<false>},
    {"list_bool_min_bool", extreme<false>},
    {"list_duration_min_duration", extreme<false>},
    {"list_timestamp_min_timestamp", extreme<false>},
    {"list_string_min_string", extreme<false>},
    {"list_bytes_min_bytes", extreme<false>},
    {"list_a_index_of_int", index_of<false>},
    {"list_a_last_index_of_int", index_of<true>},
    {"list_includes_dyn_dyn", includes},
    {"list_slice", slice},
    {"list_flatten", flatten},
    {"list_flatten_int", flatten},
    {"lists_range", range},
    {"list_reverse", reverse},
    {"list_distinct", distinct},
});

}  // namespace

std::span<const NamedBuiltin> list_builtins() {
  return kBuiltins;
}

}  // namespace gang::cel
