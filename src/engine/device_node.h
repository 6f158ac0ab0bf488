// A node as the search for devices sees it, and what the search works with.
//
// Source: the devices contract, 2.2 to 2.4.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "engine/ask_answers.h"
#include "engine/selector_budget.h"
#include "gang/api/claim.h"
#include "gang/cluster/device_pool.h"
#include "gang/cluster/device_selectors.h"
#include "gang/cluster/device_usage.h"
#include "gang/cluster/device_view.h"

namespace gang::engine {

/// How a step of the search ended.
struct DeviceStep {
  enum class End {
    kYes,
    kNo,
    kTooMany,  ///< more devices than a claim may hold
    kNode,     ///< only this node cannot serve
    kFatal,    ///< no node can: the objects are wrong
    kLimit,    ///< the counted limit was reached
  };
  End end = End::kYes;
  std::string message;

  [[nodiscard]] bool is_yes() const { return end == End::kYes; }
  /// Ends the search wherever it stands.
  [[nodiscard]] bool is_final() const {
    return end == End::kNode || end == End::kFatal || end == End::kLimit;
  }
};

/// Devices that the gang of an attempt leaves out, as in use by somebody. A value.
struct AvoidedDevices {
  std::set<cluster::DeviceId> devices;
  std::set<const cluster::DevicePool*> pools;  ///< that have one of them
  [[nodiscard]] bool has(cluster::DeviceId device) const {
    return !devices.empty() && devices.contains(device);
  }
};

/// What does not change during an attempt; all outlive it.
struct DeviceInputs {
  const cluster::DeviceFeatures& features;
  const cluster::DeviceClasses& classes;
  cluster::DeviceSelectors& selectors;
  AskAnswers& answers;
  SelectorBudget& budget;
  /// Follow kube-scheduler where ours is more forgiving: a bad pool is fatal for mode All.
  bool as_upstream = false;
  AvoidedDevices avoided = {};
  /// What is looked at before a claim that has its devices is joined; null: nothing.
  const cluster::DeviceView* view = nullptr;
};

/// A pool with the parts of those of its slices that this node can use.
struct NodePool {
  const cluster::DevicePool* pool = nullptr;
  cluster::PoolState state = cluster::PoolState::kReady;
  std::string problem;
  std::vector<const cluster::PoolPart*> parts;

  [[nodiscard]] std::size_t device_count() const;
};

/// A device in the order in which devices are tried.
struct DeviceCandidate {
  const cluster::DevicePool* pool = nullptr;
  const cluster::PoolPart* part = nullptr;
  const cluster::PoolDevice* device = nullptr;
  [[nodiscard]] const api::ResourceSlice& slice() const { return *part->slice; }
  /// Terms of the node selector that the device brings into an allocation, which holds one.
  [[nodiscard]] std::size_t node_terms() const;
  /// "driver/pool/device".
  [[nodiscard]] std::string text() const;
};

/// See the head of the file.
struct DeviceNode {
  api::NodeFacts facts;
  bool optional_node_operations = false;  ///< declared by the node
  std::vector<NodePool> pools;
  std::vector<DeviceCandidate> candidates;  ///< of ready pools
};

/// The devices of the pool in order.
[[nodiscard]] std::vector<DeviceCandidate> candidates_of(const NodePool& pool);

/// Pools without devices that wait for binding conditions come first, then by driver and name.
/// Fails when a slice's node selector is none.
[[nodiscard]] Result<DeviceNode> device_node(const api::NodeFacts& facts,
                                             const std::vector<const cluster::DevicePool*>& pools);
/// The same, with what the node declares.
[[nodiscard]] Result<DeviceNode> device_node_of(
    const cluster::NodeInfo& node, const std::vector<const cluster::DevicePool*>& pools);

}  // namespace gang::engine
