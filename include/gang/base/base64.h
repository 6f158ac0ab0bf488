// Base64 (RFC 4648, the standard alphabet with padding). Stateless; any thread.
#pragma once

#include <string>
#include <string_view>

#include "gang/base/result.h"

namespace gang {

[[nodiscard]] std::string encode_base64(std::string_view bytes);

/// Blanks and ends of lines are read over.
[[nodiscard]] Result<std::string> decode_base64(std::string_view text);

}  // namespace gang
