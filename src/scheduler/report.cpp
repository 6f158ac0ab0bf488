#include "scheduler/report.h"

#include <fmt/format.h>
#include <algorithm>
#include <map>
#include <utility>

namespace gang::scheduler {
namespace {

using cluster::Gang;
using cluster::Member;
using cluster::MemberState;
using engine::Explanation;
using engine::Verdict;

/// Verdicts whose cause is the text itself: another text is another meaning.
bool is_told_by_text(Verdict verdict) {
  switch (verdict) {
    case Verdict::kWaitingForPods:
    case Verdict::kWaitingForGroup:
    case Verdict::kRuleNotBuilt:
    case Verdict::kInvalid:
    case Verdict::kBinding:
      return true;
    case Verdict::kImpossibleNow:
    case Verdict::kImpossibleOnFleet:
    case Verdict::kSearchLimitReached:
      return false;
  }
  return false;
}

bool says_the_same(const Explanation& a, const Explanation& b) {
  if (!engine::same_meaning(a, b)) return false;
  if (a.degraded != b.degraded || a.partially_bound != b.partially_bound) return false;
  if (a.writes_condition != b.writes_condition) return false;
  if (a.degraded && (a.bound != b.bound || a.loss != b.loss)) return false;
  return !is_told_by_text(a.verdict) || a.message == b.message;
}

bool is_on_server(const api::Condition& condition, Verdict verdict, const std::string& message) {
  return condition.status == api::ConditionStatus::kFalse &&
         condition.reason == engine::failure_reason(verdict) && condition.message == message;
}

bool is_flagged(const api::PodGroup& group) {
  return std::ranges::any_of(group.conditions, [](const api::Condition& condition) {
    const bool is_flag = condition.type == api::kDegraded || condition.type == api::kPartiallyBound;
    return is_flag && condition.status == api::ConditionStatus::kTrue;
  });
}

/// Of a group that had started Satisfied says it, behind counts of its own.
bool is_satisfied_told(const Explanation& explanation, const api::PodGroup& group) {
  const api::Condition* told = api::find_condition(group.conditions, api::kSatisfied);
  return told != nullptr && told->status == api::ConditionStatus::kFalse &&
         told->reason == engine::verdict_name(explanation.verdict) &&
         told->message.ends_with(": " + explanation.message) && !is_flagged(group);
}

bool group_knows(const Explanation& explanation, const Gang& gang) {
  if (gang.kind == cluster::GangKind::kLonePod) return true;
  if (explanation.degraded || explanation.partially_bound || !gang.group) return false;
  if (!explanation.writes_condition) return is_satisfied_told(explanation, *gang.group);
  const api::Condition* condition =
      api::find_condition(gang.group->conditions, api::kInitiallyScheduled);
  return condition != nullptr && is_on_server(*condition, explanation.verdict, explanation.message);
}

}  // namespace

std::optional<Explanation> Report::offer(Explanation explanation, TimePoint now,
                                         Duration interval) {
  const bool is_known = told_ && says_the_same(*told_, explanation);
  const bool has_new_member = std::ranges::any_of(
      explanation.members,
      [this](const engine::MemberText& member) { return !told_members_.contains(member.uid); });
  if (is_known && !has_new_member) {
    waiting_.reset();
    return std::nullopt;
  }
  if (now < next_write_) {
    waiting_ = std::move(explanation);
    return std::nullopt;
  }
  next_write_ = now + interval;
  keep_told(explanation);
  return explanation;
}

void Report::keep_told(const Explanation& explanation) {
  if (!told_ || !says_the_same(*told_, explanation)) told_members_.clear();
  for (const engine::MemberText& member : explanation.members) told_members_.insert(member.uid);
  told_ = explanation;
  told_->members.clear();
  waiting_.reset();
}

void Report::leave_out_told(Explanation& explanation) const {
  if (!told_ || !says_the_same(*told_, explanation)) return;
  std::erase_if(explanation.members, [this](const engine::MemberText& member) {
    return told_members_.contains(member.uid);
  });
}

std::optional<TimePoint> Report::due() const {
  if (!waiting_) return std::nullopt;
  return next_write_;
}

std::optional<Explanation> Report::take_due(TimePoint now, Duration interval) {
  if (!waiting_ || now < next_write_) return std::nullopt;
  Explanation explanation = *std::exchange(waiting_, std::nullopt);
  next_write_ = now + interval;
  keep_told(explanation);
  return explanation;
}

void Report::forget(TimePoint not_before) {
  next_write_ = std::max(next_write_, not_before);
  told_.reset();
  told_members_.clear();
  waiting_.reset();
}

engine::GangRef ref_of(const Gang& gang) {
  return engine::GangRef{.id = gang.id, .kind = gang.kind, .key = gang.key, .uid = gang.uid};
}

Explanation explain(const Gang& gang, Verdict verdict, std::string message) {
  Explanation explanation;
  explanation.gang = ref_of(gang);
  explanation.verdict = verdict;
  explanation.minimum = gang.minimum;
  explanation.scheduled = gang.counts.base();
  explanation.bound = gang.counts.base();
  explanation.live = gang.counts.live();
  explanation.message = std::move(message);
  return explanation;
}

Explanation explain_progress(const Gang& gang, std::string message) {
  Explanation explanation = explain(gang, Verdict::kBinding, std::move(message));
  explanation.writes_condition = false;
  return explanation;
}

Explanation explain_to_all(const Gang& gang, Verdict verdict, const std::string& message) {
  Explanation explanation = explain(gang, verdict, message);
  for (const Member& member : gang.members) {
    if (member.state != MemberState::kPending) continue;
    explanation.members.push_back({.pod = member.key,
                                   .uid = member.uid,
                                   .resource_version = member.resource_version,
                                   .message = message,
                                   .current = member.pod_scheduled,
                                   .generation = member.generation});
  }
  return explanation;
}

Explanation explain_to_told(const Gang& gang, Verdict verdict, const std::string& message) {
  Explanation explanation = explain_to_all(gang, verdict, message);
  std::erase_if(explanation.members, [](const engine::MemberText& member) {
    return member.current.type.empty() || member.current.status != api::ConditionStatus::kFalse;
  });
  return explanation;
}

std::string failure_text(const Gang& gang) {
  if (!gang.failure) return "";
  const cluster::Failure& newest = *gang.failure;
  std::string text = gang.failed_count > 1 ? fmt::format("{} pods failed, the newest {}",
                                                         gang.failed_count, newest.pod.name)
                                           : fmt::format("pod {} failed", newest.pod.name);
  if (!newest.node_name.empty()) text += " on " + newest.node_name;
  if (!newest.reason.empty()) text += " (" + newest.reason + ")";
  return text;
}

std::string waiting_text(const Gang& gang) {
  std::string text = fmt::format("{} of {} pods exist", gang.counts.live(), gang.minimum);
  if (gang.counts.gated > 0) text += fmt::format("; {} gated", gang.counts.gated);
  if (gang.counts.done > 0) text += fmt::format("; {} succeeded", gang.counts.done);
  if (gang.failure) text += "; " + failure_text(gang);
  if (gang.parent_missing && gang.group) {
    text += fmt::format("; waiting for composite pod group {}", gang.group->spec.parent_name);
  }
  return text;
}

Explanation waiting_for_group(const Gang& gang, bool is_served) {
  std::string text = fmt::format("waiting for PodGroup {}", gang.key.name);
  if (!is_served) {
    text +=
        "; the API server does not serve PodGroups: start it with feature gate GenericWorkload and "
        "scheduling.k8s.io/v1beta1";
  }
  Explanation explanation = explain_to_all(gang, Verdict::kWaitingForGroup, text);
  explanation.writes_condition = false;
  return explanation;
}

bool refresh(Explanation& explanation, const Gang& gang) {
  std::map<api::Uid, const Member*> pending;
  for (const Member& member : gang.members) {
    if (member.state == MemberState::kPending) pending.emplace(member.uid, &member);
  }
  std::erase_if(explanation.members, [&](engine::MemberText& text) {
    const auto found = pending.find(text.uid);
    if (found == pending.end()) return true;
    const Member& member = *found->second;
    text.resource_version = member.resource_version;
    text.current = member.pod_scheduled;
    text.generation = member.generation;
    return is_on_server(member.pod_scheduled, explanation.verdict, text.message);
  });
  return !explanation.members.empty() || !group_knows(explanation, gang);
}

}  // namespace gang::scheduler
