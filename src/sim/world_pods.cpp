// pods, running, finish, fail, ungate: Pod objects from options.
#include <algorithm>
#include <functional>
#include <map>

#include "sim/pod_words.h"
#include "sim/world.h"

namespace gang::sim {

namespace {

Result<std::vector<api::ObjectKey>> pod_keys(const Command& command, std::size_t first) {
  std::vector<api::ObjectKey> keys;
  for (std::size_t i = first; i < command.words().size(); ++i) {
    if (command.words()[i] == "bare") continue;
    GANG_TRY(const std::vector<std::string> names, expand_names(command.words()[i]));
    for (const std::string& name : names) keys.push_back(parse_key(name));
  }
  if (keys.empty()) return fail(Code::kInvalidArgument, "no pod is named; write its name");
  return keys;
}

std::string count_pods(std::size_t count) {
  return std::to_string(count) + (count == 1 ? " pod" : " pods");
}

/// Puts a pod like `model` under each name; the namespace of a name counts unless one was given.
void put_pods(SimCluster& cluster, const Command& command, const api::Pod& model,
              const std::vector<api::ObjectKey>& keys) {
  for (const api::ObjectKey& key : keys) {
    api::Pod pod = model;
    pod.meta.key.name = key.name;
    if (command.option("namespace") == nullptr) pod.meta.key.name_space = key.name_space;
    cluster.put_pod(std::move(pod));
  }
}

/// Applies `change` to each pod that is named and stores it.
Result<Lines> change_pods(SimCluster& cluster, const Command& command, const std::string& done,
                          const std::function<void(api::Pod&)>& change) {
  GANG_TRY(const std::vector<api::ObjectKey> keys, pod_keys(command, 0));
  for (const api::ObjectKey& key : keys) {
    const api::Pod* known = cluster.pod(key);
    if (known == nullptr) return fail(Code::kNotFound, "there is no pod " + key.text());
    api::Pod pod = *known;
    change(pod);
    cluster.put_pod(std::move(pod));
  }
  return Lines{count_pods(keys.size()) + " " + done};
}

}  // namespace

Result<Lines> make_pods(SimCluster& cluster, const Command& command) {
  GANG_TRY(const api::Pod model, pod_model(command));
  GANG_TRY(const std::vector<api::ObjectKey> keys, pod_keys(command, 0));
  put_pods(cluster, command, model, keys);
  return Lines{count_pods(keys.size())};
}

Result<Lines> make_running_pods(SimCluster& cluster, const Command& command) {
  const std::string* node = command.option("on");
  if (node == nullptr) return fail(Code::kInvalidArgument, "running needs on=NODE");
  GANG_TRY(api::Pod model, pod_model(command));
  if (command.option("scheduler") == nullptr) model.scheduler_name = "default-scheduler";
  model.phase = api::PodPhase::kRunning;
  GANG_TRY(const std::vector<api::ObjectKey> keys, pod_keys(command, 0));
  GANG_TRY(const std::vector<std::string> nodes, expand_names(*node));
  if (nodes.size() != 1 && nodes.size() != keys.size()) {
    return fail(Code::kInvalidArgument, "on=" + *node + " names " + std::to_string(nodes.size()) +
                                            " nodes; write one, or one for each pod");
  }
  for (std::size_t i = 0; i < keys.size(); ++i) {
    model.node_name = nodes.size() == 1 ? nodes[0] : nodes[i];
    put_pods(cluster, command, model, {keys[i]});
  }
  return Lines{count_pods(keys.size()) + " on " + *node};
}

Result<Lines> end_pods(SimCluster& cluster, const Command& command, api::PodPhase phase) {
  const bool succeeded = phase == api::PodPhase::kSucceeded;
  return change_pods(cluster, command, succeeded ? "finished" : "failed",
                     [phase](api::Pod& pod) { pod.phase = phase; });
}

Result<Lines> ungate_pods(SimCluster& cluster, const Command& command) {
  return change_pods(cluster, command, "ungated",
                     [](api::Pod& pod) { pod.scheduling_gates.clear(); });
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
  GANG_TRY(const int times, command.number("times", 1));
  cluster.fail_bind(parse_key(words[1]), kFaults.at(words[2]), times);
  return Lines{"armed"};
}

}  // namespace gang::sim
