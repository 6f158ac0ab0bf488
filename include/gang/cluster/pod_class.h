// PodClass: what equal members of gangs have in common. Immutable and shared.
//
// Source: the gang contract, 2.4; of container_asks the devices contract, 6.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "gang/api/pod.h"
#include "gang/cluster/node_info.h"

namespace gang::cluster {

/// Names one PodClass for the life of the process. Never reused.
struct ClassId {
  std::uint64_t value = 0;
  friend auto operator<=>(const ClassId&, const ClassId&) = default;
};

/// What one container asks of one resource, with what tells it from the others of the pod.
struct ContainerAsk {
  std::uint32_t container = 0;  ///< position among the init containers and then the others
  std::uint32_t position = 0;   ///< of the resource among all that the container names, by name
  api::ContainerKind kind = api::ContainerKind::kMain;
  std::string container_name;
  ResourceId resource;
  std::int64_t count = 0;  ///< > 0
  friend bool operator==(const ContainerAsk&, const ContainerAsk&) = default;
};

/// Everything of a pending pod that filters and scores read, and nothing else. Of labels and
/// namespace only what rules of the cluster make of them: which anti-affinity terms of pods on
/// nodes match. Equal pods share one PodClass.
struct PodClass {
  ClassId id;
  /// Effective spec requests > 0, sorted by resource; the pod slot (kPods, 1) is always included.
  std::vector<ResourceAmount> requests;
  api::NonZeroRequests nonzero;
  api::StringMap node_selector;
  std::optional<api::NodeSelector> required_affinity;
  std::vector<api::PreferredTerm> preferred_affinity;
  std::vector<api::Toleration> tolerations;
  std::vector<api::HostPort> host_ports;
  api::PodRules rules;
  std::vector<TermId> repelled_by;  ///< terms that match the pod, ascending
  /// What its containers ask of resources that devices may stand behind, by container.
  std::vector<ContainerAsk> container_asks;
  /// The status names a claim for extended resources already. The server never takes that back, and
  /// the kubelet starts no such pod without the claim, so a new one must be made in its place.
  bool names_claim = false;
  /// Not empty: the pod could not be read; it is unschedulable with this text.
  std::string unreadable;
};

}  // namespace gang::cluster
