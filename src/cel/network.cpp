#include "cel/network.h"

#include <algorithm>
#include <array>
#include <vector>

namespace gang::cel {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

int hex_digit(char c) {
  if (is_digit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

// Four numbers with dots, no leading zeros, into `bytes`.
bool parse_dotted(std::string_view text, std::uint8_t* bytes) {
  for (int field = 0; field < 4; ++field) {
    if (field > 0) {
      if (!text.starts_with('.')) return false;
      text.remove_prefix(1);
    }
    int value = 0;
    std::size_t digits = 0;
    while (digits < text.size() && is_digit(text[digits]) && digits < 3) {
      value = value * 10 + (text[digits] - '0');
      ++digits;
    }
    if (digits == 0 || value > 255 || (digits > 1 && text[0] == '0')) return false;
    bytes[field] = static_cast<std::uint8_t>(value);
    text.remove_prefix(digits);
  }
  return text.empty();
}

// Up to four hex digits.
bool take_group(std::string_view& text, std::uint32_t& value) {
  std::size_t digits = 0;
  value = 0;
  while (digits < text.size() && hex_digit(text[digits]) >= 0) {
    if (digits == 4) return false;
    value = value * 16 + static_cast<std::uint32_t>(hex_digit(text[digits]));
    ++digits;
  }
  text.remove_prefix(digits);
  return digits > 0;
}

bool parse_groups(std::string_view text, std::array<std::uint8_t, 16>& bytes) {
  int ellipsis = -1;
  int at = 0;
  if (text.starts_with("::")) {
    ellipsis = 0;
    text.remove_prefix(2);
  }
  while (at < 16 && !text.empty()) {
    const std::string_view before = text;
    std::uint32_t group = 0;
    if (!take_group(text, group)) return false;
    if (text.starts_with('.')) {
      if ((ellipsis < 0 && at != 12) || at + 4 > 16) return false;
      if (!parse_dotted(before, &bytes[static_cast<std::size_t>(at)])) return false;
      text = {};
      at += 4;
      break;
    }
    bytes[static_cast<std::size_t>(at)] = static_cast<std::uint8_t>(group >> 8U);
    bytes[static_cast<std::size_t>(at + 1)] = static_cast<std::uint8_t>(group & 0xFFU);
    at += 2;
    if (text.empty()) break;
    if (text[0] != ':' || text.size() == 1) return false;
    text.remove_prefix(1);
    if (!text.starts_with(':')) continue;
    if (ellipsis >= 0) return false;
    ellipsis = at;
    text.remove_prefix(1);
  }
  if (!text.empty()) return false;
  if (at == 16) return ellipsis < 0;
  if (ellipsis < 0) return false;
  const auto begin = bytes.begin() + ellipsis;
  std::rotate(begin, bytes.begin() + at, bytes.end());
  return true;
}

bool is_mapped(const IpObject& ip) {
  return ip.size == 16 && ip.bytes[10] == 0xFF && ip.bytes[11] == 0xFF &&
         std::all_of(ip.bytes.begin(), ip.bytes.begin() + 10,
                     [](std::uint8_t b) { return b == 0; });
}

std::string quoted(std::string_view text) {
  return "\"" + std::string(text) + "\"";
}

std::optional<IpObject> parse_address(std::string_view text) {
  IpObject ip;
  const std::size_t first = text.find_first_of(".:%");
  if (first == std::string_view::npos || text[first] == '%') return std::nullopt;
  if (text[first] == '.') {
    if (!parse_dotted(text, ip.bytes.data())) return std::nullopt;
    return ip;
  }
  ip.size = 16;
  if (!parse_groups(text, ip.bytes)) return std::nullopt;
  return ip;
}

std::string hex(unsigned value) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (int shift = 12; shift >= 0; shift -= 4) {
    const unsigned digit = (value >> static_cast<unsigned>(shift)) & 0xFU;
    if (digit != 0 || !text.empty() || shift == 0) text += kDigits[digit];
  }
  return text;
}

}  // namespace

std::optional<IpObject> parse_ip(std::string_view text, std::string& why) {
  const std::size_t zone = text.find('%');
  const bool zoned = zone != std::string_view::npos && zone + 1 < text.size() &&
                     text.substr(0, zone).find(':') != std::string_view::npos;
  const std::optional<IpObject> ip = parse_address(zoned ? text.substr(0, zone) : text);
  if (!ip) {
    why = "IP Address " + quoted(text) + " parse error during conversion from string";
  } else if (zoned) {
    why = "IP address " + quoted(text) + " with zone value is not allowed";
  } else if (is_mapped(*ip)) {
    why = "IPv4-mapped IPv6 address " + quoted(text) + " is not allowed";
  } else {
    return ip;
  }
  return std::nullopt;
}

std::optional<CidrObject> parse_cidr(std::string_view text, std::string& why) {
  const std::size_t slash = text.rfind('/');
  why = "network address parse error during conversion from string: " + quoted(text);
  if (slash == std::string_view::npos) return std::nullopt;
  const std::optional<IpObject> ip = parse_address(text.substr(0, slash));
  const std::string_view bits = text.substr(slash + 1);
  const bool plain = !bits.empty() && bits.size() <= 3 && std::ranges::all_of(bits, is_digit) &&
                     (bits.size() == 1 || bits[0] != '0');
  if (!ip || !plain) return std::nullopt;
  unsigned prefix = 0;
  for (const char c : bits) prefix = prefix * 10 + static_cast<unsigned>(c - '0');
  if (prefix > ip->size * 8U) return std::nullopt;
  if (is_mapped(*ip)) {
    why = "IPv4-mapped IPv6 address " + quoted(text) + " is not allowed";
    return std::nullopt;
  }
  return CidrObject{*ip, static_cast<std::uint8_t>(prefix)};
}

std::string ip_text(const IpObject& ip) {
  std::string text;
  if (ip.size == 4) {
    for (std::size_t i = 0; i < 4; ++i) text += (i > 0 ? "." : "") + std::to_string(ip.bytes[i]);
    return text;
  }
  std::array<unsigned, 8> groups{};
  for (std::size_t i = 0; i < 8; ++i) groups[i] = ip.bytes[2 * i] * 256U + ip.bytes[2 * i + 1];
  // The longest run of two or more zero groups becomes "::", the first one of equals.
  std::size_t zero_begin = 9;
  std::size_t zero_end = 9;
  for (std::size_t i = 0; i < 8; ++i) {
    std::size_t end = i;
    while (end < 8 && groups[end] == 0) ++end;
    if (end - i >= 2 && end - i > zero_end - zero_begin) zero_begin = i, zero_end = end;
  }
  for (std::size_t i = 0; i < 8; ++i) {
    if (i == zero_begin) {
      text += "::";
      i = zero_end;
      if (i >= 8) break;
    } else if (i > 0) {
      text += ":";
    }
    text += hex(groups[i]);
  }
  return text;
}

std::string cidr_text(const CidrObject& cidr) {
  return ip_text(cidr.ip) + "/" + std::to_string(cidr.prefix);
}

CidrObject masked(const CidrObject& cidr) {
  CidrObject network = cidr;
  for (unsigned i = 0; i < network.ip.size; ++i) {
    const unsigned kept = cidr.prefix > i * 8 ? std::min(8U, cidr.prefix - i * 8U) : 0U;
    network.ip.bytes[i] &= static_cast<std::uint8_t>(0xFF00U >> kept);
  }
  return network;
}

bool contains_ip(const CidrObject& cidr, const IpObject& ip) {
  if (ip.size != cidr.ip.size) return false;
  return masked({ip, cidr.prefix}).ip == masked(cidr).ip;
}

}  // namespace gang::cel
