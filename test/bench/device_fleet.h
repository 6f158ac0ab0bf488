// A cluster to measure devices on: nodes with GPUs, some in use, and a gang with a claim for each
// member.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "gang/cluster/cluster_state.h"
#include "gang/engine/planner.h"

namespace gang::bench {

inline constexpr int kGpusPerNode = 8;
/// A realistic selector: driver, a text and an amount.
inline constexpr const char* kGpuSelector =
    R"(device.driver == "gpu.example.com" && device.attributes["gpu.example.com"].model == "H100" )"
    R"(&& device.capacity["gpu.example.com"].memory.compareTo(quantity("40Gi")) >= 0)";

/// How the devices of a fleet lie. A value.
struct DeviceFleetShape {
  std::int32_t nodes = 0;
  int devices = kGpusPerNode;  ///< of each node, in one slice
  bool is_one_pool = false;    ///< else each node has a pool of its own
};

/// Owned by one row of the bench; single thread.
class DeviceFleet {
 public:
  /// Every second node has all its devices free, the others one in use where pools are their own.
  /// The gang has 8 members,
  /// each with a claim for kGpusPerNode devices of a node; a node has room for one of them.
  explicit DeviceFleet(const DeviceFleetShape& shape);

  [[nodiscard]] cluster::ClusterState& state() { return state_; }
  [[nodiscard]] cluster::Gang gang() const;
  /// The slice of a node, with `count` devices; `version` tells it from those before.
  [[nodiscard]] api::ResourceSlice slice(std::int32_t node, int count, std::int64_t version) const;

  void assume(const engine::Plan& plan);
  void forget(const engine::Plan& plan);

 private:
  void add_nodes();
  void add_gang();

  const DeviceFleetShape shape_;
  cluster::ClusterState state_;
};

/// The nodes of the plan's members; none where it is no plan.
[[nodiscard]] std::vector<std::string> nodes_of(const engine::Decision& decision);

/// Devices of the part that no claim holds.
[[nodiscard]] int free_count(const cluster::DeviceUsage& usage, const cluster::PoolPart& part);

/// The devices of the first nodes that have all free, node by node, from a plain table of what is
/// held. What a plan does besides is not done.
[[nodiscard]] std::vector<std::string> first_whole_nodes(const cluster::Snapshot& snapshot,
                                                         std::size_t count);

}  // namespace gang::bench
