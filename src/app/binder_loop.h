// BinderLoop: the binder's Executor in real time.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>

#include "gang/base/clock.h"
#include "gang/base/mailbox.h"

namespace gang::app {

/// Runs functions on the binder's thread, now or later. Owned by the shell, outlives whoever posts.
/// post() and close() from any thread, the rest from the binder's.
class BinderLoop {
 public:
  explicit BinderLoop(const Clock& clock) : clock_(clock), mailbox_(kCapacity) {}

  void post(std::function<void()> function) { mailbox_.post_unbounded(std::move(function)); }
  /// Only from the binder's thread.
  void post_after(Duration delay, std::function<void()> function);
  /// Runs until close(); to be called on the binder's thread.
  void run();
  void close() { mailbox_.close(); }

 private:
  static constexpr std::size_t kCapacity = 4096;
  [[nodiscard]] std::optional<Duration> until_next_timer() const;

  const Clock& clock_;
  Mailbox<std::function<void()>> mailbox_;
  std::multimap<Duration, std::function<void()>> timers_;  ///< by monotonic time
};

}  // namespace gang::app
