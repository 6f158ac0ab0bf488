#include "gang/base/clock.h"

#include <chrono>

namespace gang {

TimePoint SystemClock::now() const {
  const auto since_epoch = std::chrono::system_clock::now().time_since_epoch();
  return TimePoint(std::chrono::duration_cast<Duration>(since_epoch));
}

Duration SystemClock::monotonic() const {
  const auto since_start = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<Duration>(since_start);
}

}  // namespace gang
