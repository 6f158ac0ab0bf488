#include "gang/cluster/device_pool.h"

#include <algorithm>
#include <set>
#include <utility>

#include "gang/base/check.h"

namespace gang::cluster {
namespace {

bool uses_compatibility_groups(const api::ResourceSlice& slice) {
  return std::ranges::any_of(slice.devices, [](const api::Device& device) {
    return std::ranges::any_of(device.consumes_counters, [](const auto& consumption) {
      return !consumption.compatibility_groups.empty();
    });
  });
}

/// Whether the slice counts among those of its pool.
bool counts(const api::ResourceSlice& slice, const DeviceFeatures& features) {
  return features.compatibility_groups || !uses_compatibility_groups(slice);
}

/// Whether its devices are offered. One of partitions counts also where these are off.
bool is_readable(const api::ResourceSlice& slice, const DeviceFeatures& features) {
  const bool partitions = slice.per_device_node_selection || !slice.shared_counters.empty();
  return (!partitions || features.partitionable_devices) && counts(slice, features);
}

bool taints(const api::DeviceTaintRule& rule, const api::ResourceSlice& slice,
            const std::string& device) {
  if (!rule.selector) return false;
  const auto is_met = [](const std::optional<std::string>& wanted, const std::string& value) {
    return !wanted || *wanted == value;
  };
  return is_met(rule.selector->driver, slice.driver) && is_met(rule.selector->pool, slice.pool) &&
         is_met(rule.selector->device, device);
}

std::vector<api::DeviceTaint> taints_of(
    const std::vector<std::shared_ptr<const api::DeviceTaintRule>>& rules,
    const api::ResourceSlice& slice, const std::string& device) {
  std::vector<api::DeviceTaint> found;
  for (const auto& rule : rules) {
    if (taints(*rule, slice, device)) found.push_back(rule->taint);
  }
  return found;
}

}  // namespace

DevicePool::DevicePool(const Parts& parts, const DeviceFeatures& features, Names& names) {
  CHECK(!parts.slices.empty());
  keep_newest(parts, features);
  add_counter_sets();
  add_devices(parts, features, names);
  unseen_ = names.held_beside(*this);
  check_names();
}

/// The newest generation, whether all of it is there, and what of it can be read.
void DevicePool::keep_newest(const Parts& parts, const DeviceFeatures& features) {
  std::int64_t newest = parts.slices.front()->pool_generation;
  for (const SlicePtr& slice : parts.slices) newest = std::max(newest, slice->pool_generation);
  std::ranges::copy_if(parts.slices, std::back_inserter(slices_), [newest](const SlicePtr& slice) {
    return slice->pool_generation == newest;
  });
  std::ranges::sort(slices_, {}, [](const SlicePtr& slice) { return slice->meta.key.name; });
  const std::int64_t wanted = slices_.front()->pool_slice_count;
  for (const SlicePtr& slice : slices_) {
    if (!slice->meta.unreadable.empty()) {
      refuse("ResourceSlice " + slice->meta.key.name + ": " + slice->meta.unreadable);
    }
    if (slice->pool_slice_count != wanted) refuse("inconsistent resourceSliceCount");
  }
  const SlicePtr first = slices_.front();
  const auto found = std::ranges::count_if(
      slices_, [&features](const SlicePtr& slice) { return counts(*slice, features); });
  std::erase_if(slices_, [&](const SlicePtr& slice) { return !is_readable(*slice, features); });
  if (slices_.empty()) {
    slices_.push_back(first);
    state_ = PoolState::kUnseen;
  }
  if (state_ != PoolState::kReady || found == wanted) return;
  state_ = PoolState::kIncomplete;
  problem_ = std::to_string(found) + " of " + std::to_string(wanted) + " slices are there";
}

void DevicePool::refuse(std::string problem) {
  if (state_ != PoolState::kReady) return;
  state_ = PoolState::kInvalid;
  problem_ = std::move(problem);
}

void DevicePool::add_counter_sets() {
  for (const SlicePtr& slice : slices_) {
    for (const api::CounterSet& set : slice->shared_counters) {
      if (std::ranges::find(counter_sets_, set.name) != counter_sets_.end()) {
        refuse("duplicate counter set name " + set.name);
        continue;
      }
      const auto index = static_cast<std::uint32_t>(counter_sets_.size());
      counter_sets_.push_back(set.name);
      for (const auto& [name, declared] : set.counters)
        counters_.push_back({index, name, declared});
    }
  }
}

void DevicePool::add_devices(const Parts& parts, const DeviceFeatures& features, Names& names) {
  for (std::uint32_t index = 0; index < slices_.size(); ++index) {
    const api::ResourceSlice& slice = *slices_[index];
    if (!slice.shared_counters.empty() || !is_readable(slice, features)) continue;
    for (const api::Device& device : slice.devices) {
      PoolDevice& added = devices_.emplace_back();
      added.id = names.id_of(slice, device);
      added.slice = index;
      added.device = &device;
      added.rule_taints = taints_of(parts.rules, slice, device.name);
      if (features.partitionable_devices) resolve_counters(added);
    }
  }
}

/// Equal names have one id.
void DevicePool::check_names() {
  std::vector<DeviceId> ids;
  ids.reserve(devices_.size());
  for (const PoolDevice& device : devices_) ids.push_back(device.id);
  std::ranges::sort(ids);
  has_unique_names_ = std::ranges::adjacent_find(ids) == ids.end();
}

void DevicePool::resolve_counters(PoolDevice& device) {
  for (const api::CounterConsumption& consumption : device.device->consumes_counters) {
    const auto set = std::ranges::find(counter_sets_, consumption.counter_set);
    if (set == counter_sets_.end()) {
      refuse("counter set " + consumption.counter_set + " not found");
      continue;
    }
    const auto set_index = static_cast<std::uint32_t>(set - counter_sets_.begin());
    device.counter_sets.push_back(set_index);
    for (const auto& [name, amount] : consumption.counters) {
      const auto counter = std::ranges::find_if(counters_, [&](const PoolCounter& one) {
        return one.set == set_index && one.name == name;
      });
      if (counter == counters_.end()) {
        refuse("counter " + name + " not found in counter set " + consumption.counter_set);
        continue;
      }
      device.counters.push_back({static_cast<std::uint32_t>(counter - counters_.begin()), amount});
    }
  }
}

Result<bool> is_usable_on(const api::DevicePlace& place, const api::NodeFacts& node) {
  if (!place.node_name.empty()) return place.node_name == node.name;
  if (place.all_nodes) return true;
  if (!place.node_selector) return false;
  for (const api::NodeSelectorTerm& term : place.node_selector->terms) {
    if (std::string problem = api::term_problem(term); !problem.empty()) {
      return fail(Code::kInvalidArgument, std::move(problem));
    }
  }
  return api::matches(*place.node_selector, node);
}

}  // namespace gang::cluster
