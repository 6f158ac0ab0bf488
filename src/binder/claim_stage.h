// ClaimStage: all claims of one round, written side by side.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "binder/claim_step.h"

namespace gang::binder {

/// One ClaimStep per claim of a plan, at most Options::writes_in_flight_max of them under way. Once
/// one ends in another way than written, the others are stopped. Calls `done` once when nothing is
/// under way any more, maybe inside start(). Owned by a ClaimRound; binder's thread only.
class ClaimStage {
 public:
  ClaimStage(const ClaimPort& port, const engine::Plan& plan, std::function<void()> done);

  void start();
  /// Starts and sends nothing more.
  void stop(const std::string& why);

  /// In the order of the plan; those that were never started are open.
  [[nodiscard]] const std::vector<std::unique_ptr<ClaimStep>>& steps() const { return steps_; }
  /// The one that ended in another way than written first; null when all are written.
  [[nodiscard]] const ClaimStep* failed() const { return failed_; }
  /// Whether requests or timers of it are outstanding.
  [[nodiscard]] bool is_running() const { return running_ > 0; }

 private:
  void advance();
  void on_ended(const ClaimStep& step);

  const std::size_t max_;
  const std::function<void()> done_;
  std::vector<std::unique_ptr<ClaimStep>> steps_;
  std::size_t started_ = 0;
  std::size_t running_ = 0;
  bool stopped_ = false;
  bool ended_ = false;
  const ClaimStep* failed_ = nullptr;
};

}  // namespace gang::binder
