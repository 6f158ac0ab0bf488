#include "kube/backoff.h"

#include <algorithm>

namespace gang::kube {

std::uint64_t Jitter::below(std::uint64_t bound) {
  state_ += 0x9E3779B97F4A7C15ULL;
  std::uint64_t z = state_;
  z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ (z >> 27U)) * 0x94D049BB133111EBULL;
  z ^= z >> 31U;
  return bound == 0 ? 0 : z % bound;
}

Duration Jitter::between(Duration low, Duration high) {
  return low + Duration(below(static_cast<std::uint64_t>((high - low).count()) + 1));
}

Duration Backoff::next(Duration now, Jitter& jitter) {
  if (now - last_failure_ >= limits_.reset_after) ceiling_ = limits_.first;
  last_failure_ = now;
  const Duration delay = jitter.between(Duration(0), ceiling_);
  ceiling_ = std::min(ceiling_ * 2, limits_.cap);
  return delay;
}

}  // namespace gang::kube
