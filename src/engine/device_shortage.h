// Why a kind of members does not find its devices, counted over the whole cluster.
//
// Source: the devices contract, 13 ("devices seen, and how many fell to what").
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/device_draft.h"
#include "engine/device_gang.h"
#include "engine/draft.h"
#include "gang/cluster/gang.h"

namespace gang::engine {

/// The scarcest request of a kind. A value.
struct Shortage {
  /// "device class gpu: 2 free of 16 match `...`; 14 allocated; needed 8", with claim and request
  /// where the kind has others; "" when it asks for nothing.
  std::string text;
  bool is_hopeless = false;  ///< fewer can serve than so many members need
};

/// Looks at every node of the draft's snapshot. `users`: so many members of the kind need devices.
[[nodiscard]] Shortage shortage_of(const Draft& draft, const DeviceStage& stage,
                                   const std::vector<cluster::GangClaim>& claims,
                                   const DeviceKind& kind, std::int64_t users);
/// The same of a claim that each of so many members of the kind has where its node offers nothing
/// else.
[[nodiscard]] Shortage shortage_of(const Draft& draft, const DeviceStage& stage,
                                   const api::ResourceClaim& claim, const DeviceKind& kind,
                                   std::int64_t users);

}  // namespace gang::engine
