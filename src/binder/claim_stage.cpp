#include "binder/claim_stage.h"

#include <algorithm>
#include <utility>

namespace gang::binder {

ClaimStage::ClaimStage(const ClaimPort& port, const engine::Plan& plan, std::function<void()> done)
    : max_(static_cast<std::size_t>(std::max(1, port.channel().options().writes_in_flight_max))),
      done_(std::move(done)) {
  for (std::size_t i = 0; i < plan.claims.size(); ++i) {
    steps_.push_back(std::make_unique<ClaimStep>(port, plan.claims[i], plan.stamp,
                                                 [this, i] { on_ended(*steps_[i]); }));
  }
}

void ClaimStage::start() {
  advance();
}

void ClaimStage::stop(const std::string& why) {
  stopped_ = true;
  for (std::size_t i = 0; i < started_; ++i) steps_[i]->stop(why);
}

void ClaimStage::advance() {
  while (!stopped_ && started_ < steps_.size() && running_ < max_) {
    ++running_;
    steps_[started_++]->start();
  }
  const bool is_over = running_ == 0 && (stopped_ || started_ == steps_.size());
  if (is_over && !std::exchange(ended_, true)) done_();
}

void ClaimStage::on_ended(const ClaimStep& step) {
  --running_;
  if (step.end() != ClaimEnd::kWritten && failed_ == nullptr) {
    failed_ = &step;
    if (!stopped_) stop("claim " + step.write().claim->meta.key.text() + " was not written");
  }
  advance();
}

}  // namespace gang::binder
