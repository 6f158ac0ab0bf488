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
#include "engine/extended_claims.h"
#include "gang/cluster/gang.h"

namespace gang::engine {

/// What the numbers of devices prove, the weakest first.
enum class Lacking {
  kUnknown,  ///< nothing: there are enough, or they are given out in shares
  kNow,      ///< fewer are free than so many members need
  kOnFleet,  ///< fewer can serve than so many members need, whoever has them
};

/// The scarcest request of a kind. A value.
struct Shortage {
  /// "device class gpu: 2 free of 16 match `...`; 14 allocated; needed 8", with claim and request
  /// where the kind has others; "" when it asks for nothing.
  std::string text;
  Lacking lacking = Lacking::kUnknown;
  std::int64_t margin = 0;  ///< free devices beyond those that are needed
};

/// What is asked for. All outlive it.
struct Asking {
  const std::vector<cluster::GangClaim>& claims;  ///< of the gang
  const DeviceKind& kind;
  std::int64_t users = 1;  ///< so many members of the kind need devices
  /// What each of them needs besides where its node offers none of its extended resources; null:
  /// nothing.
  const ExtendedClaim* extended = nullptr;
};

/// Whether what is proved of `a` is more, or else more devices lack.
[[nodiscard]] bool is_scarcer(const Shortage& a, const Shortage& b);

/// Looks at every node of the draft's snapshot.
[[nodiscard]] Shortage shortage_of(const Draft& draft, const DeviceStage& stage,
                                   const Asking& asking);

}  // namespace gang::engine
