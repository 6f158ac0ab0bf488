#include "engine/device_cache.h"

#include <algorithm>
#include <utility>

namespace gang::engine {

void DeviceCache::update(std::shared_ptr<const cluster::DeviceView> view) {
  if (view == view_) return;
  view_ = std::move(view);
  free_.clear();
  if (has_same_pools()) return;
  selectors_.forget_devices();
  judged_ = view_;
}

bool DeviceCache::has_same_pools() const {
  if (judged_ == nullptr || judged_->by_name() != view_->by_name()) return false;
  return std::ranges::all_of(view_->by_name(), [this](cluster::PoolIndex index) {
    return &view_->pool(index) == &judged_->pool(index);
  });
}

std::int64_t DeviceCache::free_count(const std::string& node_name) {
  const auto [at, is_new] = free_.try_emplace(node_name, 0);
  if (is_new) at->second = count_free(node_name);
  return at->second;
}

std::int64_t DeviceCache::count_free(const std::string& node_name) const {
  if (!view_->shared_pools().empty()) return kMany;
  std::int64_t count = 0;
  for (const cluster::PoolIndex index : view_->local_pools(node_name)) {
    for (const cluster::PoolDevice& device : view_->pool(index).devices()) {
      if (device.device->allow_multiple_allocations) return kMany;
      const cluster::DeviceTaken* taken = view_->usage().find(device.id);
      if (taken == nullptr || taken->whole == 0) ++count;
    }
  }
  return count;
}

}  // namespace gang::engine
