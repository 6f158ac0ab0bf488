// Exact resource.Quantity arithmetic, equal to apimachinery 0.37.2 in what it accepts and in
// values.
//
// A Quantity is a count of nano-units in 128 bits (about +-1.7e29 units) and the format it was
// written in. Parsing finer than 1n rounds away from zero; a text without a digit is refused
// (apimachinery reads it as 0). BinarySI is capped at 2^63-1 units. Values only, any thread.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "gang/base/result.h"

namespace gang::api {

enum class QuantityFormat { kDecimalSI, kBinarySI, kDecimalExponent };

/// An exact amount. Default is zero.
class Quantity {
 public:
  __extension__ using Nano = __int128;

  Quantity() = default;
  /// Grammar: sign? digits suffix, suffix one of n u m "" k M G T P E Ki..Ei or e/E with an
  /// integer.
  [[nodiscard]] static Result<Quantity> parse(std::string_view text);
  [[nodiscard]] static Quantity from_units(std::int64_t units,
                                           QuantityFormat format = QuantityFormat::kDecimalSI);
  [[nodiscard]] static Quantity from_milli(std::int64_t milli);

  /// Units, rounded away from zero; saturates at the int64 limits.
  [[nodiscard]] std::int64_t value() const;
  /// Milli-units, rounded away from zero; saturates at the int64 limits.
  [[nodiscard]] std::int64_t milli_value() const;
  /// Canonical text as apimachinery writes it ("1500m", "2Gi").
  [[nodiscard]] std::string text() const;

  [[nodiscard]] bool is_zero() const { return nano_ == 0; }
  [[nodiscard]] bool is_negative() const { return nano_ < 0; }
  [[nodiscard]] QuantityFormat format() const { return format_; }
  [[nodiscard]] Nano nano() const { return nano_; }

  /// Exact; saturates at the 128-bit limits. Keeps this format, or the other's when this is zero.
  Quantity& operator+=(const Quantity& other);
  Quantity& operator-=(const Quantity& other);

  friend bool operator==(const Quantity& a, const Quantity& b) { return a.nano_ == b.nano_; }
  friend std::strong_ordering operator<=>(const Quantity& a, const Quantity& b) {
    if (a.nano_ == b.nano_) return std::strong_ordering::equal;
    return a.nano_ < b.nano_ ? std::strong_ordering::less : std::strong_ordering::greater;
  }

 private:
  Nano nano_ = 0;
  QuantityFormat format_ = QuantityFormat::kDecimalSI;
};

}  // namespace gang::api
