// pods, running, finish, fail, ungate: Pod objects from options.
#include <functional>
#include <map>

#include "sim/pod_words.h"
#include "sim/world.h"

namespace gang::sim {

namespace {

/// The most Bindings that one fault stands for.
constexpr int kTimesMax = 1'000'000;

std::string count_pods(std::size_t count) {
  return std::to_string(count) + (count == 1 ? " pod" : " pods");
}

/// Fails when one of the pods is there already.
Result<void> check_new(const SimCluster& cluster, const std::vector<api::ObjectKey>& keys) {
  for (const api::ObjectKey& key : keys) {
    if (cluster.pod(key) != nullptr) return is_there("pod", key, "delete that pod");
  }
  return {};
}

void put_pod(SimCluster& cluster, api::Pod pod, const api::ObjectKey& key) {
  pod.meta.key = key;
  for (api::PodAntiAffinityTerm& term : pod.anti_affinity) term.namespaces = {key.name_space};
  cluster.put_pod(std::move(pod));
}

/// Applies `change` to each pod that is named and stores it. `change` says why a pod cannot be
/// changed so, or "".
Result<Lines> change_pods(SimCluster& cluster, const Command& command, const std::string& done,
                          const std::function<std::string(api::Pod&)>& change) {
  GANG_TRY(const std::vector<api::ObjectKey> keys, named_objects(command, 0, "pod"));
  std::vector<api::Pod> pods;
  for (const api::ObjectKey& key : keys) {
    const api::Pod* known = cluster.pod(key);
    if (known == nullptr) {
      return fail(Code::kNotFound, "there is no pod " + key.text() + "; write the name of one");
    }
    pods.push_back(*known);
    const std::string problem = change(pods.back());
    if (!problem.empty()) {
      return fail(Code::kInvalidArgument, "pod " + key.text() + " " + problem);
    }
  }
  for (api::Pod& pod : pods) cluster.put_pod(std::move(pod));
  return Lines{count_pods(keys.size()) + " " + done};
}

/// The nodes of on=, one for all pods or one for each; each exists.
Result<std::vector<std::string>> nodes_of(const SimCluster& cluster, const std::string& on,
                                          std::size_t pod_count) {
  GANG_TRY(const std::vector<std::string> nodes, expand_names(on));
  if (nodes.size() != 1 && nodes.size() != pod_count) {
    return fail(Code::kInvalidArgument, "on=" + on + " names " + std::to_string(nodes.size()) +
                                            " nodes; write one, or one for each pod");
  }
  for (const std::string& node : nodes) {
    if (cluster.node(node) != nullptr) continue;
    return fail(Code::kNotFound,
                "on=" + on + ": there is no node " + node + "; make it with: nodes " + node);
  }
  return nodes;
}

}  // namespace

Result<Lines> make_pods(SimCluster& cluster, const Command& command) {
  GANG_TRY(const api::Pod model, pod_model(command));
  GANG_TRY(const std::vector<api::ObjectKey> keys, named_objects(command, 0, "pod"));
  GANG_TRY_VOID(check_new(cluster, keys));
  for (const api::ObjectKey& key : keys) put_pod(cluster, model, key);
  return Lines{count_pods(keys.size())};
}

Result<Lines> make_running_pods(SimCluster& cluster, const Command& command) {
  const std::string* on = command.option("on");
  if (on == nullptr) return fail(Code::kInvalidArgument, "running needs on=NODE");
  GANG_TRY(api::Pod model, pod_model(command));
  if (command.option("scheduler") == nullptr) model.scheduler_name = "default-scheduler";
  model.phase = api::PodPhase::kRunning;
  GANG_TRY(const std::vector<api::ObjectKey> keys, named_objects(command, 0, "pod"));
  GANG_TRY_VOID(check_new(cluster, keys));
  GANG_TRY(const std::vector<std::string> nodes, nodes_of(cluster, *on, keys.size()));
  for (std::size_t i = 0; i < keys.size(); ++i) {
    model.node_name = nodes.size() == 1 ? nodes[0] : nodes[i];
    put_pod(cluster, model, keys[i]);
  }
  return Lines{count_pods(keys.size()) + " on " + *on};
}

Result<Lines> end_pods(SimCluster& cluster, const Command& command, api::PodPhase phase) {
  const bool succeeded = phase == api::PodPhase::kSucceeded;
  const std::string* reason = command.option("reason");
  return change_pods(cluster, command, succeeded ? "finished" : "failed",
                     [&](api::Pod& pod) -> std::string {
                       if (pod.is_terminal()) return "has ended already; name another";
                       pod.phase = phase;
                       if (reason != nullptr) pod.status_reason = *reason;
                       return "";
                     });
}

Result<Lines> ungate_pods(SimCluster& cluster, const Command& command) {
  return change_pods(cluster, command, "ungated", [](api::Pod& pod) -> std::string {
    if (pod.scheduling_gates.empty()) return "has no scheduling gate; name one that has";
    pod.scheduling_gates.clear();
    return "";
  });
}

Result<Lines> arm_bind_fault(SimCluster& cluster, const Command& command) {
  static const std::map<std::string, BindFault> kFaults = {
      {"conflict", BindFault::kConflict},       {"error", BindFault::kServerError},
      {"timeout", BindFault::kLostNotExecuted}, {"executed", BindFault::kLostExecuted},
      {"throttled", BindFault::kThrottled},     {"forbidden", BindFault::kForbidden},
  };
  const auto& words = command.words();
  if (words.size() != 3 || words[0] != "bind" || !kFaults.contains(words[2])) {
    return fail(Code::kInvalidArgument,
                "write: fail bind POD conflict|error|timeout|executed|throttled|forbidden");
  }
  GANG_TRY(const int times, command.number("times", 1, Range{1, kTimesMax}));
  const api::ObjectKey pod = parse_key(words[1]);
  if (cluster.pod(pod) == nullptr) {
    return fail(Code::kNotFound,
                "there is no pod " + pod.text() + "; make it first, or write the name of one");
  }
  cluster.fail_bind(pod, kFaults.at(words[2]), times);
  return Lines{"armed"};
}

}  // namespace gang::sim
