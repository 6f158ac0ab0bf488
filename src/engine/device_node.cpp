#include "engine/device_node.h"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

namespace gang::engine {
namespace {

using cluster::DevicePool;
using cluster::PoolDevice;
using cluster::PoolPart;
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

/// The first device whose name an earlier one has; "" when all names differ.
std::string first_repeated(const NodePool& view) {
  std::set<std::string_view> names;
  for (const PoolPart* part : view.parts) {
    for (const PoolDevice& device : part->devices) {
      if (!names.insert(device.device->name).second) return device.device->name;
    }
  }
  return "";
}

void check_names(NodePool& view) {
  if (view.state != PoolState::kReady || view.pool->has_unique_names()) return;
  const std::string repeated = first_repeated(view);
  if (repeated.empty()) return;
  view.state = PoolState::kInvalid;
  view.problem = "duplicate device name " + repeated;
}

/// A pool that is not ready offers nothing that anybody would wait for.
bool waits_for_conditions(const NodePool& view) {
  if (view.state != PoolState::kReady) return false;
  return std::ranges::any_of(view.parts, [](const PoolPart* part) {
    return std::ranges::any_of(part->devices, [](const PoolDevice& device) {
      return !device.device->binding_conditions.empty();
    });
  });
}

/// Adds nothing when no slice of the pool is for the node.
Result<void> add_view(const DevicePool& pool, const api::NodeFacts& node,
                      std::vector<NodePool>& views) {
  if (pool.state() == PoolState::kUnseen) return {};
  NodePool view{.pool = &pool, .state = pool.state(), .problem = pool.problem(), .parts = {}};
  for (const cluster::PartPtr& part : pool.parts()) {
    const Result<bool> is_for_node = is_relevant(*part->slice, node);
    if (!is_for_node) {
      return fail(Code::kInvalidArgument,
                  "gather pool information: failed to perform node selection for slice " +
                      part->slice->meta.key.name + ": " + is_for_node.error().message);
    }
    if (*is_for_node) view.parts.push_back(part.get());
  }
  if (view.parts.empty()) return {};
  check_names(view);
  views.push_back(std::move(view));
  return {};
}

void sort(std::vector<NodePool>& views) {
  if (views.size() < 2) return;
  std::ranges::stable_sort(views, [](const NodePool& a, const NodePool& b) {
    return std::forward_as_tuple(waits_for_conditions(a), a.pool->driver(), a.pool->name()) <
           std::forward_as_tuple(waits_for_conditions(b), b.pool->driver(), b.pool->name());
  });
}

void add_candidates(const NodePool& view, std::vector<DeviceCandidate>& candidates) {
  for (const PoolPart* part : view.parts) {
    for (const PoolDevice& device : part->devices) {
      candidates.push_back({view.pool, part, &device});
    }
  }
}

}  // namespace

std::size_t NodePool::device_count() const {
  std::size_t count = 0;
  for (const PoolPart* part : parts) count += part->devices.size();
  return count;
}

std::size_t DeviceCandidate::node_terms() const {
  const api::Device& own = *device->device;
  const api::DevicePlace& place = slice().per_device_node_selection ? own.place : slice().place;
  const bool has_selector = !own.binds_to_node && place.node_name.empty() && place.node_selector;
  return has_selector ? place.node_selector->terms.size() : 0;
}

std::string DeviceCandidate::text() const {
  return pool->driver() + "/" + pool->name() + "/" + device->device->name;
}

std::vector<DeviceCandidate> candidates_of(const NodePool& pool) {
  std::vector<DeviceCandidate> candidates;
  add_candidates(pool, candidates);
  return candidates;
}

Result<DeviceNode> device_node(const api::NodeFacts& facts,
                               const std::vector<const DevicePool*>& pools) {
  DeviceNode node{.facts = facts};
  for (const DevicePool* pool : pools) GANG_TRY_VOID(add_view(*pool, facts, node.pools));
  sort(node.pools);
  std::size_t count = 0;
  for (const NodePool& view : node.pools) count += view.device_count();
  node.candidates.reserve(count);
  for (const NodePool& view : node.pools) {
    if (view.state == PoolState::kReady) add_candidates(view, node.candidates);
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
