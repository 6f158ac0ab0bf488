// Code points in UTF-8 text. What is not valid reads as one U+FFFD a byte.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace gang::cel {

constexpr char32_t kReplacement = 0xFFFD;

/// One code point and how many bytes it takes; valid is false where the byte starts none.
struct CodePoint {
  char32_t value = kReplacement;
  std::uint32_t size = 1;
  bool valid = false;
};

/// REQUIRES: text is not empty.
[[nodiscard]] CodePoint decode(std::string_view text);
/// Appends; what is no code point becomes U+FFFD.
void encode(char32_t value, std::string& to);
/// How many code points.
[[nodiscard]] std::uint64_t code_point_count(std::string_view text);
[[nodiscard]] bool is_utf8(std::string_view text);
/// The text with every invalid byte replaced.
[[nodiscard]] std::string repaired(std::string_view text);
/// Byte offset of code point `index`, the size of the text where it has fewer.
[[nodiscard]] std::size_t offset_of(std::string_view text, std::uint64_t index);

}  // namespace gang::cel
