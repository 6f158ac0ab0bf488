#include "gang/binder/binder.h"

#include <map>
#include <utility>
#include <vector>

#include "binder/breaker.h"
#include "binder/channel.h"
#include "binder/claim_round.h"
#include "binder/events.h"
#include "binder/fence_run.h"
#include "binder/group_writer.h"
#include "binder/intent_finder.h"
#include "binder/paced_queue.h"
#include "binder/precondition_probe.h"
#include "binder/rollback.h"
#include "binder/round.h"
#include "binder/status_writer.h"
#include "binder/write_window.h"
#include "gang/base/check.h"
#include "gang/base/log.h"

namespace gang::binder {
namespace {

constexpr std::int32_t kStatusBurstSeconds = 2;

constexpr const char* kStopping = "the scheduler is stopping";

}  // namespace

/// The parts of the binder and the runs that are open. Order: what is used outlives its users.
class Binder::Impl {
 public:
  Impl(Clients clients, const Clock& clock, const Options& options, Callbacks callbacks,
       Executor executor)
      : callbacks_(std::move(callbacks)),
        channel_(clients.client, clock, options, std::move(executor)),
        window_(options.writes_in_flight_max),
        claims_(clients.claims, channel_, window_),
        paced_(channel_, window_, options.status_writes_per_second,
               options.status_writes_per_second * kStatusBurstSeconds),
        events_(channel_, window_),
        groups_({channel_, window_, paced_}),
        status_({channel_, paced_, groups_, events_},
                [this](const engine::GangRef& gang) { callbacks_.explain_failed(gang); }),
        probe_(
            channel_, [this](const PreconditionProbe::Finding& finding) { on_found(finding); },
            [this] { tell_blocked(); }),
        breaker_(channel_, [this] { tell_blocked(); }),
        finder_(claims_, [this](std::vector<api::StoredIntent> found) {
          std::erase_if(found, [this](const api::StoredIntent& one) {
            return closings_.contains(one.intent.gang_uid);
          });
          callbacks_.intents_found(std::move(found));
        }) {
    channel_.watch_writes([this](const kube::Answer& answer) { breaker_.note(answer); });
    window_.on_drained([this] {
      paced_.pump();
      events_.pump();
    });
  }

  void commit(const engine::Plan& plan) {
    status_.drop(plan.gang);
    if (draining_) return refuse(plan, engine::RoundEnd::kUnavailable, kStopping);
    if (is_blocked()) return refuse(plan, engine::RoundEnd::kUnavailable, why_blocked());
    if (probe_.is_proven() || plan.assignments.empty()) return begin(plan);
    waiting_.push_back(plan);
    if (waiting_.size() == 1) probed_member_ = 0;
    window_.expect(true);
    probe_.ask(waiting_.front().assignments[probed_member_]);
  }

  void explain(const engine::Explanation& explanation) {
    // The gang became whole after this was thought of.
    if (is_whole(explanation.gang.id)) return;
    status_.explain(explanation);
  }

  void tell_bound(const std::vector<engine::Assignment>& pods) {
    for (const engine::Assignment& pod : pods) events_.submit(event_target(pod), bound_text(pod));
  }

  void confirm(const engine::RoundCheck& check) {
    const auto round = claim_rounds_.find(check.gang.id);
    if (round != claim_rounds_.end()) round->second->confirm(check);
  }

  void find_intents() { finder_.start(); }

  void fence(const api::StoredIntent& intent) {
    const api::Uid gang = intent.intent.gang_uid;
    auto run =
        std::make_unique<FenceRun>(claims_, intent, hear_slow_undo(),
                                   [this](const engine::UndoReport& report) { on_fenced(report); });
    const auto [at, is_new] = fences_.emplace(gang, std::move(run));
    CHECK(is_new);
    at->second->start();
  }

  void tell_double_booking(const api::DoubleBooking& booking) {
    const auto tell = [&](const api::ResourceClaim& claim, const api::ResourceClaim& other) {
      warn(claim, "DeviceDoubleBooked",
           "device " + booking.device.text() + " is held by claim " + other.meta.key.text() +
               " too");
    };
    tell(*booking.claim, *booking.other);
    tell(*booking.other, *booking.claim);
  }

