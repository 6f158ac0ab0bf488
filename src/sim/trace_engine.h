// The production engine as one of those who place the pods of a trace.
//
// Nodes, devices, claims and pods are told to a ClusterState as a watch tells them, and each pod is
// planned by engine::Planner on its snapshot, as the daemon does. A GPU is a device that many can
// use, of which a claim consumes milli; whole GPUs consume all of theirs.
#pragma once

#include <memory>

#include "gang/engine/options.h"
#include "sim/trace_policy.h"

namespace gang::sim {

/// The load outlives it.
[[nodiscard]] std::unique_ptr<TracePlacer> engine_policy(const TraceLoad& load,
                                                         const engine::Options& options);

}  // namespace gang::sim
