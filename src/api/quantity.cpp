#include "gang/api/quantity.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <optional>

namespace gang::api {
namespace {

using Nano = Quantity::Nano;
__extension__ using UnsignedNano = unsigned __int128;

constexpr std::int64_t kNanosPerUnit = 1'000'000'000;
constexpr std::int64_t kNanosPerMilli = 1'000'000;
constexpr Nano kNanoMax = static_cast<Nano>(~UnsignedNano{0} >> 1);
constexpr Nano kBinaryNanoMax = Nano{std::numeric_limits<std::int64_t>::max()} * kNanosPerUnit;
/// Digits that fit into 64 bits whatever they are.
constexpr std::size_t kFastDigitsMax = 18;
/// Exponents beyond this round to one nano-unit or saturate whatever the digits are.
constexpr std::int64_t kExponentMax = 1'000'000'000;

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// What a suffix means: a power of ten, or of two for BinarySI.
struct Suffix {
  QuantityFormat format = QuantityFormat::kDecimalSI;
  std::int64_t exponent = 0;
};

constexpr std::string_view kDecimalSuffixes = "num kMGTPE";
constexpr std::string_view kBinarySuffixes = "KMGTPE";
constexpr int kDecimalExponentMin = -9;
constexpr int kDecimalExponentMax = 18;

std::optional<Suffix> parse_exponent(std::string_view digits) {
  const bool negative = digits.starts_with('-');
  if (negative || digits.starts_with('+')) digits.remove_prefix(1);
  if (digits.empty() || !std::all_of(digits.begin(), digits.end(), is_digit)) return std::nullopt;
  std::int64_t exponent = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), exponent);
  if (error == std::errc::result_out_of_range || exponent > kExponentMax) exponent = kExponentMax;
  return Suffix{QuantityFormat::kDecimalExponent, negative ? -exponent : exponent};
}

std::optional<Suffix> parse_suffix(std::string_view suffix) {
  if (suffix.empty()) return Suffix{};
  if (suffix.size() == 1 && suffix != " ") {
    const std::size_t at = kDecimalSuffixes.find(suffix);
    if (at == std::string_view::npos) return std::nullopt;
    return Suffix{QuantityFormat::kDecimalSI, kDecimalExponentMin + 3 * static_cast<int>(at)};
  }
  if (suffix.size() == 2 && suffix[1] == 'i') {
    const std::size_t at = kBinarySuffixes.find(suffix[0]);
    if (at == std::string_view::npos) return std::nullopt;
    return Suffix{QuantityFormat::kBinarySI, 10 + 10 * static_cast<int>(at)};
  }
  if (suffix[0] == 'e' || suffix[0] == 'E') return parse_exponent(suffix.substr(1));
  return std::nullopt;
}

/// A text cut into its pieces; at least one digit in all.
struct Pieces {
  bool negative = false;
  std::string_view whole;     ///< digits before the point, no leading zeros
  std::string_view fraction;  ///< digits after the point, no trailing zeros
  Suffix suffix;
};

std::optional<Pieces> cut_pieces(std::string_view text) {
  Pieces pieces;
  if (text.starts_with('-') || text.starts_with('+')) {
    pieces.negative = text.front() == '-';
    text.remove_prefix(1);
  }
  const auto take_digits = [&text] {
    const auto end = std::find_if_not(text.begin(), text.end(), is_digit);
    const auto digits = text.substr(0, static_cast<std::size_t>(end - text.begin()));
    text.remove_prefix(digits.size());
    return digits;
  };
  pieces.whole = take_digits();
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    pieces.fraction = take_digits();
  }
  if (pieces.whole.empty() && pieces.fraction.empty()) return std::nullopt;
  pieces.whole.remove_prefix(std::min(pieces.whole.find_first_not_of('0'), pieces.whole.size()));
  const std::size_t last = pieces.fraction.find_last_not_of('0');
  pieces.fraction = pieces.fraction.substr(0, last == std::string_view::npos ? 0 : last + 1);
  const std::optional<Suffix> suffix = parse_suffix(text);
  if (!suffix) return std::nullopt;
  pieces.suffix = *suffix;
  return pieces;
}

/// value * 10 + digit, saturating.
Nano append_digit(Nano value, int digit) {
  if (__builtin_mul_overflow(value, Nano{10}, &value)) return kNanoMax;
  if (__builtin_add_overflow(value, Nano{digit}, &value)) return kNanoMax;
  return value;
}

