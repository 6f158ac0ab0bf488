// Pod: what scheduling reads of core/v1 Pod, and how much of each resource a pod counts.
//
// Decoded by api/json.h. Rules that the engine does not place yet are kept as facts
// (PodRules) so that such a pod waits with the rule's name and is never placed as if it were
// absent. Source: the scheduling contract, 4.2 (effective requests), 5.5 (host ports). Values, any
// thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "gang/api/claim_entry.h"
#include "gang/api/meta.h"
#include "gang/api/resources.h"
#include "gang/api/selector.h"

namespace gang::api {

/// A wanted or used host port; ip "" was read as "0.0.0.0", protocol "" as "TCP".
struct HostPort {
  std::string ip;
  std::string protocol;
  std::int32_t port = 0;
  friend auto operator<=>(const HostPort&, const HostPort&) = default;
};

/// Same protocol and port, and equal ip or either is 0.0.0.0.
[[nodiscard]] bool conflicts(const HostPort& a, const HostPort& b);

enum class ContainerKind { kMain, kInit, kSidecar };  ///< sidecar = init with restartPolicy Always

/// One container with the requests that count, from spec and from status.
struct Container {
  std::string name;
  ContainerKind kind = ContainerKind::kMain;
  ResourceList requests;                  ///< spec.containers[].resources.requests
  std::optional<ResourceList> allocated;  ///< status allocatedResources
  std::optional<ResourceList> actuated;   ///< status resources.requests
  friend bool operator==(const Container&, const Container&) = default;
};

/// spec.resources and its status, for pods with pod-level resources.
struct PodLevelResources {
  ResourceList requests;                  ///< spec.resources.requests
  std::optional<ResourceList> actuated;   ///< status.resources.requests
  std::optional<ResourceList> allocated;  ///< status.allocatedResources
  friend bool operator==(const PodLevelResources&, const PodLevelResources&) = default;
};

/// Scheduling rules that a pod uses beyond the filters of its own fields above.
struct PodRules {
  bool pod_affinity = false;       ///< required podAffinity or podAntiAffinity
  bool topology_spread = false;    ///< a DoNotSchedule constraint
  bool volumes = false;            ///< claims, ephemeral claims, inline disks
  bool resource_claims = false;    ///< spec.resourceClaims
  bool declared_features = false;  ///< needs status.declaredFeatures of the node
  friend bool operator==(const PodRules&, const PodRules&) = default;
};

/// A required podAntiAffinity term: it forbids matching pods beside this one.
struct PodAntiAffinityTerm {
  std::string topology_key;
  std::optional<LabelSelector> selector;  ///< absent matches no pod
  std::vector<std::string> namespaces;    ///< resolved: listed ones, or the pod's own
  std::optional<LabelSelector> namespace_selector;
  friend auto operator<=>(const PodAntiAffinityTerm&, const PodAntiAffinityTerm&) = default;
};

enum class PodPhase { kPending, kRunning, kSucceeded, kFailed, kUnknown };

/// What scheduling reads of a Pod.
struct Pod {
  ObjectMeta meta;

  std::string scheduler_name;
  std::string node_name;  ///< empty = unassigned
  std::int32_t priority = 0;
  std::string priority_class_name;
  std::string preemption_policy;  ///< "" was absent
  std::string pod_group_name;     ///< spec.schedulingGroup.podGroupName; empty = no group
  std::vector<std::string> scheduling_gates;

  StringMap node_selector;
  std::optional<NodeSelector> required_affinity;
  std::vector<PreferredTerm> preferred_affinity;
  std::vector<Toleration> tolerations;
  std::vector<HostPort> host_ports;  ///< of containers and sidecars, hostPort > 0, sorted
  std::vector<PodAntiAffinityTerm> anti_affinity;
  PodRules rules;
  std::vector<ClaimEntry> claims;

  std::vector<Container> containers;  ///< init containers first, in spec order
  std::optional<PodLevelResources> pod_level;
  ResourceList overhead;

  PodPhase phase = PodPhase::kPending;
  std::string status_reason;
  std::string nominated_node_name;
  std::vector<ClaimEntryStatus> claim_statuses;
  std::optional<ExtendedClaimStatus> extended_claim;
  std::vector<Condition> conditions;  ///< PodScheduled, DisruptionTarget, PodResizePending

  [[nodiscard]] bool is_terminal() const {
    return phase == PodPhase::kSucceeded || phase == PodPhase::kFailed;
  }
  [[nodiscard]] bool is_terminating() const { return meta.deletion_time.has_value(); }
  friend bool operator==(const Pod&, const Pod&) = default;
};

/// Which request lists count.
enum class RequestBasis {
  kSpec,    ///< the incoming pod in Filter
  kStatus,  ///< a pod on a node: maximum of spec, allocated and actuated (in-place resize)
};

/// Effective request: containers, init and sidecar rules, pod level, overhead. Exact.
[[nodiscard]] ResourceList effective_requests(const Pod& pod, RequestBasis basis);

/// cpu (milli) and memory (bytes) for LeastAllocated: containers without one count 100m / 200Mi.
struct NonZeroRequests {
  std::int64_t cpu_milli = 0;
  std::int64_t memory_bytes = 0;
  friend bool operator==(const NonZeroRequests&, const NonZeroRequests&) = default;
};

/// REQUIRES: nothing; overhead counts. With kSpec pod-level values are ignored, as upstream's score
/// of an incoming pod does; with kStatus they replace.
[[nodiscard]] NonZeroRequests nonzero_requests(const Pod& pod, RequestBasis basis);

}  // namespace gang::api
