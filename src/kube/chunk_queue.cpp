#include "kube/chunk_queue.h"

#include <utility>

namespace gang::kube {
namespace {

std::size_t size_of(const Heard& heard) {
  const std::string* bytes = std::get_if<std::string>(&heard);
  return bytes == nullptr ? 0 : bytes->size();
}

}  // namespace

Flow ChunkQueue::push(Heard heard) {
  MutexLock lock(mutex_);
  bytes_ += size_of(heard);
  queue_.push_back(std::move(heard));
  // Under the lock: once the reader has seen the end of a request, it may destroy this queue.
  changed_.notify_one();
  if (bytes_ <= bytes_max_) return Flow::kMore;
  paused_ = true;
  return Flow::kPause;
}

ChunkQueue::Popped ChunkQueue::pop(Duration timeout) {
  Popped popped;
  MutexLock lock(mutex_);
  if (queue_.empty() && !woken_) changed_.wait_for(mutex_, timeout);
  woken_ = false;
  if (queue_.empty()) return popped;
  popped.heard = std::move(queue_.front());
  queue_.pop_front();
  bytes_ -= size_of(*popped.heard);
  if (paused_ && bytes_ <= bytes_max_ / 2) {
    paused_ = false;
    popped.resume = true;
  }
  return popped;
}

void ChunkQueue::wake() {
  MutexLock lock(mutex_);
  woken_ = true;
  changed_.notify_one();
}

}  // namespace gang::kube
