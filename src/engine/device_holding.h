// What keeps a member from every node although devices are free: devices that its claims hold.
#pragma once

#include <string>
#include <vector>

#include "engine/device_draft.h"
#include "engine/device_gang.h"
#include "engine/draft.h"
#include "gang/cluster/gang.h"

namespace gang::engine {

/// "claim ns/c holds d/p/gpu-0, usable on no node that takes the pods (n1: <why>)" for the
/// first claim of the kind that binds its members to nodes which take no more of them, or the
/// claims that do so together; "claim ns/c cannot be used: <why>" where nodes would take one more
/// and the devices serve nobody; "" when some node takes one more with what its claims hold.
[[nodiscard]] std::string holding_text(const Draft& draft, const DeviceDraft& devices,
                                       const std::vector<cluster::GangClaim>& claims,
                                       const DeviceKind& kind);

/// "claim ns/c, which holds d/p/gpu-0 (node n1)" for the first claim of the kind whose devices
/// cannot be used on this node; "" when all can.
[[nodiscard]] std::string holder_elsewhere(const std::vector<cluster::GangClaim>& claims,
                                           const DeviceKind& kind, const cluster::NodeInfo& node);

}  // namespace gang::engine
