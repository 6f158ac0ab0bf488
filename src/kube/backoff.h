// Backoff and Jitter: when to try again, without a clock or a global generator of their own.
#pragma once

#include <cstdint>

#include "gang/base/time.h"

namespace gang::kube {

/// A small seeded generator (splitmix64): the only randomness of this part. Single thread.
class Jitter {
 public:
  explicit Jitter(std::uint64_t seed) : state_(seed) {}
  /// Uniform in [0, bound); 0 when bound is 0.
  [[nodiscard]] std::uint64_t below(std::uint64_t bound);
  /// Uniform in [low, high]. REQUIRES: low <= high.
  [[nodiscard]] Duration between(Duration low, Duration high);

 private:
  std::uint64_t state_;
};

/// Limits of a Backoff.
struct BackoffLimits {
  Duration first = std::chrono::milliseconds(800);
  Duration cap = std::chrono::seconds(30);
  Duration reset_after = std::chrono::minutes(2);  ///< without a failure
};

/// Exponential backoff with full jitter. Single thread; time is the caller's monotonic clock.
/// Always: a delay is in [0, ceiling], the ceiling doubles with each failure up to the cap.
class Backoff {
 public:
  explicit Backoff(BackoffLimits limits) : limits_(limits), ceiling_(limits.first) {}
  /// Counts a failure at `now` and says how long to wait.
  [[nodiscard]] Duration next(Duration now, Jitter& jitter);

 private:
  BackoffLimits limits_;
  Duration ceiling_;
  Duration last_failure_{0};
};

}  // namespace gang::kube
