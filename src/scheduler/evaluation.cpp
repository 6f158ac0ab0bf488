#include "scheduler/evaluation.h"

#include <fmt/format.h>
#include <algorithm>
#include <utility>

#include "scheduler/recovery.h"
#include "scheduler/report.h"
#include "scheduler/rounds.h"
#include "scheduler/validation.h"

namespace gang::scheduler {
namespace {

using cluster::Gang;
using cluster::GangId;
using cluster::GangKind;
using cluster::Member;
using cluster::MemberState;
using engine::Verdict;

/// One evaluation of one gang. Lives for one call of evaluate(); the outline is as of that call.
/// The full gang is built only when a step needs its members.
class Evaluation {
 public:
  Evaluation(Core& core, GangRecord& record, Gang outline, Turn& turn)
      : core_(core), record_(record), outline_(std::move(outline)), turn_(turn) {}

  void run() {
    note_identity();
    note_counts();
    note_torn();
    if (record_.is_in_flight()) return tell_of_undo();
    record_.avoided.end(turn_.now);
    is_renewal_due_ = record_.renew_at && turn_.now >= *record_.renew_at;
    if (is_renewal_due_) record_.renew_at.reset();
    drop_stale();
    const Readiness ready = readiness(outline_, history_of(core_, outline_, record_, turn_.now));
    set_minimum(ready.minimum);
    if (resolve_what_is_bound()) return;
    place(ready.state);
    note_loss();
    tell_what_waited();
    set_timer();
  }

 private:
  [[nodiscard]] const Gang& full();
  void note_identity();
  void note_counts();
  void note_torn();
  void drop_stale();
  void set_minimum(std::int32_t minimum);

  /// Returns true when the gang is in flight now, or waits to write its record again.
  bool resolve_what_is_bound();
  void tell_bound();
  bool write_record(const Recovery& recovery);
  void adopt(const Recovery& recovery);

  void place(ReadyState state);
  void queue_up();
  void wait(ReadyState state);
  void tell_waiting(ReadyState state);
  void tell_half_bound();
  [[nodiscard]] bool stays_parked();
  void note_loss();
  [[nodiscard]] bool is_known_ours();
  [[nodiscard]] bool is_abandoned() const;
  void tell_what_waited();
  void tell_of_undo();
  void set_timer();
  void move_to(Stage stage);

