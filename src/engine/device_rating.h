// What a solution for a member is worth beside those on other nodes.
//
// Waits: devices with binding conditions, which may never be fulfilled; twice in a pool of which
// another was not made ready of late. Size: a device counts per mille of what it takes of a whole
// one: of counters that it shares, or of its capacity where it is given out in shares, the largest
// part; all of it elsewhere. Amount: of devices that take no counters the capacity, by its order of
// magnitude, so that the smallest that serves is found where drivers publish partitions as devices
// of their own. Spread: values of numaNode beyond the first, then those of pcieRoot; a device that
// does not say counts where none does. Source: the devices contract, 10; standard attributes, 1.1.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/device_search.h"
#include "engine/node_order.h"

namespace gang::engine {

/// Names of the standard attributes that say where a device is.
inline constexpr const char* kNumaNode = "resource.kubernetes.io/numaNode";
inline constexpr const char* kPcieRoot = "resource.kubernetes.io/pcieRoot";

/// Per mille of `whole`, rounded down, at most all of it; 0 where there is nothing to take.
[[nodiscard]] std::int32_t share_of(const api::Quantity& part, const api::Quantity& whole);

/// Alternatives of one request; the preference of the first.
inline constexpr std::int32_t kAlternativesMax = 8;

/// Binary digits of the capacities, added up; 0 of a device that takes counters.
[[nodiscard]] std::int32_t amount_of(const api::Device& device);

/// REQUIRES: a solution for the claims.
[[nodiscard]] MemberRating rating_of(const AvoidedDevices& avoided,
                                     const std::vector<PreparedClaim>& claims,
                                     const std::vector<std::vector<ChosenDevice>>& chosen);

}  // namespace gang::engine
