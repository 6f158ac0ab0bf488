// TableCache: the CapacityTables of recently planned classes, brought up to date when asked for.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/capacity_table.h"
#include "engine/domain_sums.h"
#include "gang/engine/planner.h"

namespace gang::engine {

/// Owned by Planner; single thread. Keeps at most Options::class_tables_max tables, more while
/// they are small or one gang needs more; the least recently used go first, never one of the
/// current call. Invisible: tables are what they would be if built anew.
class TableCache {
 public:
  explicit TableCache(const Options& options) : options_(options), fragments_(options) {}

  /// Starts a call of the planner: pointers of the call before become invalid. `counts`: current
  /// for the snapshot; without them devices make no fragments.
  void begin(const cluster::Snapshot& snapshot, DeviceCounts* counts = nullptr);
  /// The table of a class with its wish for devices, current for the snapshot. The pointer lives
  /// until the next begin(). REQUIRES: begin() with the same snapshot.
  [[nodiscard]] CapacityTable* current(const cluster::Snapshot& snapshot, const ClassDemand& demand,
                                       PlannerStats& stats);
  /// The sums of the class over the domains of a level, current for the snapshot. Lives as long.
  /// REQUIRES: current() was asked for the class, and nothing is placed on its table.
  [[nodiscard]] const DomainSums& sums(const cluster::Snapshot& snapshot, const ClassDemand& demand,
                                       const cluster::TopologyLevel& level);
  /// Position of a node in by_name() of the snapshot of this call; MaxTree::kNowhere: it is gone.
  [[nodiscard]] std::uint32_t rank_of(cluster::NodeIndex node) const {
    return rank_of_[node.value];
  }

 private:
  /// A table with its sums, and when it was last asked for.
  struct Slot {
    std::unique_ptr<CapacityTable> table;
    std::uint64_t last_call = 0;
    std::map<std::string, DomainSums> sums;  ///< by label key
  };

  void make_room();
  void update_ranks(const cluster::Snapshot& snapshot);
  void refresh(const cluster::Snapshot& snapshot, CapacityTable& table, PlannerStats& stats);
  [[nodiscard]] std::span<const std::uint32_t> ranks_changed(const cluster::Snapshot& snapshot,
                                                             cluster::Generation since);
  void refresh_fragments(const cluster::Snapshot& snapshot, CapacityTable& table,
                         PlannerStats& stats);

  const Options options_;
  Fragments fragments_;
  std::map<std::pair<cluster::ClassId, cluster::DeviceWish>, Slot> slots_;
  std::uint64_t call_ = 0;
  std::vector<std::uint32_t> rank_of_;  ///< by NodeIndex
  cluster::Generation ranks_generation_ = 0;
  /// Ranks of the nodes changed after `changed_since_`, in the snapshot of this call.
  std::vector<std::uint32_t> changed_ranks_;
  std::vector<cluster::NodeIndex> changed_nodes_;
  cluster::Generation changed_since_ = 0;
  bool changed_known_ = false;
};

}  // namespace gang::engine
