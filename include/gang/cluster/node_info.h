// NodeInfo and the small index types of the model: what a node is, apart from what it holds.
//
// Indexes are dense and stable: a NodeIndex belongs to one node name for as long as the node exists
// and may be given to another node afterwards; a ResourceId is never reused. Values, any thread.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <vector>

#include "gang/api/meta.h"
#include "gang/api/pod.h"
#include "gang/api/selector.h"

namespace gang::cluster {

/// Position of a node in the columns.
struct NodeIndex {
  std::uint32_t value = 0;
  friend auto operator<=>(const NodeIndex&, const NodeIndex&) = default;
};

/// Interned resource name. The four below are always there, extended ones follow by first sight.
struct ResourceId {
  std::uint16_t value = 0;
  friend auto operator<=>(const ResourceId&, const ResourceId&) = default;
};

/// Interned required anti-affinity term of pods on nodes. Never reused.
struct TermId {
  std::uint32_t value = 0;
  friend auto operator<=>(const TermId&, const TermId&) = default;
};

inline constexpr ResourceId kCpu{0};               ///< milli-units
inline constexpr ResourceId kMemory{1};            ///< bytes
inline constexpr ResourceId kEphemeralStorage{2};  ///< bytes
inline constexpr ResourceId kPods{3};              ///< pod slots

/// Counter of changes of the model; grows with every change, never repeats.
using Generation = std::uint64_t;

/// An amount of one resource in column units (milli-units for cpu, units otherwise).
struct ResourceAmount {
  ResourceId resource;
  std::int64_t amount = 0;
  friend auto operator<=>(const ResourceAmount&, const ResourceAmount&) = default;
};

/// Facts of a node that change seldom. Immutable, shared by snapshots.
struct NodeInfo {
  std::string name;
  api::Uid uid;
  api::StringMap labels;
  std::vector<api::Taint> taints;
  bool unschedulable = false;
  bool optional_node_operations = false;  ///< declared by the node
  /// Not empty: the node could not be read, or holds a pod that could not: it takes no new pods.
  std::string unreadable;
};

}  // namespace gang::cluster
