// Breaker: no new rounds while the API server fails.
//
// Open once more than half of at least 20 writes of the last 10 s ended by a failure of the server
// (5xx, time-out, transport; never a refusal). While open, a dry-run Binding that cannot succeed is
// sent every 5 s; any answer of the server's own closes it, with empty books.
// Source: commit protocol 5.2 P0, 5.9.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <string>

#include "binder/channel.h"
#include "binder/lifeline.h"

namespace gang::binder {

/// How many writes of the last 10 s there were and how many failed. A value; seconds are the
/// granularity. Time is the caller's monotonic clock.
class FailureWindow {
 public:
  struct Counts {
    std::int32_t writes = 0;
    std::int32_t failures = 0;
  };
  void note(Duration now, bool failed);
  void clear() { seconds_.clear(); }
  [[nodiscard]] Counts counts() const;
  /// More than half of at least 20 have failed.
  [[nodiscard]] bool is_bad() const;

 private:
  struct Second {
    std::int64_t number = 0;
    Counts counts;
  };
  std::deque<Second> seconds_;  ///< oldest first, without empty ones
};

/// See the head of the file. Owned by the Binder; binder's thread only. Stops nothing itself.
class Breaker {
 public:
  /// `changed` is called whenever is_open() changes.
  Breaker(Channel& channel, std::function<void()> changed);

  /// Hears the answer to one write.
  void note(const kube::Answer& answer);
  [[nodiscard]] bool is_open() const { return is_open_; }
  /// What the server failed with when it opened.
  [[nodiscard]] const std::string& cause() const { return cause_; }

 private:
  void open(const kube::Answer& answer);
  void probe_later();
  void on_probe(const kube::Answer& answer);

  Channel& channel_;
  const std::function<void()> changed_;
  FailureWindow window_;
  bool is_open_ = false;
  std::string cause_;
  Duration opened_at_{};
  Lifeline lifeline_;
};

}  // namespace gang::binder
