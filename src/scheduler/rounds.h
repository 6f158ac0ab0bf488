// Rounds: starting one, and what to do about its end. Source: commit protocol 5.2, 5.3, 5.6.
#pragma once

#include "gang/cluster/gang.h"
#include "gang/engine/explanation.h"
#include "scheduler/core.h"

namespace gang::scheduler {

/// Assumes the plan's members and asks for their binding. The plan gets its stamp: that of the
/// repair it continues, or a new one; none for a lone pod.
void start_round(Core& core, GangRecord& record, engine::Plan plan, Turn& turn);

/// Asks for the record alone: enough members are bound. REQUIRES: gang.minimum is what they reach.
void start_record(Core& core, GangRecord& record, const cluster::Gang& gang, std::string stamp,
                  Turn& turn);

/// Deletes the bound members of the repair's round, or, where that is forbidden, goes on without
/// deadline and says so. REQUIRES: record.repair with a deadline that has passed.
void end_repair(Core& core, GangRecord& record, const cluster::Gang& gang, Turn& turn);

/// Takes assumptions back, and sets what comes next: the record is remembered, a repair begun or
/// continued, a backoff set. The gang is evaluated afterwards.
void finish_round(Core& core, const engine::RoundOutcome& outcome, Turn& turn);
/// Tells a gang whose round is under way what holds it up.
void tell_slow_round(Core& core, const engine::RoundProgress& progress, Turn& turn);
void finish_rollback(Core& core, const engine::GangRef& gang, Turn& turn);

}  // namespace gang::scheduler
