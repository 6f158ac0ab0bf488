// DeviceCache: what the planner keeps of devices between calls.
//
// Selectors remember their answers by device: the pools they were asked about are held, and the
// answers for a pool dropped once it changes; what claims take changes no pool. Counts of free
// devices by node tell whether a gang may fit long before anybody searches. Owned by Planner; one
// thread.
#pragma once

#include <cstdint>
#include <memory>

#include "engine/device_counts.h"
#include "engine/device_node.h"
#include "gang/cluster/device_view.h"
#include "gang/cluster/snapshot.h"

namespace gang::engine {

/// See the head of the file. Invisible: a new one gives the same answers.
class DeviceCache {
 public:
  /// As many as anybody may ask for.
  static constexpr std::int64_t kMany = std::int64_t{1} << 40;

  explicit DeviceCache(const cluster::DeviceFeatures& features) : features_(features) {}

  /// Every call of the planner that looks at devices begins here.
  void update(const cluster::Snapshot& snapshot);

  /// Both hold until the next update().
  [[nodiscard]] DeviceInputs inputs() {
    return {.features = features_, .classes = view_->classes(), .selectors = selectors_};
  }
  [[nodiscard]] const cluster::DeviceView& view() const { return *view_; }

  /// At least as many members that ask for one device each as the node may take: its devices that
  /// no claim holds whole, or kMany where devices are shared between nodes or by many users.
  [[nodiscard]] std::int64_t free_count(cluster::NodeIndex node) const;
  [[nodiscard]] const DeviceCounts& counts() const { return counts_; }

 private:
  const cluster::DeviceFeatures features_;
  cluster::CelSelectors selectors_;
  std::shared_ptr<const cluster::DeviceView> view_;  ///< whose devices the selectors know
  DeviceCounts counts_;
};

}  // namespace gang::engine
