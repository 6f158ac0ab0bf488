// NodeIndex: the nodes that may take a member of one class, in the order in which members with
// devices meet them, kept from plan to plan.
//
// Brought up to date by the nodes of which the class's table or the counts of devices say that they
// changed; whoever walks meets nodes in order and leaves out those with too few free devices
// without looking at each. Complexity: O(changed nodes x log nodes), a step of a walk O(log nodes);
// a new set of nodes: one pass. Owned by DeviceCache; one thread.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "engine/capacity_table.h"
#include "engine/device_counts.h"
#include "engine/node_key.h"
#include "gang/cluster/snapshot.h"

namespace gang::engine {

/// See the head of the file. Always after update(): equals a new one.
class NodeIndex {
 public:
  /// Whether nodes with room for more members come first, whatever their devices.
  explicit NodeIndex(bool by_room) : by_room_(by_room) {}

  /// The table is as no attempt has changed it, avoided nodes aside.
  void update(const cluster::Snapshot& snapshot, CapacityTable& table, DeviceCounts& counts);

  /// The nodes one after the other. Valid until the next update().
  class Walk {
   public:
    Walk(const NodeIndex& index, std::int64_t least)
        : index_(&index), at_(index.order_.begin()), least_(least) {}
    /// Nothing after the last.
    [[nodiscard]] std::optional<NodeKey> next();

   private:
    const NodeIndex* index_;
    std::set<NodeKey>::const_iterator at_;
    std::int64_t least_;
  };
  /// `least`: free devices that a node must have where none of them can have several users.
  [[nodiscard]] Walk walk(std::int64_t least) const { return {*this, least}; }

 private:
  /// What is known of a node.
  struct Entry {
    NodeKey key;
    bool is_there = false;      ///< in the order
    bool is_exclusive = false;  ///< none of its devices can have several users
  };

  [[nodiscard]] Entry entry_of(const CapacityTable& table, const DeviceCounts& counts,
                               const cluster::Snapshot& snapshot, std::uint32_t rank) const;
  void refresh(std::uint32_t rank, const Entry& now);

  bool by_room_;
  ChangeLog::Mark table_mark_ = 0;
  ChangeLog::Mark counts_mark_ = 0;
  std::vector<Entry> entries_;  ///< by rank
  std::set<NodeKey> order_;
  std::int64_t open_count_ = 0;  ///< nodes in the order that are not exclusive
};

}  // namespace gang::engine
