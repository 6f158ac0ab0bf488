// DomainSums: what the domains of a topology level take of one class, and what is free in them of
// the resources that it asks for.
//
// Idea: sums per domain, beside the capacity table and refreshed from it for the nodes that changed
// only, so that a gang of one class finds its domain without a look at any node. Of nodes that
// facts close to the class nothing counts: their room is no use to it. Complexity: refresh
// O(changed nodes x requests), a new class, level or set of nodes: one pass over the nodes.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/capacity_table.h"
#include "gang/cluster/snapshot.h"

namespace gang::engine {

/// Owned by TableCache beside the table; single thread. Always between calls of plan(): equal to
/// sums built anew from the snapshot that it was last refreshed with.
class DomainSums {
 public:
  /// Members that fit in one domain, now and if every pod were gone. A value.
  struct Fits {
    std::int64_t now = 0;
    std::int64_t on_fleet = 0;
  };

  /// Whether refresh() is enough for that table and level.
  [[nodiscard]] bool is_of(const CapacityTable& table, const cluster::TopologyLevel& level) const {
    return level_id_ == level.id && build_ == table.build_number();
  }
  /// All three take the table as of the snapshot, with nothing placed.
  void build(const cluster::Snapshot& snapshot, const CapacityTable& table,
             const cluster::TopologyLevel& level);
  /// `ranks`: of nodes that changed since generation(). REQUIRES: is_of().
  void refresh(const cluster::Snapshot& snapshot, const CapacityTable& table,
               const cluster::TopologyLevel& level, std::span<const std::uint32_t> ranks);
  [[nodiscard]] cluster::Generation generation() const { return generation_; }

  [[nodiscard]] const Fits& fits(std::uint32_t domain) const { return fits_[domain]; }
  /// Of the i-th request of the class.
  [[nodiscard]] std::int64_t free(std::uint32_t domain, std::size_t request) const {
    return free_[domain * request_count_ + request];
  }
  /// What the nodes of the cluster that facts allow have of it in all.
  [[nodiscard]] std::int64_t total(std::size_t request) const { return totals_[request]; }

 private:
  /// What a node counts with.
  struct Row {
    std::uint32_t domain = cluster::TopologyLevel::kNoDomain;
    Fits fits;
  };

  void put(const cluster::Snapshot& snapshot, const CapacityTable& table,
           const cluster::TopologyLevel& level, std::uint32_t rank);
  void add(std::uint32_t rank, std::int64_t sign);

  std::uint64_t level_id_ = 0;
  std::uint64_t build_ = 0;
  cluster::Generation generation_ = 0;
  std::size_t request_count_ = 0;
  std::vector<Row> rows_;                ///< by rank
  std::vector<std::int64_t> row_free_;   ///< [rank x requests + request]
  std::vector<std::int64_t> row_total_;  ///< the same of allocatable
  std::vector<Fits> fits_;               ///< by domain
  std::vector<std::int64_t> free_;       ///< [domain x requests + request]
  std::vector<std::int64_t> totals_;     ///< by request
};

}  // namespace gang::engine
