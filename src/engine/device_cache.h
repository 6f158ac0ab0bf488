// DeviceCache: what the planner keeps of devices between calls.
//
// Selectors remember their answers by device, requests by slice: the slices they were asked about
// are held, and the answers for a slice dropped once it changes; what claims take changes none.
// Counts of free devices by node tell whether a gang may fit long before anybody searches, and
// classes that asked for devices of late have their nodes in order. Owned by Planner; one thread.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <tuple>

#include "engine/device_counts.h"
#include "engine/device_node.h"
#include "engine/node_index.h"
#include "gang/cluster/device_view.h"
#include "gang/cluster/snapshot.h"

namespace gang::engine {

/// See the head of the file. Invisible, unless selectors cost more than one plan may spend: then
/// what is known already lets the next attempt go further.
class DeviceCache {
 public:
  /// As many as anybody may ask for.
  static constexpr std::int64_t kMany = std::int64_t{1} << 40;

  explicit DeviceCache(const cluster::DeviceFeatures& features) : features_(features) {}

  /// Every call of the planner that looks at devices begins here.
  void update(const cluster::Snapshot& snapshot);

  /// Both hold until the next update().
  [[nodiscard]] DeviceInputs inputs(SelectorBudget& budget) {
    return {.features = features_,
            .classes = view_->classes(),
            .selectors = selectors_,
            .answers = answers_,
            .budget = budget,
            .view = view_.get()};
  }
  [[nodiscard]] const cluster::DeviceView& view() const { return *view_; }

  /// At least as many members that ask for one device each as the node may take: its devices that
  /// no claim holds whole, or kMany where devices are shared between nodes or by many users.
  [[nodiscard]] std::int64_t free_count(cluster::NodeIndex node) const;
  [[nodiscard]] DeviceCounts& counts() { return counts_; }
  [[nodiscard]] const DeviceCounts& counts() const { return counts_; }

  /// Nodes of the table's class in the order in which members with devices meet them; see
  /// NodeIndex. Lives until the next update().
  [[nodiscard]] const NodeIndex& index_of(const cluster::Snapshot& snapshot, CapacityTable& table,
                                          bool by_room);

 private:
  /// An index and when it was last asked for.
  struct Indexed {
    NodeIndex index;
    std::uint64_t last_call = 0;
  };
  /// Indexes that are kept from call to call, and more while all together have no more nodes.
  static constexpr std::size_t kIndexesMax = 16;
  static constexpr std::size_t kIndexedNodesMax = 250'000;
  /// By class, wish for devices, and by_room.
  using IndexKey = std::tuple<cluster::ClassId, cluster::DeviceWish, bool>;

  const cluster::DeviceFeatures features_;
  cluster::CelSelectors selectors_;
  AskAnswers answers_;
  std::shared_ptr<const cluster::DeviceView> view_;  ///< whose devices the selectors know
  DeviceCounts counts_;
  std::uint64_t call_ = 0;
  std::map<IndexKey, Indexed> indexes_;
};

}  // namespace gang::engine
