#include "gang/binder/binder.h"

#include <map>
#include <utility>

#include "binder/channel.h"
#include "binder/events.h"
#include "binder/group_writer.h"
#include "binder/paced_queue.h"
#include "binder/rollback.h"
#include "binder/round.h"
#include "binder/status_writer.h"
#include "binder/write_window.h"
#include "gang/base/check.h"

namespace gang::binder {
namespace {

constexpr std::int32_t kStatusBurstSeconds = 2;

engine::RoundOutcome refused_by_drain(const engine::Plan& plan) {
  engine::RoundOutcome outcome{.gang = plan.gang,
                               .stamp = plan.stamp,
                               .end = engine::RoundEnd::kUnavailable,
                               .message = "the scheduler is stopping"};
  for (const engine::Assignment& pod : plan.assignments) {
    outcome.members.push_back({.pod = pod.pod, .uid = pod.uid, .message = outcome.message});
  }
  return outcome;
}

}  // namespace

/// The parts of the binder and the runs that are open. Order: what is used outlives its users.
class Binder::Impl {
 public:
  Impl(kube::Client& client, const Clock& clock, const Options& options, Callbacks callbacks,
       Executor executor)
      : callbacks_(std::move(callbacks)),
        channel_(client, clock, options, std::move(executor)),
        window_(options.writes_in_flight_max),
        paced_(channel_, window_, options.status_writes_per_second,
               options.status_writes_per_second * kStatusBurstSeconds),
        events_(channel_, window_),
        groups_({channel_, window_, paced_}),
        status_({channel_, paced_, groups_, events_},
                [this](const engine::GangRef& gang) { callbacks_.explain_failed(gang); }) {
    window_.on_drained([this] {
      paced_.pump();
      events_.pump();
    });
  }

  void commit(const engine::Plan& plan) {
    status_.drop(plan.gang);
    if (draining_) return report_later(refused_by_drain(plan));
    const cluster::GangId id = plan.gang.id;
    auto round = std::make_unique<Round>(
        Round::Parts{channel_, window_, groups_, status_, events_}, plan,
        [this](engine::RoundOutcome outcome) { on_round_ended(std::move(outcome)); });
    const auto [at, is_new] = rounds_.emplace(id, std::move(round));
    CHECK(is_new);
    ++channel_.stats().rounds_open;
    at->second->start();
  }

  void explain(const engine::Explanation& explanation) {
    // The gang became whole after this was thought of.
    const auto round = rounds_.find(explanation.gang.id);
    if (round != rounds_.end() && round->second->need_is_met()) return;
    status_.explain(explanation);
  }

  void rollback(const engine::Rollback& rollback) {
    status_.drop(rollback.gang);
    ++channel_.stats().rollbacks;
    auto run = std::make_unique<RollbackRun>(
        channel_, paced_, rollback, [this, gang = rollback.gang] { on_rollback_ended(gang); });
    const auto [at, is_new] = rollbacks_.emplace(rollback.gang.id, std::move(run));
    CHECK(is_new);
    at->second->start();
  }

  void drain() { draining_ = true; }

  [[nodiscard]] bool idle() const {
    return rounds_.empty() && rollbacks_.empty() && reports_open_ == 0 && status_.idle() &&
           groups_.idle() && channel_.in_flight() == 0;
  }

  [[nodiscard]] const Stats& stats() const { return channel_.stats(); }

 private:
  void on_round_ended(engine::RoundOutcome outcome) {
    --channel_.stats().rounds_open;
    const bool committed = outcome.end == engine::RoundEnd::kCommitted;
    ++(committed ? channel_.stats().rounds_committed : channel_.stats().rounds_failed);
    report_later(std::move(outcome));
  }

  /// Not at once: the round that ended is still on the stack.
  void report_later(engine::RoundOutcome outcome) {
    ++reports_open_;
    channel_.later(lifeline_.guard([this, outcome = std::move(outcome)] {
      --reports_open_;
      rounds_.erase(outcome.gang.id);
      callbacks_.round_done(outcome);
    }));
  }

  void on_rollback_ended(const engine::GangRef& gang) {
    channel_.later(lifeline_.guard([this, gang] {
      rollbacks_.erase(gang.id);
      callbacks_.rollback_done(gang);
    }));
  }

  const Callbacks callbacks_;
  Channel channel_;
  WriteWindow window_;
  PacedQueue paced_;
  EventSink events_;
  GroupWriter groups_;
  StatusWriter status_;
  std::map<cluster::GangId, std::unique_ptr<Round>> rounds_;
  std::map<cluster::GangId, std::unique_ptr<RollbackRun>> rollbacks_;
  std::int32_t reports_open_ = 0;
  bool draining_ = false;
  Lifeline lifeline_;
};

Binder::Binder(kube::Client& client, const Clock& clock, Options options, Callbacks callbacks,
               Executor executor)
    : impl_(std::make_unique<Impl>(client, clock, options, std::move(callbacks),
                                   std::move(executor))) {}

Binder::~Binder() = default;

void Binder::commit(const engine::Plan& plan) {
  impl_->commit(plan);
}
void Binder::explain(const engine::Explanation& explanation) {
  impl_->explain(explanation);
}
void Binder::rollback(const engine::Rollback& rollback) {
  impl_->rollback(rollback);
}
void Binder::drain() {
  impl_->drain();
}
bool Binder::idle() const {
  return impl_->idle();
}
const Stats& Binder::stats() const {
  return impl_->stats();
}

}  // namespace gang::binder
