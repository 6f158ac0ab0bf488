// Log facade over spdlog, for the effects leg and the shells. The pure parts never log.
//
// One line is one record, in text or JSON; values are passed as key/value fields, never as a format
// string, so that text from the cluster cannot break a record. Any thread.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

namespace gang::log {

enum class Level { kDebug, kInfo, kWarn, kError, kOff };
enum class Format { kText, kJson };

/// One key/value of a record. Values longer than 1,024 bytes are cut at a code point; a field
/// without a value is left out.
struct Field {
  std::string_view key;
  std::string value;
};

/// Sets level and format and sends records to stderr. Call once before other threads start.
void configure(Level level, Format format);

/// Writes one record. `message` is a constant sentence; what varies goes into `fields`.
void write(Level level, std::string_view message, std::initializer_list<Field> fields = {});

inline void debug(std::string_view m, std::initializer_list<Field> f = {}) {
  write(Level::kDebug, m, f);
}
inline void info(std::string_view m, std::initializer_list<Field> f = {}) {
  write(Level::kInfo, m, f);
}
inline void warn(std::string_view m, std::initializer_list<Field> f = {}) {
  write(Level::kWarn, m, f);
}
inline void error(std::string_view m, std::initializer_list<Field> f = {}) {
  write(Level::kError, m, f);
}

}  // namespace gang::log
