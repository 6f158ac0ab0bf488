#include "binder/round.h"

#include <algorithm>
#include <map>
#include <utility>

namespace gang::binder {
Duration deadline_of(const Options& options, std::size_t writes) {
  return options.commit_deadline + std::chrono::milliseconds(10) * static_cast<int>(writes);
}

engine::RoundOutcome unbound_outcome(const engine::Plan& plan, engine::RoundEnd end,
                                     const std::string& why) {
  engine::RoundOutcome outcome{.gang = plan.gang, .stamp = plan.stamp, .end = end, .message = why};
  for (const engine::Assignment& pod : plan.assignments) {
    outcome.members.push_back({.pod = pod.pod, .uid = pod.uid, .message = outcome.message});
  }
  return outcome;
}

Round::Round(Parts parts, engine::Plan plan, std::function<void(engine::RoundOutcome)> done)
    : parts_(std::move(parts)), plan_(std::move(plan)), done_(std::move(done)) {
  const auto need = static_cast<std::size_t>(std::max(0, plan_.need));
  need_count_ = std::min(need, plan_.assignments.size());
  if (plan_.writes_record && is_group()) record_ = Record::kWanted;
  make_steps();
}

void Round::make_steps() {
  std::map<api::Uid, std::string> made;
  for (const engine::ClaimCreation& one : plan_.new_claims) made[one.pod_uid] = one.claim.name;
  for (std::size_t i = 0; i < plan_.assignments.size(); ++i) {
    BindStep::Task task{.assignment = plan_.assignments[i],
                        .stamp = plan_.stamp,
                        .claim_name = made[plan_.assignments[i].uid],
                        .lane = i < need_count_ ? Lane::kNeed : Lane::kExtra,
                        .gate = parts_.gate};
    steps_.push_back(std::make_unique<BindStep>(parts_.channel, parts_.window, std::move(task),
                                                [this, i] { on_step_ended(i); }));
  }
}

void Round::start() {
  if (!steps_.empty()) {
    parts_.channel.after(deadline_of(parts_.channel.options(), steps_.size()),
                         lifeline_.guard([this] { stop(kCommitDeadline); }));
    parts_.channel.after(parts_.channel.options().slow_round,
                         lifeline_.guard([this] { tell_slow(); }));
  }
  start_steps(0, need_count_);
  advance();
}

void Round::start_steps(std::size_t first, std::size_t last) {
  for (std::size_t i = first; i < last; ++i) {
    if (!steps_[i]->ended()) steps_[i]->start();
  }
}

void Round::on_step_ended(std::size_t index) {
  const BindStep& step = *steps_[index];
  ++ended_count_;
  if (step.bound()) {
    ++bound_in_round_;
    if (index < need_count_) ++need_bound_count_;
    const engine::Assignment& pod = step.task().assignment;
    parts_.events.submit(event_target(pod), bound_text(pod));
  } else {
    const bool is_needed = index < need_count_;
    if (is_needed) {
      stop("pod " + step.task().assignment.pod.text() + " was not bound: " + step.end().message);
    }
  }
  advance();
}

/// Goes on as far as the answers so far allow.
void Round::advance() {
  if (finished_) return;
  if (!need_is_met_ && need_bound_count_ == need_count_) on_need_met();
  const bool record_is_open = record_ == Record::kWriting;
  if (ended_count_ == steps_.size() && !record_is_open) finish();
}

void Round::on_need_met() {
  need_is_met_ = true;
  if (is_whole() && record_ == Record::kWanted) {
    write_record();
  } else if (is_whole() && is_group() && plan_.need > 0) {
    write_satisfied();
  }
  start_steps(need_count_, steps_.size());
}

GroupWrite Round::group_write() const {
  return {.group = plan_.gang, .wanted = group_conditions(plan_, bound())};
}

void Round::write_record() {
  record_ = Record::kWriting;
  GroupWrite write = group_write();
  write.is_record = true;
  write.is_first = plan_.base == 0;
  write.done = lifeline_.guard([this](const GroupWriteReport& report) { on_recorded(report); });
  parts_.groups.submit(std::move(write));
}

/// A later round brought the gang back to its minimum: the record stands, Satisfied comes back.
void Round::write_satisfied() {
  parts_.status.write_group(group_write());
}

void Round::on_recorded(const GroupWriteReport& report) {
  record_ = report.end == GroupWriteEnd::kDone   ? Record::kDone
            : report.end == GroupWriteEnd::kGone ? Record::kGroupGone
                                                 : Record::kRefused;
  if (record_ == Record::kGroupGone) stop("the PodGroup is gone");
  if (record_ != Record::kDone) {
    message_ = record_ == Record::kRefused ? report.message : "the PodGroup is deleted or replaced";
  }
  advance();
}

void Round::stop(const std::string& why) {
  if (std::exchange(stopped_, true)) return;
  message_ = why;
  for (const auto& step : steps_) step->stop(why);
}

/// A server that fails is asked again until the deadline: the gang is not left without a word.
void Round::tell_slow() {
  if (!is_group() || need_is_met_ || finished_) return;
  const auto lacks = std::find_if(steps_.begin(), steps_.end(), [](const auto& step) {
    return !step->bound() && !step->trouble().empty();
  });
  if (lacks == steps_.end()) return;
  parts_.slow(
      {.gang = plan_.gang,
       .bound = bound(),
       .message = "pod " + (*lacks)->task().assignment.pod.text() + ": " + (*lacks)->trouble()});
}

engine::RoundEnd Round::end_of_round() const {
  using engine::RoundEnd;
  if (record_ == Record::kGroupGone) return RoundEnd::kGroupGone;
  if (record_ == Record::kRefused) return RoundEnd::kRefused;
  if (need_is_met_ && is_whole()) return RoundEnd::kCommitted;
  const auto needed_end = steps_.begin() + static_cast<std::ptrdiff_t>(need_count_);
  const auto some_needed = [&](auto&& is) { return std::any_of(steps_.begin(), needed_end, is); };
  if (some_needed([](const auto& step) { return step->end().refused; })) return RoundEnd::kRefused;
  const bool only_stopped =
      !some_needed([](const auto& step) { return !step->bound() && !step->end().stopped; });
  return only_stopped && need_count_ > 0 ? RoundEnd::kUnavailable : RoundEnd::kMembersLost;
}

/// What a member was refused for or lost by says more than what stopped the others, and what a
/// Binding failed with more than that the time was over.
std::string Round::reason_of_end() const {
  if (record_ == Record::kGroupGone || record_ == Record::kRefused) return message_;
  const auto name = [](const BindStep& step) { return "pod " + step.task().assignment.pod.text(); };
  for (const auto& step : steps_) {
    const bool is_cause = !step->bound() && !step->end().stopped;
    if (is_cause) return name(*step) + ": " + step->end().message;
  }
  for (const auto& step : steps_) {
    if (step->bound() || step->trouble().empty()) continue;
    return name(*step) + ": " + step->trouble() +
           (message_ == kCommitDeadline ? ", until " : "; ") + message_;
  }
  return message_;
}

/// Whether the server works and does not take what lacks.
bool Round::is_answered() const {
  const auto end = steps_.begin() + static_cast<std::ptrdiff_t>(need_count_);
  return std::all_of(steps_.begin(), end,
                     [](const auto& step) { return step->bound() || step->end().answered; });
}

void Round::finish() {
  finished_ = true;
  engine::RoundOutcome outcome{.gang = plan_.gang,
                               .stamp = plan_.stamp,
                               .end = end_of_round(),
                               .recorded = record_ == Record::kDone,
                               .answered = is_answered()};
  for (const auto& step : steps_) {
    const BindEnd& end = step->end();
    const engine::Assignment& pod = step->task().assignment;
    outcome.members.push_back({.pod = pod.pod,
                               .uid = pod.uid,
                               .end = end.end,
                               .message = end.message,
                               .stopped = end.stopped,
                               .answered = end.answered});
  }
  if (outcome.end != engine::RoundEnd::kCommitted) outcome.message = reason_of_end();
  tell_group();
  if (bound_in_round_ > 0) tell_passed_over();
  done_(std::move(outcome));
}

/// Who has got other devices would not hear of it otherwise.
void Round::tell_passed_over() {
  if (plan_.passed_over.empty()) return;
  parts_.events.submit(
      is_group() ? event_target(plan_.gang) : event_target(plan_.assignments.front()),
      {"Warning", "DevicePassedOver", "Scheduling", plan_.passed_over});
}

/// One event when the gang became whole by this round.
void Round::tell_group() {
  const bool became_whole = is_whole() && (plan_.writes_record || plan_.need > 0);
  if (!is_group() || !became_whole || record_ == Record::kGroupGone) return;
  const auto planned = plan_.base + static_cast<std::int32_t>(steps_.size());
  parts_.events.submit(event_target(plan_.gang),
                       {"Normal", "Scheduled", "Binding",
                        "Bound " + std::to_string(bound()) + " of " + std::to_string(planned) +
                            " members, minimum " + std::to_string(plan_.minimum)});
}

}  // namespace gang::binder
