#include "engine/device_node.h"

#include <algorithm>
#include <set>
#include <tuple>

namespace gang::engine {
namespace {

using cluster::DevicePool;
using cluster::PoolDevice;
using cluster::PoolState;

/// Whether any device of the slice can be used on the node.
Result<bool> is_relevant(const api::ResourceSlice& slice, const api::NodeFacts& node) {
  if (!slice.per_device_node_selection) return cluster::is_usable_on(slice.place, node);
  for (const api::Device& device : slice.devices) {
    GANG_TRY(const bool usable, cluster::is_usable_on(device.place, node));
    if (usable) return true;
  }
  return false;
}

/// REQUIRES: there is one.
std::string first_repeated(const std::vector<const PoolDevice*>& devices) {
  std::set<std::string_view> names;
  const auto repeated = std::ranges::find_if(devices, [&names](const PoolDevice* device) {
    return !names.insert(device->device->name).second;
  });
  return (*repeated)->device->name;
}

void check_names(NodePool& view) {
  if (view.state != PoolState::kReady || view.pool->has_unique_names()) return;
  std::vector<std::string_view> names;
  names.reserve(view.devices.size());
  for (const PoolDevice* device : view.devices) names.push_back(device->device->name);
  std::ranges::sort(names);
  if (std::ranges::adjacent_find(names) == names.end()) return;
  view.state = PoolState::kInvalid;
  view.problem = "duplicate device name " + first_repeated(view.devices);
}

/// A pool that is not ready offers nothing that anybody would wait for.
bool waits_for_conditions(const NodePool& view) {
  if (view.state != PoolState::kReady) return false;
  return std::ranges::any_of(view.devices, [](const PoolDevice* device) {
    return !device->device->binding_conditions.empty();
  });
}

/// Marks the slices of the pool that are not for the node; empty: all are for it.
Result<std::vector<bool>> foreign_slices(const DevicePool& pool, const api::NodeFacts& node) {
  std::vector<bool> foreign;
  for (std::size_t i = 0; i < pool.slices().size(); ++i) {
    const cluster::SlicePtr& slice = pool.slices()[i];
    Result<bool> is_for_node = is_relevant(*slice, node);
    if (!is_for_node) {
      return fail(Code::kInvalidArgument,
                  "gather pool information: failed to perform node selection for slice " +
                      slice->meta.key.name + ": " + is_for_node.error().message);
    }
    if (*is_for_node) continue;
    foreign.resize(pool.slices().size(), false);
    foreign[i] = true;
  }
  return foreign;
}

/// Adds nothing when no slice of the pool is for the node.
Result<void> add_view(const DevicePool& pool, const api::NodeFacts& node,
                      std::vector<NodePool>& views) {
  if (pool.state() == PoolState::kUnseen) return {};
  GANG_TRY(const std::vector<bool> foreign, foreign_slices(pool, node));
  const bool has_some =
      foreign.empty() ? !pool.slices().empty() : std::ranges::find(foreign, false) != foreign.end();
  if (!has_some) return {};
  NodePool& view = views.emplace_back(
      NodePool{.pool = &pool, .state = pool.state(), .problem = pool.problem(), .devices = {}});
  view.devices.reserve(pool.devices().size());
  for (const PoolDevice& device : pool.devices()) {
    if (foreign.empty() || !foreign[device.slice]) view.devices.push_back(&device);
  }
  check_names(view);
  return {};
}

void sort(std::vector<NodePool>& views) {
  if (views.size() < 2) return;
  std::ranges::stable_sort(views, [](const NodePool& a, const NodePool& b) {
    return std::forward_as_tuple(waits_for_conditions(a), a.pool->driver(), a.pool->name()) <
           std::forward_as_tuple(waits_for_conditions(b), b.pool->driver(), b.pool->name());
  });
}

}  // namespace

std::size_t DeviceCandidate::node_terms() const {
  const api::Device& own = *device->device;
  const api::DevicePlace& place = slice().per_device_node_selection ? own.place : slice().place;
  const bool has_selector = !own.binds_to_node && place.node_name.empty() && place.node_selector;
  return has_selector ? place.node_selector->terms.size() : 0;
}

std::string DeviceCandidate::text() const {
  return pool->driver() + "/" + pool->name() + "/" + device->device->name;
}

Result<DeviceNode> device_node(const api::NodeFacts& facts,
                               const std::vector<const DevicePool*>& pools) {
  DeviceNode node{.facts = facts};
  for (const DevicePool* pool : pools) GANG_TRY_VOID(add_view(*pool, facts, node.pools));
  sort(node.pools);
  std::size_t count = 0;
  for (const NodePool& view : node.pools) count += view.devices.size();
  node.candidates.reserve(count);
  for (const NodePool& view : node.pools) {
    if (view.state != PoolState::kReady) continue;
    for (const PoolDevice* device : view.devices) node.candidates.push_back({view.pool, device});
  }
  return node;
}

Result<DeviceNode> device_node_of(const cluster::NodeInfo& node,
                                  const std::vector<const DevicePool*>& pools) {
  Result<DeviceNode> made = device_node({.name = node.name, .labels = node.labels}, pools);
  if (made) made->optional_node_operations = node.optional_node_operations;
  return made;
}

}  // namespace gang::engine
