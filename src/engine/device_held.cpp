#include "engine/device_held.h"

#include <fmt/format.h>
#include <algorithm>
#include <vector>

#include "engine/device_search.h"

namespace gang::engine {
namespace {

using cluster::DeviceFeatures;
using cluster::DevicePool;
using cluster::DeviceTaken;
using cluster::DeviceView;
using cluster::PoolDevice;

std::string problem_of(const api::DeviceResult& result, const DevicePool* pool,
                       const DeviceView& view, const DeviceFeatures& features) {
  if (pool != nullptr && pool->state() != cluster::PoolState::kReady) return "";
  const PoolDevice* device = pool == nullptr ? nullptr : find_device(*pool, result.device);
  if (device == nullptr) return "is shown by no slice";
  const api::DeviceTaint* taint = find_taint(*device, [&](const api::DeviceTaint& one) {
    return features.device_taints && one.effect == api::DeviceTaintEffect::kNoExecute &&
           !tolerates(features, result.tolerations, one);
  });
  if (taint != nullptr) {
    return fmt::format("has the taint {}, which evicts its pods", taint_text(*taint));
  }
  const DeviceTaken* taken = view.usage().find(device->id);
  const bool is_twice = !result.admin_access && taken != nullptr && is_held_twice(*taken);
  return is_twice ? "is held by another claim too" : "";
}

}  // namespace

ShownDevice find_shown(const DevicePool& pool, const std::string& name) {
  for (const cluster::PartPtr& part : pool.parts()) {
    for (const PoolDevice& device : part->devices) {
      if (device.device->name == name) return {&device, part->slice.get()};
    }
  }
  return {};
}

const PoolDevice* find_device(const DevicePool& pool, const std::string& name) {
  return find_shown(pool, name).device;
}

const api::DeviceTaint* find_taint(const PoolDevice& device,
                                   const std::function<bool(const api::DeviceTaint&)>& is_meant) {
  for (const auto* taints : {&device.device->taints, &device.rule_taints}) {
    const auto found = std::ranges::find_if(*taints, is_meant);
    if (found != taints->end()) return &*found;
  }
  return nullptr;
}

std::vector<const PoolDevice*> takers_of_counters(const DevicePool& pool,
                                                  const cluster::DeviceUsage& usage) {
  std::vector<const PoolDevice*> found;
  for (const cluster::PartPtr& part : pool.parts()) {
    if (!part->has_counters) continue;
    for (const PoolDevice& device : part->devices) {
      const DeviceTaken* taken = usage.find(device.id);
      if (taken != nullptr && taken->is_used()) found.push_back(&device);
    }
  }
  return found;
}

std::vector<api::Quantity> counters_taken(const DevicePool& pool,
                                          const cluster::DeviceUsage& usage) {
  std::vector<api::Quantity> taken(pool.counters().size());
  for (const PoolDevice* device : takers_of_counters(pool, usage)) {
    for (const cluster::CounterUse& use : device->counters) taken[use.counter] += use.amount;
  }
  return taken;
}

bool is_held_twice(const DeviceTaken& taken) {
  return taken.whole > 0 && taken.whole + (taken.shares > 0 ? 1 : 0) > 1;
}

std::string held_problem(const api::Allocation& allocation, const DeviceView& view,
                         const DeviceFeatures& features) {
  for (const api::DeviceResult& result : allocation.results) {
    const std::string problem =
        problem_of(result, view.find(result.driver, result.pool), view, features);
    if (problem.empty()) continue;
    const api::DeviceName device{result.driver, result.pool, result.device};
    return fmt::format("device {} {}", device.text(), problem);
  }
  return "";
}

}  // namespace gang::engine
