#include "engine/device_cache.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace gang::engine {

void DeviceCache::update(const cluster::Snapshot& snapshot) {
  ++call_;
  answers_.make_room();
  const std::size_t nodes = std::max<std::size_t>(1, snapshot.by_name().size());
  while (indexes_.size() > std::max(kIndexesMax, kIndexedNodesMax / nodes)) {
    indexes_.erase(std::ranges::min_element(
        indexes_, {}, [](const auto& indexed) { return indexed.second.last_call; }));
  }
  counts_.update(snapshot.devices(), snapshot);
  if (snapshot.devices() == view_) return;
  const auto before = std::exchange(view_, snapshot.devices());
  if (before == nullptr) return;
  if (&before->classes() != &view_->classes()) answers_.clear();
  std::vector<cluster::PoolIndex> changed;
  before->changed_pools(*view_, changed);
  for (const cluster::PoolIndex pool : changed) {
    for (const cluster::PoolPart* part : parts_beside(before->pool(pool), view_->find(pool))) {
      answers_.forget(*part->slice);
      for (const cluster::PoolDevice& device : part->devices) selectors_.forget(*device.device);
    }
  }
}

const NodeIndex& DeviceCache::index_of(const cluster::Snapshot& snapshot, CapacityTable& table,
                                       bool by_room) {
  const IndexKey key(table.rules().pod_class->id, table.wish(), by_room);
  Indexed& indexed = indexes_.try_emplace(key, Indexed{NodeIndex(by_room)}).first->second;
  // Two kinds of one class walk the same index: it stays as it is until the next call.
  if (std::exchange(indexed.last_call, call_) != call_) {
    indexed.index.update(snapshot, table, counts_);
  }
  return indexed.index;
}

std::int64_t DeviceCache::free_count(cluster::NodeIndex node) const {
  const NodeDevices& devices = counts_.of(node);
  return counts_.has_shared_pools() || !devices.is_exclusive ? kMany : devices.free;
}

}  // namespace gang::engine
