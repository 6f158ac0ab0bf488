// What a request takes of a device that many can use, and whether it still fits.
//
// Source: the devices contract, 2.11.
#pragma once

#include <string>

#include "gang/api/device_request.h"

namespace gang::engine {

/// What the device would be charged, or why not.
struct CapacityCharge {
  enum class End {
    kFits,
    kSkip,   ///< not on this device
    kFatal,  ///< the request itself cannot be met anywhere
  };
  End end = End::kFits;
  std::string message;       ///< kFatal: `capacity "memory": <why>`
  api::QuantityMap amounts;  ///< kFits: one for every capacity of the device
};

/// `used` is what claims and this attempt take already, sorted by name.
[[nodiscard]] CapacityCharge charge_for(const api::QuantityMap& wanted, const api::Device& device,
                                        const api::QuantityMap& used, bool fractional);

}  // namespace gang::engine
