// The values of literals: numbers in range, strings without their escapes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace gang::cel {

/// "12", "-12", "0x1f"; empty where it does not fit into 64 bits.
[[nodiscard]] std::optional<std::int64_t> int_literal(std::string_view text, bool negative);
/// "12u", "0x1fU"; empty where it does not fit into 64 bits.
[[nodiscard]] std::optional<std::uint64_t> uint_literal(std::string_view text);
/// Finite decimal numbers; empty where they are too large.
[[nodiscard]] std::optional<double> double_literal(std::string_view text);

/// The content of a literal with its quotes and an `r` if raw, without the `b` of bytes; empty
/// where an escape names no code point.
[[nodiscard]] std::optional<std::string> unescape(std::string_view literal, bool is_bytes);

}  // namespace gang::cel
