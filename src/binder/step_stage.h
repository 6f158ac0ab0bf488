// StepStage: steps of one kind in a round, carried out side by side.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "binder/claim_step.h"

namespace gang::binder {

/// At most Options::writes_in_flight_max steps are under way. Once one ends in another way than
/// written, the others are stopped. Calls `done` once when nothing is under way any more, maybe
/// inside start(). Owned by a ClaimRound; binder's thread only. A Step has start(), stop(), end(),
/// name() and message().
template <class Step>
class StepStage {
 public:
  StepStage(const Channel& channel, std::function<void()> done)
      : max_(static_cast<std::size_t>(std::max(1, channel.options().writes_in_flight_max))),
        done_(std::move(done)) {}

  /// `arguments`: of the step, but for the last. REQUIRES: not started.
  template <class... Arguments>
  void add(Arguments&&... arguments) {
    steps_.push_back(
        std::make_unique<Step>(std::forward<Arguments>(arguments)...,
                               [this, index = steps_.size()] { on_ended(*steps_[index]); }));
  }

  void start() { advance(); }

  /// Starts and sends nothing more.
  void stop(const std::string& why) {
    stopped_ = true;
    for (std::size_t i = 0; i < started_; ++i) steps_[i]->stop(why);
  }

  /// In the order they were added; those that were never started are open.
  [[nodiscard]] const std::vector<std::unique_ptr<Step>>& steps() const { return steps_; }
  /// The one that ended in another way than written first; null when all are written.
  [[nodiscard]] const Step* failed() const { return failed_; }
  /// Whether requests or timers of it are outstanding.
  [[nodiscard]] bool is_running() const { return running_ > 0; }
  /// "claim ns/c: connection refused" of the first step that has met a failure, or "".
  [[nodiscard]] std::string trouble() const {
    for (const auto& step : steps_) {
      const bool lacks = step->end() != ClaimEnd::kWritten && !step->trouble().empty();
      if (lacks) return step->name() + ": " + step->trouble();
    }
    return "";
  }

 private:
  void advance() {
    while (!stopped_ && started_ < steps_.size() && running_ < max_) {
      ++running_;
      steps_[started_++]->start();
    }
    const bool is_over = running_ == 0 && (stopped_ || started_ == steps_.size());
    if (is_over && !std::exchange(ended_, true)) done_();
  }

  void on_ended(const Step& step) {
    --running_;
    if (step.end() != ClaimEnd::kWritten && failed_ == nullptr) {
      failed_ = &step;
      if (!stopped_) stop(step.name() + " was not written");
    }
    advance();
  }

  const std::size_t max_;
  const std::function<void()> done_;
  std::vector<std::unique_ptr<Step>> steps_;
  std::size_t started_ = 0;
  std::size_t running_ = 0;
  bool stopped_ = false;
  bool ended_ = false;
  const Step* failed_ = nullptr;
};

}  // namespace gang::binder
