#include "gang/scheduler/scheduler.h"

#include <fmt/format.h>
#include <algorithm>
#include <utility>

#include "scheduler/attempt.h"
#include "scheduler/core.h"
#include "scheduler/evaluation.h"
#include "scheduler/inheritance.h"
#include "scheduler/round_claims.h"
#include "scheduler/rounds.h"
#include "scheduler/undo.h"

namespace gang::scheduler {
namespace {

const char* stage_name(Stage stage) {
  switch (stage) {
    case Stage::kIdle:
      return "bound";
    case Stage::kIncomplete:
      return "incomplete";
    case Stage::kActive:
      return "active";
    case Stage::kBackoff:
      return "backoff";
    case Stage::kParked:
      return "parked";
    case Stage::kBinding:
      return "binding";
    case Stage::kRollingBack:
      return "rolling back";
    case Stage::kFencing:
      return "fencing";
  }
  return "";
}

/// An idle gang is bound, unless none of its members is.
const char* state_name(const GangRecord& record) {
  if (record.stage != Stage::kIdle || record.counts.base() > 0) return stage_name(record.stage);
  return record.counts.gated > 0 ? "gated" : "idle";
}

/// Where the pending members of a gang in this stage are counted. Those of an idle one wait for the
/// watch to show them anew.
std::int32_t& counter_of(QueueCounts& counts, Stage stage) {
  switch (stage) {
    case Stage::kActive:
      return counts.active;
    case Stage::kBackoff:
      return counts.backoff;
    case Stage::kParked:
      return counts.unschedulable;
    case Stage::kIncomplete:
      return counts.incomplete;
    case Stage::kBinding:
    case Stage::kRollingBack:
    case Stage::kFencing:
    case Stage::kIdle:
      break;
  }
  return counts.pending;
}

std::string detail_of(const Core& core, const GangRecord& record) {
  std::string members = fmt::format("{} pending, {} bound, minimum {}", record.counts.pending,
                                    record.counts.base(), record.minimum);
  const std::string& name_space = record.ref.key.name_space;
  if (record.stage == Stage::kActive && core.debts.is_behind(name_space)) {
    members += fmt::format(", after those of other namespaces: {} owes {} steps", name_space,
                           core.debts.debt(name_space));
  }
  if (!record.parking) return members;
  return fmt::format("{}: {}", engine::verdict_name(record.parking->verdict), members);
}

}  // namespace

/// The dispatch: one function per input. Owned by Scheduler.
class Scheduler::Impl {
 public:
  explicit Impl(Options options) : core_(std::move(options)) {}

  Effects handle(const Input& input, TimePoint now) {
    Turn turn{.now = now, .effects = {}};
    std::visit([&](const auto& i) { take(i, turn); }, input);
    return std::move(turn.effects);
  }

  [[nodiscard]] bool ready() const { return has_synced_ && has_recovered_; }
  [[nodiscard]] Core& core() { return core_; }
  [[nodiscard]] const Core& core() const { return core_; }

 private:
  void take(const api::Delta& delta, Turn& turn);
  void take(const Tick& tick, Turn& turn);
  void take(const RoundDone& done, Turn& turn);
  void take(const RoundSlow& slow, Turn& turn) { tell_slow_round(core_, slow.progress, turn); }
  void take(const RollbackDone& done, Turn& turn);
  void take(const ExplainFailed& failed, Turn& turn);
  void take(const ClaimsWritten& written, Turn& turn);
  void take(const IntentsFound& found, Turn& turn);
  void take(const RoundFenced& fenced, Turn& turn);
  void take(const UndoSlow& slow, Turn& turn);
  void take(const WritesBlocked& writes, Turn& turn);

  void note_changed(const cluster::Change& change);
  void note_rejection(const cluster::Rejection& rejection, TimePoint now);
  /// Asks for a Tick now, once until it comes. Nothing is done before every kind is synced.
  void ask_for_tick(Turn& turn);
  void evaluate_changed(Turn& turn);
  void set_alarm(Turn& turn);
  void settle_inheritance(Turn& turn);
  void tell_troubles(Turn& turn);
  /// Whether a gang may be looked at: every kind is synced, and open rounds are known.
  [[nodiscard]] bool is_informed() const {
    return core_.state.synced() && core_.inheritance.is_known;
  }
  /// Until when nobody is planned: a torn gang's room is kept, or rounds of before are open.
  [[nodiscard]] std::optional<TimePoint> hold_end(TimePoint now) const;
  [[nodiscard]] bool may_attempt(TimePoint now) const { return !is_blocked_ && !hold_end(now); }

