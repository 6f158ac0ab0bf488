#include "engine/device_ledger.h"

#include <algorithm>
#include <utility>

#include "engine/device_held.h"

namespace gang::engine {

using cluster::DevicePool;
using cluster::DeviceTaken;
using cluster::PoolDevice;

namespace {

std::uint64_t bit_of(cluster::DeviceId device) {
  return std::uint64_t{1} << (device.value % cluster::kDevicesPerBlock);
}

}  // namespace

/// Devices of a node are asked about one after the other.
DeviceLedger::Block* DeviceLedger::find_block(cluster::DeviceId device) const {
  const std::uint32_t number = device.value / cluster::kDevicesPerBlock;
  if (last_block_ != nullptr && last_number_ == number) return last_block_;
  const auto found = blocks_.find(number);
  if (found == blocks_.end()) return nullptr;
  last_number_ = number;
  last_block_ = &found->second;
  return last_block_;
}

const DeviceLedger::Taken* DeviceLedger::find_more(cluster::DeviceId device) const {
  if (more_.empty()) return nullptr;
  const auto found = more_.find(device.value);
  return found == more_.end() ? nullptr : &found->second;
}

bool DeviceLedger::is_free(cluster::DeviceId device) const {
  const Block* block = find_block(device);
  const bool is_taken = block != nullptr && (block->taken & bit_of(device)) != 0;
  return !is_taken && find_more(device) == nullptr && usage_.find(device) == nullptr;
}

bool DeviceLedger::is_in_use(const DeviceTake& take) const {
  const cluster::DeviceId device = take.device.id;
  const Block* block = find_block(device);
  const bool is_taken = block != nullptr && (block->taken & bit_of(device)) != 0;
  if (take.admin_access) {
    if (!is_taken) return false;
    if (block->claims[device.value % cluster::kDevicesPerBlock] == take.claim) return true;
    const Taken* more = find_more(device);
    return more != nullptr && std::ranges::find(more->claims, take.claim) != more->claims.end();
  }
  if (is_taken) return true;
  const DeviceTaken* held = usage_.find(device);
  if (held == nullptr) return false;
  // Shares may be held of a device that is given out whole by now.
  return held->whole > 0 || (held->shares > 0 && !is_multi(take.device));
}

api::QuantityMap DeviceLedger::used_capacity(cluster::DeviceId device) const {
  api::QuantityMap used;
  if (const DeviceTaken* held = usage_.find(device)) used = held->capacity;
  if (const Taken* more = find_more(device)) cluster::add_amounts(used, more->capacity, 1);
  return used;
}

std::int32_t DeviceLedger::share_count(cluster::DeviceId device) const {
  const DeviceTaken* held = usage_.find(device);
  const Taken* more = find_more(device);
  return (held == nullptr ? 0 : held->shares) + (more == nullptr ? 0 : more->shares);
}

std::string DeviceLedger::taken_text(cluster::DeviceId device) const {
  const Block* block = find_block(device);
  const bool is_whole = block != nullptr && (block->taken & bit_of(device)) != 0;
  const Taken* more = find_more(device);
  if (!is_whole && more == nullptr) return {};
  std::string text = is_whole ? "whole " : "shares ";
  text += std::to_string(more == nullptr ? 0 : more->shares);
  if (more == nullptr) return text;
  for (const auto& [name, amount] : more->capacity) text += " " + name + "=" + amount.text();
  return text;
}

bool DeviceLedger::is_multi(const PoolDevice& device) const {
  return device.device->allow_multiple_allocations && features_.consumable_capacity;
}

bool DeviceLedger::is_shared(const PoolDevice& device) const {
  return is_multi(device) && share_count(device.id) > 0;
}

DeviceRefusal DeviceLedger::take_counters(const DeviceTake& take) {
  if (take.device.device->consumes_counters.empty()) return DeviceRefusal::kNone;
  if (!features_.partitionable_devices) return DeviceRefusal::kPartitions;
  if (is_shared(take.device)) return DeviceRefusal::kNone;
  PoolBooks& books = books_of(take.pool);
  if (!books.is_known) return DeviceRefusal::kUnknownUse;
  std::vector<Groups> before;
  if (features_.compatibility_groups) {
    before = books.groups;
    if (!joins(books, take.device)) {
      books.groups = std::move(before);
      return DeviceRefusal::kCompatibility;
    }
  }
  charge(books, take.device, -1);
  log_.push_back({.kind = Kind::kCounters, .pool = &take.pool, .device = &take.device});
  groups_before_.push_back(std::move(before));
  if (books.negative_count == 0) return DeviceRefusal::kNone;
  rollback(log_.size() - 1);
  return DeviceRefusal::kCounters;
}

void DeviceLedger::take_device(const DeviceTake& take, const api::QuantityMap& capacity) {
  if (!is_multi(take.device)) {
    take_whole(take.device.id, take.claim);
    log_.push_back({.kind = Kind::kWhole, .device = &take.device});
    return;
  }
  Taken& more = more_[take.device.id.value];
  ++more.shares;
  cluster::add_amounts(more.capacity, capacity, 1);
  capacities_.push_back(capacity);
  log_.push_back({.kind = Kind::kShare, .device = &take.device});
}

void DeviceLedger::take_whole(cluster::DeviceId device, std::int32_t claim) {
  Block* known = find_block(device);
  Block& block = known == nullptr ? blocks_[device.value / cluster::kDevicesPerBlock] : *known;
  if ((block.taken & bit_of(device)) != 0) {
    more_[device.value].claims.push_back(claim);
    return;
  }
  block.taken |= bit_of(device);
  block.claims[device.value % cluster::kDevicesPerBlock] = claim;
}

/// The newest claim goes first.
void DeviceLedger::undo_whole(cluster::DeviceId device) {
  const auto more = more_.find(device.value);
  if (more == more_.end() || more->second.claims.empty()) {
    blocks_[device.value / cluster::kDevicesPerBlock].taken &= ~bit_of(device);
    return;
  }
  more->second.claims.pop_back();
  if (more->second.claims.empty()) more_.erase(more);
}

void DeviceLedger::rollback(Checkpoint to) {
  while (log_.size() > to) {
    undo(log_.back());
    log_.pop_back();
  }
}

void DeviceLedger::undo(const Entry& entry) {
  const cluster::DeviceId device = entry.device->id;
  if (entry.kind == Kind::kWhole) return undo_whole(device);
  if (entry.kind == Kind::kCounters) {
    PoolBooks& books = books_of(*entry.pool);
    charge(books, *entry.device, 1);
    if (features_.compatibility_groups) books.groups = std::move(groups_before_.back());
    return groups_before_.pop_back();
  }
  const auto more = more_.find(device.value);
  --more->second.shares;
  cluster::add_amounts(more->second.capacity, capacities_.back(), -1);
  capacities_.pop_back();
  if (more->second.shares == 0) more_.erase(more);
}

/// Built when the pool is first asked for: what is declared less what devices in use take.
DeviceLedger::PoolBooks& DeviceLedger::books_of(const DevicePool& pool) {
  const auto [at, is_new] = books_.try_emplace(&pool);
  PoolBooks& books = at->second;
  if (!is_new) return books;
  for (const cluster::PoolCounter& counter : pool.counters())
    books.left.push_back(counter.declared);
  books.negative_count = static_cast<std::int32_t>(
      std::ranges::count_if(books.left, [](const auto& left) { return left.is_negative(); }));
  books.is_known = std::ranges::none_of(pool.unseen(), [this](const cluster::UnseenDevice& one) {
    return usage_.find(one.id) != nullptr;
  });
  books.groups.resize(pool.counter_sets().size());
  for (const PoolDevice* device : takers_of_counters(pool, usage_)) {
    charge(books, *device, -1);
    // Who is in already is in, whatever its groups say.
    (void)joins(books, *device);
  }
  return books;
}

void DeviceLedger::charge(PoolBooks& books, const PoolDevice& device, int sign) {
  for (const cluster::CounterUse& use : device.counters) {
    api::Quantity& left = books.left[use.counter];
    books.negative_count -= left.is_negative() ? 1 : 0;
    if (sign > 0) {
      left += use.amount;
    } else {
      left -= use.amount;
    }
    books.negative_count += left.is_negative() ? 1 : 0;
  }
}

bool DeviceLedger::joins(PoolBooks& books, const PoolDevice& device) {
  bool admitted = true;
  for (std::size_t i = 0; i < device.counter_sets.size(); ++i) {
    Groups& set = books.groups[device.counter_sets[i]];
    const auto& groups = device.device->consumes_counters[i].compatibility_groups;
    if (!set.has_members) {
      set = {.has_members = true, .is_plain = groups.empty(), .common = groups};
      continue;
    }
    if (set.is_plain != groups.empty()) admitted = false;
    std::erase_if(set.common, [&](const std::string& group) {
      return std::ranges::find(groups, group) == groups.end();
    });
    if (!set.is_plain && set.common.empty()) admitted = false;
  }
  return admitted;
}

}  // namespace gang::engine
