#include "gang/cluster/device_usage.h"

#include <algorithm>

#include "gang/base/check.h"

namespace gang::cluster {
namespace {

/// The value behind `shared` for writing: itself when it is in `own`, else a copy in its place.
template <class T>
T& own_copy(std::shared_ptr<const T>& shared, std::unordered_map<std::uint32_t, T*>& own,
            std::uint32_t position) {
  const auto [place, is_new] = own.try_emplace(position, nullptr);
  if (is_new) {
    auto copy = shared == nullptr ? std::make_shared<T>() : std::make_shared<T>(*shared);
    place->second = copy.get();
    shared = std::move(copy);
  }
  return *place->second;
}

template <class Entries>
auto place_of(Entries& entries, std::uint32_t id) {
  return std::lower_bound(
      entries.begin(), entries.end(), id,
      [](const auto& entry, std::uint32_t wanted) { return entry.first < wanted; });
}

}  // namespace

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

DeviceUsage::Block& DeviceUsage::writable_block(DeviceId device) {
  const std::uint32_t block = device.value / kDevicesPerBlock;
  const std::uint32_t group = block / kBlocksPerGroup;
  if (group >= groups_.size()) groups_.resize(group + 1);
  Group& blocks = own_copy(groups_[group], own_groups_, group);
  return own_copy(blocks[block % kBlocksPerGroup], own_blocks_, block);
}

void DeviceUsage::add(DeviceId device, const api::DeviceResult& result, bool shares_count) {
  if (result.admin_access) return;
  Block& block = writable_block(device);
  auto place = place_of(block, device.value);
  if (place == block.end() || place->first != device.value) {
    place = block.insert(place, {device.value, DeviceTaken{}});
    ++size_;
  }
  DeviceTaken& taken = place->second;
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
  CHECK(find(device) != nullptr);
  Block& block = writable_block(device);
  const auto place = place_of(block, device.value);
  DeviceTaken& taken = place->second;
  if (!shares_count || !result.share_id) {
    --taken.whole;
  } else {
    --taken.shares;
    if (!result.consumed_capacity.empty()) {
      add_amounts(taken.capacity, result.consumed_capacity, -1);
      if (--taken.measured == 0) taken.capacity.clear();
    }
  }
  if (!taken.is_empty()) return;
  block.erase(place);
  --size_;
}

const DeviceTaken* DeviceUsage::find(DeviceId device) const {
  const std::uint32_t block = device.value / kDevicesPerBlock;
  const std::uint32_t group = block / kBlocksPerGroup;
  if (group >= groups_.size() || groups_[group] == nullptr) return nullptr;
  const auto& entries = (*groups_[group])[block % kBlocksPerGroup];
  if (entries == nullptr) return nullptr;
  const auto place = place_of(*entries, device.value);
  return place == entries->end() || place->first != device.value ? nullptr : &place->second;
}

void DeviceUsage::changed_blocks(const DeviceUsage& other, std::vector<std::uint32_t>& out) const {
  const auto group_of = [](const DeviceUsage& usage, std::size_t group) {
    return group < usage.groups_.size() ? usage.groups_[group].get() : nullptr;
  };
  for (std::size_t group = 0; group < std::max(groups_.size(), other.groups_.size()); ++group) {
    const Group* ours = group_of(*this, group);
    const Group* theirs = group_of(other, group);
    if (ours == theirs) continue;
    for (std::uint32_t block = 0; block < kBlocksPerGroup; ++block) {
      const Block* before = theirs == nullptr ? nullptr : (*theirs)[block].get();
      const Block* after = ours == nullptr ? nullptr : (*ours)[block].get();
      if (before == after) continue;
      out.push_back(static_cast<std::uint32_t>(group) * kBlocksPerGroup + block);
    }
  }
}

DeviceUsage DeviceUsage::share() {
  own_groups_.clear();
  own_blocks_.clear();
  DeviceUsage shared;
  shared.groups_ = groups_;
  shared.size_ = size_;
  return shared;
}

}  // namespace gang::cluster
