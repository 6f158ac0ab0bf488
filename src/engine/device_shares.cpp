#include "engine/device_shares.h"

#include <algorithm>

#include "engine/device_rating.h"

namespace gang::engine {
namespace {

/// Of a device that many can use, what is left of the capacity that has least left.
std::int16_t free_share(const api::Device& device, const cluster::DeviceTaken* taken) {
  if (taken == nullptr || taken->is_empty()) return DeviceShares::kWhole;
  if (taken->whole > 0 || !device.allow_multiple_allocations) return 0;
  std::int32_t most = 0;
  for (const auto& [name, amount] : taken->capacity) {
    const api::DeviceCapacity* whole = api::find_named(device.capacity, name);
    if (whole != nullptr) most = std::max(most, share_of(amount, whole->value));
  }
  return static_cast<std::int16_t>(DeviceShares::kWhole - most);
}

bool has_capacity(const api::Device& device, const api::QuantityMap& wanted) {
  return std::ranges::equal(device.capacity, wanted, [](const auto& has, const auto& wants) {
    return has.first == wants.first && has.second.value == wants.second;
  });
}

}  // namespace

void ShareKinds::add(const api::Device& device, const cluster::DeviceTaken* taken,
                     DeviceShares& shares) {
  if (shares.is_known && shares.count == 0) shares.kind = kind_of(device);
  const bool is_measured = !device.allow_multiple_allocations || !device.capacity.empty();
  shares.is_known &= shares.count < DeviceShares::kMost && device.consumes_counters.empty() &&
                     is_measured && has_capacity(device, capacities_[shares.kind]);
  shares.has_policy |= std::ranges::any_of(
      device.capacity, [](const auto& named) { return named.second.policy != nullptr; });
  if (shares.is_known) shares.free[shares.count++] = free_share(device, taken);
}

std::uint32_t ShareKinds::kind_of(const api::Device& device) {
  api::QuantityMap capacity;
  for (const auto& [name, whole] : device.capacity) capacity.emplace_back(name, whole.value);
  const auto next = static_cast<std::uint32_t>(capacities_.size());
  const auto [at, is_new] = known_.try_emplace(capacity, next);
  if (is_new) capacities_.push_back(std::move(capacity));
  return at->second;
}

}  // namespace gang::engine
