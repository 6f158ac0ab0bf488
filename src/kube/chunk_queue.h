// ChunkQueue: what the transport thread heard, for the thread that decodes it.
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <variant>

#include "gang/base/sync.h"
#include "kube/http.h"

namespace gang::kube {

/// One thing heard: a head, a piece of the body, or the end.
using Heard = std::variant<HttpHead, std::string, HttpEnd>;

/// Bounded queue between one transport thread and one decoding thread.
///
/// Owned by an informer, outlives every request it listens to. push() never blocks: when more than
/// bytes_max wait, it asks the transport to pause, and pop() says when to resume. Never drops.
class ChunkQueue {
 public:
  explicit ChunkQueue(std::size_t bytes_max) : bytes_max_(bytes_max) {}

  Flow push(Heard heard) EXCLUDES_LOCK(mutex_);

  /// What pop() found.
  struct Popped {
    std::optional<Heard> heard;  ///< empty: time-out, or wake() was called
    bool resume = false;         ///< the transport was paused and may go on
  };
  /// Waits for at most `timeout`.
  [[nodiscard]] Popped pop(Duration timeout) EXCLUDES_LOCK(mutex_);

  /// Makes the current or next empty pop() return at once; for stopping.
  void wake() EXCLUDES_LOCK(mutex_);

 private:
  const std::size_t bytes_max_;
  Mutex mutex_;
  CondVar changed_;
  std::deque<Heard> queue_ GUARDED_BY(mutex_);
  std::size_t bytes_ GUARDED_BY(mutex_) = 0;
  bool paused_ GUARDED_BY(mutex_) = false;
  bool woken_ GUARDED_BY(mutex_) = false;
};

}  // namespace gang::kube
