// RoundClaims: the devices of open rounds, from their plan to the word on their bindings.
//
// A round writes its claims first. Before it binds anybody the state must have seen these writes,
// and the plan must still hold beside everything else that it has seen: two schedulers that take
// one device at the same time both see it then, and both yield. Devices with binding conditions are
// waited for here. Source: the commit protocol, P6 and P7; the devices contract, 7.2 step 3.
#pragma once

#include "gang/engine/plan.h"
#include "scheduler/core.h"

namespace gang::scheduler {

/// Counts the devices that the plan gives away. REQUIRES: it was made on the state of now.
void assume_claims(Core& core, OpenRound& round, const engine::Plan& plan);

/// Takes back what the watch has not shown of them; who waited for the claims is looked at again.
void forget_claims(Core& core, const OpenRound& round, TimePoint now);

/// Why a claim that has its devices serves nobody: a driver says that one has failed, or has not
/// made it ready in time since it was allocated; "" when neither.
[[nodiscard]] std::string unready_text(const Options& options, const api::ResourceClaim& claim,
                                       TimePoint now);
/// Lets such claims of the gang be what they are: of no use.
void mark_unready(const Options& options, cluster::Gang& gang, TimePoint now);

/// Whether the gang has to wait, since the round of another one writes a claim that it needs: one
/// writer at a time, so that many pods of one claim do not hinder each other.
bool wait_for_claim(Core& core, GangRecord& record, const cluster::Gang& gang, Turn& turn);

/// The round waits for the state from now on.
void note_written(Core& core, const engine::ClaimsWritten& written, TimePoint now);

/// Confirms each waiting round that the state has caught up with, or says why it does not hold.
void check_rounds(Core& core, Turn& turn);

}  // namespace gang::scheduler
