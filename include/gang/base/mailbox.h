// Mailbox<T>: bounded queue from many threads to one. The only way threads talk to each other.
//
// post() blocks while the mailbox is full, so that a reader is slowed and no message is dropped.
// close() ends both sides: post() returns false, take() drains what is left and then returns false.
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "gang/base/sync.h"

namespace gang {

/// Owned by the consumer's shell; outlives every producer. post() from any thread, take() from one.
template <class T>
class Mailbox {
 public:
  explicit Mailbox(std::size_t capacity) : capacity_(capacity) {}

  /// Blocks while full. Returns false, dropping the message, when the mailbox is closed.
  bool post(T message) EXCLUDES_LOCK(mutex_) {
    {
      MutexLock lock(mutex_);
      while (queue_.size() >= capacity_ && !closed_) not_full_.wait(mutex_);
      if (closed_) return false;
      queue_.push_back(std::move(message));
    }
    not_empty_.notify_one();
    return true;
  }

  /// Like post() but never blocks and ignores the limit: for the consumer posting to itself.
  bool post_unbounded(T message) EXCLUDES_LOCK(mutex_) {
    {
      MutexLock lock(mutex_);
      if (closed_) return false;
      queue_.push_back(std::move(message));
    }
    not_empty_.notify_one();
    return true;
  }

  /// Moves up to `limit` messages into `out` (cleared first), waiting up to `timeout` for the
  /// first; nullopt waits without end. Returns false when the mailbox is closed and empty.
  bool take(std::vector<T>& out, std::size_t limit, std::optional<Duration> timeout)
      EXCLUDES_LOCK(mutex_) {
    out.clear();
    bool open = true;
    {
      MutexLock lock(mutex_);
      wait_for_first(timeout);
      while (!queue_.empty() && out.size() < limit) {
        out.push_back(std::move(queue_.front()));
        queue_.pop_front();
      }
      open = !closed_ || !queue_.empty() || !out.empty();
    }
    not_full_.notify_all();
    return open;
  }

  void close() EXCLUDES_LOCK(mutex_) {
    {
      MutexLock lock(mutex_);
      closed_ = true;
    }
    not_empty_.notify_all();
    not_full_.notify_all();
  }

  [[nodiscard]] std::size_t size() const EXCLUDES_LOCK(mutex_) {
    MutexLock lock(mutex_);
    return queue_.size();
  }

 private:
  void wait_for_first(std::optional<Duration> timeout) REQUIRES_LOCK(mutex_) {
    if (!timeout) {
      while (queue_.empty() && !closed_) not_empty_.wait(mutex_);
    } else if (queue_.empty() && !closed_) {
      not_empty_.wait_for(mutex_, *timeout);
    }
  }

  const std::size_t capacity_;
  mutable Mutex mutex_;
  CondVar not_empty_;
  CondVar not_full_;
  std::deque<T> queue_ GUARDED_BY(mutex_);
  bool closed_ GUARDED_BY(mutex_) = false;
};

}  // namespace gang
