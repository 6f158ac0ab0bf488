// Gang: the unit of scheduling as a value.
//
// A gang is a PodGroup with all pods that name it, or a lone pod of ours (a gang of one with
// minimum 1). ClusterState builds Gang values; each is true for the moment it was built at.
// Values only. Source: the gang contract, 2.1 to 2.4; the devices contract, 4 and 5.
#pragma once

#include <compare>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gang/api/claim.h"
#include "gang/api/pod_group.h"
#include "gang/cluster/pod_class.h"

namespace gang::cluster {

/// Names one (kind, namespace, name), or one lone pod, for the life of the process. Never reused.
struct GangId {
  std::uint64_t value = 0;
  friend auto operator<=>(const GangId&, const GangId&) = default;
};

enum class MemberState {
  kPending,         ///< own, unassigned, may be placed now
  kGated,           ///< own, unassigned, has schedulingGates
  kDeleting,        ///< own, unassigned, terminating: skipped
  kAssumed,         ///< own, planned by us, bind not yet confirmed by the watch
  kBound,           ///< any scheduler, assigned, alive
  kTerminating,     ///< any scheduler, assigned, terminating: holds its room, counts for nothing
  kForeignPending,  ///< another scheduler's, unassigned: seen, never counted, never touched
};

/// One pod of a gang.
struct Member {
  api::ObjectKey key;
  api::Uid uid;
  api::ResourceVersion resource_version;
  std::int64_t generation = 0;
  TimePoint creation_time{};
  MemberState state = MemberState::kPending;
  std::int32_t class_index = -1;  ///< into Gang::classes for kPending, else -1
  /// Into Gang::claims for kPending, in the order of spec.resourceClaims, each once.
  std::vector<std::int32_t> claims;
  std::string node_name;  ///< assigned or assumed node
  std::string stamp;      ///< annotation kRoundAnnotation of a bound member
  bool has_controller = false;
  std::int32_t priority = 0;
  std::string priority_class_name;
  std::string scheduler_name;
  std::string preemption_policy;
  std::string nominated_node_name;
  /// PodScheduled as the server has it, for writing only what changes. Empty type: absent.
  api::Condition pod_scheduled;
};

/// A claim that pending members or the PodGroup refer to.
struct GangClaim {
  api::ObjectKey key;                               ///< without a name: it is not created yet
  std::shared_ptr<const api::ResourceClaim> claim;  ///< null: there is none
  /// What it holds by the watch or, while that shows none, by assume_allocation(); null: nothing.
  std::shared_ptr<const api::Allocation> allocation;
  bool is_assumed = false;
  bool of_group = false;  ///< an entry of the PodGroup: reserved for the group, not for its pods
  std::string problem;    ///< not empty: why it cannot be used, in upstream's words
};

enum class GangKind { kLonePod, kPodGroup };

/// A member that has failed for good; its pod is still there.
struct Failure {
  api::ObjectKey pod;
  std::string node_name;  ///< empty: it failed before it had one
  std::string reason;     ///< of the pod's status, e.g. "OutOfcpu"; empty when it says none
};

/// Counts over the members; live and base as the gang contract defines them.
struct MemberCounts {
  std::int32_t pending = 0;
  std::int32_t gated = 0;
  std::int32_t assumed = 0;
  std::int32_t bound = 0;
  std::int32_t done = 0;  ///< distinct members of this PodGroup UID seen in phase Succeeded
  [[nodiscard]] std::int32_t live() const { return pending + assumed + bound; }
  [[nodiscard]] std::int32_t base() const { return assumed + bound; }
  friend bool operator==(const MemberCounts&, const MemberCounts&) = default;
};

/// A gang with its members. For a lone pod `key` and `uid` are the pod's and `group` is empty.
/// While the PodGroup object is not known, creation_time and priority are zero and min_count is 1.
struct Gang {
  GangId id;
  GangKind kind = GangKind::kLonePod;
  api::ObjectKey key;
  api::Uid uid;  ///< of the PodGroup or pod; empty while the PodGroup object is not known
  TimePoint creation_time{};
  std::int32_t priority = 0;
  std::int32_t min_count = 1;
  /// Minimum to place in this attempt; starts as min_count, the scheduler may lower it.
  std::int32_t minimum = 1;
  MemberCounts counts;
  std::int32_t failed_count = 0;   ///< pods of the group in phase Failed
  std::optional<Failure> failure;  ///< the newest of them
  std::optional<api::PodGroup> group;
  std::vector<std::shared_ptr<const PodClass>> classes;  ///< of pending members, by first member
  std::vector<Member> members;                           ///< by creation time, then name
  /// Each once, the PodGroup's first; one that can be used by some members only stands there twice.
  std::vector<GangClaim> claims;
  /// Names of nodes that no plan may use for this gang, ascending. Set by the scheduler.
  std::vector<std::string> avoided_nodes;
  /// Devices that no plan may give to this gang, ascending. Set by the scheduler.
  std::vector<api::DeviceName> avoided_devices;
  /// Parent CompositePodGroup is named but not known. Only with group->spec.parent_name.
  bool parent_missing = false;

  /// Members still to be placed: max(0, minimum - base).
  [[nodiscard]] std::int32_t need() const {
    return minimum > counts.base() ? minimum - counts.base() : 0;
  }
};

}  // namespace gang::cluster
