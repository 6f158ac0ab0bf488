#include "cel/amount.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string>
#include <system_error>

namespace gang::cel {
namespace {

constexpr int kDigitsMax = 18;  // of numbers that surely fit into 64 bits
constexpr int kNanoScale = -9;

// The parts of a number that api::Quantity accepted.
struct Parts {
  bool negative = false;
  std::string_view whole;
  std::string_view fraction;
  std::string_view suffix;
};

Parts split(std::string_view text) {
  Parts parts;
  parts.negative = text.starts_with('-');
  if (parts.negative || text.starts_with('+')) text.remove_prefix(1);
  text.remove_prefix(std::min(text.find_first_not_of('0'), text.size()));
  const auto digits = [&] {
    const std::size_t end = std::min(text.find_first_not_of("0123456789"), text.size());
    const std::string_view taken = text.substr(0, end);
    text.remove_prefix(end);
    return taken;
  };
  parts.whole = digits();
  if (parts.whole.empty()) parts.whole = "0";
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    parts.fraction = digits();
  }
  parts.suffix = text;
  return parts;
}

// Upstream's selectors read a number without digits, as in "k" or ".", as zero.
std::string with_digit(std::string_view text) {
  const std::size_t sign = text.starts_with('-') || text.starts_with('+') ? 1 : 0;
  const std::size_t point = text.substr(sign).starts_with('.') ? 1 : 0;
  const std::string_view rest = text.substr(sign + point);
  const bool has_digit = !rest.empty() && rest[0] >= '0' && rest[0] <= '9';
  if (text.empty() || has_digit) return std::string(text);
  return std::string(text.substr(0, sign)) + "0" + std::string(text.substr(sign));
}

// The power of ten of a decimal suffix, or of two where `binary`.
int exponent_of(std::string_view suffix, bool& binary) {
  constexpr std::string_view kSmall = "num";
  constexpr std::string_view kLarge = "kMGTPE";
  binary = suffix.ends_with('i');
  if (suffix.empty()) return 0;
  if (binary) {
    const std::size_t at = suffix[0] == 'K' ? 0 : kLarge.find(suffix[0]);
    return 10 * static_cast<int>(at + 1);
  }
  if (suffix.size() == 1) {
    const std::size_t small = kSmall.find(suffix[0]);
    if (small != std::string_view::npos) return -9 + 3 * static_cast<int>(small);
    return 3 * static_cast<int>(kLarge.find(suffix[0]) + 1);
  }
  std::string_view digits = suffix.substr(1);
  if (digits.starts_with('+')) digits.remove_prefix(1);
  int exponent = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), exponent);
  return exponent;
}

std::int64_t power_of_ten(int exponent) {
  std::int64_t power = 1;
  for (int i = 0; i < exponent; ++i) power *= 10;
  return power;
}

bool scaled_up(std::int64_t value, std::int32_t scale, std::int64_t& result) {
  if (value == 0) return result = 0, true;
  if (scale > kDigitsMax) return false;
  return !__builtin_mul_overflow(value, power_of_ten(scale), &result);
}

// Upstream's sum of two small amounts; false where it takes big numbers.
bool add_small(Amount& a, const Amount& b) {
  if (b.mantissa == 0) return true;
  if (a.mantissa == 0) return a.mantissa = b.mantissa, a.scale = b.scale, true;
  std::int64_t left = a.mantissa;
  std::int64_t right = b.mantissa;
  if (a.scale > b.scale && !scaled_up(a.mantissa, a.scale - b.scale, left)) return false;
  if (b.scale > a.scale && !scaled_up(b.mantissa, b.scale - a.scale, right)) return false;
  if (__builtin_add_overflow(left, right, &a.mantissa)) return false;
  a.scale = std::min(a.scale, b.scale);
  return true;
}

Amount combined(Amount sum, const Amount& a, const Amount& b) {
  sum.mantissa = a.mantissa;
  sum.scale = a.scale;
  sum.is_small = a.is_small && b.is_small && add_small(sum, b);
  return sum;
}

}  // namespace

Result<Amount> parse_amount(std::string_view written) {
  const std::string text = with_digit(written);
  GANG_TRY(api::Quantity exact, api::Quantity::parse(text));
  Amount amount{exact};
  const Parts parts = split(text);
  bool binary = false;
  const int exponent = exponent_of(parts.suffix, binary);
  const int digits = static_cast<int>(parts.whole.size() + parts.fraction.size());
  int precision = kDigitsMax - digits;
  std::int64_t factor = 1;
  amount.scale = binary ? 0 : exponent - static_cast<int>(parts.fraction.size());
  if (binary) {
    if (parts.fraction.empty() && exponent < 63) factor = std::int64_t{1} << exponent;
    const int used = static_cast<int>(static_cast<float>(exponent) * 3 / 10);
    precision = parts.fraction.empty() ? 15 - static_cast<int>(parts.whole.size()) - used - 1 : -1;
  }
  amount.is_small = precision >= 0 && amount.scale >= kNanoScale;
  if (!amount.is_small) return amount;
  const std::string joined = std::string(parts.whole) + std::string(parts.fraction);
  std::from_chars(joined.data(), joined.data() + joined.size(), amount.mantissa);
  amount.is_small = !__builtin_mul_overflow(amount.mantissa, factor, &amount.mantissa);
  if (parts.negative) amount.mantissa = -amount.mantissa;
  return amount;
}

Amount whole_amount(std::int64_t value) {
  return {api::Quantity::from_units(value, api::QuantityFormat::kDecimalExponent), value, 0, true};
}

Amount add_amounts(const Amount& a, const Amount& b) {
  Amount sum = a;
  sum.exact += b.exact;
  return combined(sum, a, b);
}

Amount subtract_amounts(const Amount& a, const Amount& b) {
  Amount difference = a;
  difference.exact -= b.exact;
  Amount negative = b;
  negative.is_small = b.is_small && b.mantissa != INT64_MIN;
  if (negative.is_small) negative.mantissa = -b.mantissa;
  return combined(difference, a, negative);
}

bool as_integer(const Amount& amount, std::int64_t& value) {
  if (!amount.is_small || amount.scale < 0) return false;
  return scaled_up(amount.mantissa, amount.scale, value);
}

double approximate(const Amount& amount) {
  if (!amount.is_small) return static_cast<double>(amount.exact.nano()) * 1e-9;
  const auto mantissa = static_cast<double>(amount.mantissa);
  return amount.scale == 0 ? mantissa : mantissa * std::pow(10.0, amount.scale);
}

}  // namespace gang::cel
