// A cluster to measure on: nodes of 8 accelerators that are partly used, and gangs that wait.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "gang/cluster/cluster_state.h"
#include "gang/engine/plan.h"

namespace gang::bench {

/// What a fleet has. A value.
struct FleetSize {
  std::int32_t nodes = 0;
  std::int32_t pods_per_node = 2;
  std::int32_t gangs = 32;
  std::int32_t gang_members = 8;
  /// Nodes with free accelerators; the others are full.
  std::int32_t nodes_with_room = 0;
  std::int32_t nodes_per_rack = 32;
  bool in_one_rack = false;  ///< gangs ask for it
};

/// Owned by one row of the bench; single thread.
class Fleet {
 public:
  explicit Fleet(const FleetSize& size);

  [[nodiscard]] cluster::ClusterState& state() { return state_; }
  [[nodiscard]] cluster::Gang gang(std::size_t index) const;
  [[nodiscard]] std::size_t gang_count() const { return gangs_.size(); }

  void assume(const engine::Plan& plan);
  void forget(const engine::Plan& plan);
  /// Starts and ends a small pod on a few nodes, so that these have changed.
  void touch(std::int32_t node_count);

 private:
  void add_nodes(const FleetSize& size);
  void add_gangs(const FleetSize& size);

  cluster::ClusterState state_;
  std::vector<cluster::GangId> gangs_;
  std::int32_t nodes_ = 0;
  std::int32_t touched_ = 0;
};

}  // namespace gang::bench
