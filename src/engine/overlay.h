// Overlay: tentative assignments on top of an immutable snapshot; NodeUse: a node seen through it.
#pragma once

#include <cstdint>
#include <vector>

#include "gang/cluster/gang.h"
#include "gang/cluster/snapshot.h"

namespace gang::engine {

/// What the overlay has booked on one node. A value inside Overlay.
struct Bookings {
  cluster::NodeIndex node;
  std::vector<std::int64_t> amounts;  ///< by ResourceId, as long as needed
  std::int64_t nonzero_cpu = 0;
  std::int64_t nonzero_memory = 0;
  std::vector<api::HostPort> ports;
};

/// Free and taken amounts of one node: columns of the snapshot plus bookings. Or the node without
/// any pod. A view for one expression; snapshot and bookings must outlive it.
class NodeUse {
 public:
  NodeUse(const cluster::Snapshot& snapshot, cluster::NodeIndex node, const Bookings* booked)
      : NodeUse(snapshot, node, &snapshot.usage(node.value / cluster::kChunkSize), booked) {}

  /// The node as if every pod on it were gone.
  static NodeUse emptied(const cluster::Snapshot& snapshot, cluster::NodeIndex node) {
    return NodeUse(snapshot, node, nullptr, nullptr);
  }

  [[nodiscard]] std::int64_t allocatable(cluster::ResourceId resource) const {
    return column(facts_.allocatable, resource);
  }
  [[nodiscard]] std::int64_t requested(cluster::ResourceId resource) const {
    const std::int64_t used = usage_ == nullptr ? 0 : column(usage_->requested, resource);
    if (booked_ == nullptr || resource.value >= booked_->amounts.size()) return used;
    return used + booked_->amounts[resource.value];
  }
  [[nodiscard]] std::int64_t nonzero_cpu() const {
    return (usage_ == nullptr ? 0 : usage_->nonzero_cpu[slot_]) +
           (booked_ == nullptr ? 0 : booked_->nonzero_cpu);
  }
  [[nodiscard]] std::int64_t nonzero_memory() const {
    return (usage_ == nullptr ? 0 : usage_->nonzero_memory[slot_]) +
           (booked_ == nullptr ? 0 : booked_->nonzero_memory);
  }
  [[nodiscard]] const cluster::NodeInfo& info() const { return *facts_.info[slot_]; }
  [[nodiscard]] bool is_emptied() const { return usage_ == nullptr; }
  /// Whether a used or booked port conflicts with `wanted`.
  [[nodiscard]] bool port_taken(const api::HostPort& wanted) const;

 private:
  NodeUse(const cluster::Snapshot& snapshot, cluster::NodeIndex node,
          const cluster::UsageChunk* usage, const Bookings* booked)
      : snapshot_(snapshot),
        facts_(snapshot.facts(node.value / cluster::kChunkSize)),
        usage_(usage),
        booked_(booked),
        node_(node),
        slot_(node.value % cluster::kChunkSize) {}

  /// A resource that came after the column was made counts 0.
  [[nodiscard]] std::int64_t column(const std::vector<std::int64_t>& values,
                                    cluster::ResourceId resource) const {
    const std::size_t at = std::size_t{resource.value} * cluster::kChunkSize + slot_;
    return at < values.size() ? values[at] : 0;
  }

  const cluster::Snapshot& snapshot_;
  const cluster::FactsChunk& facts_;
  const cluster::UsageChunk* usage_;  ///< null: emptied
  const Bookings* booked_;            ///< null: nothing booked
  cluster::NodeIndex node_;
  std::uint32_t slot_;
};

/// Tentative assignments on top of an immutable snapshot.
///
/// Owned by Planner and reused, so that a warm decision allocates nothing per node; between begin()
/// and rollback(0) it holds the snapshot by pointer, which must outlive that time. Single thread.
/// Always: use(n) == the snapshot's n plus every assign() to n that is not rolled back.
/// Does not judge whether something fits; it only keeps the books.
class Overlay {
 public:
  /// REQUIRES: nothing is assigned.
  void begin(const cluster::Snapshot& snapshot);

  void assign(cluster::NodeIndex node, const cluster::PodClass& pod_class);

  /// Number of assignments; a point to roll back to.
  [[nodiscard]] std::size_t checkpoint() const { return log_.size(); }
  /// Undoes every assign() after `to`, newest first.
  void rollback(std::size_t to);

  [[nodiscard]] NodeUse use(cluster::NodeIndex node) const {
    const std::uint32_t book = book_of_[node.value];
    return NodeUse(*snapshot_, node, book == 0 ? nullptr : &books_[book - 1]);
  }
  [[nodiscard]] bool touched(cluster::NodeIndex node) const { return book_of_[node.value] != 0; }
  /// Whether equal amounts and ports, in equal order, are booked on both.
  [[nodiscard]] bool same_bookings(cluster::NodeIndex a, cluster::NodeIndex b) const;

 private:
  /// One assignment, as rollback needs it.
  struct Entry {
    std::uint32_t book = 0;
    bool opened_book = false;
    const cluster::PodClass* pod_class = nullptr;
  };

  const cluster::Snapshot* snapshot_ = nullptr;
  std::vector<std::uint32_t> book_of_;  ///< by NodeIndex: 1 + index into books_, 0 = none
  std::vector<Bookings> books_;         ///< the first open_books_ are in use
  std::uint32_t open_books_ = 0;
  std::vector<Entry> log_;
};

}  // namespace gang::engine
