// IdleClaims: claims that hold devices for nobody and keep their gang from being placed.
//
// Problem: devices bind the pods of their claim to nodes. Where such a node is gone, closed or full
// the pods wait for ever, for nobody takes devices from a claim that nobody uses. Idea: a claim is
// idle when it is reserved for nobody, and has been so for a moment, or when it is the PodGroup's,
// reserved for the group alone, while no pod of the group has a node. A gang that was refused is
// planned once more as if its idle claims held nothing. Where that succeeds as few of them as it
// takes are given back, each only in the version that was looked at or from the group alone, and
// the gang is planned anew. Of claims that would do alike the one stays whose release opens fewer
// nodes, then the one with the later name. Devices that drivers did not make ready serve nobody: an
// idle claim with such a one is given back in any case. Source: the devices contract, 3, 7.3, 13.
#pragma once

#include <string>
#include <vector>

#include "scheduler/core.h"

namespace gang::scheduler {

/// What is to be given back so that a gang can be placed. A value.
struct IdleClaims {
  std::vector<std::size_t> claims;  ///< into Gang::claims, ascending; empty: nothing would help
  TimePoint due{};                  ///< not before

  [[nodiscard]] bool are_due(TimePoint now) const { return !claims.empty() && now >= due; }
};

/// The gang was just refused, and nobody else has a round over its claims.
[[nodiscard]] IdleClaims find_idle_claims(Core& core, GangRecord& record, const cluster::Gang& gang,
                                          TimePoint now);

/// Lets them be given back.
void give_back_idle(Core& core, GangRecord& record, const cluster::Gang& gang,
                    const IdleClaims& idle, Turn& turn);

/// "; deallocating claim default/c".
[[nodiscard]] std::string text_of(const cluster::Gang& gang, const IdleClaims& idle);

}  // namespace gang::scheduler
