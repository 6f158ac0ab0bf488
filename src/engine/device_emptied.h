// What devices could serve if nobody held any: the proof that waiting for others does not help.
//
// Source: the four verdicts of the engine ("impossible on this fleet").
#pragma once

#include <cstdint>
#include <vector>

#include "engine/device_draft.h"
#include "engine/device_gang.h"
#include "engine/draft.h"
#include "engine/extended_claims.h"
#include "gang/cluster/gang.h"

namespace gang::engine {

/// How one member fared on the nodes emptied. A value.
struct Emptied {
  bool serves_nobody = false;  ///< proved: its claims find no devices together on any node
  std::int64_t steps = 0;      ///< that it took
};

/// What is tried. All outlive it.
struct EmptiedAsk {
  const std::vector<cluster::GangClaim>& claims;  ///< of the gang
  const DeviceKind& kind;
  ExtendedClaims& extended;
};

/// Tries a member of the kind on every node of the draft's snapshot, whatever else the node lacks,
/// while no device is held, tainted or left out. Ends at the first node that serves, and without a
/// proof after so many steps. REQUIRES: no claim of the kind has devices.
[[nodiscard]] Emptied try_emptied(const Draft& draft, const DeviceStage& stage,
                                  const EmptiedAsk& ask, std::int64_t steps_max);

}  // namespace gang::engine
