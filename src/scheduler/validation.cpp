#include "scheduler/validation.h"

#include <fmt/format.h>

namespace gang::scheduler {
namespace {

using cluster::Gang;
using cluster::Member;
using cluster::MemberState;

/// Queued or scheduled: the members over which priority and policy must agree.
bool takes_part(const Member& member) {
  switch (member.state) {
    case MemberState::kPending:
    case MemberState::kGated:
    case MemberState::kAssumed:
    case MemberState::kBound:
      return true;
    case MemberState::kDeleting:
    case MemberState::kTerminating:
    case MemberState::kForeignPending:
      return false;
  }
  return false;
}

std::string check_scheduler_names(const Gang& gang) {
  for (const Member& member : gang.members) {
    const std::string& first = gang.members.front().scheduler_name;
    if (member.scheduler_name == first) continue;
    return fmt::format(
        "all pods in a single pod group should have the same .spec.schedulerName set, got: "
        "\"{}\" and \"{}\" (pods {} and {}); make those of one of them anew",
        first, member.scheduler_name, gang.members.front().key.name, member.key.name);
  }
  return "";
}

std::string check_priorities(const Gang& gang, PriorityMismatch mismatch) {
  if (mismatch == PriorityMismatch::kUseGroup) return "";
  for (const Member& member : gang.members) {
    if (!takes_part(member) || member.priority == gang.group->spec.priority) continue;
    return fmt::format(
        "all pods in a single pod group should have the same priority as the pod group's "
        "priority, got {} and {}; PriorityClass of pod {} is \"{}\", of PodGroup {} \"{}\": "
        "make one of them anew with the priorityClassName of the other",
        member.priority, gang.group->spec.priority, member.key.name, member.priority_class_name,
        gang.key.name, gang.group->spec.priority_class_name);
  }
  return "";
}

const std::string& policy_or_default(const std::string& policy) {
  static const std::string kDefault = "PreemptLowerPriority";
  return policy.empty() ? kDefault : policy;
}

std::string check_preemption_policies(const Gang& gang) {
  const std::string& of_group = gang.group->spec.preemption_policy;
  const std::string* first = nullptr;
  for (const Member& member : gang.members) {
    if (!takes_part(member)) continue;
    const std::string& policy = policy_or_default(member.preemption_policy);
    if (first == nullptr) first = &policy;
    if (!of_group.empty() && policy != of_group) {
      return fmt::format(
          "all pods in a single pod group should have the same preemption policy as the pod "
          "group's preemption policy, got {} and {}; give both the same preemptionPolicy",
          policy, of_group);
    }
    if (of_group.empty() && policy != *first) {
      return fmt::format(
          "all pods in a single pod group should have the same preemption policy, got {} and {}; "
          "give all pods of the group the same preemptionPolicy",
          *first, policy);
    }
  }
  return "";
}

}  // namespace

std::string validate(const Gang& gang, PriorityMismatch mismatch) {
  if (!gang.group || gang.members.empty()) return "";
  if (!gang.group->meta.unreadable.empty()) return "";  // nothing of it can be compared
  std::string problem = check_scheduler_names(gang);
  if (problem.empty()) problem = check_priorities(gang, mismatch);
  if (problem.empty()) problem = check_preemption_policies(gang);
  return problem;
}

}  // namespace gang::scheduler
