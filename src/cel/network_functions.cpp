#include <algorithm>
#include <array>
#include <optional>
#include <string>

#include "cel/functions.h"
#include "cel/network.h"

namespace gang::cel {
namespace {

using Args = std::span<const Value>;

const IpObject& ip(const Value& value) {
  return value.as<IpObject>();
}
const CidrObject& cidr(const Value& value) {
  return value.as<CidrObject>();
}

Value make_ip(Frame& frame, const IpObject& made) {
  return Value::object(Kind::kIp, frame.arena.make<IpObject>(made));
}
Value make_cidr(Frame& frame, const CidrObject& made) {
  return Value::object(Kind::kCidr, frame.arena.make<CidrObject>(made));
}

Value to_ip(Frame& frame, Args args) {
  std::string why;
  const std::optional<IpObject> read = parse_ip(args[0].as_text(), why);
  return read ? make_ip(frame, *read) : frame.fail(why);
}
Value is_ip(Frame&, Args args) {
  std::string why;
  return Value::boolean(parse_ip(args[0].as_text(), why).has_value());
}
Value is_canonical(Frame& frame, Args args) {
  std::string why;
  const std::optional<IpObject> read = parse_ip(args[0].as_text(), why);
  return read ? Value::boolean(ip_text(*read) == args[0].as_text()) : frame.fail(why);
}
Value family(Frame&, Args args) {
  return Value::integer(ip(args[0]).size == 4 ? 4 : 6);
}

bool is_zero(const IpObject& address, std::size_t count) {
  return std::all_of(address.bytes.begin(),
                     address.bytes.begin() + static_cast<std::ptrdiff_t>(count),
                     [](std::uint8_t b) { return b == 0; });
}
bool unspecified(const IpObject& a) {
  return is_zero(a, a.size);
}
bool loopback(const IpObject& a) {
  return a.size == 4 ? a.bytes[0] == 127 : is_zero(a, 15) && a.bytes[15] == 1;
}
bool multicast(const IpObject& a) {
  return a.size == 4 ? (a.bytes[0] & 0xF0U) == 0xE0U : a.bytes[0] == 0xFF;
}
bool link_local_multicast(const IpObject& a) {
  if (a.size == 4) return a.bytes[0] == 224 && a.bytes[1] == 0 && a.bytes[2] == 0;
  return a.bytes[0] == 0xFF && (a.bytes[1] & 0x0FU) == 0x02;
}
bool link_local_unicast(const IpObject& a) {
  if (a.size == 4) return a.bytes[0] == 169 && a.bytes[1] == 254;
  return a.bytes[0] == 0xFE && (a.bytes[1] & 0xC0U) == 0x80U;
}
bool global_unicast(const IpObject& a) {
  const bool broadcast = a.size == 4 && std::all_of(a.bytes.begin(), a.bytes.begin() + 4,
                                                    [](std::uint8_t b) { return b == 255; });
  return !broadcast && !unspecified(a) && !loopback(a) && !multicast(a) && !link_local_unicast(a);
}

template <bool (*kTest)(const IpObject&)>
Value test(Frame&, Args args) {
  return Value::boolean(kTest(ip(args[0])));
}

Value to_cidr(Frame& frame, Args args) {
  std::string why;
  const std::optional<CidrObject> read = parse_cidr(args[0].as_text(), why);
  return read ? make_cidr(frame, *read) : frame.fail(why);
}
Value is_cidr(Frame&, Args args) {
  std::string why;
  return Value::boolean(parse_cidr(args[0].as_text(), why).has_value());
}
Value contains(Frame&, Args args) {
  return Value::boolean(contains_ip(cidr(args[0]), ip(args[1])));
}
Value contains_text(Frame&, Args args) {
  std::string why;
  const std::optional<IpObject> read = parse_ip(args[1].as_text(), why);
  return read ? Value::boolean(contains_ip(cidr(args[0]), *read)) : Frame::no_overload();
}

bool covers(const CidrObject& outer, const CidrObject& inner) {
  return outer.prefix <= inner.prefix && contains_ip(outer, inner.ip);
}
Value contains_cidr(Frame&, Args args) {
  return Value::boolean(covers(cidr(args[0]), cidr(args[1])));
}
Value contains_cidr_text(Frame& frame, Args args) {
  std::string why;
  const std::optional<CidrObject> read = parse_cidr(args[1].as_text(), why);
  return read ? Value::boolean(covers(cidr(args[0]), *read)) : frame.fail(why);
}
Value ip_of(Frame& frame, Args args) {
  return make_ip(frame, cidr(args[0]).ip);
}
Value prefix_length(Frame&, Args args) {
  return Value::integer(cidr(args[0]).prefix);
}
Value mask(Frame& frame, Args args) {
  return make_cidr(frame, masked(cidr(args[0])));
}

constexpr std::array kBuiltins = std::to_array<NamedBuiltin>({
    {"string_to_ip", to_ip},
    {"is_ip", is_ip},
    {"ip_is_canonical", is_canonical},
    {"ip_family", family},
    {"ip_is_unspecified", test<unspecified>},
    {"ip_is_loopback", test<loopback>},
    {"ip_is_link_local_multicast", test<link_local_multicast>},
    {"ip_is_link_local_unicast", test<link_local_unicast>},
    {"ip_is_global_unicast", test<global_unicast>},
    {"string_to_cidr", to_cidr},
    {"is_cidr", is_cidr},
    {"cidr_contains_ip_string", contains_text},
    {"cidr_contains_ip_ip", contains},
    {"cidr_contains_cidr_string", contains_cidr_text},
    {"cidr_contains_cidr", contains_cidr},
    {"cidr_ip", ip_of},
    {"cidr_prefix_length", prefix_length},
    {"cidr_masked", mask},
});

}  // namespace

std::span<const NamedBuiltin> network_builtins() {
  return kBuiltins;
}

}  // namespace gang::cel
