#include "cluster/device_table.h"

#include <algorithm>
#include <utility>

#include "cluster/part_maker.h"

namespace gang::cluster {
namespace {

PoolKey key_of(const api::ResourceSlice& slice) {
  return {slice.driver, slice.pool};
}

PoolKey key_of(const api::DeviceResult& result) {
  return {result.driver, result.pool};
}

}  // namespace

DeviceTable::DeviceTable(const DeviceFeatures& features) : features_(features) {}

PoolIndex DeviceTable::intern(const PoolKey& key) {
  const auto next = PoolIndex{static_cast<std::uint32_t>(entries_.size())};
  const auto [place, is_new] = by_key_.try_emplace(key, next);
  if (!is_new) return place->second;
  if (unused_.empty()) {
    entries_.emplace_back(blocks_);
    if (next.value % kPoolsPerChunk == 0) chunks_.emplace_back();
  } else {
    place->second = unused_.back();
    unused_.pop_back();
  }
  entries_[place->second.value].key = key;
  return place->second;
}

void DeviceTable::touch(PoolIndex pool) {
  is_changed_ = true;
  if (!std::exchange(entries_[pool.value].is_touched, true)) touched_.push_back(pool);
}

void DeviceTable::touch_if_unseen(PoolIndex pool, const std::string& device) {
  const Entry& entry = entries_[pool.value];
  if (entry.pool != nullptr && !entry.names.is_shown(device)) touch(pool);
}

// --- what is told -------------------------------------------------------------------------------

void DeviceTable::upsert(const api::ResourceSlice& slice, ListNumber list, ChangeLog& log) {
  replace(slices_.upsert(slice, list), log);
}
void DeviceTable::upsert(const api::DeviceTaintRule& rule, ListNumber list, ChangeLog& log) {
  replace(rules_.upsert(rule, list), log);
}
void DeviceTable::upsert(const api::DeviceClass& device_class, ListNumber list, ChangeLog& log) {
  replace(known_classes_.upsert(device_class, list), log);
}

void DeviceTable::remove(const api::ResourceSlice& slice, ChangeLog& log) {
  replace({slices_.remove(slice.meta), nullptr}, log);
}
void DeviceTable::remove(const api::DeviceTaintRule& rule, ChangeLog& log) {
  replace({rules_.remove(rule.meta), nullptr}, log);
}
void DeviceTable::remove(const api::DeviceClass& device_class, ChangeLog& log) {
  replace({known_classes_.remove(device_class.meta), nullptr}, log);
}

void DeviceTable::sweep_slices(ListNumber list, ChangeLog& log) {
  for (const auto& gone : slices_.sweep(list)) replace({gone, nullptr}, log);
}
void DeviceTable::sweep_rules(ListNumber list, ChangeLog& log) {
  for (const auto& gone : rules_.sweep(list)) replace({gone, nullptr}, log);
}
void DeviceTable::sweep_classes(ListNumber list, ChangeLog& log) {
  for (const auto& gone : known_classes_.sweep(list)) replace({gone, nullptr}, log);
}

/// A slice may always help: also one that goes may make its pool valid.
void DeviceTable::replace(const Replaced<api::ResourceSlice>& slice, ChangeLog& log) {
  const auto& [before, after] = slice;
  if (before == after) return;
  const bool is_same_device = before && after && differ_in_metadata_only(*before, *after);
  if (before && !is_same_device) note_hidden(slice, log);
  if (before && (!after || key_of(*before) != key_of(*after))) {
    const PoolIndex pool = by_key_.at(key_of(*before));
    entries_[pool.value].slices.erase(before->meta.key.name);
    touch(pool);
  }
  if (after) {
    const PoolIndex pool = intern(key_of(*after));
    entries_[pool.value].slices[after->meta.key.name] = after;
    if (!is_same_device) touch(pool);
  }
  log.devices_gained(!is_same_device);
  log.devices_lost(!is_same_device);
}

/// REQUIRES: there was one before.
void DeviceTable::note_hidden(const Replaced<api::ResourceSlice>& slice, ChangeLog& log) const {
  const auto& [before, after] = slice;
  const DeviceNames& names = entries_[by_key_.at(key_of(*before)).value].names;
  const bool is_same_pool = after && key_of(*before) == key_of(*after);
  for (const api::Device& device : before->devices) {
    if (!names.has(device.name) || names.holders_of(device.name).empty()) continue;
    const auto is_it = [&](const api::Device& one) { return one.name == device.name; };
    if (is_same_pool && std::ranges::any_of(after->devices, is_it)) continue;
    log.device_hidden({before->driver, before->pool, device.name}, names.holders_of(device.name));
  }
}

void DeviceTable::replace(const Replaced<api::DeviceTaintRule>& rule, ChangeLog& log) {
  const auto& [before, after] = rule;
  if (before == after) return;
  if (before && after && differ_in_metadata_only(*before, *after)) return;
  if (before) {
    for (const PoolIndex pool : pools_of(*before)) {
      touch(pool);
      log.devices_gained();
    }
  }
  if (after) {
    for (const PoolIndex pool : pools_of(*after)) {
      touch(pool);
      log.devices_lost();
    }
  }
}

void DeviceTable::replace(const Replaced<api::DeviceClass>& device_class, ChangeLog& log) {
  const auto& [before, after] = device_class;
  if (before == after) return;
  // Of classes that name one extended resource the youngest counts.
  const bool is_as_old = before && after && before->meta.creation_time == after->meta.creation_time;
  if (is_as_old && differ_in_metadata_only(*before, *after)) return;
  is_changed_ = true;
  extended_.reset();
  if (after) {
    classes_.write()[after->meta.key.name] = after;
  } else {
    classes_.write().erase(before->meta.key.name);
  }
  log.devices_gained(after != nullptr);
  log.devices_lost(before != nullptr);
}

/// Pools with slices that the rule speaks of, and the device that it names.
std::vector<PoolIndex> DeviceTable::pools_of(const api::DeviceTaintRule& rule) const {
  std::vector<PoolIndex> pools;
  if (!rule.selector) return pools;
  if (rule.selector->driver && rule.selector->pool) {
    const auto found = by_key_.find({*rule.selector->driver, *rule.selector->pool});
    if (found != by_key_.end()) pools.push_back(found->second);
  } else {
    for (const auto& [key, pool] : by_key_) {
      if (is_for(rule, key.driver, key.name)) pools.push_back(pool);
    }
  }
  const std::optional<std::string>& device = rule.selector->device;
  std::erase_if(pools, [&](PoolIndex pool) {
    const Entry& entry = entries_[pool.value];
    return entry.slices.empty() || (device && !entry.names.has(*device));
  });
  return pools;
}

// --- what is taken ------------------------------------------------------------------------------

void DeviceTable::take(const Holding& holding, ChangeLog& log) {
  for (const api::DeviceResult& result : holding.allocation.results) {
    if (result.admin_access) continue;
    const PoolIndex pool = intern(key_of(result));
    Entry& entry = entries_[pool.value];
    const DeviceId id = entry.names.hold(result.device, holding.claim);
    touch_if_unseen(pool, result.device);
    usage_.add(id, result, features_.consumable_capacity);
    ++entry.taken_count;
    is_changed_ = true;
    log.devices_lost();
    // Who shares a device that is shared already takes no more of its counters.
    log.devices_gained(result.share_id.has_value());
  }
}

void DeviceTable::give_back(const Holding& holding, ChangeLog& log) {
  for (const api::DeviceResult& result : holding.allocation.results) {
    if (result.admin_access) continue;
    const PoolIndex pool = by_key_.at(key_of(result));
    Entry& entry = entries_[pool.value];
    const DeviceId id = entry.names.let_go(result.device, holding.claim);
    touch_if_unseen(pool, result.device);
    usage_.remove(id, result, features_.consumable_capacity);
    if (--entry.taken_count == 0 && entry.slices.empty()) touch(pool);
    is_changed_ = true;
    log.devices_gained();
  }
}

const std::vector<api::ObjectKey>& DeviceTable::holders_of(const api::DeviceResult& result) const {
  return entries_[by_key_.at(key_of(result)).value].names.holders_of(result.device);
}

bool DeviceTable::is_hidden(const api::DeviceResult& result) const {
  const Entry& entry = entries_[by_key_.at(key_of(result)).value];
  return entry.is_touched || entry.pool == nullptr || !entry.names.is_shown(result.device);
}

std::optional<bool> DeviceTable::shows(const api::DeviceName& device) {
  const std::shared_ptr<const DeviceView>& latest = view();
  const DevicePool* pool = latest->find(device.driver, device.pool);
  if (pool == nullptr) return false;
  if (pool->state() != PoolState::kReady) return std::nullopt;
  return entries_[by_key_.at({device.driver, device.pool}).value].names.is_shown(device.device);
}

namespace {

/// What is taken, without what only tells how it came to be.
std::string text_of(const DeviceTaken& taken) {
  std::string text = std::to_string(taken.whole) + " whole, " + std::to_string(taken.shares) +
                     " shares, " + std::to_string(taken.measured) + " measured";
  for (const auto& [name, amount] : taken.capacity) {
    if (!amount.is_zero()) text += ", " + name + " " + amount.text();
  }
  return text;
}

}  // namespace

std::string DeviceTable::usage_difference(
    const std::vector<std::shared_ptr<const api::Allocation>>& allocations) const {
  DeviceUsage counted;
  std::map<std::uint32_t, std::string> names;
  for (const auto& allocation : allocations) {
    for (const api::DeviceResult& result : allocation->results) {
      if (result.admin_access) continue;
      const std::string name = result.driver + "/" + result.pool + "/" + result.device;
      const auto pool = by_key_.find(key_of(result));
      if (pool == by_key_.end()) return "device " + name + ": its pool is not known";
      const Entry& entry = entries_[pool->second.value];
      if (!entry.names.has(result.device)) return "device " + name + ": it has no id";
      const DeviceId id = entry.names.id_of(result.device);
      names[id.value] = name;
      counted.add(id, result, features_.consumable_capacity);
    }
  }
  if (counted.size() != usage_.size()) return "devices: more are counted than claims hold";
  for (const auto& [id, name] : names) {
    const DeviceTaken* kept = usage_.find({id});
    const std::string has = kept == nullptr ? "nothing" : text_of(*kept);
    const std::string wants = text_of(*counted.find({id}));
    if (has != wants) return "device " + name + ": " + has + ", its claims add up to " + wants;
  }
  return {};
}

// --- views --------------------------------------------------------------------------------------

const std::shared_ptr<const DeviceView>& DeviceTable::view() {
  if (!std::exchange(is_changed_, false)) return latest_;
  if (!touched_.empty()) shared_chunks_.reset();
  for (const PoolIndex pool : std::exchange(touched_, {})) build(pool);
  if (std::exchange(lists_changed_, false)) refresh_lists();
  if (extended_ == nullptr) {
    extended_ = std::make_shared<const ExtendedResources>(extended_resources_of(classes_.read()));
  }
  if (shared_chunks_ == nullptr) shared_chunks_ = share_chunks();
  DeviceView::Parts parts{.generation = ++generation_,
                          .chunks = shared_chunks_,
                          .by_name = by_name_,
                          .shared = shared_,
                          .by_node = by_node_.share(),
                          .classes = classes_.share(),
                          .extended = extended_,
                          .usage = usage_.share()};
  latest_ = std::make_shared<const DeviceView>(std::move(parts));
  return latest_;
}

std::shared_ptr<const PoolChunks> DeviceTable::share_chunks() {
  PoolChunks shared;
  shared.reserve(chunks_.size());
  for (SharedChunk<PoolChunk>& chunk : chunks_) shared.push_back(chunk.share());
  return std::make_shared<const PoolChunks>(std::move(shared));
}

void DeviceTable::build(PoolIndex pool) {
  Entry& entry = entries_[pool.value];
  entry.is_touched = false;
  const auto before = std::exchange(entry.pool, nullptr);
  if (!entry.slices.empty()) {
    DevicePool::Parts parts{.slices = {}, .rules = rules_for(entry.key), .before = before.get()};
    for (const auto& [name, slice] : entry.slices) parts.slices.push_back(slice);
    entry.pool = std::make_shared<const DevicePool>(parts, features_, entry.names);
  } else if (before != nullptr) {
    entry.names.leave(*before);
  }
  chunks_[pool.value / kPoolsPerChunk].write()[pool.value % kPoolsPerChunk] = entry.pool;
  lists_changed_ |= (before != nullptr) != (entry.pool != nullptr);
  place(pool);
  if (entry.slices.empty() && entry.taken_count == 0) drop(pool);
}

std::vector<RulePtr> DeviceTable::rules_for(const PoolKey& key) const {
  std::vector<RulePtr> rules;
  for (const auto& [name, rule] : rules_.all()) {
    if (is_for(*rule, key.driver, key.name)) rules.push_back(rule);
  }
  std::ranges::sort(rules, {}, [](const RulePtr& rule) { return rule->meta.key; });
  return rules;
}

/// Where nodes find the pool: under their names, or in the shared list.
void DeviceTable::place(PoolIndex pool) {
  Entry& entry = entries_[pool.value];
  std::vector<std::string_view> nodes;
  bool is_shared = false;
  if (entry.pool != nullptr) {
    for (const PartPtr& part : entry.pool->parts()) {
      const std::string& node = part->slice->place.node_name;
      is_shared |= node.empty();
      nodes.push_back(node);
    }
  }
  if (is_shared) nodes.clear();
  std::ranges::sort(nodes);
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
  lists_changed_ |= std::exchange(entry.is_shared, is_shared) != is_shared;
  index_under(pool, nodes);
}

void DeviceTable::index_under(PoolIndex pool, const std::vector<std::string_view>& nodes) {
  Entry& entry = entries_[pool.value];
  if (std::ranges::equal(entry.nodes, nodes)) return;
  const auto before = [this](PoolIndex a, PoolIndex b) {
    return entries_[a.value].key < entries_[b.value].key;
  };
  for (const std::string& node : entry.nodes) by_node_.remove(node, pool);
  entry.nodes.assign(nodes.begin(), nodes.end());
  for (const std::string& node : entry.nodes) by_node_.add(node, pool, before);
}

void DeviceTable::drop(PoolIndex pool) {
  Entry& entry = entries_[pool.value];
  by_key_.erase(entry.key);
  entry.names.give_back_blocks();
  entry = Entry(blocks_);
  unused_.push_back(pool);
}

void DeviceTable::refresh_lists() {
  std::vector<PoolIndex> all;
  std::vector<PoolIndex> shared;
  for (const auto& [key, pool] : by_key_) {
    if (entries_[pool.value].pool != nullptr) all.push_back(pool);
    if (entries_[pool.value].is_shared) shared.push_back(pool);
  }
  by_name_ = std::make_shared<const std::vector<PoolIndex>>(std::move(all));
  shared_ = std::make_shared<const std::vector<PoolIndex>>(std::move(shared));
}

}  // namespace gang::cluster
