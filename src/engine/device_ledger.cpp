#include "engine/device_ledger.h"

#include <algorithm>
#include <utility>

namespace gang::engine {

using cluster::DevicePool;
using cluster::DeviceTaken;
using cluster::PoolDevice;

bool DeviceLedger::is_in_use(const DeviceTake& take) const {
  const auto taken = taken_.find(take.device.id.value);
  if (take.admin_access) {
    return taken != taken_.end() &&
           std::ranges::find(taken->second.claims, take.claim) != taken->second.claims.end();
  }
  if (taken != taken_.end() && !taken->second.claims.empty()) return true;
  const DeviceTaken* held = usage_.find(take.device.id);
  return held != nullptr && held->whole > 0;
}

api::QuantityMap DeviceLedger::used_capacity(cluster::DeviceId device) const {
  api::QuantityMap used;
  if (const DeviceTaken* held = usage_.find(device)) used = held->capacity;
  if (const auto taken = taken_.find(device.value); taken != taken_.end()) {
    cluster::add_amounts(used, taken->second.capacity, 1);
  }
  return used;
}

std::int32_t DeviceLedger::share_count(cluster::DeviceId device) const {
  const DeviceTaken* held = usage_.find(device);
  const auto taken = taken_.find(device.value);
  return (held == nullptr ? 0 : held->shares) + (taken == taken_.end() ? 0 : taken->second.shares);
}

std::string DeviceLedger::taken_text(cluster::DeviceId device) const {
  const auto taken = taken_.find(device.value);
  if (taken == taken_.end()) return {};
  std::string text = taken->second.claims.empty() ? "shares " : "whole ";
  text += std::to_string(taken->second.shares);
  for (const auto& [name, amount] : taken->second.capacity)
    text += " " + name + "=" + amount.text();
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
  log_.push_back({.kind = Kind::kCounters,
                  .pool = &take.pool,
                  .device = &take.device,
                  .groups_before = std::move(before)});
  if (books.negative_count == 0) return DeviceRefusal::kNone;
  rollback(log_.size() - 1);
  return DeviceRefusal::kCounters;
}

void DeviceLedger::take_device(const DeviceTake& take, const api::QuantityMap& capacity) {
  Taken& taken = taken_[take.device.id.value];
  const bool is_share = is_multi(take.device);
  Entry entry{.kind = is_share ? Kind::kShare : Kind::kWhole, .device = &take.device};
  if (is_share) {
    ++taken.shares;
    cluster::add_amounts(taken.capacity, capacity, 1);
    entry.capacity = capacity;
  } else {
    taken.claims.push_back(take.claim);
  }
  log_.push_back(std::move(entry));
}

void DeviceLedger::rollback(Checkpoint to) {
  while (log_.size() > to) {
    undo(log_.back());
    log_.pop_back();
  }
}

void DeviceLedger::undo(const Entry& entry) {
  if (entry.kind == Kind::kCounters) {
    PoolBooks& books = books_of(*entry.pool);
    charge(books, *entry.device, 1);
    if (features_.compatibility_groups) books.groups = entry.groups_before;
    return;
  }
  const auto taken = taken_.find(entry.device->id.value);
  if (entry.kind == Kind::kShare) {
    --taken->second.shares;
    cluster::add_amounts(taken->second.capacity, entry.capacity, -1);
  } else {
    taken->second.claims.pop_back();
  }
  if (taken->second.shares == 0 && taken->second.claims.empty()) taken_.erase(taken);
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
  for (const PoolDevice& device : pool.devices()) {
    const DeviceTaken* held = usage_.find(device.id);
    if (held == nullptr || !held->is_used() || device.counter_sets.empty()) continue;
    charge(books, device, -1);
    // Who is in already is in, whatever its groups say.
    (void)joins(books, device);
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
