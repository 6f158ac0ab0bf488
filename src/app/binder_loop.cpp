#include "app/binder_loop.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace gang::app {

void BinderLoop::post_after(Duration delay, std::function<void()> function) {
  timers_.emplace(clock_.monotonic() + delay, std::move(function));
}

std::optional<Duration> BinderLoop::until_next_timer() const {
  if (timers_.empty()) return std::nullopt;
  return std::max(Duration::zero(), timers_.begin()->first - clock_.monotonic());
}

void BinderLoop::run() {
  std::vector<std::function<void()>> batch;
  while (mailbox_.take(batch, kCapacity, until_next_timer())) {
    for (const std::function<void()>& function : batch) function();
    while (!timers_.empty() && timers_.begin()->first <= clock_.monotonic()) {
      const std::function<void()> function = std::move(timers_.begin()->second);
      timers_.erase(timers_.begin());
      function();
    }
  }
}

}  // namespace gang::app
