// Planning of gangs whose members refer to claims: what the search over devices needs of a gang,
// and what it says of it. Source: the devices contract, 4, 5, 7.2 and 13.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/device_cache.h"
#include "engine/device_gang_search.h"
#include "engine/device_shortage.h"
#include "engine/draft.h"
#include "engine/selector_budget.h"
#include "gang/cluster/gang.h"
#include "gang/engine/plan.h"
#include "gang/engine/planner.h"

namespace gang::engine {

/// Whether pending members refer to claims.
[[nodiscard]] bool uses_claims(const cluster::Gang& gang);

/// Whether leave_out_unready() would take somebody out.
[[nodiscard]] bool has_unready(const cluster::Gang& gang);

/// Takes out the pending members that cannot be placed yet because a claim of theirs does not exist
/// or cannot be used. Returns why, for the first of them; "" when all are ready.
[[nodiscard]] std::string leave_out_unready(cluster::Gang& gang);

/// Says in the demand of each class of the gang what its members ask for at least of devices.
void ask_devices(const cluster::Gang& gang, std::vector<ClassDemand>& classes);

/// Members of which not even one fits on any node. A value.
struct DeviceMisfit {
  std::size_t kind = 0;
  std::string shortage;
};

/// What came of a search. A value; picks point into the kinds.
struct DevicePlanning {
  DeviceSearchEnd end;
  std::vector<DeviceKind> kinds;
  std::vector<DevicePick> picks;
  std::vector<ClaimWrite> claims;  ///< of the picked members, when placed
  std::vector<ClaimCreation> new_claims;
  /// The kind that the shortage is about: one that can never fit, the scarcest that fits nowhere,
  /// or the first, in search order, that has members left over.
  std::size_t left_over = 0;
  std::vector<DeviceMisfit> misfits;  ///< the first few kinds that fit nowhere
  std::size_t misfit_count = 0;       ///< all of them
  /// Which claim holds devices where nobody can use them, or else
  /// "gpu: 2 free of 16 match `...`; 14 allocated; needed 8"; "" where neither is known.
  std::string shortage;
  /// What is proved of that kind; kOnFleet: it is not served even with every device free.
  Lacking lacking = Lacking::kUnknown;
  std::int64_t steps = 0;
};

/// What one search over devices may spend. A value.
struct DeviceSpending {
  SelectorBudget& selectors;  ///< of the whole attempt
  std::int64_t steps_max = 0;
};

/// Places the gang's members in the draft, which is begun and empty. REQUIRES: nobody unready.
[[nodiscard]] DevicePlanning plan_devices(Draft& draft, DeviceCache& cache,
                                          const cluster::Gang& gang, DeviceSpending spending);

}  // namespace gang::engine