std::uint64_t small_number(std::string_view digits, std::uint64_t value) {
  for (const char c : digits) value = value * 10 + static_cast<std::uint64_t>(c - '0');
  return value;
}

/// 10^power nano-units of the digits of whole and fraction, rounded up. Both digit runs together
/// are the integer D; the result is ceil(D * 10^shift).
Nano decimal_nano(const Pieces& pieces) {
  const auto fraction_size = static_cast<std::int64_t>(pieces.fraction.size());
  const auto digit_count = static_cast<std::int64_t>(pieces.whole.size()) + fraction_size;
  const std::int64_t shift = pieces.suffix.exponent + 9 - fraction_size;
  // Digits that stand before the point once D is shifted; those behind it only round up.
  const std::int64_t kept = std::clamp<std::int64_t>(digit_count + shift, 0, digit_count);
  Nano value = 0;
  bool inexact = false;
  for (std::int64_t i = 0; i < digit_count; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const char c =
        at < pieces.whole.size() ? pieces.whole[at] : pieces.fraction[at - pieces.whole.size()];
    if (i < kept) {
      value = append_digit(value, c - '0');
    } else {
      inexact = inexact || c != '0';
    }
    if (value == kNanoMax) return value;
  }
  for (std::int64_t i = 0; i < shift && value != 0 && value != kNanoMax; ++i) {
    value = append_digit(value, 0);
  }
  return value == kNanoMax || !inexact ? value : value + 1;
}

/// Units of 2^exponent, rounded up to nano-units and capped at 2^63-1 units.
Nano binary_nano(const Pieces& pieces) {
  const Nano nanos_per_one = Nano{kNanosPerUnit} << pieces.suffix.exponent;  // < 2^90
  Nano whole = 0;
  for (const char c : pieces.whole) {
    whole = append_digit(whole, c - '0');
    if (whole > std::numeric_limits<std::int64_t>::max()) return kBinaryNanoMax;
  }
  // Long multiplication from the last digit: what is carried out is the integer part.
  Nano carry = 0;
  bool inexact = false;
  for (auto digit = pieces.fraction.rbegin(); digit != pieces.fraction.rend(); ++digit) {
    const Nano product = nanos_per_one * (*digit - '0') + carry;
    inexact = inexact || product % 10 != 0;
    carry = product / 10;
  }
  Nano value = 0;
  if (__builtin_mul_overflow(whole, nanos_per_one, &value)) return kBinaryNanoMax;
  return std::min(value + carry + (inexact ? 1 : 0), kBinaryNanoMax);
}

constexpr std::array<std::int64_t, kFastDigitsMax + 1> kPowersOfTen = [] {
  std::array<std::int64_t, kFastDigitsMax + 1> powers{1};
  for (std::size_t i = 1; i < powers.size(); ++i) powers[i] = powers[i - 1] * 10;
  return powers;
}();

/// The same as the two above for few digits and a scale that needs no rounding, without loops over
/// 128-bit numbers: nearly every quantity of a cluster.
std::optional<Nano> fast_nano(const Pieces& pieces) {
  if (pieces.whole.size() + pieces.fraction.size() > kFastDigitsMax) return std::nullopt;
  const Nano digits =
      static_cast<Nano>(small_number(pieces.fraction, small_number(pieces.whole, 0)));
  if (pieces.suffix.format == QuantityFormat::kBinarySI) {
    if (!pieces.fraction.empty() || digits > (std::int64_t{1} << 62 >> pieces.suffix.exponent)) {
      return std::nullopt;
    }
    return (digits << pieces.suffix.exponent) * kNanosPerUnit;
  }
  const std::int64_t shift =
      pieces.suffix.exponent + 9 - static_cast<std::int64_t>(pieces.fraction.size());
  if (shift < 0 || shift > static_cast<std::int64_t>(kFastDigitsMax)) return std::nullopt;
  return digits * kPowersOfTen[static_cast<std::size_t>(shift)];
}

std::int64_t rounded_away(Nano nano, std::int64_t unit) {
  Nano value = nano / unit;
  if (nano % unit != 0) value += nano < 0 ? -1 : 1;
  return static_cast<std::int64_t>(std::clamp<Nano>(value, std::numeric_limits<std::int64_t>::min(),
                                                    std::numeric_limits<std::int64_t>::max()));
}

