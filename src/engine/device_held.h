// What is wrong with devices that a claim holds already, for pods that would come to use it.
//
// Upstream binds pods wherever the claim's node selector allows. Pods that use a device with a
// taint that evicts are evicted at once, and their controller makes others, for ever; a device that
// no slice shows cannot be prepared; one that another claim holds too is used twice. Source: the
// devices contract, 8.3, 12.6 and 13.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "gang/api/claim.h"
#include "gang/cluster/device_view.h"

namespace gang::engine {

/// A device with the slice that shows it. Lives as long as its pool.
struct ShownDevice {
  const cluster::PoolDevice* device = nullptr;
  const api::ResourceSlice* slice = nullptr;
};

/// By its name; nulls when the pool has none.
[[nodiscard]] ShownDevice find_shown(const cluster::DevicePool& pool, const std::string& name);
[[nodiscard]] const cluster::PoolDevice* find_device(const cluster::DevicePool& pool,
                                                     const std::string& name);

/// The first taint of its slice, else of a rule, that is meant; null without one.
[[nodiscard]] const api::DeviceTaint* find_taint(
    const cluster::PoolDevice& device,
    const std::function<bool(const api::DeviceTaint&)>& is_meant);

/// Devices in use of the pool's slices whose devices take from counters, in order.
[[nodiscard]] std::vector<const cluster::PoolDevice*> takers_of_counters(
    const cluster::DevicePool& pool, const cluster::DeviceUsage& usage);
/// What devices in use take of each counter of the pool.
[[nodiscard]] std::vector<api::Quantity> counters_taken(const cluster::DevicePool& pool,
                                                        const cluster::DeviceUsage& usage);

/// Whether more claims hold a device than can, where one of them holds it whole.
[[nodiscard]] bool is_held_twice(const cluster::DeviceTaken& taken);

/// "device d/p/x has the taint k=v:NoExecute, which evicts its pods", "... is shown by no slice" or
/// "... is held by another claim too" for the first such device; "" when pods may come. Devices of
/// a pool that is not complete are taken for what they were.
[[nodiscard]] std::string held_problem(const api::Allocation& allocation,
                                       const cluster::DeviceView& view,
                                       const cluster::DeviceFeatures& features);

}  // namespace gang::engine
