#include "scheduler/readiness.h"

#include <algorithm>

namespace gang::scheduler {

std::int32_t effective_minimum(const cluster::Gang& gang, const GangHistory& history) {
  const std::int32_t live = gang.counts.live();
  const bool may_shrink = history.is_recorded && history.is_settled && gang.counts.done > 0;
  if (live >= gang.min_count || !may_shrink) return gang.min_count;
  return std::max(1, gang.min_count - gang.counts.done);
}

Readiness readiness(const cluster::Gang& gang, const GangHistory& history) {
  Readiness result;
  result.minimum = effective_minimum(gang, history);
  const std::int32_t pending = gang.counts.pending;
  const std::int32_t live = gang.counts.live();
  const bool is_held =
      history.gated_members == GatedMembers::kHold && gang.counts.gated > 0 && pending > 0;
  const bool is_group = gang.kind == cluster::GangKind::kPodGroup;
  if (is_group && !gang.group) {
    if (pending > 0) result.state = ReadyState::kGroupMissing;
  } else if (pending + gang.counts.gated == 0 || (!is_group && pending == 0)) {
    result.state = ReadyState::kNothingToPlace;
  } else if (live < result.minimum || is_held) {
    result.state = ReadyState::kIncomplete;
  } else if (pending > 0) {
    result.state = ReadyState::kReady;
  }
  return result;
}

bool is_initially_scheduled(const cluster::Gang& gang) {
  if (!gang.group) return false;
  const api::Condition* condition =
      api::find_condition(gang.group->conditions, api::kInitiallyScheduled);
  return condition != nullptr && condition->status == api::ConditionStatus::kTrue;
}

}  // namespace gang::scheduler