  void tell_lost_device(const api::ResourceClaim& claim, const api::DeviceName& device) {
    warn(claim, "DeviceLost", "device " + device.text() + " is shown by no slice");
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

  void drain() {
    draining_ = true;
    refuse_waiting(engine::RoundEnd::kUnavailable, kStopping);
    for (const auto& [uid, plan] : std::exchange(behind_, {})) {
      --channel_.stats().rounds_open;
      refuse(plan, engine::RoundEnd::kUnavailable, kStopping);
    }
    for (const auto& [id, round] : claim_rounds_) round->drain(kStopping);
  }

  [[nodiscard]] bool idle() const {
    const bool has_runs = !rounds_.empty() || !claim_rounds_.empty() || !rollbacks_.empty() ||
                          !fences_.empty() || !closings_.empty() || !behind_.empty();
    return waiting_.empty() && !has_runs && reports_open_ == 0 && status_.idle() &&
           groups_.idle() && channel_.in_flight() == 0;
  }

  [[nodiscard]] const Stats& stats() const { return channel_.stats(); }

 private:
  void warn(const api::ResourceClaim& claim, const char* reason, const std::string& note) {
    events_.submit(event_target(claim),
                   {.type = "Warning", .reason = reason, .action = "Scheduling", .note = note});
  }

  void begin(const engine::Plan& plan) {
    const cluster::GangId id = plan.gang.id;
    CHECK(!rounds_.contains(id) && !claim_rounds_.contains(id));
    ++channel_.stats().rounds_open;
    Round::Parts parts{channel_, window_, groups_, status_, events_, callbacks_.round_slow, {}};
    const auto done = [this](engine::RoundOutcome outcome) { on_round_ended(std::move(outcome)); };
    if (plan.claims.empty() && plan.new_claims.empty() && !plan.inherited) {
      auto& round = rounds_[id] = std::make_unique<Round>(std::move(parts), plan, done);
      return round->start();
    }
    if (closings_.contains(plan.gang.uid)) {
      behind_.emplace(plan.gang.uid, plan);
      return;
    }
    const auto closed = [this, uid = plan.gang.uid] { on_closed(uid); };
    auto& round = claim_rounds_[id] = std::make_unique<ClaimRound>(
        ClaimRound::Parts{claims_, std::move(parts), callbacks_.claims_written, hear_slow_undo(),
                          closed},
        plan, done);
    round->start();
  }

  /// The round has ended; its intent may yet have to be deleted.
  void keep_closing(const engine::GangRef& gang) {
    auto round = claim_rounds_.extract(gang.id);
    if (round.empty() || round.mapped()->is_closed()) return;
    closings_.emplace(gang.uid, std::move(round.mapped()));
  }

  /// Not at once: it is still on the stack.
  void on_closed(const api::Uid& gang) {
    channel_.later(lifeline_.guard([this, gang] {
      closings_.erase(gang);
      auto next = behind_.extract(gang);
      if (next.empty()) return;
      --channel_.stats().rounds_open;
      begin(next.mapped());
    }));
  }

  [[nodiscard]] bool is_whole(cluster::GangId id) const {
    const auto plain = rounds_.find(id);
    if (plain != rounds_.end()) return plain->second->need_is_met();
    const auto round = claim_rounds_.find(id);
    return round != claim_rounds_.end() && round->second->need_is_met();
  }

  /// Ends a round that was not begun.
  void refuse(const engine::Plan& plan, engine::RoundEnd end, const std::string& why) {
    report_later(unbound_outcome(plan, end, why));
  }

  void refuse_waiting(engine::RoundEnd end, const std::string& why) {
    for (const engine::Plan& plan : std::exchange(waiting_, {})) refuse(plan, end, why);
    window_.expect(false);
  }

  void on_found(const PreconditionProbe::Finding& finding) {
    switch (finding.kind) {
      case PreconditionProbe::Kind::kProven:
        for (const engine::Plan& plan : std::exchange(waiting_, {})) {
          status_.drop(plan.gang);  // what was said of the gang while it waited here
          begin(plan);
        }
        return window_.expect(false);
      case PreconditionProbe::Kind::kPodGone:
        return ask_with_next_member();
      case PreconditionProbe::Kind::kRefused:
        return refuse_probed(engine::RoundEnd::kRefused, finding.message);
      case PreconditionProbe::Kind::kUnavailable:
        return refuse_probed(engine::RoundEnd::kUnavailable, finding.message);
      case PreconditionProbe::Kind::kBroken:
        return refuse_waiting(engine::RoundEnd::kUnavailable, finding.message);
    }
  }

  /// A plan whose pods are all gone is not begun.
  void ask_with_next_member() {
    if (waiting_.empty()) return;
    if (++probed_member_ >= waiting_.front().assignments.size()) {
      refuse(waiting_.front(), engine::RoundEnd::kMembersLost, "its pods are gone");
      waiting_.erase(waiting_.begin());
      probed_member_ = 0;
    }
    ask_with_first();
  }

  void ask_with_first() {
    if (waiting_.empty()) return window_.expect(false);
    probe_.ask(waiting_.front().assignments[probed_member_]);
  }

  /// A webhook may fail in one namespace only: plans of others are asked with next.
  void refuse_probed(engine::RoundEnd end, const std::string& why) {
    std::vector<engine::Plan> all = std::exchange(waiting_, {});
    for (engine::Plan& plan : all) {
      const bool is_same = plan.gang.key.name_space == all.front().gang.key.name_space;
      is_same ? refuse(plan, end, why) : waiting_.push_back(plan);
    }
    probed_member_ = 0;
    ask_with_first();
  }

  [[nodiscard]] bool is_blocked() const { return breaker_.is_open() || probe_.is_broken(); }

  [[nodiscard]] std::string why_blocked() const {
    return breaker_.is_open() ? "the API server fails: " + breaker_.cause()
                              : "the API server does not keep the preconditions of Bindings";
  }

  /// Not at once: whoever sent the request is still on the stack.
  void tell_blocked() {
    channel_.later(lifeline_.guard([this] {
      if (std::exchange(told_blocked_, is_blocked()) == is_blocked()) return;
      if (callbacks_.writes_blocked) callbacks_.writes_blocked(is_blocked());
    }));
  }

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
      keep_closing(outcome.gang);
      callbacks_.round_done(outcome);
    }));
  }

  void on_rollback_ended(const engine::GangRef& gang) {
    channel_.later(lifeline_.guard([this, gang] {
      rollbacks_.erase(gang.id);
      callbacks_.rollback_done(gang);
    }));
  }

  void on_fenced(const engine::UndoReport& report) {
    channel_.later(lifeline_.guard([this, report] {
      fences_.erase(report.gang_uid);
      callbacks_.round_fenced(report);
    }));
  }

  [[nodiscard]] FenceRun::Hear hear_slow_undo() {
    return [this](const engine::UndoReport& report) {
      if (report.trouble.empty()) {
        log::info("what a round wrote is taken back now", {{"gang", report.gang.text()}});
      } else {
        log::warn("what a round wrote is not taken back yet",
                  {{"gang", report.gang.text()}, {"why", report.trouble}});
      }
      if (callbacks_.undo_slow) callbacks_.undo_slow(report);
    };
  }

  const Callbacks callbacks_;
  Channel channel_;
  WriteWindow window_;
  const ClaimPort claims_;
  PacedQueue paced_;
  EventSink events_;
  GroupWriter groups_;
  StatusWriter status_;
  PreconditionProbe probe_;
  Breaker breaker_;
  IntentFinder finder_;
  std::vector<engine::Plan> waiting_;  ///< for the answer to the probe
  std::size_t probed_member_ = 0;      ///< of the first of them
  std::map<cluster::GangId, std::unique_ptr<Round>> rounds_;
  std::map<cluster::GangId, std::unique_ptr<ClaimRound>> claim_rounds_;
  std::map<cluster::GangId, std::unique_ptr<RollbackRun>> rollbacks_;
  std::map<api::Uid, std::unique_ptr<FenceRun>> fences_;
  std::map<api::Uid, std::unique_ptr<ClaimRound>> closings_;  ///< ended, but for their intent
  std::map<api::Uid, engine::Plan> behind_;                   ///< begin when that is gone
  std::int32_t reports_open_ = 0;
  bool draining_ = false;
  bool told_blocked_ = false;
  Lifeline lifeline_;
};

Binder::Binder(Clients clients, const Clock& clock, Options options, Callbacks callbacks,
               Executor executor)
    : impl_(std::make_unique<Impl>(clients, clock, options, std::move(callbacks),
                                   std::move(executor))) {}

Binder::~Binder() = default;

void Binder::commit(const engine::Plan& plan) {
  impl_->commit(plan);
}
void Binder::confirm(const engine::RoundCheck& check) {
  impl_->confirm(check);
}
void Binder::find_intents() {
  impl_->find_intents();
}
void Binder::fence(const api::StoredIntent& intent) {
  impl_->fence(intent);
}
void Binder::explain(const engine::Explanation& explanation) {
  impl_->explain(explanation);
}
void Binder::tell_bound(const std::vector<engine::Assignment>& pods) {
  impl_->tell_bound(pods);
}
void Binder::tell_double_booking(const api::DoubleBooking& booking) {
  impl_->tell_double_booking(booking);
}
void Binder::tell_lost_device(const api::ResourceClaim& claim, const api::DeviceName& device) {
  impl_->tell_lost_device(claim, device);
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
