#include "scheduler/rounds.h"

#include <fmt/format.h>
#include <algorithm>
#include <utility>

#include "scheduler/recovery.h"
#include "scheduler/round_claims.h"
#include "scheduler/stamp.h"

namespace gang::scheduler {
namespace {

using cluster::Gang;
using cluster::GangKind;
using cluster::Member;
using cluster::MemberState;
using engine::MemberEnd;
using engine::RoundEnd;

constexpr Duration kRollbackWindow = std::chrono::minutes(10);
constexpr std::size_t kRollbacksMax = 3;  ///< within the window, before attempts slow down

std::string new_stamp(Core& core, const engine::Plan& plan) {
  ++core.round_count;
  return Stamp{.round = fmt::format("{}-{}", core.options.epoch, core.round_count),
               .need = plan.need,
               .minimum = plan.minimum,
               .plan = engine::plan_hash(plan)}
      .text();
}

void enter(Core& core, GangRecord& record, Stage stage) {
  core.queue.take_out(record.ref.id);
  core.queue.set_timer(record.ref.id, std::nullopt);
  record.stage = stage;
  record.parking.reset();
  record.renew_at.reset();
  record.waiting_since.reset();
  record.unplannable_since.reset();
  record.report.drop_waiting();
  if (stage == Stage::kBinding) record.rolled_back.clear();
}

/// Gives back what was not bound. Members that are gone or elsewhere stay out of plans until the
/// watch shows another version of them than the one that was planned.
void take_back(Core& core, GangRecord* record, const engine::RoundOutcome& outcome) {
  for (const engine::MemberOutcome& member : outcome.members) {
    if (member.end == MemberEnd::kBound) continue;
    core.state.forget(member.uid);
    core.wakeup.note_room();
    if (member.end == MemberEnd::kNotBound || record == nullptr || !record->round) continue;
    const auto planned = record->round->versions.find(member.uid);
    if (planned != record->round->versions.end()) record->stale.insert(*planned);
  }
}

/// The repair clock: it runs only while the server answers.
void set_repair(Core& core, GangRecord& record, const OpenRound& round, bool is_silent,
                TimePoint now) {
  if (!record.repair) {
    record.repair = Repair{.stamp = round.stamp, .deadline = now + core.options.repair_deadline};
    if (is_silent) record.repair->stopped = now;
    return;
  }
  if (!is_silent) {
    record.repair->resume(now);
  } else if (!record.repair->stopped) {
    record.repair->stopped = round.start;
  }
}

const char* words_of(MemberEnd end) {
  switch (end) {
    case MemberEnd::kBound:
      return "bound";
    case MemberEnd::kElsewhere:
      return "bound elsewhere by somebody else";
    case MemberEnd::kLost:
      return "lost";
    case MemberEnd::kNotBound:
      return "not bound";
  }
  return "";
}

/// "pod default/g-1 was lost: the pod is gone (and 2 more)"; empty when the round lost nobody.
std::string cause_of(const engine::RoundOutcome& outcome) {
  const engine::MemberOutcome* first = nullptr;
  std::int64_t count = 0;
  for (const engine::MemberOutcome& member : outcome.members) {
    if (member.end == MemberEnd::kBound) continue;
    ++count;
    // One that was only stopped with the others is not why.
    if (first == nullptr || (first->stopped && !member.stopped)) first = &member;
  }
  if (first == nullptr) return "";
  std::string cause = fmt::format("pod {} was {}", first->pod.text(), words_of(first->end));
  if (!first->message.empty()) cause += ": " + first->message;
  if (count > 1) cause += fmt::format(" (and {} more)", count - 1);
  return cause;
}

/// Members that were not bound by a fault of their own.
void note_troubled(GangRecord& record, const engine::RoundOutcome& outcome) {
  record.troubled.clear();
  for (const engine::MemberOutcome& member : outcome.members) {
    const bool is_own = !member.stopped || member.answered;
    if (member.end == MemberEnd::kNotBound && is_own) record.troubled.insert(member.uid);
  }
}

/// Why the devices of the plan did not serve; of one that others took first not the first time.
std::string text_of_lost_devices(const GangRecord& record, const OpenRound& round,
                                 const engine::RoundOutcome& outcome) {
  if (outcome.end == RoundEnd::kUnready && round.devices && !round.devices->unready.empty()) {
    return fmt::format(
        "a device was not made ready: {}; the devices are given back and planned again",
        round.devices->unready.front().why);
  }
  if (outcome.end != RoundEnd::kOvertaken || record.failures < 2) return "";
  return fmt::format(
      "the devices of a plan were taken or changed before its pods could be bound: {}; planned "
      "again",
      outcome.message);
}

void fail_round(Core& core, GangRecord& record, const OpenRound& round,
                const engine::RoundOutcome& outcome, Turn& turn) {
  ++record.failures;
  record.not_before = turn.now + backoff(core.options, record.failures);
  note_troubled(record, outcome);
  if (round.devices) record.avoided.note_devices(round.devices->unready, turn.now);
  const auto gang = core.state.gang(record.ref.id);
  if (!gang) return;
  const std::int32_t base = gang->counts.base();
  const bool is_half_bound = gang->kind == GangKind::kPodGroup && base > 0 && base < round.minimum;
  if (is_half_bound && !is_recorded(*gang, record)) {
    const bool is_silent = outcome.end == RoundEnd::kUnavailable && !outcome.answered;
    set_repair(core, record, round, is_silent, turn.now);
    if (std::string cause = cause_of(outcome); !cause.empty()) record.repair->cause = cause;
  }
  if (is_half_bound && record.failures == 1 && outcome.end == RoundEnd::kMembersLost) {
    record.not_before = turn.now;
  }
  if (std::string lost = text_of_lost_devices(record, round, outcome); !lost.empty()) {
    // The next round may begin before the interval is over, and would be told in its place.
    record.report.hurry();
    tell(core, record, *gang, explain_to_all(*gang, engine::Verdict::kBinding, lost), turn);
  }
  const bool is_server_failure =
      outcome.end == RoundEnd::kRefused || outcome.end == RoundEnd::kUnavailable;
  if (!is_server_failure) return;
  turn.effects.emplace_back(AttemptDone{.gang = record.ref, .result = AttemptResult::kError});
  if (base >= round.minimum) return;  // only the record is open, and is tried again
  tell(core, record, *gang,
       explain_to_all(
           *gang, engine::Verdict::kBinding,
           fmt::format("the API server does not take the {}: {}",
                       round.devices ? "writes of the round" : "Bindings", outcome.message)),
       turn);
}

void commit_round(Core& core, GangRecord& record, const engine::RoundOutcome& outcome, Turn& turn) {
  record.repair.reset();
  record.misses = 0;
  record.renewals = 0;
  record.troubled.clear();
  record.degraded_since.reset();
  record.report.forget();
  const bool has_unbound_extra = std::ranges::any_of(
      outcome.members,
      [](const engine::MemberOutcome& member) { return member.end == MemberEnd::kNotBound; });
  record.failures = has_unbound_extra ? record.failures + 1 : 0;
  record.not_before =
      has_unbound_extra ? turn.now + backoff(core.options, record.failures) : turn.now;
}

}  // namespace

void start_round(Core& core, GangRecord& record, engine::Plan plan, Turn& turn) {
  const bool is_group = plan.gang.kind == GangKind::kPodGroup;
  const bool continues = record.repair && !record.repair->stamp.empty();
  const bool has_claims = !plan.claims.empty() || !plan.new_claims.empty() || plan.inherited;
  if (is_group || has_claims) {
    plan.stamp = continues ? record.repair->stamp : new_stamp(core, plan);
  }
  for (engine::ClaimCreation& creation : plan.new_claims) {
    creation.claim = engine::new_claim_key(creation, plan.stamp);
  }
  plan.writes_record = is_group && plan.writes_record;
  std::vector<cluster::AssumedPod> assumed;
  assumed.reserve(plan.assignments.size());
  for (const engine::Assignment& assignment : plan.assignments) {
    assumed.push_back({assignment.uid, assignment.node});
  }
  OpenRound round{.stamp = plan.stamp,
                  .minimum = plan.minimum,
                  .base = plan.base + static_cast<std::int32_t>(plan.assignments.size()),
                  .start = turn.now};
  if (has_claims) assume_claims(core, round, plan);
  core.state.assume(assumed);
  enter(core, record, Stage::kBinding);
  for (const engine::Assignment& assignment : plan.assignments) {
    round.versions.emplace(assignment.uid, assignment.resource_version);
  }
  record.round = std::move(round);
  turn.effects.emplace_back(BindGang{std::move(plan)});
}

void start_record(Core& core, GangRecord& record, const Gang& gang, std::string stamp, Turn& turn) {
  engine::Plan plan{.gang = record.ref,
                    .minimum = gang.minimum,
                    .base = gang.counts.base(),
                    .stamp = std::move(stamp),
                    .writes_record = true};
  enter(core, record, Stage::kBinding);
  record.round =
      OpenRound{.stamp = plan.stamp, .minimum = plan.minimum, .base = plan.base, .start = turn.now};
  turn.effects.emplace_back(BindGang{std::move(plan)});
}

void end_repair(Core& core, GangRecord& record, const Gang& gang, Turn& turn) {
  const std::string obstacle =
      rollback_obstacle(gang, record.repair->stamp, core.options.scheduler_name);
  const std::string state =
      fmt::format("{} of minimum {} members are bound", gang.counts.bound, gang.minimum);
  if (!obstacle.empty()) {
    record.repair->is_forward_only = true;
    tell(core, record, gang,
         explain_progress(
             gang, fmt::format("{}, the others could not be bound in time; {}, so they stay and "
                               "the others follow as soon as they fit",
                               state, obstacle)),
         turn);
    return;
  }
  const std::string why =
      fmt::format(", the others could not be bound within {}{}{}",
                  format_duration(core.options.repair_deadline),
                  record.repair->cause.empty() ? "" : "; ", record.repair->cause);
  engine::Rollback rollback{.gang = record.ref,
                            .minimum = gang.minimum,
                            .stamp = record.repair->stamp,
                            .message = state + why};
  for (const Member& member : gang.members) {
    if (member.state != MemberState::kBound) continue;
    rollback.members.push_back({.pod = member.key,
                                .uid = member.uid,
                                .resource_version = member.resource_version,
                                .node_name = member.node_name});
  }
  enter(core, record, Stage::kRollingBack);
  record.rolled_back = fmt::format("rolled back: {} of minimum {} members were bound{}",
                                   gang.counts.bound, gang.minimum, why);
  turn.effects.emplace_back(
      Notice{fmt::format("{}: rolled back: {}", record.ref.key.text(), rollback.message)});
  turn.effects.emplace_back(RollBackGang{std::move(rollback)});
}

void finish_round(Core& core, const engine::RoundOutcome& outcome, Turn& turn) {
  const auto found = core.records.find(outcome.gang.id);
  GangRecord* record = found != core.records.end() ? &found->second : nullptr;
  take_back(core, record, outcome);
  core.undo_troubles.erase(outcome.gang.uid);
  core.dirty.insert(outcome.gang.id);
  if (record == nullptr || !record->round) return;
  const OpenRound round = *std::exchange(record->round, std::nullopt);
  forget_claims(core, round, turn.now);
  record->stage = Stage::kIdle;
  const bool is_committed = outcome.end == RoundEnd::kCommitted;
  if (is_committed || outcome.recorded) record->recorded = outcome.gang.uid;
  if (is_committed) {
    commit_round(core, *record, outcome, turn);
  } else {
    fail_round(core, *record, round, outcome, turn);
  }
}

void tell_slow_round(Core& core, const engine::RoundProgress& progress, Turn& turn) {
  const auto found = core.records.find(progress.gang.id);
  if (found == core.records.end() || found->second.stage != Stage::kBinding) return;
  const auto outline = core.state.gang_outline(progress.gang.id);
  if (!outline) return;
  engine::Explanation explanation = explain_progress(
      *outline, fmt::format("{} of minimum {} members are bound; the API server does not take the "
                            "Bindings of the others: {}",
                            progress.bound, found->second.minimum, progress.message));
  flag(explanation, *outline, found->second);
  explanation.bound = progress.bound;
  turn.effects.emplace_back(ExplainGang{std::move(explanation)});
}

void finish_rollback(Core& core, const engine::GangRef& gang, Turn& turn) {
  core.dirty.insert(gang.id);
  const auto found = core.records.find(gang.id);
  if (found == core.records.end() || found->second.stage != Stage::kRollingBack) return;
  GangRecord& record = found->second;
  record.stage = Stage::kIdle;
  record.repair.reset();
  record.failures = 0;
  std::erase_if(record.rollbacks,
                [&](TimePoint time) { return time + kRollbackWindow <= turn.now; });
  record.rollbacks.push_back(turn.now);
  const auto count = record.rollbacks.size();
  const bool is_slowed = count >= kRollbacksMax;
  const Duration delay = is_slowed ? core.options.backoff_max
                                   : backoff(core.options, static_cast<std::int32_t>(count));
  record.not_before = turn.now + delay;
  record.rolled_back += fmt::format("; tried again after {}, when {} pods exist",
                                    format_duration(delay), record.minimum);
  if (is_slowed) {
    const std::string text = fmt::format("rolled back {} times in 10 minutes, one attempt every {}",
                                         count, format_duration(delay));
    turn.effects.emplace_back(Notice{fmt::format("{}: {}", record.ref.key.text(), text)});
    record.rolled_back = text + "; " + record.rolled_back;
  }
  const auto outline = core.state.gang_outline(gang.id);
  if (!outline) return;
  tell(core, record, *outline, explain(*outline, engine::Verdict::kBinding, record.rolled_back),
       turn);
}

}  // namespace gang::scheduler
