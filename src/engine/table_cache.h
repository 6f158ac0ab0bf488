// TableCache: the CapacityTables of recently planned classes, brought up to date when asked for.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "engine/capacity_table.h"
#include "gang/engine/planner.h"

namespace gang::engine {

/// Owned by Planner; single thread. Keeps at most Options::class_tables_max tables, more only while
/// one gang needs more; the least recently used go first, never one of the current call.
/// Invisible: tables are what they would be if built anew.
class TableCache {
 public:
  explicit TableCache(const Options& options) : options_(options) {}

  /// Starts a call of the planner: pointers of the call before become invalid.
  void begin(const cluster::Snapshot& snapshot);
  /// The table of a class, current for the snapshot. The pointer lives until the next begin().
  /// REQUIRES: begin() with the same snapshot.
  [[nodiscard]] CapacityTable* current(const cluster::Snapshot& snapshot,
                                       const std::shared_ptr<const cluster::PodClass>& pod_class,
                                       PlannerStats& stats);

 private:
  /// A table and when it was last asked for.
  struct Slot {
    std::unique_ptr<CapacityTable> table;
    std::uint64_t last_call = 0;
  };

  void make_room();
  void update_ranks(const cluster::Snapshot& snapshot);
  void refresh(const cluster::Snapshot& snapshot, CapacityTable& table, PlannerStats& stats);

  const Options options_;
  std::map<cluster::ClassId, Slot> slots_;
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
