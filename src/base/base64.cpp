#include "gang/base/base64.h"

#include <cstddef>
#include <cstdint>

namespace gang {
namespace {

constexpr std::string_view kAlphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// What one base64 character stands for; -1 for others.
int base64_value(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  if (c == '+') return 62;
  return c == '/' ? 63 : -1;
}

}  // namespace

std::string encode_base64(std::string_view bytes) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  std::uint32_t bits = 0;
  unsigned bit_count = 0;
  for (const char byte : bytes) {
    bits = ((bits << 8U) | static_cast<unsigned char>(byte)) & 0xFFFFU;
    for (bit_count += 8; bit_count >= 6; bit_count -= 6) {
      text += kAlphabet[(bits >> (bit_count - 6)) & 0x3FU];
    }
  }
  if (bit_count > 0) text += kAlphabet[(bits << (6 - bit_count)) & 0x3FU];
  text.append((4 - text.size() % 4) % 4, '=');
  return text;
}

Result<std::string> decode_base64(std::string_view text) {
  std::string out;
  std::uint32_t bits = 0;
  int bit_count = 0;
  std::size_t characters = 0;
  std::size_t padding = 0;
  for (const char c : text) {
    if (c == '\n' || c == '\r' || c == ' ' || c == '\t') continue;
    ++characters;
    if (c == '=') {
      ++padding;
      continue;
    }
    const int value = base64_value(c);
    if (value < 0 || padding > 0) return fail(Code::kInvalidArgument, "no base64");
    bits = ((bits << 6U) | static_cast<std::uint32_t>(value)) & 0xFFFFFFU;
    bit_count += 6;
    if (bit_count < 8) continue;
    bit_count -= 8;
    out.push_back(static_cast<char>((bits >> static_cast<unsigned>(bit_count)) & 0xFFU));
  }
  if (characters % 4 != 0 || padding > 2) return fail(Code::kInvalidArgument, "no base64");
  return out;
}

}  // namespace gang
