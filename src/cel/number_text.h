// Reading of floating-point numbers as Go's strconv does.
#pragma once

#include <optional>
#include <string_view>

namespace gang::cel {

/// Decimal or hexadecimal, "inf", "infinity", "nan", a sign, underscores never; empty where it is
/// none or too large.
[[nodiscard]] std::optional<double> parse_double(std::string_view text);

}  // namespace gang::cel
