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

/// "name" is in the namespace default; "ns/name" names both. Fails when one side of the slash is
/// empty. `what` is the noun of a verb: "pod", "group", "node", "claim", "template", "class",
/// "rule", "namespace".
[[nodiscard]] Result<api::ObjectKey> parse_key(const std::string& what, const std::string& text);

/// What the words from `first` on name, ranges expanded and the verb's words basic and bare left
/// out. Each name is one that Kubernetes accepts and stands there once. `what` as above.
[[nodiscard]] Result<std::vector<api::ObjectKey>> named_objects(const Command& command,
                                                                std::size_t first,
                                                                const std::string& what);

/// The kind that a noun names. Fails with `mend`.
[[nodiscard]] Result<api::Kind> kind_of_noun(const std::string& what, const std::string& mend);

/// The error of an object that is not there: which ones are, and how it is made. `what` as above.
[[nodiscard]] tl::unexpected<Error> is_not_there(const SimCluster& cluster, const std::string& what,
                                                 const api::ObjectKey& key);

/// "a, b, c"; of more than five the first five and how many more.
[[nodiscard]] std::string short_list(const std::vector<std::string>& names);

/// Fails where an entry names a claim, and only a template of that name is there.
[[nodiscard]] Result<void> check_entries(const SimCluster& cluster,
                                         const std::vector<api::ObjectKey>& keys,
                                         const std::vector<api::ClaimEntry>& entries);

/// The error of an object that is made twice.
[[nodiscard]] tl::unexpected<Error> is_there(const std::string& what, const api::ObjectKey& key,
                                             const std::string& mend);

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
Result<Lines> make_class(SimCluster& cluster, const Command& command);
Result<Lines> make_template(SimCluster& cluster, const Command& command);
Result<Lines> make_claim(SimCluster& cluster, const Command& command);
Result<Lines> make_namespace(SimCluster& cluster, const Command& command);
/// `allocate` and `deallocate`: as another scheduler does.
Result<Lines> allocate_claim(SimCluster& cluster, const Command& command);
Result<Lines> deallocate_claim(SimCluster& cluster, const Command& command);
/// `condition c example.com/ready=True`: as the driver of the claim's devices does.
Result<Lines> set_device_conditions(SimCluster& cluster, const Command& command);
/// One slice and pool for each node.
Result<Lines> make_devices(SimCluster& cluster, const Command& command);
/// The same pools at their next generation, with other devices where the command says which.
Result<Lines> republish_devices(SimCluster& cluster, const Command& command);
Result<Lines> change_device(SimCluster& cluster, const Command& command);
Result<Lines> make_rule(SimCluster& cluster, const Command& command);
/// Whether a `fail` is about requests, not about pods.
[[nodiscard]] bool is_fault(const Command& command);
Result<Lines> arm_fault(SimCluster& cluster, const Command& command);
/// Puts the objects of a manifest, or none when one of them is there already or breaks a rule.
Result<Lines> load_manifest(SimCluster& cluster, const std::string& path);
/// drop, restore, unserve, serve.
Result<Lines> change_watch(SimCluster& cluster, const Command& command);

}  // namespace gang::sim