  Core core_;
  bool has_synced_ = false;
  bool has_recovered_ = false;  ///< what was found at start holds nobody up any more
  bool is_blocked_ = false;     ///< no round may start
  bool is_tick_asked_ = false;
  bool is_tick_missed_ = false;  ///< one came while a kind was not synced
};

void Scheduler::Impl::take(const api::Delta& delta, Turn& turn) {
  const cluster::Change change = core_.state.apply(delta);
  note_changed(change);
  for (const cluster::Rejection& rejection : change.rejections) note_rejection(rejection, turn.now);
  core_.device_troubles.note(change, turn.now);
  core_.wakeup.note(change);
  has_synced_ |= core_.state.synced();
  const bool may_help = core_.wakeup.is_pending() && !core_.queue.parked().empty();
  const bool is_awaited = !core_.unconfirmed.empty() || !core_.inheritance.open.empty() ||
                          !has_recovered_ || core_.device_troubles.awaits_look();
  if (!core_.dirty.empty() || may_help || is_awaited || is_tick_missed_) ask_for_tick(turn);
}

/// What comes back of our own status writes does not concern a parked gang.
void Scheduler::Impl::note_changed(const cluster::Change& change) {
  const bool is_status_only = change.status_only.size() == change.gangs.size();
  for (const cluster::GangId id : change.gangs) {
    const auto found = core_.records.find(id);
    const bool is_parked = found != core_.records.end() && found->second.stage == Stage::kParked;
    if (!is_status_only || !is_parked) core_.dirty.insert(id);
  }
}

/// The kubelet refuses soon after the Binding: where the moment was missed, the pod's creation
/// stands for it, so that a restart does not begin the time anew.
void Scheduler::Impl::note_rejection(const cluster::Rejection& rejection, TimePoint now) {
  const TimePoint from = rejection.listed ? rejection.pod_created : now;
  if (from + kAvoidTime <= now || !core_.state.gang_outline(rejection.gang)) return;
  core_.records[rejection.gang].avoided.note_node(rejection.failure, from);
}

void Scheduler::Impl::take(const Tick& /*tick*/, Turn& turn) {
  is_tick_asked_ = false;
  is_tick_missed_ = !is_informed();
  if (is_tick_missed_) return;
  evaluate_changed(turn);
  check_rounds(core_, turn);
  wake_parked(core_, turn);
  look_for_unreadable(core_, turn);
  tell_troubles(turn);
  settle_inheritance(turn);
  has_recovered_ |= !core_.inheritance.holds_all(turn.now);
  for (const std::string& name_space : core_.debts.pay(turn.now)) {
    core_.queue.set_behind(name_space, false);
  }
  const auto first = core_.queue.first_active();
  if (first && may_attempt(turn.now)) attempt(core_, *first, turn);
  set_alarm(turn);
}

void Scheduler::Impl::take(const RoundDone& done, Turn& turn) {
  finish_round(core_, done.outcome, turn);
  ask_for_tick(turn);
}

void Scheduler::Impl::take(const RollbackDone& done, Turn& turn) {
  finish_rollback(core_, done.gang, turn);
  ask_for_tick(turn);
}

void Scheduler::Impl::take(const ExplainFailed& failed, Turn& turn) {
  const auto found = core_.records.find(failed.gang.id);
  if (found == core_.records.end()) return;
  GangRecord& record = found->second;
  if (!record.renew_at) renew_later(core_, record, turn.now);
  record.report.forget(*record.renew_at);
  core_.dirty.insert(failed.gang.id);
  ask_for_tick(turn);
}

void Scheduler::Impl::take(const ClaimsWritten& written, Turn& turn) {
  note_written(core_, written.written, turn.now);
  ask_for_tick(turn);
}

void Scheduler::Impl::take(const IntentsFound& found, Turn& turn) {
  note_intents(core_, found.intents, turn);
  ask_for_tick(turn);
}

void Scheduler::Impl::take(const RoundFenced& fenced, Turn& turn) {
  finish_fence(core_, fenced.report.gang_uid, turn);
  ask_for_tick(turn);
}

void Scheduler::Impl::take(const UndoSlow& slow, Turn& turn) {
  note_undo(core_, slow.report, turn);
  ask_for_tick(turn);
}

void Scheduler::Impl::take(const WritesBlocked& writes, Turn& turn) {
  is_blocked_ = writes.blocked;
  if (!is_blocked_) ask_for_tick(turn);
}

void Scheduler::Impl::ask_for_tick(Turn& turn) {
  if (is_tick_asked_ || !is_informed()) return;
  is_tick_asked_ = true;
  turn.effects.emplace_back(WakeAt{turn.now});
}

void Scheduler::Impl::tell_troubles(Turn& turn) {
  DeviceTroubles::Found found = core_.device_troubles.look(core_.state, turn.now);
  for (cluster::DeviceTrouble& trouble : found.lasting) {
    std::string text = trouble_text(trouble);
    turn.effects.emplace_back(TellDeviceTrouble{std::move(trouble), std::move(text)});
  }
  for (const cluster::DeviceTrouble& trouble : found.over) {
    turn.effects.emplace_back(Notice{"over: " + trouble_text(trouble)});
  }
}

/// One open round of before at a time.
void Scheduler::Impl::settle_inheritance(Turn& turn) {
  if (is_blocked_ || core_.inheritance.open.empty()) return;
  if (settle_next(core_, turn)) ask_for_tick(turn);
}

void Scheduler::Impl::evaluate_changed(Turn& turn) {
  for (const cluster::GangId id : core_.queue.take_due(turn.now)) core_.dirty.insert(id);
  for (const cluster::GangId id : std::exchange(core_.dirty, {})) evaluate(core_, id, turn);
}

std::optional<TimePoint> Scheduler::Impl::hold_end(TimePoint now) const {
  if (core_.inheritance.holds_all(now)) return core_.inheritance.holds_until;
  for (const auto& [id, since] : core_.torn) {
    const TimePoint end = since + core_.options.repair_deadline;
    if (end > now) return end;
  }
  return std::nullopt;
}

/// The newest alarm is the one that stands: one that was asked for at once is not put off.
void Scheduler::Impl::set_alarm(Turn& turn) {
  if (is_tick_asked_) return;
  if (core_.queue.has_active() && may_attempt(turn.now)) return ask_for_tick(turn);
  std::optional<TimePoint> next = core_.queue.next_timer();
  const auto others = {hold_end(turn.now), core_.inheritance.look_at, core_.device_troubles.due()};
  for (const auto& time : others) {
    if (time && (!next || *time < *next)) next = time;
  }
  if (next) turn.effects.emplace_back(WakeAt{*next});
}

Scheduler::Scheduler(Options options) : impl_(std::make_unique<Impl>(std::move(options))) {}
Scheduler::~Scheduler() = default;

Effects Scheduler::handle(const Input& input, TimePoint now) {
  return impl_->handle(input, now);
}

bool Scheduler::ready() const {
  return impl_->ready();
}

cluster::ClusterState& Scheduler::state() {
  return impl_->core().state;
}

std::string Scheduler::undo_text() const {
  return scheduler::undo_text(impl_->core());
}

const engine::PlannerStats& Scheduler::planner_stats() const {
  return impl_->core().planner.stats();
}

QueueCounts Scheduler::pod_counts() const {
  QueueCounts counts;
  for (const auto& [id, record] : impl_->core().records) {
    counts.gated += record.counts.gated;
    counter_of(counts, record.stage) += record.counts.pending;
  }
  return counts;
}

QueueCounts Scheduler::entity_counts() const {
  QueueCounts counts;
  for (const auto& [id, record] : impl_->core().records) {
    if (record.counts.pending == 0) {
      counts.gated += record.counts.gated > 0 ? 1 : 0;
    } else {
      ++counter_of(counts, record.stage);
    }
  }
  return counts;
}

std::vector<QueueEntry> Scheduler::queue() const {
  std::vector<QueueEntry> entries;
  for (const auto& [id, record] : impl_->core().records) {
    entries.push_back({.gang = record.ref,
                       .state = state_name(record),
                       .detail = detail_of(impl_->core(), record)});
  }
  std::ranges::sort(entries, {}, [](const QueueEntry& entry) { return entry.gang.key; });
  return entries;
}

}  // namespace gang::scheduler
