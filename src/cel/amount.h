// Quantities as expressions see them: exact, and with upstream's inner form, which some functions
// show.
#pragma once

#include <cstdint>
#include <string_view>

#include "gang/api/quantity.h"
#include "gang/base/result.h"

namespace gang::cel {

/// mantissa * 10^scale, if the text fits into that; where it does not, upstream counts with big
/// numbers and knows no integer value.
struct Amount {
  api::Quantity exact;
  std::int64_t mantissa = 0;
  std::int32_t scale = 0;
  bool is_small = true;
};

[[nodiscard]] Result<Amount> parse_amount(std::string_view text);
/// The amount of a whole number.
[[nodiscard]] Amount whole_amount(std::int64_t value);
[[nodiscard]] Amount add_amounts(const Amount& a, const Amount& b);
[[nodiscard]] Amount subtract_amounts(const Amount& a, const Amount& b);

/// Whether upstream finds an integer at once, and which.
[[nodiscard]] bool as_integer(const Amount& amount, std::int64_t& value);
[[nodiscard]] double approximate(const Amount& amount);

}  // namespace gang::cel
