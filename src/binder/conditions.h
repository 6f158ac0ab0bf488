// Conditions: which conditions a decision asks for, and which of them differ from what is there.
//
// Types and reasons (message: see the .cpp). Source: the gang contract, 2.10, 2.11, 8.1.
//   PodGroupInitiallyScheduled  True/Scheduled; False/Unschedulable; False/SchedulerError
//                               (kInvalid, and kBinding of a round that failed)
//   <domain>/Satisfied          True/Satisfied; False/<verdict_name>
//   <domain>/Degraded           True/BelowMinCount; False/NotDegraded
//   <domain>/PartiallyBound     True/BelowMinCount; False/NotPartiallyBound
//   PodScheduled (pods)         False/Unschedulable; False/SchedulerError (kInvalid, kBinding)
// Pure functions over values.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "gang/api/meta.h"
#include "gang/engine/explanation.h"
#include "gang/engine/plan.h"

namespace gang::binder {

/// A condition that should stand on a group.
struct WantedCondition {
  api::Condition condition;
  bool only_where_true = false;  ///< ends a True one; where it is not True nothing is written
};

/// What an explanation says about its group; empty when there is no group to write on.
[[nodiscard]] std::vector<WantedCondition> group_conditions(const engine::Explanation& explanation);

/// What a round says about a group that has its minimum. The record only where the plan asks for
/// it.
[[nodiscard]] std::vector<WantedCondition> group_conditions(const engine::Plan& plan,
                                                            std::int32_t bound);

/// PodScheduled for one pending member, or nothing when pods are told nothing by this verdict.
[[nodiscard]] std::optional<api::Condition> pod_condition(const engine::Explanation& explanation,
                                                          const engine::MemberText& member);

/// Those of `wanted` that differ from `known`, with their transition times. A True record is final:
/// no change of it is ever returned.
[[nodiscard]] std::vector<api::Condition> changes(const std::vector<api::Condition>& known,
                                                  const std::vector<WantedCondition>& wanted,
                                                  TimePoint now);

/// Puts `written` into `known`, by type.
void merge(std::vector<api::Condition>& known, const std::vector<api::Condition>& written);

/// Same status, reason and message.
[[nodiscard]] bool says_the_same(const api::Condition& a, const api::Condition& b);

}  // namespace gang::binder
