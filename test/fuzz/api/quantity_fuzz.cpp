// Quantity: canonical text parses back to an equal value, order agrees with sign and sums.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "gang/api/quantity.h"
#include "gang/base/check.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto quantity = gang::api::Quantity::parse(text);
  if (!quantity) {
    CHECK(quantity.error().code == gang::Code::kInvalidArgument);
    return 0;
  }
  CHECK(text.find_first_of("0123456789") != std::string_view::npos);

  const auto again = gang::api::Quantity::parse(quantity->text());
  CHECK(again);
  CHECK(*again == *quantity);

  // Rounded away from zero: a milli-unit more than the value is never below it.
  CHECK((quantity->value() > 0) == (quantity->nano() > 0));
  CHECK((quantity->milli_value() < 0) == quantity->is_negative());

  gang::api::Quantity sum = *quantity;
  sum -= *quantity;
  CHECK(sum.is_zero());
  sum += *quantity;
  CHECK(sum == *quantity);
  sum += *quantity;
  CHECK(quantity->is_negative() ? sum <= *quantity : sum >= *quantity);
  return 0;
}
