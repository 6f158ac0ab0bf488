#include "scheduler/attempt.h"

#include <fmt/format.h>
#include <algorithm>
#include <utility>
#include <variant>
#include <vector>

#include "scheduler/evaluation.h"
#include "scheduler/idle_claims.h"
#include "scheduler/inheritance.h"
#include "scheduler/report.h"
#include "scheduler/round_claims.h"
#include "scheduler/rounds.h"
#include "scheduler/undo.h"
#include "scheduler/validation.h"

namespace gang::scheduler {
namespace {

using cluster::Gang;
using cluster::GangId;
using cluster::Member;
using cluster::MemberState;
using engine::Explanation;
using engine::Verdict;

/// Members known to be out of date take no part.
void leave_out_stale(Gang& gang, const GangRecord& record) {
  if (record.stale.empty()) return;
  std::erase_if(gang.members, [&](const Member& member) {
    return member.state == MemberState::kPending && record.stale.contains(member.uid);
  });
  gang.counts.pending = static_cast<std::int32_t>(
      std::ranges::count(gang.members, MemberState::kPending, &Member::state));
}

/// Members are needed in their order: those whose Binding failed by itself come after the others,
/// so that a spare one takes the place.
void put_troubled_last(Gang& gang, const GangRecord& record) {
  if (record.troubled.empty()) return;
  std::ranges::stable_partition(
      gang.members, [&](const Member& member) { return !record.troubled.contains(member.uid); });
}

/// Shows the planner the record that a round of ours wrote and the watch has not told yet.
void show_record(Gang& gang, const GangRecord& record) {
  if (!gang.group || is_initially_scheduled(gang) || !is_recorded(gang, record)) return;
  std::erase_if(gang.group->conditions, [](const api::Condition& condition) {
    return condition.type == api::kInitiallyScheduled;
  });
  gang.group->conditions.push_back(
      {.type = std::string(api::kInitiallyScheduled), .status = api::ConditionStatus::kTrue});
}

void note_attempt(const GangRecord& record, AttemptResult result, std::int32_t member_count,
                  Turn& turn) {
  turn.effects.emplace_back(
      AttemptDone{.gang = record.ref, .result = result, .member_count = member_count});
}

/// Parks the gang with what it waits for. When the counts say that it fits although no plan was
/// found, further attempts are spaced.
void park(Core& core, GangRecord& record, const Gang& gang, Verdict verdict, Turn& turn) {
  Parking parking{.verdict = verdict, .since = turn.now};
  parking.avoids_until = record.avoided.first_end();
  if (nodes_may_help(verdict)) {
    parking.demand = engine::demand_of(gang);
    parking.demand.need = std::max(1, parking.demand.need);
    const auto outlook = core.planner.outlook(*core.state.snapshot(), parking.demand);
    const bool is_inexact = outlook.could_hold;
    parking.causes = outlook.causes;
    record.misses = is_inexact ? record.misses + 1 : 0;
    record.not_before = is_inexact ? turn.now + backoff(core.options, record.misses) : turn.now;
    const bool is_proven = verdict != Verdict::kSearchLimitReached;
    if (is_inexact && is_proven && is_decided_by_devices(parking.demand)) {
      parking.room = core.planner.room(*core.state.snapshot(), parking.demand);
    }
  }
  record.parking = std::move(parking);
  record.renew_at.reset();
  record.stage = Stage::kParked;
  if (record.repair) record.repair->resume(turn.now);
  core.queue.park(record.ref.id);
}

/// To what the group is told, and the pods with it.
void add_to_texts(Explanation& explanation, const std::string& more) {
  for (engine::MemberText& member : explanation.members) {
    if (member.message == explanation.message) member.message += more;
  }
  explanation.message += more;
}

/// Claims that are made from templates come soon after their pods: nothing is told before that.
TimePoint told_from(const Core& core, GangRecord& record, TimePoint now) {
  if (!record.unplannable_since) record.unplannable_since = now;
  return *record.unplannable_since + core.options.incomplete_grace;
}

void refuse(Core& core, GangRecord& record, const Gang& gang, Explanation explanation, Turn& turn) {
  const Verdict verdict = explanation.verdict;
  const bool is_error = verdict == Verdict::kInvalid;
  note_attempt(record, is_error ? AttemptResult::kError : AttemptResult::kUnschedulable,
               gang.counts.pending, turn);
  park(core, record, gang, verdict, turn);
  if (verdict != Verdict::kWaitingForPods) {
    record.unplannable_since.reset();
  } else if (const TimePoint due = told_from(core, record, turn.now); turn.now < due) {
    record.renew_at = due;
    return;
  } else if (explanation.members.empty()) {
    explanation.members = explain_to_told(gang, verdict, explanation.message).members;
  }
  tell(core, record, gang, std::move(explanation), turn);
}

/// Plans, and lets the gang's namespace owe what that took.
engine::Decision plan(Core& core, const GangRecord& record, const Gang& gang, Turn& turn) {
  const std::int64_t before = engine::work(core.planner.stats());
  auto decision = core.planner.plan(*core.state.snapshot(), gang);
  const std::int64_t work = engine::work(core.planner.stats()) - before;
  const std::string& name_space = gang.key.name_space;
  const NamespaceDebts::Charge charge = core.debts.charge(name_space, work);
  if (charge.owed == 0) return decision;
  core.queue.set_behind(name_space, core.debts.is_behind(name_space));
  turn.effects.emplace_back(AttemptCharged{.gang = record.ref, .work = charge.owed});
  if (charge.falls_behind) {
    turn.effects.emplace_back(Notice{fmt::format(
        "namespace {}: attempts of its gangs take long, the last one of {} {} steps; gangs of "
        "other namespaces go first until it owes less than {}",
        name_space, gang.key.name, work, engine::work_max(core.options.engine))});
  }
  return decision;
}

}  // namespace

void attempt(Core& core, GangId id, Turn& turn) {
  GangRecord& record = core.records.at(id);
  auto gang = core.state.gang(id);
  core.queue.take_out(id);
  record.attempted_at = turn.now;
  if (!gang) return;
  gang->minimum = record.minimum;
  const bool waits =
      wait_for_claim(core, record, *gang, turn) || wait_for_undo(core, record, *gang, turn);
  if (waits) return evaluate(core, id, turn);
  const std::uint64_t seen = fingerprint(*gang);
  leave_out_stale(*gang, record);
  put_troubled_last(*gang, record);
  show_record(*gang, record);
  record.avoided.leave_out(*gang);
  std::string problem = unreadable_intent(core, *gang);
  if (problem.empty()) problem = validate(*gang, core.options.priority_mismatch);
  if (!problem.empty()) {
    if (give_back_instead(core, record, *gang, turn)) return;
    refuse(core, record, *gang, explain_to_all(*gang, Verdict::kInvalid, problem), turn);
  } else {
    if (give_back_left_over(core, record, *gang, turn)) return;
    mark_unready(core.options, *gang, turn.now);
    if (!std::exchange(record.is_noted, true)) core.state.note_requests(*gang);
    auto decision = plan(core, record, *gang, turn);
    if (auto* plan = std::get_if<engine::Plan>(&decision)) {
      plan->writes_record = !is_recorded(*gang, record);
      plan->inherited = take_inherited(core, gang->uid);
      note_attempt(record, AttemptResult::kScheduled,
                   static_cast<std::int32_t>(plan->assignments.size()), turn);
      start_round(core, record, std::move(*plan), turn);
      return;
    }
    if (give_back_instead(core, record, *gang, turn)) return;
    auto explanation = std::get<Explanation>(std::move(decision));
    if (nodes_may_help(explanation.verdict)) add_to_texts(explanation, record.avoided.text());
    const IdleClaims idle = find_idle_claims(core, record, *gang, turn.now);
    if (idle.are_due(turn.now)) {
      add_to_texts(explanation, text_of(*gang, idle));
      tell(core, record, *gang, std::move(explanation), turn);
      return give_back_idle(core, record, *gang, idle, turn);
    }
    refuse(core, record, *gang, std::move(explanation), turn);
    if (!idle.claims.empty()) record.renew_at = idle.due;
  }
  record.parking->fingerprint = seen;
  evaluate(core, id, turn);  // sets the timer
}

void wake_parked(Core& core, Turn& turn) {
  if (!core.wakeup.is_pending()) return;
  const WakeUp changed = std::exchange(core.wakeup, {});
  if (core.queue.parked().empty()) return;
  const auto snapshot = core.state.snapshot();
  std::vector<GangId> helped;
  std::vector<GangId> outdated;
  for (const GangId id : core.queue.parked()) {
    const GangRecord& record = core.records.at(id);
    const Parking& parking = *record.parking;
    // Its idle claims go when others would serve.
    const bool may_change = changed.has_devices() && !record.left_claims.empty();
    const bool may_help = may_change || changed.may_help(parking.demand);
    if (!nodes_may_help(parking.verdict) || !may_help) continue;
    const engine::Outlook outlook = core.planner.outlook(*snapshot, parking.demand);
    const bool sleeps = outlook.could_hold && parking.room && !changed.has_devices() &&
                        core.planner.room(*snapshot, parking.demand) == *parking.room;
    if (outlook.could_hold && !sleeps) {
      helped.push_back(id);
    } else if (outlook.causes != parking.causes) {
      outdated.push_back(id);
    }
  }
  for (const GangId id : helped) wake(core, id, turn);
  for (const GangId id : outdated) {
    if (core.records.at(id).renew_at) continue;
    renew_later(core, core.records.at(id), turn.now);
    evaluate(core, id, turn);  // sets the timer
  }
}

}  // namespace gang::scheduler
