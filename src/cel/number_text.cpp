#include "cel/number_text.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <string>
#include <system_error>

namespace gang::cel {
namespace {

std::string lower(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  });
  return out;
}

std::optional<double> parse_digits(std::string_view text, std::chars_format format) {
  double value = 0;
  const auto [end, failure] =
      std::from_chars(text.data(), text.data() + text.size(), value, format);
  if (end != text.data() + text.size()) return std::nullopt;
  if (failure == std::errc()) return value;
  const std::size_t exponent = text.find_first_of("eEpP");
  const bool tiny =
      exponent != std::string_view::npos && text.substr(exponent + 1).starts_with('-');
  const bool fraction_only =
      exponent == std::string_view::npos && (text[0] == '0' || text[0] == '.');
  return tiny || fraction_only ? std::optional<double>(0.0) : std::nullopt;
}

std::optional<double> parse_unsigned(std::string_view text) {
  const std::string plain = lower(text);
  if (plain == "inf" || plain == "infinity") return std::numeric_limits<double>::infinity();
  if (plain == "nan") return std::numeric_limits<double>::quiet_NaN();
  if (plain.starts_with("0x")) {
    const std::string_view digits = std::string_view(plain).substr(2);
    if (digits.find('p') == std::string_view::npos) return std::nullopt;
    return parse_digits(digits, std::chars_format::hex);
  }
  const bool starts = !plain.empty() && (plain[0] == '.' || (plain[0] >= '0' && plain[0] <= '9'));
  return starts ? parse_digits(plain, std::chars_format::general) : std::nullopt;
}

}  // namespace

std::optional<double> parse_double(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  const std::optional<double> value = parse_unsigned(text);
  return value && negative ? -*value : value;
}

}  // namespace gang::cel
