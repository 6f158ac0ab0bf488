// Allocates the claims of one pod on one node: the whole of upstream's allocator as one function.
//
// Source: the devices contract, section 2.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/device_node.h"
#include "engine/device_search.h"

namespace gang::engine {

/// The end of an attempt; allocations are set for kYes, one for each claim.
struct DeviceAllocation {
  DeviceStep step;
  std::vector<api::Allocation> allocations;
};

/// The first solution in upstream's order. `attempt.ledger` keeps what was taken.
[[nodiscard]] DeviceAllocation allocate_on_node(
    DeviceAttempt& attempt, const DeviceNode& node,
    const std::vector<const api::ResourceClaim*>& claims);

}  // namespace gang::engine
