#include "binder/status_writer.h"

#include <utility>

#include "binder/backoff.h"
#include "binder/conditions.h"

namespace gang::binder {
namespace {

constexpr std::size_t kWrittenMax = 65536;

std::uint64_t hash_of(const api::Condition& condition) {
  return seed_of(std::string(api::status_text(condition.status)) + '\n' + condition.reason + '\n' +
                 condition.message);
}

}  // namespace

StatusWriter::StatusWriter(Parts parts, std::function<void(const engine::GangRef&)> failed)
    : channel_(parts.channel),
      queue_(parts.queue),
      groups_(parts.groups),
      events_(parts.events),
      failed_(std::move(failed)) {}

void StatusWriter::explain(const engine::Explanation& explanation) {
  drop(explanation.gang);
  const JobAt job = jobs_.insert(jobs_.end(), Job{.explanation = explanation});
  newest_[explanation.gang.id] = job;
  ++job->open_count;  // until every part is started
  start_group(job);
  start_pods(job);
  on_part_ended(job, false);
}

void StatusWriter::drop(const engine::GangRef& gang) {
  if (!gang.uid.empty()) groups_.drop_explanations(gang.uid);
  const auto newest = newest_.find(gang.id);
  if (newest == newest_.end()) return;
  const JobAt job = newest->second;
  newest_.erase(newest);
  ++job->open_count;  // stopping the last step would end the job
  for (const auto& step : job->steps) {
    if (!step->ended()) step->stop();
  }
  on_part_ended(job, false);
}

void StatusWriter::start_group(JobAt job) {
  auto wanted = group_conditions(job->explanation);
  if (wanted.empty()) return;
  ++job->open_count;
  groups_.submit({.group = job->explanation.gang,
                  .wanted = std::move(wanted),
                  .done = lifeline_.guard([this, job](const GroupWriteReport& report) {
                    tell_group(job->explanation, report);
                    on_part_ended(job, report.end == GroupWriteEnd::kRefused ||
                                           report.end == GroupWriteEnd::kFailed);
                  })});
}

void StatusWriter::write_group(GroupWrite write) {
  write.done = [](const GroupWriteReport&) {};
  groups_.submit(std::move(write));
}

void StatusWriter::tell_group(const engine::Explanation& explanation,
                              const GroupWriteReport& report) {
  bool says_why = false;
  for (const api::Condition& condition : report.written) {
    says_why =
        says_why || condition.type == api::kInitiallyScheduled || condition.type == api::kSatisfied;
    if (condition.type == api::kDegraded && condition.status == api::ConditionStatus::kTrue) {
      events_.submit(event_target(explanation.gang),
                     {"Warning", "Degraded", "Scheduling", condition.message});
    }
  }
  if (!says_why) return;
  EventText text{"Warning", "FailedScheduling", "Scheduling", explanation.message};
  if (explanation.is_progress) {
    text.type = "Normal";
    text.reason = "BindingConditionsPending";
  }
  events_.submit(event_target(explanation.gang), std::move(text));
}

void StatusWriter::tell_pod(const engine::MemberText& member, const std::string& note) {
  events_.submit(event_target(member), {"Warning", "FailedScheduling", "Scheduling", note});
}

bool StatusWriter::is_news(const engine::MemberText& member, const api::Condition& wanted) const {
  if (!member.current.type.empty()) return !says_the_same(member.current, wanted);
  const auto last = written_.find(member.uid);
  return last == written_.end() || last->second != hash_of(wanted);
}

void StatusWriter::start_pods(JobAt job) {
  for (const engine::MemberText& member : job->explanation.members) {
    auto wanted = pod_condition(job->explanation, member);
    if (!wanted) {
      if (job->explanation.verdict != engine::Verdict::kBinding) tell_pod(member, member.message);
      continue;
    }
    if (!is_news(member, *wanted)) continue;
    wanted->observed_generation = member.generation;
    tell_pod(member, member.message);
    ++job->open_count;
    job->steps.push_back(
        std::make_unique<PodStatusStep>(channel_, queue_, member, *std::move(wanted)));
    PodStatusStep* step = job->steps.back().get();
    step->start([this, job, step] { on_pod_ended(job, *step); });
  }
}

void StatusWriter::on_pod_ended(JobAt job, const PodStatusStep& step) {
  if (step.end() == PodStatusEnd::kWritten) {
    if (written_.size() >= kWrittenMax) written_.clear();
    written_[step.member().uid] = hash_of(step.wanted());
  }
  on_part_ended(job, step.end() == PodStatusEnd::kFailed);
}

void StatusWriter::on_part_ended(JobAt job, bool failed) {
  job->failed = job->failed || failed;
  if (--job->open_count > 0) return;
  const auto newest = newest_.find(job->explanation.gang.id);
  if (newest != newest_.end() && newest->second == job) newest_.erase(newest);
  // Not at once: the step that ended is still on the stack.
  channel_.later(lifeline_.guard([this, job] {
    const engine::GangRef gang = job->explanation.gang;
    const bool has_failed = job->failed;
    jobs_.erase(job);
    if (has_failed) failed_(gang);
  }));
}

}  // namespace gang::binder
