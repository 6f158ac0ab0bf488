// Turns chosen devices into the allocation that is written to a claim.
//
// Source: the devices contract, 2.15. Share ids are left for who writes the allocation: results of
// shares carry an empty one.
#pragma once

#include <string>
#include <vector>

#include "engine/device_search.h"
#include "gang/base/result.h"

namespace gang::engine {

/// Most configuration entries of an allocation that the API server takes.
inline constexpr std::size_t kAllocationConfigsMax = 64;

/// Fails when the API server would refuse the allocation.
[[nodiscard]] Result<api::Allocation> allocation_of(const DeviceInputs& inputs,
                                                    const DeviceNode& node,
                                                    const PreparedClaim& claim,
                                                    const std::vector<ChosenDevice>& chosen);

}  // namespace gang::engine
