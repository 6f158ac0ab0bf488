// The verbs of the scenario language that make or change objects: options to Kubernetes objects.
//
// Stateless functions over a SimCluster; each returns what the scenario prints or why it cannot.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "gang/api/delta.h"
#include "gang/base/result.h"
#include "gang/sim/sim_cluster.h"
#include "sim/scenario_parser.h"

namespace gang::sim {

using Lines = std::vector<std::string>;

/// "name" is in the namespace default; "ns/name" names both.
[[nodiscard]] api::ObjectKey parse_key(const std::string& text);

Result<Lines> make_nodes(SimCluster& cluster, const Command& command);
Result<Lines> change_node(SimCluster& cluster, const Command& command);
Result<Lines> make_group(SimCluster& cluster, const Command& command);
Result<Lines> make_gangs(SimCluster& cluster, const Command& command);
Result<Lines> make_pods(SimCluster& cluster, const Command& command);
Result<Lines> make_running_pods(SimCluster& cluster, const Command& command);
Result<Lines> update_group(SimCluster& cluster, const Command& command);
Result<Lines> delete_objects(SimCluster& cluster, const Command& command);
/// `finish` and `fail`: the pods reach the phase.
Result<Lines> end_pods(SimCluster& cluster, const Command& command, api::PodPhase phase);
Result<Lines> ungate_pods(SimCluster& cluster, const Command& command);
Result<Lines> arm_bind_fault(SimCluster& cluster, const Command& command);
/// drop, restore, unserve, serve.
Result<Lines> change_watch(SimCluster& cluster, const Command& command);

}  // namespace gang::sim
