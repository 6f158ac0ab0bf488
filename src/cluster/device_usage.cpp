#include "gang/cluster/device_usage.h"

#include <algorithm>

#include "gang/base/check.h"

namespace gang::cluster {

void add_amounts(api::QuantityMap& a, const api::QuantityMap& b, int sign) {
  for (const auto& [name, amount] : b) {
    auto at = std::ranges::lower_bound(a, name, {}, &std::pair<std::string, api::Quantity>::first);
    if (at == a.end() || at->first != name) at = a.insert(at, {name, api::Quantity()});
    if (sign > 0) {
      at->second += amount;
    } else {
      at->second -= amount;
    }
  }
}

void DeviceUsage::add(DeviceId device, const api::DeviceResult& result, bool shares_count) {
  if (result.admin_access) return;
  DeviceTaken& taken = taken_[device.value];
  if (!shares_count || !result.share_id) {
    ++taken.whole;
    return;
  }
  ++taken.shares;
  if (result.consumed_capacity.empty()) return;
  ++taken.measured;
  add_amounts(taken.capacity, result.consumed_capacity, 1);
}

void DeviceUsage::remove(DeviceId device, const api::DeviceResult& result, bool shares_count) {
  if (result.admin_access) return;
  const auto found = taken_.find(device.value);
  CHECK(found != taken_.end());
  DeviceTaken& taken = found->second;
  if (!shares_count || !result.share_id) {
    --taken.whole;
  } else {
    --taken.shares;
    if (!result.consumed_capacity.empty()) {
      add_amounts(taken.capacity, result.consumed_capacity, -1);
      if (--taken.measured == 0) taken.capacity.clear();
    }
  }
  if (taken.is_empty()) taken_.erase(found);
}

const DeviceTaken* DeviceUsage::find(DeviceId device) const {
  const auto found = taken_.find(device.value);
  return found == taken_.end() ? nullptr : &found->second;
}

}  // namespace gang::cluster
