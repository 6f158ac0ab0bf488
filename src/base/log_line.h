// How one log record is written: pure text functions under the log facade, so that they can be
// tested without a stream. Values are never format strings.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include "gang/base/log.h"

namespace gang::log {

/// Bytes of one value that are written; what is longer is cut at a code point.
inline constexpr std::size_t kValueBytesMax = 1'024;

/// "debug", "info", "warn", "error", "off".
[[nodiscard]] std::string_view level_name(Level level);

/// `text` with control characters, quotes, backslashes, line separators and bad UTF-8 replaced by
/// JSON escapes, cut to kValueBytesMax bytes of input first. The result is valid inside JSON
/// quotes.
[[nodiscard]] std::string escaped(std::string_view text);

/// "info  message key=value other=\"two words\"": what follows the time of a text record.
[[nodiscard]] std::string text_line(Level level, std::string_view message,
                                    std::initializer_list<Field> fields);

/// "\"level\":\"info\",\"message\":\"...\",\"key\":\"value\"": the members after "time".
[[nodiscard]] std::string json_members(Level level, std::string_view message,
                                       std::initializer_list<Field> fields);

}  // namespace gang::log
