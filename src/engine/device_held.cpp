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

/// The first taint that evicts and is not tolerated; null without one.
const api::DeviceTaint* evicting_taint(const PoolDevice& device, const api::DeviceResult& result,
                                       const DeviceFeatures& features) {
  if (!features.device_taints) return nullptr;
  for (const auto* taints : {&device.device->taints, &device.rule_taints}) {
    const auto found = std::ranges::find_if(*taints, [&](const api::DeviceTaint& taint) {
      return taint.effect == api::DeviceTaintEffect::kNoExecute &&
             !tolerates(features, result.tolerations, taint);
    });
    if (found != taints->end()) return &*found;
  }
  return nullptr;
}

std::string problem_of(const api::DeviceResult& result, const DevicePool* pool,
                       const DeviceView& view, const DeviceFeatures& features) {
  if (pool != nullptr && pool->state() != cluster::PoolState::kReady) return "";
  const PoolDevice* device = pool == nullptr ? nullptr : find_device(*pool, result.device);
  if (device == nullptr) return "is shown by no slice";
  if (const api::DeviceTaint* taint = evicting_taint(*device, result, features)) {
    return fmt::format("has the taint {}, which evicts its pods", taint_text(*taint));
  }
  const DeviceTaken* taken = view.usage().find(device->id);
  const bool is_twice = !result.admin_access && taken != nullptr && is_held_twice(*taken);
  return is_twice ? "is held by another claim too" : "";
}

}  // namespace

const PoolDevice* find_device(const DevicePool& pool, const std::string& name) {
  for (const PoolDevice& device : pool.devices()) {
    if (device.device->name == name) return &device;
  }
  return nullptr;
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
    return fmt::format("device {}/{}/{} {}", result.driver, result.pool, result.device, problem);
  }
  return "";
}

}  // namespace gang::engine
