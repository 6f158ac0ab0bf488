// What is told of pools that offer nothing to who waits for devices.
//
// Source: the devices contract, 13.
#pragma once

#include <string>
#include <vector>

#include "engine/device_node.h"
#include "engine/device_tally.h"

namespace gang::engine {

/// "; pool D/P offers nothing: ..." of the first few pools whose devices one of the alternatives
/// may have meant, and how many more there are; "" when there is none. Where devices match an
/// alternative their drivers tell which pools; where none does the selectors decide, and where
/// these do not say it the text leaves it open. Pools that are meant for certain come alone.
[[nodiscard]] std::string pools_text(const DeviceInputs& inputs,
                                     const std::vector<const DeviceNode*>& nodes,
                                     const std::vector<AskTally>& asks);

}  // namespace gang::engine
