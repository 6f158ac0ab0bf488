// PodGroup (scheduling.k8s.io/v1beta1) and CompositePodGroup (v1alpha3) as values. Any thread.
//
// metadata.generation is not managed for these kinds: compare the spec fields. A union member that
// is unknown here makes the object unreadable (meta.unreadable), it is never guessed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "gang/api/claim_entry.h"
#include "gang/api/meta.h"

namespace gang::api {

enum class GroupPolicy { kBasic, kGang };
enum class DisruptionMode { kSingle, kAll };

/// Condition types of groups, upstream's and ours.
inline constexpr std::string_view kInitiallyScheduled = "PodGroupInitiallyScheduled";
inline constexpr std::string_view kSatisfied = "gang-scheduler.dev/Satisfied";
inline constexpr std::string_view kDegraded = "gang-scheduler.dev/Degraded";
inline constexpr std::string_view kPartiallyBound = "gang-scheduler.dev/PartiallyBound";

/// Fields that PodGroup and CompositePodGroup share.
struct GroupSpec {
  std::string parent_name;    ///< parentCompositePodGroupName; empty = root
  std::string workload_name;  ///< workloadRef.workloadName
  std::string template_name;  ///< workloadRef.templateName
  GroupPolicy policy = GroupPolicy::kBasic;
  std::int32_t min_count = 1;  ///< gang.minCount or gang.minGroupCount; 1 for basic
  std::vector<std::string> topology_keys;
  DisruptionMode disruption_mode = DisruptionMode::kSingle;
  std::int32_t priority = 0;
  std::string priority_class_name;
  std::string preemption_policy;  ///< "" = absent
  friend bool operator==(const GroupSpec&, const GroupSpec&) = default;
};

/// A set of pods that is scheduled as one.
struct PodGroup {
  ObjectMeta meta;
  GroupSpec spec;
  std::vector<ClaimEntry> claims;
  std::vector<ClaimEntryStatus> claim_statuses;
  std::vector<Condition> conditions;
  friend bool operator==(const PodGroup&, const PodGroup&) = default;
};

/// A tree node above PodGroups.
struct CompositePodGroup {
  ObjectMeta meta;
  GroupSpec spec;
  std::vector<Condition> conditions;
  friend bool operator==(const CompositePodGroup&, const CompositePodGroup&) = default;
};

}  // namespace gang::api
