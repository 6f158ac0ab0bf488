#include "binder/paced_queue.h"

#include <algorithm>
#include <utility>

namespace gang::binder {

void TokenBucket::fill(Duration now) {
  level_ = std::min(full_, level_ + (now - filled_at_));
  filled_at_ = now;
}

bool TokenBucket::take(Duration now) {
  fill(now);
  if (level_ < per_token_) return false;
  level_ -= per_token_;
  return true;
}

Duration TokenBucket::wait(Duration now) {
  fill(now);
  return std::max(Duration::zero(), per_token_ - level_);
}

void PacedQueue::submit(Send send) {
  waiting_.push_back(std::move(send));
  pump_soon();
}

void PacedQueue::submit_urgent(Send send) {
  urgent_.push_back(std::move(send));
  pump_soon();
}

/// Not at once: a round that starts in the same turn goes first.
void PacedQueue::pump_soon() {
  if (std::exchange(pump_is_due_, true)) return;
  channel_.later(lifeline_.guard([this] {
    pump_is_due_ = false;
    pump();
  }));
}

void PacedQueue::pump() {
  while (size() > 0 && !window_.has_waiting() && !pump_is_due_) {
    const Duration wait = bucket_.wait(channel_.monotonic());
    if (wait > Duration::zero()) {
      pump_is_due_ = true;
      channel_.after(wait, lifeline_.guard([this] {
        pump_is_due_ = false;
        pump();
      }));
      return;
    }
    std::deque<Send>& queue = urgent_.empty() ? waiting_ : urgent_;
    const Send send = std::move(queue.front());
    queue.pop_front();
    if (send()) static_cast<void>(bucket_.take(channel_.monotonic()));
  }
}

}  // namespace gang::binder
