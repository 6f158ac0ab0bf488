// Draft: a plan under construction: an Overlay and the tables of the gang's classes, kept in step.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/capacity_table.h"
#include "engine/overlay.h"

namespace gang::engine {

/// Pending members of one class. A value; the table must outlive it.
struct DraftClass {
  CapacityTable* table = nullptr;
  std::int32_t member_count = 0;
};

/// One member put on one node, by rank. A value.
struct Pick {
  std::uint32_t class_index = 0;  ///< into Draft::classes()
  std::uint32_t rank = 0;
  friend bool operator==(const Pick&, const Pick&) = default;
};

/// Where to roll back to. A value.
struct DraftPoint {
  std::size_t picks = 0;
  std::size_t saved = 0;
};

/// Tentative picks of one gang. Owned by Planner and reused, like the overlay; single thread.
/// Always: every table equals what its class sees with all picks booked, apart from hidden nodes.
/// After rollback({}) the tables are as begin() left them, after end() as it found them. Does not
/// choose.
class Draft {
 public:
  /// Closes the avoided nodes, names in any order, to every class.
  /// REQUIRES: end() was called since the last begin(); the tables are current for the snapshot.
  void begin(const cluster::Snapshot& snapshot, std::vector<DraftClass> classes,
             const std::vector<std::string>& avoided_nodes = {});
  void end();

  /// Books one member. REQUIRES: the class has capacity on the node.
  void place(Pick pick);
  /// Takes a node out of the choice of one class, until rolled back.
  void hide(Pick pick);
  /// Places members of the class, best node first, until `limit` of its members are placed.
  void fill(std::uint32_t class_index, std::int32_t limit);

  [[nodiscard]] DraftPoint point() const {
    return {.picks = picks_.size(), .saved = saved_.size()};
  }
  void rollback(DraftPoint to);

  [[nodiscard]] const std::vector<DraftClass>& classes() const { return classes_; }
  [[nodiscard]] CapacityTable& table(std::uint32_t class_index) const {
    return *classes_[class_index].table;
  }
  [[nodiscard]] const std::vector<Pick>& picks() const { return picks_; }
  [[nodiscard]] std::int32_t placed_count() const {
    return static_cast<std::int32_t>(picks_.size());
  }
  [[nodiscard]] std::int32_t placed_count(std::uint32_t class_index) const {
    return placed_[class_index];
  }
  [[nodiscard]] const cluster::Snapshot& snapshot() const { return *snapshot_; }
  /// MaxTree::kNowhere when there is no such node.
  [[nodiscard]] std::uint32_t rank_of(const std::string& node_name) const;
  [[nodiscard]] bool same_bookings(std::uint32_t rank_a, std::uint32_t rank_b) const {
    return overlay_.same_bookings(snapshot_->by_name()[rank_a], snapshot_->by_name()[rank_b]);
  }

 private:
  /// An entry of a table as it was.
  struct Saved {
    Pick at;
    NodeEntry entry;
  };

  void change(Pick at, const NodeEntry& entry);
  void avoid(const std::string& node_name);

  const cluster::Snapshot* snapshot_ = nullptr;
  Overlay overlay_;
  std::vector<DraftClass> classes_;
  std::vector<Pick> picks_;
  std::vector<std::int32_t> placed_;  ///< by class
  std::vector<Saved> saved_;
  std::vector<Saved> avoided_;  ///< entries as they were before begin()
};

}  // namespace gang::engine
