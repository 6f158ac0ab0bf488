// Evaluation: where a gang belongs now, from its objects, its record and the time.
//
// It is asked for every gang that changed and for every timer that is due, and asking twice changes
// nothing. Steps: what is new (identity, counts, stale members); what a round left behind (record
// missing, half bound, of unknown origin); readiness; degraded; then the one timer of the gang.
// O(1) for a gang that waits for members; O(members) otherwise.
#pragma once

#include "gang/cluster/gang.h"
#include "scheduler/core.h"

namespace gang::scheduler {

/// Moves the gang within the queue and asks for what is due: the record, a rollback, an
/// explanation. Plans nothing. A gang that is gone loses its record, unless a round of it is open.
void evaluate(Core& core, cluster::GangId id, Turn& turn);

/// Evaluates a parked gang that a change of nodes may have helped: it is to be attempted, at once
/// or after its backoff.
void wake(Core& core, cluster::GangId id, Turn& turn);

}  // namespace gang::scheduler
