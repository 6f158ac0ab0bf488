#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <string>
#include <system_error>

#include "cel/civil_time.h"
#include "cel/functions.h"
#include "cel/network.h"
#include "cel/number_text.h"
#include "cel/text_of.h"
#include "cel/type_names.h"
#include "cel/utf8.h"

namespace gang::cel {
namespace {

using Args = std::span<const Value>;

Value unconvertible(Frame& frame, const Value& from, const char* to) {
  return frame.fail("type conversion error from '" + std::string(type_name(from)) + "' to '" + to +
                    "'");
}

Value same(Frame&, Args args) {
  return args[0];
}

Value bool_of_text(Frame& frame, Args args) {
  const std::string_view text = args[0].as_text();
  for (const std::string_view yes : {"1", "t", "T", "TRUE", "true", "True"}) {
    if (text == yes) return Value::boolean(true);
  }
  for (const std::string_view no : {"0", "f", "F", "FALSE", "false", "False"}) {
    if (text == no) return Value::boolean(false);
  }
  return unconvertible(frame, args[0], "bool");
}

Value bytes_of_text(Frame&, Args args) {
  return Value::text(Kind::kBytes, args[0].as_text());
}

Value double_of_int(Frame&, Args args) {
  return Value::real(static_cast<double>(args[0].as_int()));
}
Value double_of_uint(Frame&, Args args) {
  return Value::real(static_cast<double>(args[0].as_uint()));
}
Value double_of_text(Frame& frame, Args args) {
  if (!frame.spend(args[0].extent() / 16)) return Frame::cancelled();
  const std::optional<double> value = parse_double(args[0].as_text());
  return value ? Value::real(*value) : unconvertible(frame, args[0], "double");
}

Value int_of_double(Frame&, Args args) {
  const double value = args[0].as_double();
  const bool fits = value > -0x1p63 && value < 0x1p63;
  return fits ? Value::integer(static_cast<std::int64_t>(value)) : Value::error("integer overflow");
}
Value int_of_uint(Frame&, Args args) {
  const std::uint64_t value = args[0].as_uint();
  return value <= INT64_MAX ? Value::integer(static_cast<std::int64_t>(value))
                            : Value::error("integer overflow");
}
Value int_of_time(Frame&, Args args) {
  return Value::integer(args[0].as_int());
}

template <class T>
std::optional<T> parse_whole(std::string_view text) {
  // Go takes a leading plus for signed numbers only.
  if (std::is_signed_v<T> && text.starts_with('+')) {
    text.remove_prefix(1);
    if (text.starts_with('-')) return std::nullopt;
  }
  T value{};
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failure != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

Value int_of_text(Frame& frame, Args args) {
  const std::optional<std::int64_t> value = parse_whole<std::int64_t>(args[0].as_text());
  return value ? Value::integer(*value) : unconvertible(frame, args[0], "int");
}

Value uint_of_double(Frame&, Args args) {
  const double value = args[0].as_double();
  const bool fits = value >= 0 && value < 0x1p64;
  return fits ? Value::unsigned_integer(static_cast<std::uint64_t>(value))
              : Value::error("unsigned integer overflow");
}
Value uint_of_int(Frame&, Args args) {
  return args[0].as_int() >= 0 ? Value::unsigned_integer(args[0].as_uint())
                               : Value::error("unsigned integer overflow");
}
Value uint_of_text(Frame& frame, Args args) {
  const std::optional<std::uint64_t> value = parse_whole<std::uint64_t>(args[0].as_text());
  return value ? Value::unsigned_integer(*value) : unconvertible(frame, args[0], "uint");
}

Value text_of_value(Frame& frame, Args args) {
  return frame.string(text_of(args[0]));
}
Value text_of_bytes(Frame& frame, Args args) {
  if (!frame.spend(args[0].extent() / 16)) return Frame::cancelled();
  if (!is_utf8(args[0].as_text())) {
    return Value::error("invalid UTF-8 in bytes, cannot convert to string");
  }
  return Value::string(args[0].as_text());
}
Value text_of_ip(Frame& frame, Args args) {
  return frame.string(ip_text(args[0].as<IpObject>()));
}
Value text_of_cidr(Frame& frame, Args args) {
  return frame.string(cidr_text(args[0].as<CidrObject>()));
}

Value duration_of_text(Frame& frame, Args args) {
  const std::optional<std::int64_t> value = parse_duration(args[0].as_text());
  return value ? Value::duration(*value)
               : unconvertible(frame, args[0], "google.protobuf.Duration");
}
Value timestamp_of_text(Frame& frame, Args args) {
  const std::optional<Value> value = parse_timestamp(args[0].as_text());
  return value ? *value : unconvertible(frame, args[0], "google.protobuf.Timestamp");
}
Value timestamp_of_int(Frame&, Args args) {
  const std::int64_t seconds = args[0].as_int();
  const bool fits = seconds >= kUnixSecondsMin && seconds <= kUnixSecondsMax;
  return fits ? Value::timestamp(seconds, 0) : Value::error("timestamp overflow");
}

constexpr std::array kBuiltins = std::to_array<NamedBuiltin>({
    {"bool_to_bool", same},
    {"string_to_bool", bool_of_text},
    {"bytes_to_bytes", same},
    {"string_to_bytes", bytes_of_text},
    {"double_to_double", same},
    {"int64_to_double", double_of_int},
    {"uint64_to_double", double_of_uint},
    {"string_to_double", double_of_text},
    {"duration_to_duration", same},
    {"string_to_duration", duration_of_text},
    {"int64_to_int64", same},
    {"double_to_int64", int_of_double},
    {"duration_to_int64", int_of_time},
    {"string_to_int64", int_of_text},
    {"timestamp_to_int64", int_of_time},
    {"uint64_to_int64", int_of_uint},
    {"string_to_string", same},
    {"bool_to_string", text_of_value},
    {"bytes_to_string", text_of_bytes},
    {"double_to_string", text_of_value},
    {"duration_to_string", text_of_value},
    {"int64_to_string", text_of_value},
    {"timestamp_to_string", text_of_value},
    {"uint64_to_string", text_of_value},
    {"ip_to_string", text_of_ip},
    {"cidr_to_string", text_of_cidr},
    {"timestamp_to_timestamp", same},
    {"int64_to_timestamp", timestamp_of_int},
    {"string_to_timestamp", timestamp_of_text},
    {"uint64_to_uint64", same},
    {"double_to_uint64", uint_of_double},
    {"int64_to_uint64", uint_of_int},
    {"string_to_uint64", uint_of_text},
});

}  // namespace

std::span<const NamedBuiltin> conversion_builtins() {
  return kBuiltins;
}

}  // namespace gang::cel
