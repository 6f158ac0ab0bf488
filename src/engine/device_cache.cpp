#include "engine/device_cache.h"

#include <utility>
#include <vector>

namespace gang::engine {

void DeviceCache::update(const cluster::Snapshot& snapshot) {
  counts_.update(snapshot.devices(), snapshot);
  if (snapshot.devices() == view_) return;
  const auto before = std::exchange(view_, snapshot.devices());
  if (before == nullptr) return;
  std::vector<cluster::PoolIndex> changed;
  before->changed_pools(*view_, changed);
  for (const cluster::PoolIndex pool : changed) {
    for (const cluster::PoolDevice& device : before->pool(pool).devices()) {
      selectors_.forget(*device.device);
    }
  }
}

std::int64_t DeviceCache::free_count(cluster::NodeIndex node) const {
  const NodeDevices& devices = counts_.of(node);
  return counts_.has_shared_pools() || !devices.is_exclusive ? kMany : devices.free;
}

}  // namespace gang::engine
