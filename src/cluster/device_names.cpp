#include "cluster/device_names.h"

#include <algorithm>

#include "gang/cluster/device_usage.h"

namespace gang::cluster {

std::uint32_t IdBlocks::take() {
  if (unused_.empty()) return given_++;
  const std::uint32_t block = unused_.back();
  unused_.pop_back();
  return block;
}

void IdBlocks::give_back(const std::vector<std::uint32_t>& blocks) {
  unused_.insert(unused_.end(), blocks.begin(), blocks.end());
}

DeviceId DeviceNames::id_of(const api::ResourceSlice& /*slice*/, const api::Device& device) {
  return name_of(device.name).id;
}

DevicePool::NameFacts DeviceNames::settle(const DevicePool& pool, const DevicePool* before) {
  for (const PoolPart* part : parts_beside(pool, before)) show(*part);
  if (before != nullptr) {
    for (const PoolPart* part : parts_beside(*before, &pool)) hide(*part);
  }
  DevicePool::NameFacts facts{.are_unique = repeated_count_ == 0, .unseen = {}};
  for (const std::string& device : unseen_) {
    const Name& name = names_.at(device);
    facts.unseen.push_back({.name = device, .id = name.id, .claim = name.holders.front()});
  }
  return facts;
}

void DeviceNames::leave(const DevicePool& before) {
  for (const PartPtr& part : before.parts()) hide(*part);
}

void DeviceNames::show(const PoolPart& part) {
  for (const PoolDevice& device : part.devices) {
    Name& name = name_of(device.device->name);
    ++name.shown_count;
    if (name.shown_count == 1) unseen_.erase(device.device->name);
    if (name.shown_count == 2) ++repeated_count_;
  }
}

void DeviceNames::hide(const PoolPart& part) {
  for (const PoolDevice& device : part.devices) {
    Name& name = names_.at(device.device->name);
    --name.shown_count;
    if (name.shown_count == 1) --repeated_count_;
    if (name.shown_count > 0) continue;
    if (!name.holders.empty()) unseen_.insert(device.device->name);
    forget_if_unused(device.device->name);
  }
}

DeviceId DeviceNames::hold(const std::string& device, const api::ObjectKey& claim) {
  Name& name = name_of(device);
  name.holders.insert(std::ranges::upper_bound(name.holders, claim), claim);
  if (name.shown_count == 0) unseen_.insert(device);
  return name.id;
}

DeviceId DeviceNames::let_go(const std::string& device, const api::ObjectKey& claim) {
  Name& name = names_.at(device);
  const DeviceId id = name.id;
  name.holders.erase(std::ranges::find(name.holders, claim));
  if (name.holders.empty()) unseen_.erase(device);
  forget_if_unused(device);
  return id;
}

bool DeviceNames::is_shown(const std::string& device) const {
  const auto known = names_.find(device);
  return known != names_.end() && known->second.shown_count > 0;
}

/// A pool has whole blocks, so that what is written of one pool's devices is never another's.
DeviceNames::Name& DeviceNames::name_of(const std::string& device) {
  const auto [place, is_new] = names_.try_emplace(device);
  if (!is_new) return place->second;
  if (unused_ids_.empty()) {
    own_blocks_.push_back(blocks_->take());
    for (std::uint32_t i = kDevicesPerBlock; i > 0; --i) {
      unused_ids_.push_back({own_blocks_.back() * kDevicesPerBlock + i - 1});
    }
  }
  place->second.id = unused_ids_.back();
  unused_ids_.pop_back();
  return place->second;
}

/// Ids of names that neither the pool nor a claim has any more are free for others.
void DeviceNames::forget_if_unused(const std::string& device) {
  const auto known = names_.find(device);
  if (known->second.shown_count > 0 || !known->second.holders.empty()) return;
  unused_ids_.push_back(known->second.id);
  names_.erase(known);
}

}  // namespace gang::cluster
