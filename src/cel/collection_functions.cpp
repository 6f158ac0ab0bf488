// Optionals, sets, and what transformMap() inserts with.
#include <array>
#include <string>
#include <vector>

#include "cel/comparison.h"
#include "cel/functions.h"
#include "cel/lists.h"
#include "cel/maps.h"
#include "cel/text_of.h"

namespace gang::cel {
namespace {

using Args = std::span<const Value>;

Value none() {
  return Value::object(Kind::kOptional, nullptr);
}
Value some(Frame& frame, const Value& value) {
  return Value::object(Kind::kOptional, frame.arena.make<Value>(value));
}

bool is_zero(const Value& value) {
  switch (value.kind()) {
    case Kind::kNull:
      return true;
    case Kind::kBool:
      return !value.as_bool();
    case Kind::kInt:
    case Kind::kDuration:
      return value.as_int() == 0;
    case Kind::kUint:
      return value.as_uint() == 0;
    case Kind::kDouble:
      return value.as_double() == 0;
    case Kind::kString:
    case Kind::kBytes:
      return value.extent() == 0;
    case Kind::kList:
      return list_size(value) == 0;
    // The outer maps of a device are of a type that has no zero.
    case Kind::kMap:
      return map_size(value) == 0 && value.as<MapObject>().missing == nullptr;
    case Kind::kTimestamp:
      return value.as_int() == -62135596800 && value.extent() == 0;
    default:
      return false;
  }
}

Value of(Frame& frame, Args args) {
  return some(frame, args[0]);
}
Value of_non_zero(Frame& frame, Args args) {
  return is_zero(args[0]) ? none() : some(frame, args[0]);
}
Value make_none(Frame&, Args) {
  return none();
}
Value has_value(Frame&, Args args) {
  return Value::boolean(args[0].address() != nullptr);
}
Value value(Frame&, Args args) {
  if (args[0].address() == nullptr) return Value::error("optional.none() dereference");
  return args[0].as<Value>();
}
Value first(Frame& frame, Args args) {
  return list_size(args[0]) == 0 ? none() : some(frame, list_item(args[0], 0));
}
Value last(Frame& frame, Args args) {
  const std::int64_t size = list_size(args[0]);
  return size == 0 ? none() : some(frame, list_item(args[0], size - 1));
}

Value unwrap(Frame& frame, Args args) {
  std::vector<Value> items;
  for (std::int64_t i = 0; i < list_size(args[0]); ++i) {
    if (!frame.spend(1)) return Frame::cancelled();
    const Value item = list_item(args[0], i);
    if (!item.is(Kind::kOptional)) {
      return frame.fail("value " + text_of(item) + " is not optional");
    }
    if (item.address() != nullptr) items.push_back(item.as<Value>());
  }
  return new_list(frame, items);
}

bool has(Frame& frame, const Value& list, const Value& wanted) {
  for (std::int64_t i = 0; i < list_size(list) && frame.spend(1); ++i) {
    if (equal_by_left(frame, wanted, list_item(list, i)).is_true()) return true;
  }
  return false;
}

bool has_all(Frame& frame, const Value& list, const Value& wanted) {
  for (std::int64_t i = 0; i < list_size(wanted); ++i) {
    if (!has(frame, list, list_item(wanted, i))) return false;
  }
  return true;
}

Value sets_contains(Frame& frame, Args args) {
  return Value::boolean(has_all(frame, args[0], args[1]));
}
Value sets_equivalent(Frame& frame, Args args) {
  return Value::boolean(has_all(frame, args[0], args[1]) && has_all(frame, args[1], args[0]));
}
Value sets_intersects(Frame& frame, Args args) {
  for (std::int64_t i = 0; i < list_size(args[0]); ++i) {
    if (has(frame, args[1], list_item(args[0], i))) return Value::boolean(true);
  }
  return Value::boolean(false);
}

Value insert(Frame& frame, Args args) {
  return map_insert(frame, args[0], args[1], args[2]);
}

Value insert_all(Frame& frame, Args args) {
  Value into = args[0];
  const MapObject& from = args[1].as<MapObject>();
  for (std::int64_t i = 0; i < from.size && !into.is_error(); ++i) {
    into = map_insert(frame, into, from.entries[i].key, from.entries[i].value);
  }
  return into;
}

constexpr std::array kBuiltins = std::to_array<NamedBuiltin>({
    {"optional_of", of},
    {"optional_ofNonZeroValue", of_non_zero},
    {"optional_none", make_none},
    {"optional_hasValue", has_value},
    {"optional_value", value},
    {"list_first", first},
    {"list_last", last},
    {"optional_unwrap", unwrap},
    {"optional_unwrapOpt", unwrap},
    {"list_sets_contains_list", sets_contains},
    {"list_sets_equivalent_list", sets_equivalent},
    {"list_sets_intersects_list", sets_intersects},
    {"@mapInsert_map_key_value", insert},
    {"@mapInsert_map_map", insert_all},
});

}  // namespace

std::span<const NamedBuiltin> collection_builtins() {
  return kBuiltins;
}

}  // namespace gang::cel
