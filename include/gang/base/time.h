// TimePoint and Duration: values only, usable by the pure parts. Nothing here reads a clock.
//
// A TimePoint counts nanoseconds since 1970-01-01T00:00:00Z on the clock of whoever made it
// (the daemon's wall clock, the simulator's virtual clock); a Duration counts nanoseconds.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "gang/base/result.h"

namespace gang {

using Duration = std::chrono::nanoseconds;

/// Tag that gives TimePoint a type of its own; it has no now() on purpose.
struct UnixEpoch {
  using rep = std::int64_t;
  using period = std::nano;
  using duration = Duration;
  using time_point = std::chrono::time_point<UnixEpoch>;
  static constexpr bool is_steady = false;
};

using TimePoint = UnixEpoch::time_point;

/// RFC 3339 in UTC with whole seconds, as metav1.Time: "2026-11-30T01:02:03Z".
[[nodiscard]] std::string format_rfc3339(TimePoint time);

/// RFC 3339 in UTC with six fractional digits, as metav1.MicroTime.
[[nodiscard]] std::string format_rfc3339_micro(TimePoint time);

/// Accepts RFC 3339 with any offset and up to nine fractional digits.
[[nodiscard]] Result<TimePoint> parse_rfc3339(std::string_view text);

/// Parses "250ms", "1h30m": non-negative; of the units h m s ms us ns each once, in this order.
[[nodiscard]] Result<Duration> parse_duration(std::string_view text);

/// Inverse of parse_duration with the largest units that are exact: "1m30s", "250ms", "0s".
[[nodiscard]] std::string format_duration(Duration duration);

}  // namespace gang
