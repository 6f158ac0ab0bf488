// UTF-8 as bytes: whether a text is well formed, one sequence after the other, and where it may be
// cut. Stateless; any thread.
#pragma once

#include <cstddef>
#include <string_view>

namespace gang {

/// Length of the well-formed UTF-8 sequence at the start of `text`, or 0. REQUIRES: not empty.
[[nodiscard]] std::size_t utf8_length(std::string_view text);

/// At most `bytes_max` bytes of `text`, cut at a code point.
[[nodiscard]] std::string_view cut_text(std::string_view text, std::size_t bytes_max);

}  // namespace gang
