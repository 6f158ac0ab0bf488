// Backoff: the pauses between tries of one request.
#pragma once

#include <cstdint>
#include <string_view>

#include "gang/base/time.h"

namespace gang::binder {

/// Doubling pauses between `initial` and `max`, each shortened by up to a half. The jitter is a
/// hash of the seed and the number of the try: equal seeds give equal pauses, so a simulated run
/// repeats. A value owned by one request; does not sleep and reads no clock.
class Backoff {
 public:
  Backoff(Duration initial, Duration max, std::uint64_t seed)
      : initial_(initial), max_(max), seed_(seed) {}

  /// The next pause: in [d/2, d] with d = min(max, initial * 2^tries so far).
  [[nodiscard]] Duration next();
  void reset() { tries_ = 0; }

 private:
  Duration initial_;
  Duration max_;
  std::uint64_t seed_;
  std::uint32_t tries_ = 0;
};

/// A seed out of a name (FNV-1a); the same on every machine.
[[nodiscard]] std::uint64_t seed_of(std::string_view text);

}  // namespace gang::binder
