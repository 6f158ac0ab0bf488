// Attempt: one gang is validated and planned, and what comes out is acted upon.
#pragma once

#include "gang/cluster/gang.h"
#include "scheduler/core.h"

namespace gang::scheduler {

/// Plans the gang on the state of now: a plan starts a round, anything else parks the gang and
/// explains. REQUIRES: the gang is active and was evaluated after its last change.
void attempt(Core& core, cluster::GangId id, Turn& turn);

/// When nodes have changed since the last call: wakes the parked gangs that the capacity counts
/// would let in now, and lets those that would be told other causes now be attempted later.
void wake_parked(Core& core, Turn& turn);

}  // namespace gang::scheduler
