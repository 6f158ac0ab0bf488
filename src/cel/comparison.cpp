#include "cel/comparison.h"

#include <algorithm>
#include <cmath>
#include <compare>

#include "cel/amount.h"
#include "cel/lists.h"
#include "cel/maps.h"

namespace gang::cel {
namespace {

bool is_number(const Value& value) {
  return value.is(Kind::kInt) || value.is(Kind::kUint) || value.is(Kind::kDouble);
}

int sign(std::strong_ordering order) {
  return order < 0 ? -1 : order > 0 ? 1 : 0;
}
int order(double a, double b) {
  return a < b ? -1 : a > b ? 1 : 0;
}

int order_int_uint(std::int64_t a, std::uint64_t b) {
  if (a < 0 || b > static_cast<std::uint64_t>(INT64_MAX)) return -1;
  return sign(a <=> static_cast<std::int64_t>(b));
}

int order_double_int(double a, std::int64_t b) {
  if (a < -0x1p63) return -1;
  return a > 0x1p63 ? 1 : order(a, static_cast<double>(b));
}

int order_double_uint(double a, std::uint64_t b) {
  if (a < 0) return -1;
  return a > 0x1p64 ? 1 : order(a, static_cast<double>(b));
}

// REQUIRES: both are numbers, none is NaN.
int order_numbers(const Value& a, const Value& b) {
  switch (a.kind()) {
    case Kind::kInt:
      if (b.is(Kind::kInt)) return sign(a.as_int() <=> b.as_int());
      if (b.is(Kind::kUint)) return order_int_uint(a.as_int(), b.as_uint());
      return -order_double_int(b.as_double(), a.as_int());
    case Kind::kUint:
      if (b.is(Kind::kUint)) return sign(a.as_uint() <=> b.as_uint());
      if (b.is(Kind::kInt)) return -order_int_uint(b.as_int(), a.as_uint());
      return -order_double_uint(b.as_double(), a.as_uint());
    default:
      if (b.is(Kind::kInt)) return order_double_int(a.as_double(), b.as_int());
      if (b.is(Kind::kUint)) return order_double_uint(a.as_double(), b.as_uint());
      return order(a.as_double(), b.as_double());
  }
}

bool is_nan(const Value& value) {
  return value.is(Kind::kDouble) && std::isnan(value.as_double());
}

Value equal_numbers(const Value& a, const Value& b) {
  if (!is_number(b) || is_nan(a) || is_nan(b)) return Value::boolean(false);
  return Value::boolean(order_numbers(a, b) == 0);
}

Value equal_lists(Frame& frame, const Value& a, const Value& b) {
  if (!b.is(Kind::kList) || list_size(a) != list_size(b)) return Value::boolean(false);
  const bool keeps_errors = a.as<ListObject>().left != nullptr;  // only joined lists do, upstream
  const std::uint64_t work = 2 + a.as<ListObject>().depth + b.as<ListObject>().depth;
  Value error;
  for (std::int64_t i = 0; i < list_size(a); ++i) {
    if (!frame.spend(work)) return Frame::cancelled();
    const Value same = equal(frame, list_item(a, i), list_item(b, i));
    if (same.is_false()) return same;
    if (same.is_error() && !error.is_error()) error = same;
  }
  return keeps_errors && error.is_error() ? error : Value::boolean(true);
}

Value equal_maps(Frame& frame, const Value& a, const Value& b) {
  if (!b.is(Kind::kMap) || map_size(a) != map_size(b)) return Value::boolean(false);
  const MapObject& left = a.as<MapObject>();
  for (std::int64_t i = 0; i < left.size; ++i) {
    if (!frame.spend(3)) return Frame::cancelled();
    const Value* other = map_find(b.as<MapObject>(), left.entries[i].key);
    if (other == nullptr) return Value::boolean(false);
    if (equal(frame, left.entries[i].value, *other).is_false()) return Value::boolean(false);
  }
  return Value::boolean(true);
}

Value equal_optionals(Frame& frame, const Value& a, const Value& b) {
  if (!b.is(Kind::kOptional)) return Value::boolean(false);
  if (a.address() == nullptr || b.address() == nullptr) {
    return Value::boolean(a.address() == b.address());
  }
  if (!frame.spend(1)) return Frame::cancelled();
  return equal_by_left(frame, a.as<Value>(), b.as<Value>());
}

// Kinds of Kubernetes: comparing them with anything else is an error.
Value equal_objects(Frame& frame, const Value& a, const Value& b) {
  const bool comparable = a.kind() == b.kind() && !(b.is(Kind::kQuantity) && b.extent() != 0);
  if (!comparable) return b.is_error() ? b : Frame::no_overload();
  switch (a.kind()) {
    case Kind::kQuantity:
      return Value::boolean(a.as<Amount>().exact == b.as<Amount>().exact);
    case Kind::kSemver:
      return Value::boolean(compare_semver(frame, a.as<SemverObject>(), b.as<SemverObject>()) == 0);
    case Kind::kIp:
      return Value::boolean(a.as<IpObject>() == b.as<IpObject>());
    case Kind::kCidr:
      return Value::boolean(a.as<CidrObject>() == b.as<CidrObject>());
    case Kind::kUrl:
      return Value::boolean(a.as<UrlObject>().text == b.as<UrlObject>().text);
    default:
      return Value::boolean(a.address() == b.address());
  }
}

Value compare_instants(const Value& a, const Value& b) {
  const int seconds = sign(a.as_int() <=> b.as_int());
  return Value::integer(seconds != 0 ? seconds : sign(a.extent() <=> b.extent()));
}

int compare_identifiers(std::string_view a, std::string_view b) {
  const auto is_numeric = [](std::string_view text) {
    return std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
  };
  const bool a_numeric = is_numeric(a);
  if (a_numeric != is_numeric(b)) return a_numeric ? -1 : 1;
  if (a_numeric && a.size() != b.size()) return a.size() < b.size() ? -1 : 1;
  return sign(a <=> b);
}

std::string_view take_identifier(std::string_view& rest) {
  const std::size_t dot = std::min(rest.find('.'), rest.size());
  const std::string_view identifier = rest.substr(0, dot);
  rest.remove_prefix(std::min(dot + 1, rest.size()));
  return identifier;
}

}  // namespace

Value equal(Frame& frame, const Value& left, const Value& right) {
  if (left.is(Kind::kNull) || right.is(Kind::kNull)) {
    return Value::boolean(left.kind() == right.kind());
  }
  return equal_by_left(frame, left, right);
}

Value equal_by_left(Frame& frame, const Value& a, const Value& b) {
  switch (a.kind()) {
    case Kind::kError:
      return a;
    case Kind::kNull:
      return Value::boolean(b.is(Kind::kNull));
    case Kind::kBool:
      return Value::boolean(b.is(Kind::kBool) && a.as_bool() == b.as_bool());
    case Kind::kInt:
    case Kind::kUint:
    case Kind::kDouble:
      return equal_numbers(a, b);
    case Kind::kString:
    case Kind::kBytes:
    case Kind::kType:
      return Value::boolean(a.kind() == b.kind() && a.as_text() == b.as_text());
    case Kind::kDuration:
      return Value::boolean(b.is(Kind::kDuration) && a.as_int() == b.as_int());
    case Kind::kTimestamp:
      return Value::boolean(b.is(Kind::kTimestamp) && a.as_int() == b.as_int() &&
                            a.extent() == b.extent());
    case Kind::kList:
      return equal_lists(frame, a, b);
    case Kind::kMap:
      return equal_maps(frame, a, b);
    case Kind::kOptional:
      return equal_optionals(frame, a, b);
    default:
      return equal_objects(frame, a, b);
  }
}

bool has_order(const Value& value) {
  switch (value.kind()) {
    case Kind::kBool:
    case Kind::kInt:
    case Kind::kUint:
    case Kind::kDouble:
    case Kind::kString:
    case Kind::kBytes:
    case Kind::kDuration:
    case Kind::kTimestamp:
      return true;
    default:
      return false;
  }
}

Value compare(Frame& frame, const Value& a, const Value& b) {
  if (is_number(a)) {
    if (is_nan(a) || is_nan(b)) return Value::error("NaN values cannot be ordered");
    if (!is_number(b)) return b.is_error() ? b : Frame::no_overload();
    return Value::integer(order_numbers(a, b));
  }
  if (a.kind() != b.kind()) return b.is_error() ? b : Frame::no_overload();
  switch (a.kind()) {
    case Kind::kBool:
      return Value::integer(sign(a.as_int() <=> b.as_int()));
    case Kind::kDuration:
      return Value::integer(sign(a.as_int() <=> b.as_int()));
    case Kind::kTimestamp:
      return compare_instants(a, b);
    default:
      if (!frame.spend(a.extent() / 64)) return Frame::cancelled();
      return Value::integer(sign(a.as_text() <=> b.as_text()));
  }
}

int compare_semver(Frame& frame, const SemverObject& a, const SemverObject& b) {
  if (const int c = sign(a.major <=> b.major); c != 0) return c;
  if (const int c = sign(a.minor <=> b.minor); c != 0) return c;
  if (const int c = sign(a.patch <=> b.patch); c != 0) return c;
  if (a.prerelease.empty() || b.prerelease.empty()) {
    return static_cast<int>(a.prerelease.empty()) - static_cast<int>(b.prerelease.empty());
  }
  if (!frame.spend(1 + std::min(a.prerelease.size(), b.prerelease.size()) / 4)) return 0;
  std::string_view left = a.prerelease;
  std::string_view right = b.prerelease;
  while (!left.empty() && !right.empty()) {
    const std::string_view l = take_identifier(left);
    const std::string_view r = take_identifier(right);
    if (const int c = compare_identifiers(l, r); c != 0) return c;
  }
  return static_cast<int>(!left.empty()) - static_cast<int>(!right.empty());
}

}  // namespace gang::cel
