#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <string>

#include "cel/civil_time.h"
#include "cel/comparison.h"
#include "cel/cost.h"
#include "cel/functions.h"
#include "cel/list_order.h"
#include "cel/lists.h"
#include "cel/maps.h"
#include "cel/regex.h"
#include "cel/type_names.h"

namespace gang::cel {
namespace {

using Args = std::span<const Value>;

constexpr std::int64_t kSecond = 1'000'000'000;

Value overflow(const char* what) {
  return Value::error(what);
}
Value int_overflow() {
  return overflow("integer overflow");
}
Value uint_overflow() {
  return overflow("unsigned integer overflow");
}

bool is_number(const Value& value) {
  return value.is(Kind::kInt) || value.is(Kind::kUint) || value.is(Kind::kDouble);
}

// Seconds and nanoseconds with the carry where it belongs, in the range that timestamps have.
Value shifted(const Value& instant, std::int64_t seconds, std::int64_t nanoseconds) {
  std::int64_t second = 0;
  if (__builtin_add_overflow(instant.as_int(), seconds, &second)) return int_overflow();
  std::int64_t nanosecond = static_cast<std::int64_t>(instant.extent()) + nanoseconds;
  const std::int64_t carry = nanosecond / kSecond - (nanosecond % kSecond < 0 ? 1 : 0);
  nanosecond -= carry * kSecond;
  second += carry;
  if (second < kUnixSecondsMin || second > kUnixSecondsMax) return overflow("timestamp overflow");
  return Value::timestamp(second, static_cast<std::uint32_t>(nanosecond), instant.zone());
}

Value later(const Value& instant, std::int64_t duration) {
  return shifted(instant, duration / kSecond, duration % kSecond);
}

Value add_text(Frame& frame, const Value& left, const Value& right) {
  const std::uint64_t size = std::uint64_t{left.extent()} + right.extent();
  if (!frame.may_allocate(size)) return Frame::cancelled();
  char* bytes = frame.arena.array<char>(size);
  std::memcpy(bytes, left.as_text().data(), left.extent());
  std::memcpy(bytes + left.extent(), right.as_text().data(), right.extent());
  return Value::text(left.kind(), {bytes, size});
}

Value add_time(const Value& left, const Value& right) {
  if (left.is(Kind::kDuration) && right.is(Kind::kDuration)) {
    std::int64_t sum = 0;
    if (__builtin_add_overflow(left.as_int(), right.as_int(), &sum)) {
      return overflow("duration overflow");
    }
    return Value::duration(sum);
  }
  if (left.is(Kind::kTimestamp) && right.is(Kind::kDuration)) return later(left, right.as_int());
  if (left.is(Kind::kDuration) && right.is(Kind::kTimestamp)) return later(right, left.as_int());
  return Frame::no_overload();
}

Value add(Frame& frame, Args args) {
  const Value& left = args[0];
  const Value& right = args[1];
  if (left.is(Kind::kDuration) || left.is(Kind::kTimestamp)) return add_time(left, right);
  if (left.kind() != right.kind()) return Frame::no_overload();
  switch (left.kind()) {
    case Kind::kInt: {
      std::int64_t sum = 0;
      if (__builtin_add_overflow(left.as_int(), right.as_int(), &sum)) return int_overflow();
      return Value::integer(sum);
    }
    case Kind::kUint: {
      std::uint64_t sum = 0;
      if (__builtin_add_overflow(left.as_uint(), right.as_uint(), &sum)) return uint_overflow();
      return Value::unsigned_integer(sum);
    }
    case Kind::kDouble:
      return Value::real(left.as_double() + right.as_double());
    case Kind::kList:
      return join_lists(frame, left, right);
    default:
      return add_text(frame, left, right);
  }
}

Value subtract_instants(const Value& left, const Value& right) {
  std::int64_t seconds = 0;
  std::int64_t nanoseconds = 0;
  const std::int64_t rest =
      static_cast<std::int64_t>(left.extent()) - static_cast<std::int64_t>(right.extent());
  if (__builtin_sub_overflow(left.as_int(), right.as_int(), &seconds) ||
      __builtin_mul_overflow(seconds, kSecond, &nanoseconds) ||
      __builtin_add_overflow(nanoseconds, rest, &nanoseconds)) {
    return int_overflow();
  }
  return Value::duration(nanoseconds);
}

Value subtract_time(const Value& left, const Value& right) {
  if (left.is(Kind::kTimestamp) && right.is(Kind::kTimestamp))
    return subtract_instants(left, right);
  if (!right.is(Kind::kDuration)) return Frame::no_overload();
  if (left.is(Kind::kTimestamp)) {
    return shifted(left, -(right.as_int() / kSecond), -(right.as_int() % kSecond));
  }
  std::int64_t difference = 0;
  if (__builtin_sub_overflow(left.as_int(), right.as_int(), &difference)) {
    return overflow("duration overflow");
  }
  return Value::duration(difference);
}

Value subtract(Frame&, Args args) {
  const Value& left = args[0];
  const Value& right = args[1];
  if (left.is(Kind::kDuration) || left.is(Kind::kTimestamp)) return subtract_time(left, right);
  if (left.kind() != right.kind()) return Frame::no_overload();
  if (left.is(Kind::kDouble)) return Value::real(left.as_double() - right.as_double());
  if (left.is(Kind::kInt)) {
    std::int64_t difference = 0;
    if (__builtin_sub_overflow(left.as_int(), right.as_int(), &difference)) return int_overflow();
    return Value::integer(difference);
  }
  if (left.as_uint() < right.as_uint()) return uint_overflow();
  return Value::unsigned_integer(left.as_uint() - right.as_uint());
}

Value multiply(Frame&, Args args) {
  const Value& left = args[0];
  const Value& right = args[1];
  if (left.kind() != right.kind()) return Frame::no_overload();
  if (left.is(Kind::kDouble)) return Value::real(left.as_double() * right.as_double());
  if (left.is(Kind::kInt)) {
    std::int64_t product = 0;
    if (__builtin_mul_overflow(left.as_int(), right.as_int(), &product)) return int_overflow();
    return Value::integer(product);
  }
  std::uint64_t product = 0;
  if (__builtin_mul_overflow(left.as_uint(), right.as_uint(), &product)) return uint_overflow();
  return Value::unsigned_integer(product);
}

Value divide(Frame&, Args args) {
  const Value& left = args[0];
  const Value& right = args[1];
  if (left.kind() != right.kind()) return Frame::no_overload();
  if (left.is(Kind::kDouble)) return Value::real(left.as_double() / right.as_double());
  if (right.as_uint() == 0) return Value::error("division by zero");
  if (left.is(Kind::kUint)) return Value::unsigned_integer(left.as_uint() / right.as_uint());
  if (left.as_int() == INT64_MIN && right.as_int() == -1) return int_overflow();
  return Value::integer(left.as_int() / right.as_int());
}

Value modulo(Frame&, Args args) {
  const Value& left = args[0];
  const Value& right = args[1];
  if (left.kind() != right.kind()) return Frame::no_overload();
  if (right.as_uint() == 0) return Value::error("modulus by zero");
  if (left.is(Kind::kUint)) return Value::unsigned_integer(left.as_uint() % right.as_uint());
  if (left.as_int() == INT64_MIN && right.as_int() == -1) return int_overflow();
  return Value::integer(left.as_int() % right.as_int());
}

Value negate(Frame&, Args args) {
  const Value& value = args[0];
  if (value.is(Kind::kDouble)) return Value::real(-value.as_double());
  if (value.is(Kind::kBool)) return Frame::no_overload();
  const bool is_duration = value.is(Kind::kDuration);
  if (value.as_int() == INT64_MIN) {
    return is_duration ? overflow("duration overflow") : int_overflow();
  }
  return is_duration ? Value::duration(-value.as_int()) : Value::integer(-value.as_int());
}

Value logical_not(Frame&, Args args) {
  return args[0].is(Kind::kBool) ? Value::boolean(!args[0].as_bool()) : Frame::no_overload();
}

Value not_strictly_false(Frame&, Args args) {
  return args[0].is(Kind::kBool) ? args[0] : Value::boolean(true);
}

template <bool kLess, bool kEqual>
Value ordered(Frame& frame, Args args) {
  const Value order = compare(frame, args[0], args[1]);
  if (order.is_error()) return order;
  if (order.as_int() == 0) return Value::boolean(kEqual);
  return Value::boolean((order.as_int() < 0) == kLess);
}

Value equals(Frame& frame, Args args) {
  return equal(frame, args[0], args[1]);
}

Value not_equals(Frame& frame, Args args) {
  const Value same = equal(frame, args[0], args[1]);
  return frame.is_cancelled ? same : Value::boolean(!same.is_true());
}

Value is_in(Frame& frame, Args args) {
  if (args[1].is(Kind::kMap)) {
    return Value::boolean(map_find_entry(args[1].as<MapObject>(), args[0]) != nullptr);
  }
  if (!args[1].is(Kind::kList)) return Frame::no_overload();
  // The element asks, not the list; an error is no match.
  for (std::int64_t i = 0; i < list_size(args[1]); ++i) {
    if (!frame.spend(1)) return Frame::cancelled();
    if (equal_by_left(frame, args[0], list_item(args[1], i)).is_true()) return Value::boolean(true);
  }
  return Value::boolean(false);
}

Value size(Frame&, Args args) {
  return Value::integer(static_cast<std::int64_t>(size_of(args[0])));
}

Value type_of(Frame&, Args args) {
  return Value::text(Kind::kType, type_name(args[0]));
}
Value same(Frame&, Args args) {
  return args[0];
}

Value matches(Frame& frame, Args args) {
  if (!args[0].is(Kind::kString) || !args[1].is(Kind::kString)) return Frame::no_overload();
  const std::string_view text = args[0].as_text();
  CompiledRegex made;
  const Regex* regex = frame.regex;
  if (regex == nullptr) {
    made = compile_regex(args[1].as_text());
    if (!frame.spend(made.work)) return Frame::cancelled();
    if (made.regex == nullptr) return frame.fail(made.error);
    regex = made.regex.get();
  }
  if (!frame.spend(regex->work_on(text.size()))) return Frame::cancelled();
  return Value::boolean(regex->is_in(text));
}

Value sort(Frame& frame, Args args) {
  return sorted_by_keys(frame, args[0], args[0]);
}
Value sort_by(Frame& frame, Args args) {
  return sorted_by_keys(frame, args[0], args[1]);
}

bool any(const Value&) {
  return true;
}
bool is_list(const Value& v) {
  return v.is(Kind::kList);
}
bool adds(const Value& v) {
  return is_number(v) || v.is(Kind::kString) || v.is(Kind::kBytes) || v.is(Kind::kList) ||
         v.is(Kind::kDuration) || v.is(Kind::kTimestamp);
}
bool subtracts(const Value& v) {
  return is_number(v) || v.is(Kind::kDuration) || v.is(Kind::kTimestamp);
}
bool divides(const Value& v) {
  return is_number(v);
}
bool has_remainder(const Value& v) {
  return v.is(Kind::kInt) || v.is(Kind::kUint);
}
bool negates(const Value& v) {
  return v.is(Kind::kBool) || v.is(Kind::kInt) || v.is(Kind::kDouble) || v.is(Kind::kDuration);
}
bool has_size(const Value& v) {
  return v.is(Kind::kString) || v.is(Kind::kBytes) || v.is(Kind::kList) || v.is(Kind::kMap);
}
bool is_text(const Value& v) {
  return v.is(Kind::kString);
}

constexpr std::array kOperators = std::to_array<Operator>({
    {"_+_", add, adds},
    {"_-_", subtract, subtracts},
    {"_*_", multiply, divides},
    {"_/_", divide, divides},
    {"_%_", modulo, has_remainder},
    {"-_", negate, negates},
    {"!_", logical_not, any},
    {"@not_strictly_false", not_strictly_false, any},
    {"_<_", ordered<true, false>, has_order},
    {"_<=_", ordered<true, true>, has_order},
    {"_>_", ordered<false, false>, has_order},
    {"_>=_", ordered<false, true>, has_order},
    {"_==_", equals, any},
    {"_!=_", not_equals, any},
    {"@in", is_in, any},
    {"size", size, has_size},
    {"type", type_of, any},
    {"dyn", same, any},
    {"matches", matches, is_text},
    {"sort", sort, is_list},
    {"@sortByAssociatedKeys", sort_by, is_list},
});

}  // namespace

const Operator* find_operator(std::string_view function) {
  const auto found = std::ranges::find(kOperators, function, &Operator::function);
  return found == kOperators.end() ? nullptr : &*found;
}

}  // namespace gang::cel
