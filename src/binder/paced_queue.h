// PacedQueue: requests that may wait, at a bounded rate and only while no Binding waits.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>

#include "binder/channel.h"
#include "binder/lifeline.h"
#include "binder/write_window.h"

namespace gang::binder {

/// So many tokens a second, at most `burst` saved up. A value; reads no clock.
class TokenBucket {
 public:
  TokenBucket(std::int32_t per_second, std::int32_t burst)
      : per_token_(Duration(std::chrono::seconds(1)) / (per_second < 1 ? 1 : per_second)),
        full_(per_token_ * burst),
        level_(full_) {}

  /// `now` is monotonic and never decreases.
  [[nodiscard]] bool take(Duration now);
  /// Until the next token; zero when there is one.
  [[nodiscard]] Duration wait(Duration now);

 private:
  void fill(Duration now);

  Duration per_token_;
  Duration full_;
  Duration level_;  ///< tokens times per_token_
  Duration filled_at_{};
};

/// First come, first served; urgent ones before the others. An entry says by its result whether it
/// sent something: only then is its token spent. Owned by the Binder; binder's thread only.
class PacedQueue {
 public:
  using Send = std::function<bool()>;

  PacedQueue(Channel& channel, const WriteWindow& window, std::int32_t per_second,
             std::int32_t burst)
      : channel_(channel), window_(window), bucket_(per_second, burst) {}

  void submit(Send send);
  void submit_urgent(Send send);
  /// Sends what may be sent now. To be called when the window has drained.
  void pump();
  [[nodiscard]] std::size_t size() const { return urgent_.size() + waiting_.size(); }

 private:
  void pump_soon();

  Channel& channel_;
  const WriteWindow& window_;
  TokenBucket bucket_;
  std::deque<Send> urgent_;
  std::deque<Send> waiting_;
  bool pump_is_due_ = false;
  Lifeline lifeline_;
};

}  // namespace gang::binder
