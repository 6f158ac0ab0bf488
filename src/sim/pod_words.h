// The options that describe a pod in a scenario, as a Pod without a name.
#pragma once

#include "gang/api/pod.h"
#include "gang/base/result.h"
#include "sim/scenario_parser.h"

namespace gang::sim {

/// The highest priority that a user's PriorityClass may have.
inline constexpr int kPriorityMax = 1'000'000'000;

/// A pod of gang-scheduler with cpu=100m memory=64Mi and a controller, changed by the options. An
/// option that is not known is an error; options of verbs (pods, min, ...) are passed over.
[[nodiscard]] Result<api::Pod> pod_model(const Command& command);

}  // namespace gang::sim
