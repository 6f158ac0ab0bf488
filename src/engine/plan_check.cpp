// overtaken(): whether a plan over devices still holds.
#include <fmt/format.h>
#include <algorithm>
#include <utility>
#include <vector>

#include "engine/device_held.h"
#include "engine/device_search.h"
#include "gang/cluster/device_view.h"
#include "gang/engine/planner.h"

namespace gang::engine {
namespace {

using cluster::DeviceFeatures;
using cluster::DevicePool;
using cluster::DeviceTaken;
using cluster::DeviceUsage;
using cluster::DeviceView;
using cluster::NodeInfo;
using cluster::PoolDevice;
using cluster::Snapshot;

bool keeps_pods_away(const api::Taint& taint) {
  return taint.effect == api::TaintEffect::kNoSchedule ||
         taint.effect == api::TaintEffect::kNoExecute;
}

/// A taint of `now` that was not there before and keeps pods away; null without one.
const api::Taint* new_taint(const NodeInfo& before, const NodeInfo& now) {
  for (const api::Taint& taint : now.taints) {
    const bool was_there = std::ranges::find(before.taints, taint) != before.taints.end();
    if (!was_there && keeps_pods_away(taint)) return &taint;
  }
  return nullptr;
}

std::string node_problem(const NodeInfo& before, const NodeInfo* now) {
  if (now == nullptr || now->name != before.name)
    return fmt::format("node {} is gone", before.name);
  if (now == &before) return "";
  if (now->uid != before.uid) return fmt::format("node {} was made anew", before.name);
  if (now->unschedulable && !before.unschedulable) {
    return fmt::format("node {} was cordoned", before.name);
  }
  if (!now->unreadable.empty() && before.unreadable.empty()) {
    return fmt::format("node {} takes no new pods: {}", before.name, now->unreadable);
  }
  const api::Taint* taint = new_taint(before, *now);
  return taint != nullptr ? fmt::format("node {} got the taint {}", before.name, taint->key) : "";
}

bool has_taint(const PoolDevice* device, const api::DeviceTaint& taint) {
  return device != nullptr && find_taint(*device, [&taint](const api::DeviceTaint& one) {
                                return one == taint;
                              }) != nullptr;
}

/// A taint that keeps the claim's pods away and was not there before; null without one.
const api::DeviceTaint* new_taint(const PoolDevice* before, const PoolDevice& device,
                                  const api::DeviceResult& result, const DeviceFeatures& features) {
  return find_taint(device, [&](const api::DeviceTaint& taint) {
    return !has_taint(before, taint) && !tolerates(features, result.tolerations, taint);
  });
}

/// Whether a device is what it was and where it was; its taints are looked at apart.
bool is_alike(const ShownDevice& before, const ShownDevice& now) {
  if (before.device->device == now.device->device) return true;
  if (before.slice->place != now.slice->place) return false;
  api::Device then = *before.device->device;
  then.taints = now.device->device->taints;
  return then == *now.device->device;
}

/// What changed of a pool between the two views that concerns one of its devices. A pool may be
/// published anew at any time, and drivers do so when they have made a device ready: the claim
/// stands while the device is the same. Devices of a pool that is not complete are taken for what
/// they were.
std::string pool_problem(const DevicePool* before, const DevicePool* now,
                         const api::DeviceResult& result, const DeviceFeatures& features) {
  const std::string name = fmt::format("pool {}/{}", result.driver, result.pool);
  if (now == nullptr) return name + " is gone";
  if (now == before || now->state() != cluster::PoolState::kReady) return "";
  const ShownDevice was = before == nullptr ? ShownDevice{} : find_shown(*before, result.device);
  const ShownDevice is = find_shown(*now, result.device);
  if (is.device == nullptr) return fmt::format("{}: device {} is gone", name, result.device);
  if (was.device != nullptr && !is_alike(was, is)) {
    return fmt::format("{}: device {} was published anew as another one", name, result.device);
  }
  const api::DeviceTaint* taint = new_taint(was.device, *is.device, result, features);
  if (taint == nullptr) return "";
  return fmt::format("{}: device {} got the taint {}", name, result.device, taint->key);
}

/// "capacity memory of device x" of which more is held than there is, or "".
std::string overdrawn_capacity(const PoolDevice& device, const DeviceTaken& taken) {
  for (const auto& [name, amount] : taken.capacity) {
    const auto& capacities = device.device->capacity;
    const auto found =
        std::ranges::find(capacities, name, [](const auto& one) { return one.first; });
    if (found == capacities.end() || amount <= found->second.value) continue;
    return fmt::format("more of capacity {} of device {} is held than there is", name,
                       device.device->name);
  }
  return "";
}

/// The same for the counters of the pool that the device uses.
std::string overdrawn_counter(const DevicePool& pool, const DeviceUsage& usage,
                              const PoolDevice& device) {
  if (device.counters.empty()) return "";
  const std::vector<api::Quantity> used = counters_taken(pool, usage);
  for (const cluster::CounterUse& use : device.counters) {
    const cluster::PoolCounter& counter = pool.counters()[use.counter];
    if (used[use.counter] <= counter.declared) continue;
    return fmt::format("more of counter {}/{} is held than there is",
                       pool.counter_sets()[counter.set], counter.name);
  }
  return "";
}

/// Whether somebody else holds what a claim of the plan was given.
std::string conflict(const DeviceView& view, const DevicePool& pool,
                     const api::DeviceResult& result) {
  const PoolDevice* device = find_device(pool, result.device);
  const DeviceTaken* taken = device != nullptr ? view.usage().find(device->id) : nullptr;
  if (taken == nullptr) return "";
  const std::string name = fmt::format("{}/{}: ", result.driver, result.pool);
  if (is_held_twice(*taken)) {
    return fmt::format("{}device {} is held by another claim too", name, result.device);
  }
  std::string problem = overdrawn_capacity(*device, *taken);
  if (problem.empty()) problem = overdrawn_counter(pool, view.usage(), *device);
  return problem.empty() ? "" : name + problem;
}

std::string device_problem(const api::DeviceResult& result, const DeviceView& planned,
                           const DeviceView& now, const DeviceFeatures& features) {
  const DevicePool* pool = now.find(result.driver, result.pool);
  std::string problem =
      pool_problem(planned.find(result.driver, result.pool), pool, result, features);
  if (problem.empty() && !result.admin_access) problem = conflict(now, *pool, result);
  return problem;
}

/// The same of a claim that had its devices already.
std::string joined_problem(const api::ResourceClaim& claim, const DeviceView& now,
                           const DeviceFeatures& features) {
  return claim.allocation ? held_problem(*claim.allocation, now, features) : "";
}

/// What is wrong now with the devices of a claim of the plan.
std::string claim_problem(const ClaimWrite& write, const Snapshot& planned, const Snapshot& now,
                          const DeviceFeatures& features) {
  if (!write.allocation) return joined_problem(*write.claim, *now.devices(), features);
  for (const api::DeviceResult& result : write.allocation->results) {
    std::string problem = device_problem(result, *planned.devices(), *now.devices(), features);
    if (!problem.empty()) return problem;
  }
  return "";
}

}  // namespace

std::string overtaken(const Plan& plan, const Snapshot& planned, const Snapshot& now,
                      const DeviceFeatures& features) {
  for (const Assignment& assignment : plan.assignments) {
    const NodeInfo* before = planned.node(assignment.node);
    std::string problem = node_problem(*before, now.node(assignment.node));
    if (!problem.empty()) return problem;
  }
  for (const ClaimWrite& write : plan.claims) {
    const std::string problem = claim_problem(write, planned, now, features);
    if (!problem.empty()) return fmt::format("claim {}: {}", write.claim->meta.key.text(), problem);
  }
  return "";
}

}  // namespace gang::engine
