// Clock: where the effects leg and the shells read the time. The pure parts get TimePoint values.
//
// Two implementations, no more: SystemClock for the daemon, ManualClock for tests and simulations.
// now() is wall time for conditions and events; monotonic() is for deadlines and never jumps.
#pragma once

#include <atomic>

#include "gang/base/time.h"

namespace gang {

/// Source of time. Implementations may be called from any thread.
class Clock {
 public:
  virtual ~Clock() = default;
  [[nodiscard]] virtual TimePoint now() const = 0;
  /// Nanoseconds since an arbitrary fixed point; never decreases.
  [[nodiscard]] virtual Duration monotonic() const = 0;
};

/// The machine's clocks.
class SystemClock final : public Clock {
 public:
  [[nodiscard]] TimePoint now() const override;
  [[nodiscard]] Duration monotonic() const override;
};

/// A clock that moves only when told. monotonic() is the time since construction.
class ManualClock final : public Clock {
 public:
  explicit ManualClock(TimePoint start) : start_(start) {}
  [[nodiscard]] TimePoint now() const override { return start_ + monotonic(); }
  [[nodiscard]] Duration monotonic() const override { return Duration(elapsed_.load()); }
  /// REQUIRES: step >= 0.
  void advance(Duration step) { elapsed_ += step.count(); }

 private:
  const TimePoint start_;
  std::atomic<std::int64_t> elapsed_{0};
};

}  // namespace gang
