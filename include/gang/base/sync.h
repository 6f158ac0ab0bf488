// Mutex, MutexLock, CondVar with thread-safety annotations, for the effects leg and the shells
// only.
//
// clang checks the annotations (-Wthread-safety); g++ ignores them. Every field that a Mutex
// protects carries GUARDED_BY. No recursive locks, no try-lock, no lock order beyond one level.
#pragma once

#include <condition_variable>
#include <mutex>

#include "gang/base/time.h"

#if defined(__clang__)
#define GANG_THREAD_ATTRIBUTE(x) __attribute__((x))
#else
#define GANG_THREAD_ATTRIBUTE(x)
#endif
#define CAPABILITY(x) GANG_THREAD_ATTRIBUTE(capability(x))
#define SCOPED_CAPABILITY GANG_THREAD_ATTRIBUTE(scoped_lockable)
#define GUARDED_BY(x) GANG_THREAD_ATTRIBUTE(guarded_by(x))
#define REQUIRES_LOCK(...) GANG_THREAD_ATTRIBUTE(requires_capability(__VA_ARGS__))
#define EXCLUDES_LOCK(...) GANG_THREAD_ATTRIBUTE(locks_excluded(__VA_ARGS__))
#define ACQUIRES(...) GANG_THREAD_ATTRIBUTE(acquire_capability(__VA_ARGS__))
#define RELEASES(...) GANG_THREAD_ATTRIBUTE(release_capability(__VA_ARGS__))
#define NO_THREAD_SAFETY_ANALYSIS GANG_THREAD_ATTRIBUTE(no_thread_safety_analysis)

namespace gang {

/// std::mutex with annotations.
class CAPABILITY("mutex") Mutex {
 public:
  void lock() ACQUIRES() { mutex_.lock(); }
  void unlock() RELEASES() { mutex_.unlock(); }

 private:
  friend class CondVar;
  std::mutex mutex_;
};

/// Holds a Mutex for a scope.
class SCOPED_CAPABILITY MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) ACQUIRES(mutex) : mutex_(mutex) { mutex_.lock(); }
  ~MutexLock() RELEASES() { mutex_.unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  Mutex& mutex_;
};

/// Condition variable for Mutex. Waits may wake spuriously: always wait in a loop.
class CondVar {
 public:
  void wait(Mutex& mutex) REQUIRES_LOCK(mutex) NO_THREAD_SAFETY_ANALYSIS {
    std::unique_lock<std::mutex> lock(mutex.mutex_, std::adopt_lock);
    cond_.wait(lock);
    lock.release();
  }
  /// Returns after a wake-up or after `timeout`, whichever is first.
  void wait_for(Mutex& mutex, Duration timeout) REQUIRES_LOCK(mutex) NO_THREAD_SAFETY_ANALYSIS {
    std::unique_lock<std::mutex> lock(mutex.mutex_, std::adopt_lock);
    cond_.wait_for(lock, timeout);
    lock.release();
  }
  void notify_one() { cond_.notify_one(); }
  void notify_all() { cond_.notify_all(); }

 private:
  std::condition_variable cond_;
};

}  // namespace gang
