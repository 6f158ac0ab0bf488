// NodeTable: nodes by name with their columns, and the pods' sums on them, node known or not.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cluster/columns.h"
#include "cluster/flat_index.h"
#include "cluster/kind_sync.h"
#include "cluster/resource_table.h"
#include "cluster/term_table.h"
#include "cluster/topology_table.h"
#include "gang/api/node.h"
#include "gang/cluster/snapshot.h"

namespace gang::cluster {

/// Parts of a snapshot that are made elsewhere and do not change. A value.
struct SharedParts {
  std::shared_ptr<const DeviceView> devices;
  std::shared_ptr<const RequestMix> mix;
};

/// Owned by the state. A name has a slot as long as a Node or a pod names it; pods of a name
/// without Node are summed in its empty slot, so that they count as soon as the Node comes.
/// Always: every slot's sums equal those of the pods booked on it and not taken off.
class NodeTable {
 public:
  explicit NodeTable(ResourceTable& resources) : resources_(resources) {}

  /// Books a pod on a node by name, known or not.
  NodeIndex book(const std::string& node_name, const Footprint& footprint);
  /// Books a pod on a node of a snapshot. REQUIRES: the slot has a name.
  void book(NodeIndex node, const Footprint& footprint);
  /// Takes a pod off. The index is void afterwards when nothing else names it. False: the sums had
  /// been saturated, recount the node.
  bool unbook(NodeIndex node, const Footprint& footprint);
  /// Starts a recount: sums 0, ports kept; then recount_add() for each pod on the node.
  void recount_begin(NodeIndex node);
  void recount_add(NodeIndex node, const Footprint& footprint);

  /// False when nothing changed: a duplicate, an older version, or a heartbeat.
  bool upsert(const api::Node& node, ListNumber list);
  /// False when unknown, or known under another UID.
  bool remove(const api::ObjectMeta& meta);
  /// Removes nodes that were not told in that list; false when there were none.
  bool sweep(ListNumber list);
  /// Text of a pod on that node that could not be read; empty = none. False when nothing changed.
  bool set_unreadable_pod(NodeIndex node, const std::string& text);

  [[nodiscard]] bool exists(NodeIndex node) const { return columns_.info(node) != nullptr; }
  [[nodiscard]] bool has_name(NodeIndex node) const;
  [[nodiscard]] const std::string& name(NodeIndex node) const { return entries_[node.value].name; }
  [[nodiscard]] std::uint32_t node_count() const { return node_count_; }
  [[nodiscard]] std::uint32_t slot_count() const {
    return static_cast<std::uint32_t>(entries_.size());
  }
  [[nodiscard]] const Columns& columns() const { return columns_; }

  /// The slot of a name that a Node or a pod has.
  [[nodiscard]] std::optional<NodeIndex> index_of(const std::string& name) const;

  [[nodiscard]] std::shared_ptr<const Snapshot> snapshot(TermTable& terms, TopologyTable& topology,
                                                         const SharedParts& shared);

 private:
  /// A name with what the columns do not hold.
  struct Entry {
    std::string name;
    std::string version;      ///< resource version of the Node
    std::string own_problem;  ///< meta.unreadable of the Node
    std::string pod_problem;  ///< set_unreadable_pod()
    ListNumber list = 0;
    std::uint32_t pod_count = 0;
    bool saturated = false;     ///< some sum is not exact
    bool name_changed = false;  ///< since by_name_ was made
  };

  [[nodiscard]] static std::uint32_t hash(const std::string& name);
  [[nodiscard]] std::uint32_t find(const std::string& name) const;
  NodeIndex intern(const std::string& name);
  void add(NodeIndex node, const Footprint& footprint);
  void drop_if_unnamed(NodeIndex node);
  void remove(NodeIndex node);
  void mark_name_changed(NodeIndex node);
  [[nodiscard]] std::vector<std::int64_t> allocatable_of(const api::Node& node);
  [[nodiscard]] bool same_facts(NodeIndex node, const NodeInfo& info,
                                const std::vector<std::int64_t>& allocatable) const;
  void refresh_by_name();

  ResourceTable& resources_;
  Columns columns_;
  std::deque<Entry> entries_;  ///< by slot
  std::vector<std::uint32_t> unused_;
  FlatIndex index_;
  std::uint32_t node_count_ = 0;

  std::shared_ptr<const std::vector<NodeIndex>> by_name_ =
      std::make_shared<const std::vector<NodeIndex>>();
  Generation by_name_generation_ = 0;
  std::vector<NodeIndex> names_changed_;
  std::shared_ptr<const Snapshot> latest_;
};

}  // namespace gang::cluster
