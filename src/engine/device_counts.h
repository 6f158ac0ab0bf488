// DeviceCounts: how many devices of each node claims hold, and how many are left.
//
// Kept from view to view: what a claim or a slice changes costs the nodes whose slices it touches,
// not their pools and not the cluster. Owned by DeviceCache; one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "engine/change_log.h"
#include "engine/device_shares.h"
#include "gang/cluster/device_view.h"
#include "gang/cluster/snapshot.h"

namespace gang::engine {

/// Devices of slices that name this node, in pools whose slices all name nodes. A value.
struct NodeDevices {
  std::int32_t free = 0;        ///< that nobody holds
  std::int32_t used = 0;        ///< that some claim holds, whole or in part
  std::int32_t waiting = 0;     ///< of the free ones, those that drivers have to make ready
  bool is_exclusive = true;     ///< none can have several users
  bool has_partitions = false;  ///< some share counters
  bool has_places = false;      ///< some say which NUMA node or PCIe root they are at
  std::int32_t amount = 0;      ///< amount_of() each device, or kMixed
  DeviceShares shares = {};
  static constexpr std::int32_t kMixed = -1;
  [[nodiscard]] bool all_wait() const { return waiting > 0 && waiting == free; }
};

/// Adds what the device is, and whether any claim holds it.
void add_device(const api::Device& device, bool is_used, NodeDevices& devices);

/// See the head of the file. Always: equals a new one that is told of the same view and nodes.
class DeviceCounts {
 public:
  void update(std::shared_ptr<const cluster::DeviceView> view, const cluster::Snapshot& snapshot);

  /// REQUIRES: a node of the last snapshot.
  [[nodiscard]] const NodeDevices& of(cluster::NodeIndex node) const { return nodes_[node.value]; }
  /// Ranks of the nodes that were counted anew.
  [[nodiscard]] ChangeLog& changes() { return changes_; }
  [[nodiscard]] const ShareKinds& kinds() const { return kinds_; }
  /// Whether nodes have devices that others can use too.
  [[nodiscard]] bool has_shared_pools() const { return !view_->shared_pools().empty(); }

 private:
  void rebuild(const cluster::Snapshot& snapshot);
  void refresh(const cluster::DeviceView& before, const cluster::Snapshot& snapshot);
  void count(std::uint32_t rank, const cluster::Snapshot& snapshot);
  void count(const cluster::PoolPart& part, std::uint32_t rank, NodeDevices& devices);
  void learn_block(std::uint32_t block, std::uint32_t rank);

  std::shared_ptr<const cluster::DeviceView> view_;
  cluster::Generation by_name_generation_ = 0;
  ChangeLog changes_;
  std::vector<NodeDevices> nodes_;  ///< by NodeIndex
  ShareKinds kinds_;
  /// By rank: pools that name the node; in what views with the same places share.
  std::vector<std::span<const cluster::PoolIndex>> pools_of_;
  /// Nodes that have devices with ids of the block, or once had.
  std::unordered_map<std::uint32_t, std::vector<std::uint32_t>> ranks_of_block_;
};

}  // namespace gang::engine
