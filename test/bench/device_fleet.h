// A cluster to measure devices on: nodes of 8 GPUs, some in use, and a gang with a claim for each
// member.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "gang/cluster/cluster_state.h"
#include "gang/engine/plan.h"

namespace gang::bench {

inline constexpr int kGpusPerNode = 8;
/// A realistic selector: driver, a text and an amount.
inline constexpr const char* kGpuSelector =
    R"(device.driver == "gpu.example.com" && device.attributes["gpu.example.com"].model == "H100" )"
    R"(&& device.capacity["gpu.example.com"].memory.compareTo(quantity("40Gi")) >= 0)";

/// Owned by one row of the bench; single thread.
class DeviceFleet {
 public:
  /// Every second node has all its devices free, the others one in use. The gang has 8 members,
  /// each with a claim for all the GPUs of a node.
  explicit DeviceFleet(std::int32_t nodes);

  [[nodiscard]] cluster::ClusterState& state() { return state_; }
  [[nodiscard]] cluster::Gang gang() const;
  /// The slice of a node, with `count` devices; `version` tells it from those before.
  [[nodiscard]] static api::ResourceSlice slice(std::int32_t node, int count, std::int64_t version);

  void assume(const engine::Plan& plan);
  void forget(const engine::Plan& plan);

 private:
  void add_nodes(std::int32_t nodes);
  void add_gang();

  cluster::ClusterState state_;
};

/// The devices of the first nodes that have all free, node by node, from a plain table of what is
/// held. What a plan does besides is not done.
[[nodiscard]] std::vector<std::string> first_whole_nodes(const cluster::Snapshot& snapshot,
                                                         std::size_t count);

}  // namespace gang::bench
