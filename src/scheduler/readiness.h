// Readiness: whether a gang may be attempted, and with which minimum.
// Source: gang contract 2.2, 2.3.
#pragma once

#include <cstdint>

#include "gang/cluster/gang.h"
#include "gang/scheduler/scheduler.h"

namespace gang::scheduler {

enum class ReadyState {
  kNothingToPlace,
  kGroupMissing,  ///< the PodGroup object is not known
  kIncomplete,    ///< fewer live members than the minimum, or held by a gated one
  kReady,
};

/// What the scheduler knows of a gang besides its objects. Value.
struct GangHistory {
  bool is_recorded = false;  ///< PodGroupInitiallyScheduled is True, or was written by us
  bool is_settled = false;   ///< live has not changed for Options::done_settle
  GatedMembers gated_members = GatedMembers::kLeaveOut;
};

/// The answer. Value.
struct Readiness {
  ReadyState state = ReadyState::kNothingToPlace;
  std::int32_t minimum = 1;  ///< effective minimum e
};

/// The effective minimum e: minCount, less the members that have succeeded once a gang that had
/// started can no longer reach it. Reads counts and min_count only.
[[nodiscard]] std::int32_t effective_minimum(const cluster::Gang& gang, const GangHistory& history);

/// Reads everything but members and classes.
[[nodiscard]] Readiness readiness(const cluster::Gang& gang, const GangHistory& history);

/// Whether the condition PodGroupInitiallyScheduled is True on the PodGroup as it is known.
[[nodiscard]] bool is_initially_scheduled(const cluster::Gang& gang);

}  // namespace gang::scheduler
