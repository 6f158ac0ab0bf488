// What is told of pools that offer nothing to who waits for devices.
//
// Source: the devices contract, 13.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "engine/device_node.h"

namespace gang::engine {

/// "; pool D/P offers nothing: ..." of the first pool whose devices the request may have meant; ""
/// when there is none. `drivers`: of all devices that match; where there are none the selectors
/// decide, and where these do not say it the text leaves it open.
[[nodiscard]] std::string pools_text(const DeviceInputs& inputs,
                                     const std::vector<const DeviceNode*>& nodes,
                                     const api::DeviceAsk& ask,
                                     const std::set<std::string>& drivers);

}  // namespace gang::engine
