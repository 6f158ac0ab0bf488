// Whether a plan still holds a moment after it was made: asked between the writes to its claims and
// its bindings, when the model has seen these writes.
//
// Problem: other schedulers allocate the same devices, drivers publish new pools, nodes and devices
// get taints while claims are being written; each writer alone sees nothing wrong. Idea: compare
// what the plan was made on with what is there now; whoever sees a conflict yields. What has not
// changed is one object in both snapshots and costs a comparison of pointers.
// Cannot tell: what neither nodes nor devices show, such as members that are gone. Source: the
// commit protocol, P6; the devices contract, 12.5.
#pragma once

#include <string>

#include "gang/cluster/snapshot.h"
#include "gang/engine/plan.h"

namespace gang::engine {

/// Why the plan that was made on `planned` does not hold on `now`, for people; "" when it does.
/// REQUIRES: its claims hold their devices in `now`. Pure; any thread.
[[nodiscard]] std::string overtaken(const Plan& plan, const cluster::Snapshot& planned,
                                    const cluster::Snapshot& now);

}  // namespace gang::engine
