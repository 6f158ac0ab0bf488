#include "cel/utf8.h"

#include <algorithm>

namespace gang::cel {
namespace {

bool is_tail(char c) {
  return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U;
}

bool is_code_point(char32_t value) {
  return value <= 0x10FFFF && (value < 0xD800 || value > 0xDFFF);
}

bool is_ascii(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x80U; });
}

}  // namespace

CodePoint decode(std::string_view text) {
  const auto first = static_cast<unsigned char>(text[0]);
  if (first < 0x80) return {first, 1, true};
  std::uint32_t size = 0;
  char32_t value = 0;
  char32_t least = 0;
  if ((first & 0xE0U) == 0xC0U) {
    size = 2, value = first & 0x1FU, least = 0x80;
  } else if ((first & 0xF0U) == 0xE0U) {
    size = 3, value = first & 0x0FU, least = 0x800;
  } else if ((first & 0xF8U) == 0xF0U) {
    size = 4, value = first & 0x07U, least = 0x10000;
  }
  if (size == 0 || text.size() < size) return {};
  for (std::uint32_t i = 1; i < size; ++i) {
    if (!is_tail(text[i])) return {};
    value = (value << 6U) | (static_cast<unsigned char>(text[i]) & 0x3FU);
  }
  if (value < least || !is_code_point(value)) return {};
  return {value, size, true};
}

void encode(char32_t value, std::string& to) {
  if (!is_code_point(value)) value = kReplacement;
  if (value < 0x80) {
    to += static_cast<char>(value);
    return;
  }
  const int tails = value < 0x800 ? 1 : value < 0x10000 ? 2 : 3;
  constexpr unsigned char kLead[] = {0, 0xC0, 0xE0, 0xF0};
  to += static_cast<char>(kLead[tails] | (value >> (6 * tails)));
  for (int i = tails - 1; i >= 0; --i) to += static_cast<char>(0x80 | ((value >> (6 * i)) & 0x3F));
}

std::uint64_t code_point_count(std::string_view text) {
  if (is_ascii(text)) return text.size();
  std::uint64_t count = 0;
  for (std::size_t at = 0; at < text.size(); at += decode(text.substr(at)).size) ++count;
  return count;
}

bool is_utf8(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint point = decode(text.substr(at));
    if (!point.valid) return false;
    at += point.size;
  }
  return true;
}

std::string repaired(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint point = decode(text.substr(at));
    encode(point.value, out);
    at += point.size;
  }
  return out;
}

std::size_t offset_of(std::string_view text, std::uint64_t index) {
  if (is_ascii(text)) return std::min<std::uint64_t>(index, text.size());
  std::size_t at = 0;
  for (; index > 0 && at < text.size(); --index) at += decode(text.substr(at)).size;
  return at;
}

}  // namespace gang::cel
