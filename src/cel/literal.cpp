#include "cel/literal.h"

#include <charconv>
#include <system_error>

#include "cel/utf8.h"

namespace gang::cel {
namespace {

template <class T>
std::optional<T> parsed(std::string_view text, int base) {
  T value{};
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (failure != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

char plain_escape(char c) {
  constexpr std::string_view kNames = "abfnrtv";
  constexpr std::string_view kValues = "\a\b\f\n\r\t\v";
  const std::size_t at = kNames.find(c);
  return at == std::string_view::npos ? c : kValues[at];  // \ ' " ` ? stand for themselves
}

std::string with_plain_newlines(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\r') {
      out += '\n';
      if (i + 1 < text.size() && text[i + 1] == '\n') ++i;
    } else {
      out += text[i];
    }
  }
  return out;
}

std::string_view without_quotes(std::string_view text) {
  const std::size_t quote = text.size() >= 6 && text[1] == text[0] && text[2] == text[0] ? 3 : 1;
  return text.substr(quote, text.size() - 2 * quote);
}

// Reads one escape at the front of `text`, which the lexer has checked; false: no such code point.
bool take_escape(std::string_view& text, bool is_bytes, std::string& out) {
  const char c = text[1];
  std::size_t from = 2;
  std::size_t digits = c == 'x' || c == 'X' ? 2 : c == 'u' ? 4 : c == 'U' ? 8 : 0;
  int base = 16;
  if (c >= '0' && c <= '3') from = 1, digits = 3, base = 8;
  if (digits == 0) {
    out += plain_escape(c);
    text.remove_prefix(2);
    return true;
  }
  if (is_bytes && (c == 'u' || c == 'U')) return false;
  const std::optional<std::uint32_t> value = parsed<std::uint32_t>(text.substr(from, digits), base);
  text.remove_prefix(from + digits);
  if (!value) return false;
  if (is_bytes) {
    out += static_cast<char>(*value);
    return true;
  }
  if (*value > 0x10FFFF || (*value >= 0xD800 && *value <= 0xDFFF)) return false;
  encode(*value, out);
  return true;
}

}  // namespace

std::optional<std::int64_t> int_literal(std::string_view text, bool negative) {
  const bool hex = text.starts_with("0x");
  const std::string digits = (negative ? "-" : "") + std::string(hex ? text.substr(2) : text);
  return parsed<std::int64_t>(digits, hex ? 16 : 10);
}

std::optional<std::uint64_t> uint_literal(std::string_view text) {
  text.remove_suffix(1);
  const bool hex = text.starts_with("0x");
  return parsed<std::uint64_t>(hex ? text.substr(2) : text, hex ? 16 : 10);
}

std::optional<double> double_literal(std::string_view text) {
  double value = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (end != text.data() + text.size()) return std::nullopt;
  if (failure == std::errc()) return value;
  // Out of range: too small reads as zero, too large is refused.
  const std::size_t exponent = text.find_first_of("eE");
  const bool tiny =
      exponent != std::string_view::npos && text.substr(exponent + 1).starts_with("-");
  return tiny ? std::optional<double>(0.0) : std::nullopt;
}

std::optional<std::string> unescape(std::string_view literal, bool is_bytes) {
  const std::string normal = with_plain_newlines(literal);
  std::string_view text = normal;
  const bool raw = text[0] == 'r' || text[0] == 'R';
  if (raw) text.remove_prefix(1);
  text = without_quotes(text);
  if (raw) return std::string(text);
  std::string out;
  while (!text.empty()) {
    if (text[0] != '\\') {
      out += text[0];
      text.remove_prefix(1);
    } else if (!take_escape(text, is_bytes, out)) {
      return std::nullopt;
    }
  }
  return out;
}

}  // namespace gang::cel
