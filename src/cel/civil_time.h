// Dates of the Gregorian calendar, Go's duration texts and RFC 3339. No clock, no time zones by
// name.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "gang/cel/value.h"

namespace gang::cel {

/// A point of time as people write it, in one zone.
struct CivilTime {
  std::int64_t year = 1970;
  int month = 1;
  int day = 1;
  int hour = 0;
  int minute = 0;
  int second = 0;
  int day_of_week = 0;  ///< Sunday is 0
  int day_of_year = 0;  ///< from 0
};

inline constexpr std::int64_t kUnixSecondsMin = -62135596800;  ///< year 1
inline constexpr std::int64_t kUnixSecondsMax = 253402300799;  ///< year 9999

[[nodiscard]] CivilTime civil_time(std::int64_t unix_seconds);

/// "1h30m", "-1.5s": nanoseconds, or empty where Go's time.ParseDuration refuses it.
[[nodiscard]] std::optional<std::int64_t> parse_duration(std::string_view text);

/// "2020-01-01T00:00:00.5+02:00": a timestamp, an error where it is out of range, or empty where it
/// is none.
[[nodiscard]] std::optional<Value> parse_timestamp(std::string_view text);

}  // namespace gang::cel