std::string digits_of(UnsignedNano value) {
  std::string digits;
  do {
    digits += static_cast<char>('0' + static_cast<int>(value % 10));
    value /= 10;
  } while (value != 0);
  std::reverse(digits.begin(), digits.end());
  return digits;
}

/// Digits without trailing zeros and the largest multiple of three as exponent.
std::string decimal_text(UnsignedNano magnitude, QuantityFormat format) {
  std::string digits = digits_of(magnitude);
  int exponent = kDecimalExponentMin;
  const auto strip = [&](int zeros) {
    digits.resize(digits.size() - static_cast<std::size_t>(zeros));
    exponent += zeros;
  };
  const bool limited = format != QuantityFormat::kDecimalExponent;
  while (digits.ends_with("000") && (!limited || exponent < kDecimalExponentMax)) strip(3);
  if (format == QuantityFormat::kDecimalExponent) {
    return exponent == 0 ? digits : digits + "e" + std::to_string(exponent);
  }
  const char suffix =
      kDecimalSuffixes[static_cast<std::size_t>((exponent - kDecimalExponentMin) / 3)];
  return suffix == ' ' ? digits : digits + suffix;
}

/// REQUIRES: a whole number of units, at least 1024.
std::string binary_text(UnsignedNano units) {
  std::size_t steps = 0;
  for (; units % 1024 == 0 && steps < kBinarySuffixes.size(); ++steps) units /= 1024;
  std::string text = digits_of(units);
  if (steps > 0) text += {kBinarySuffixes[steps - 1], 'i'};
  return text;
}

Nano saturating_add(Nano a, Nano b) {
  Nano sum = 0;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return a < 0 ? -kNanoMax : kNanoMax;
}

}  // namespace

Result<Quantity> Quantity::parse(std::string_view text) {
  const std::optional<Pieces> pieces = cut_pieces(text);
  if (!pieces) {
    return fail(
        Code::kInvalidArgument,
        "\"" + std::string(text.substr(0, 64)) +
            "\" is not a quantity; write a number with an optional suffix like 500m or 2Gi");
  }
  Nano magnitude = 0;
  if (const std::optional<Nano> fast = fast_nano(*pieces)) {
    magnitude = *fast;
  } else if (pieces->suffix.format == QuantityFormat::kBinarySI) {
    magnitude = binary_nano(*pieces);
  } else {
    magnitude = decimal_nano(*pieces);
  }
  Quantity quantity;
  quantity.nano_ = pieces->negative ? -magnitude : magnitude;
  quantity.format_ = pieces->suffix.format;
  return quantity;
}

Quantity Quantity::from_units(std::int64_t units, QuantityFormat format) {
  Quantity quantity;
  quantity.nano_ = Nano{units} * kNanosPerUnit;
  quantity.format_ = format;
  return quantity;
}

Quantity Quantity::from_milli(std::int64_t milli) {
  Quantity quantity;
  quantity.nano_ = Nano{milli} * kNanosPerMilli;
  return quantity;
}

std::int64_t Quantity::value() const {
  return rounded_away(nano_, kNanosPerUnit);
}

std::int64_t Quantity::milli_value() const {
  return rounded_away(nano_, kNanosPerMilli);
}

std::string Quantity::text() const {
  if (nano_ == 0) return "0";
  const UnsignedNano magnitude = nano_ < 0 ? UnsignedNano{0} - static_cast<UnsignedNano>(nano_)
                                           : static_cast<UnsignedNano>(nano_);
  const bool is_whole = magnitude % kNanosPerUnit == 0;
  const UnsignedNano units = magnitude / kNanosPerUnit;
  const bool binary = format_ == QuantityFormat::kBinarySI && is_whole && units >= 1024;
  const std::string digits = binary ? binary_text(units) : decimal_text(magnitude, format_);
  return nano_ < 0 ? "-" + digits : digits;
}

Quantity& Quantity::operator+=(const Quantity& other) {
  if (is_zero()) format_ = other.format_;
  nano_ = saturating_add(nano_, other.nano_);
  return *this;
}

Quantity& Quantity::operator-=(const Quantity& other) {
  if (is_zero()) format_ = other.format_;
  nano_ = saturating_add(nano_, -other.nano_);
  return *this;
}

}  // namespace gang::api