  Core& core_;
  GangRecord& record_;
  Gang outline_;
  std::optional<Gang> full_;
  Turn& turn_;
  bool is_renewal_due_ = false;
};

const Gang& Evaluation::full() {
  if (!full_) {
    full_ = core_.state.gang(outline_.id);
    if (!full_) full_ = outline_;
    full_->minimum = outline_.minimum;
  }
  return *full_;
}

/// Another UID is another gang: nothing of the old one holds for it but a round that is open.
void Evaluation::note_identity() {
  if (record_.ref == ref_of(outline_)) return;
  const bool is_new_object = record_.ref.id == outline_.id && record_.ref.uid != outline_.uid;
  record_.ref = ref_of(outline_);
  if (!is_new_object) return;
  GangRecord fresh;
  fresh.ref = record_.ref;
  fresh.round = std::move(record_.round);
  fresh.rollbacks = std::move(record_.rollbacks);
  fresh.stale = std::move(record_.stale);
  if (record_.is_in_flight()) {
    fresh.stage = record_.stage;
    fresh.repair = std::move(record_.repair);
  } else {
    core_.queue.take_out(record_.ref.id);
  }
  record_ = std::move(fresh);
}

void Evaluation::note_counts() {
  record_.counts = outline_.counts;
  const std::int32_t live = outline_.counts.live();
  if (record_.live == live) return;
  record_.live = live;
  record_.live_since = turn_.now;
}

/// The room of a member that vanished is free at once; the round that planned it is still open.
void Evaluation::note_torn() {
  const bool is_torn = record_.stage == Stage::kBinding && record_.round &&
                       outline_.counts.base() < record_.round->base;
  if (is_torn) {
    core_.torn.try_emplace(record_.ref.id, turn_.now);
  } else {
    core_.torn.erase(record_.ref.id);
  }
}

/// Forgets stale members that the watch has shown anew; the others count for nothing.
void Evaluation::drop_stale() {
  if (record_.stale.empty()) return;
  std::map<api::Uid, api::ResourceVersion> kept;
  for (const Member& member : full().members) {
    const auto found = record_.stale.find(member.uid);
    if (member.state == MemberState::kPending && found != record_.stale.end() &&
        found->second == member.resource_version) {
      kept.insert(*found);
    }
  }
  record_.stale = std::move(kept);
  outline_.counts.pending -= static_cast<std::int32_t>(record_.stale.size());
}

void Evaluation::set_minimum(std::int32_t minimum) {
  outline_.minimum = minimum;
  record_.minimum = minimum;
  if (full_) full_->minimum = minimum;
}

bool Evaluation::resolve_what_is_bound() {
  const bool is_open_question = outline_.kind == GangKind::kPodGroup && outline_.group &&
                                outline_.counts.base() > 0 && !is_recorded(outline_, record_);
  if (!is_open_question) {
    record_.repair.reset();
    return false;
  }
  if (!is_ours(full(), core_.options.scheduler_name)) return false;
  const Recovery recovery = recover(full(), false, outline_.minimum);
  switch (recovery.standing) {
    case Standing::kRecordMissing:
      return write_record(recovery);
    case Standing::kHalfBound:
    case Standing::kUnknownOrigin:
      adopt(recovery);
      break;
    case Standing::kNothingBound:
    case Standing::kFinished:
    case Standing::kDegraded:
      break;
  }
  const bool is_confirmed = outline_.counts.assumed == 0;
  if (!record_.repair || !record_.repair->is_due(turn_.now) || !is_confirmed) return false;
  end_repair(core_, record_, full(), turn_);
  return record_.is_in_flight();
}

/// Whoever bound members and ended may not have said it of them.
void Evaluation::tell_bound() {
  auto pods = bound_before(full(), core_.options.epoch);
  if (!pods.empty()) turn_.effects.emplace_back(TellBound{std::move(pods)});
}

bool Evaluation::write_record(const Recovery& recovery) {
  if (turn_.now < record_.not_before) {
    move_to(Stage::kBackoff);
    set_timer();
    return true;
  }
  tell_bound();
  Gang gang = outline_;
  gang.minimum = recovery.minimum;
  start_record(core_, record_, gang, recovery.stamp, turn_);
  return true;
}

void Evaluation::adopt(const Recovery& recovery) {
  if (record_.repair) return;
  const std::string found =
      fmt::format("{} of minimum {} members are bound", outline_.counts.bound, outline_.minimum);
  if (recovery.standing == Standing::kHalfBound) {
    tell_bound();
    record_.repair =
        Repair{.stamp = recovery.stamp, .deadline = turn_.now + core_.options.repair_deadline};
    turn_.effects.emplace_back(Notice{fmt::format(
        "{}: {} by a round that has not ended; it goes on", outline_.key.text(), found)});
    return;
  }
  record_.repair = Repair{.is_forward_only = true};
  tell(core_, record_, outline_,
       explain_progress(
           outline_,
           fmt::format("{}, not all by one round of this scheduler; they stay and the others "
                       "follow as soon as they fit",
                       found)),
       turn_);
}

void Evaluation::place(ReadyState state) {
  if (state == ReadyState::kReady) {
    record_.waiting_since.reset();
    if (record_.stage == Stage::kParked && stays_parked()) return;
    queue_up();
    return;
  }
  if (state != ReadyState::kNothingToPlace) {
    wait(state);
    return;
  }
  record_.waiting_since.reset();
  move_to(Stage::kIdle);
  if (record_.repair) {
    tell_half_bound();
  } else {
    record_.report.drop_waiting();
  }
}

/// Bound in part, and no pod is there to go on with.
void Evaluation::tell_half_bound() {
  const std::int32_t lacking = outline_.minimum - outline_.counts.base();
  const Repair& repair = *record_.repair;
  // Of members that stay the gang was told why when that was decided.
  if (lacking <= 0 || repair.is_forward_only) return;
  std::string text = fmt::format(
      "{} of minimum {} members are bound; waiting for {} more pods, without them the bound ones "
      "are deleted {} after the round failed",
      outline_.counts.base(), outline_.minimum, lacking,
      format_duration(core_.options.repair_deadline));
  if (!repair.cause.empty()) text += "; " + repair.cause;
  tell(core_, record_, outline_, explain_progress(outline_, std::move(text)), turn_);
}

void Evaluation::queue_up() {
  if (turn_.now < record_.not_before) {
    move_to(Stage::kBackoff);
    return;
  }
  move_to(Stage::kActive);
  core_.queue.activate({.order = queue_order(outline_, record_.minimum),
                        .name_space = outline_.key.name_space,
                        .attempted_at = record_.attempted_at});
}

void Evaluation::wait(ReadyState state) {
  move_to(Stage::kIncomplete);
  if (!record_.waiting_since) record_.waiting_since = turn_.now;
  if (turn_.now < *record_.waiting_since + core_.options.incomplete_grace) return;
  tell_waiting(state);
}

void Evaluation::tell_waiting(ReadyState state) {
  switch (state) {
    case ReadyState::kGroupMissing: {
      auto explanation = waiting_for_group(full(), core_.state.served(api::Kind::kPodGroup));
      record_.report.leave_out_told(explanation);
      if (explanation.members.empty()) return;
      tell(core_, record_, full(), std::move(explanation), turn_);
      return;
    }
    case ReadyState::kIncomplete: {
      // Members that contradict each other are not missing: more pods would not help.
      const std::string problem = validate(full(), core_.options.priority_mismatch);
      if (!problem.empty()) {
        tell(core_, record_, full(), explain_to_all(full(), Verdict::kInvalid, problem), turn_);
        return;
      }
      std::string text = waiting_text(outline_);
      if (!record_.rolled_back.empty()) text += "; " + record_.rolled_back;
      tell(core_, record_, full(), explain_to_told(full(), Verdict::kWaitingForPods, text), turn_);
      return;
    }
    case ReadyState::kNothingToPlace:
    case ReadyState::kReady:
      return;
  }
}

/// A parked gang leaves when its own objects changed, when what it was told is to be said anew,
/// when an avoided node or device may be used again, or by the safety attempt.
bool Evaluation::stays_parked() {
  const Parking& parking = *record_.parking;
  if (fingerprint(full()) != parking.fingerprint) {
    record_.misses = 0;
    record_.renewals = 0;
    record_.not_before = turn_.now;
    return false;
  }
  if (is_renewal_due_) return false;
  if (parking.avoids_until && turn_.now >= *parking.avoids_until) {
    record_.not_before = turn_.now;
    return false;
  }
  return !nodes_may_help(parking.verdict) ||
         turn_.now < parking.since + core_.options.safety_interval;
}

/// Whether a group that had pods of ours, and was told something of them, has none any more.
bool Evaluation::is_abandoned() const {
  const auto& counts = outline_.counts;
  const bool is_empty = counts.base() + counts.pending + counts.gated == 0;
  return outline_.group && is_empty && record_.report.has_told() && !is_recorded(outline_, record_);
}

/// Whether the gang is ours beyond doubt. One without pods names no scheduler: then only finished
/// pods, of which ours alone are watched, or a condition of ours tell.
bool Evaluation::is_known_ours() {
  if (!full().members.empty()) return is_ours(full(), core_.options.scheduler_name);
  return record_.report.has_told() || outline_.failed_count > 0 || outline_.counts.done > 0 ||
         api::find_condition(outline_.group->conditions, api::kSatisfied) != nullptr;
}

/// A gang that had started and lacks members says so, also when nothing of it is left.
void Evaluation::note_loss() {
  const bool lacks = is_below_minimum(outline_, record_) || is_abandoned();
  if (!lacks || outline_.group->meta.deletion_time || !is_known_ours()) {
    record_.degraded_since.reset();
    return;
  }
  if (!record_.degraded_since) record_.degraded_since = turn_.now;
  const bool is_due = turn_.now >= *record_.degraded_since + core_.options.incomplete_grace;
  if (!is_due || record_.stage != Stage::kIdle) return;
  tell(core_, record_, outline_,
       explain(outline_, Verdict::kWaitingForPods, waiting_text(outline_)), turn_);
}

void Evaluation::tell_what_waited() {
  if (record_.stage == Stage::kActive) return;  // the attempt will say more
  auto explanation = record_.report.take_due(turn_.now, core_.options.condition_interval);
  if (!explanation) return;
  flag(*explanation, outline_, record_);
  if (!refresh(*explanation, full())) return;
  turn_.effects.emplace_back(ExplainGang{*std::move(explanation)});
}

/// Of a gang in flight only what keeps its undo may wait to be told.
void Evaluation::tell_of_undo() {
  if (core_.undo_troubles.contains(record_.ref.uid)) tell_what_waited();
}

void Evaluation::set_timer() {
  const Options& options = core_.options;
  std::optional<TimePoint> next = record_.report.due();
  const auto at = [&](TimePoint time) {
    if (time > turn_.now && (!next || time < *next)) next = time;
  };
  if (record_.waiting_since) at(*record_.waiting_since + options.incomplete_grace);
  if (record_.degraded_since) at(*record_.degraded_since + options.incomplete_grace);
  if (record_.stage == Stage::kBackoff) at(record_.not_before);
  if (const auto end = record_.avoided.first_end()) at(*end);
  if (record_.renew_at) at(*record_.renew_at);
  if (record_.stage == Stage::kParked && nodes_may_help(record_.parking->verdict)) {
    at(record_.parking->since + options.safety_interval);
  }
  const bool may_shrink = outline_.counts.done > 0 && is_recorded(outline_, record_) &&
                          record_.stage == Stage::kIncomplete;
  if (may_shrink) at(record_.live_since + options.done_settle);
  if (record_.repair && record_.repair->is_running()) at(record_.repair->deadline);
  core_.queue.set_timer(record_.ref.id, next);
}

void Evaluation::move_to(Stage stage) {
  record_.stage = stage;
  record_.parking.reset();
  core_.queue.take_out(record_.ref.id);
  if (stage == Stage::kIncomplete && record_.repair) record_.repair->resume(turn_.now);
}

/// Whether nothing would be lost with the record.
bool is_forgettable(const GangRecord& record, const Gang& gang) {
  const bool is_counted = record.counts.pending + record.counts.gated > 0;
  if (record.stage != Stage::kIdle || is_counted || record.report.has_told() ||
      record.degraded_since || record.repair || !record.rollbacks.empty() ||
      !record.avoided.empty() || record.renew_at) {
    return false;
  }
  return gang.kind == GangKind::kLonePod || record.recorded.empty() || is_initially_scheduled(gang);
}

void forget_gone(Core& core, GangId id) {
  const auto found = core.records.find(id);
  core.torn.erase(id);
  if (found == core.records.end()) return;
  if (found->second.is_in_flight()) {
    found->second.counts = {};
    return;
  }
  core.queue.erase(id);
  core.records.erase(found);
}

}  // namespace

void evaluate(Core& core, GangId id, Turn& turn) {
  auto outline = core.state.gang_outline(id);
  if (!outline) {
    forget_gone(core, id);
    return;
  }
  GangRecord& record = core.records[id];
  Evaluation(core, record, *outline, turn).run();
  if (is_forgettable(record, *outline)) {
    core.queue.erase(id);
    core.records.erase(id);
  }
}

void wake(Core& core, GangId id, Turn& turn) {
  GangRecord& record = core.records.at(id);
  record.stage = Stage::kIdle;
  record.parking.reset();
  evaluate(core, id, turn);
}

}  // namespace gang::scheduler
