#include "binder/breaker.h"

#include <utility>

#include "binder/precondition_probe.h"
#include "gang/base/log.h"

namespace gang::binder {
namespace {

constexpr std::int64_t kWindowSeconds = 10;
constexpr std::int32_t kWritesMin = 20;
constexpr const char* kNoNode = "gang-scheduler-probe";
constexpr Duration kProbeInterval = std::chrono::seconds(5);

std::int64_t second_of(Duration time) {
  return std::chrono::duration_cast<std::chrono::seconds>(time).count();
}

}  // namespace

void FailureWindow::note(Duration now, bool failed) {
  const std::int64_t second = second_of(now);
  while (!seconds_.empty() && seconds_.front().number <= second - kWindowSeconds) {
    seconds_.pop_front();
  }
  if (seconds_.empty() || seconds_.back().number != second) seconds_.push_back({second, {}});
  ++seconds_.back().counts.writes;
  if (failed) ++seconds_.back().counts.failures;
}

FailureWindow::Counts FailureWindow::counts() const {
  Counts sum;
  for (const Second& second : seconds_) {
    sum.writes += second.counts.writes;
    sum.failures += second.counts.failures;
  }
  return sum;
}

bool FailureWindow::is_bad() const {
  const Counts sum = counts();
  return sum.writes >= kWritesMin && sum.failures * 2 > sum.writes;
}

Breaker::Breaker(Channel& channel, std::function<void()> changed)
    : channel_(channel), changed_(std::move(changed)) {}

void Breaker::note(const kube::Answer& answer) {
  if (is_open_) return;
  const bool failed = is_server_failure(answer);
  window_.note(channel_.monotonic(), failed);
  if (failed && window_.is_bad()) open(answer);
}

void Breaker::open(const kube::Answer& answer) {
  const FailureWindow::Counts counts = window_.counts();
  is_open_ = true;
  cause_ = answer.message;
  opened_at_ = channel_.monotonic();
  channel_.stats().breaker_open = true;
  log::warn("the API server fails: no new rounds until it answers",
            {{"failed", std::to_string(counts.failures)},
             {"of_writes", std::to_string(counts.writes)},
             {"last_error", answer.message}});
  probe_later();
  changed_();
}

void Breaker::probe_later() {
  channel_.after(kProbeInterval, lifeline_.guard([this] {
    engine::Assignment target;
    target.pod = channel_.last_written();
    target.node_name = kNoNode;
    channel_.try_bind(unfit_binding(target),
                      lifeline_.guard([this](const kube::Answer& a) { on_probe(a); }));
  }));
}

void Breaker::on_probe(const kube::Answer& answer) {
  if (is_server_failure(answer)) return probe_later();
  is_open_ = false;
  window_.clear();
  channel_.stats().breaker_open = false;
  log::info("the API server answers again: rounds go on",
            {{"after", format_duration(std::chrono::duration_cast<std::chrono::milliseconds>(
                           channel_.monotonic() - opened_at_))}});
  changed_();
}

}  // namespace gang::binder
