// pods, running, finish, fail, ungate: Pod objects from options.
#include <algorithm>
#include <cctype>
#include <functional>

#include "gang/api/names.h"
#include "sim/pod_words.h"
#include "sim/report.h"
#include "sim/world.h"

namespace gang::sim {

namespace {

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
  cluster.put(std::move(pod));
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
      return is_not_there(cluster, "pod", key);
    }
    pods.push_back(*known);
    const std::string problem = change(pods.back());
    if (!problem.empty()) {
      return fail(Code::kInvalidArgument, "pod " + short_name(key) + " " + problem);
    }
  }
  for (api::Pod& pod : pods) cluster.put(std::move(pod));
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
    return in_context("on=" + on, is_not_there(cluster, "node", {"", node}).value());
  }
  return nodes;
}

/// A word that a kubelet or a controller gives a Failed pod: Evicted, OutOfcpu, OutOfexample.com/x.
Result<void> check_reason(const std::string& reason) {
  constexpr std::string_view kOutOf = "OutOf";
  if (reason.starts_with(kOutOf) && api::is_qualified_name(reason.substr(kOutOf.size()))) return {};
  const auto is_letter_or_digit = [](unsigned char c) { return c < 0x80 && std::isalnum(c); };
  const bool is_word = std::ranges::all_of(reason, is_letter_or_digit) && !reason.empty() &&
                       reason[0] >= 'A' && reason[0] <= 'Z';
  if (is_word) return {};
  return fail(Code::kInvalidArgument,
              "reason=" + reason +
                  " is no reason of a pod; write a CamelCase word like Evicted or "
                  "UnexpectedAdmissionError, or OutOf and a resource like OutOfcpu");
}

}  // namespace

Result<Lines> make_pods(SimCluster& cluster, const Command& command) {
  GANG_TRY(const api::Pod model, pod_model(command));
  GANG_TRY(const std::vector<api::ObjectKey> keys, named_objects(command, 0, "pod"));
  GANG_TRY_VOID(check_new(cluster, keys));
  GANG_TRY_VOID(check_entries(cluster, keys, model.claims));
  for (const api::ObjectKey& key : keys) put_pod(cluster, model, key);
  return Lines{count_pods(keys.size())};
}

Result<Lines> make_running_pods(SimCluster& cluster, const Command& command) {
  const std::string* on = command.option("on");
  if (on == nullptr || on->empty()) {
    const std::string problem = on == nullptr ? "on= is missing" : "on= names no node";
    return fail(Code::kInvalidArgument, problem + "; write on=NODE");
  }
  GANG_TRY(api::Pod model, pod_model(command));
  if (command.option("scheduler") == nullptr) model.scheduler_name = "default-scheduler";
  model.phase = api::PodPhase::kRunning;
  GANG_TRY(const std::vector<api::ObjectKey> keys, named_objects(command, 0, "pod"));
  GANG_TRY_VOID(check_new(cluster, keys));
  GANG_TRY_VOID(check_entries(cluster, keys, model.claims));
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
  if (reason != nullptr) GANG_TRY_VOID(check_reason(*reason));
  for (const char* key : {"times", "after"}) {
    if (command.option(key) == nullptr) continue;
    return fail(Code::kInvalidArgument,
                std::string(key) + "= is not read here; write it with: fail bind POD");
  }
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

}  // namespace gang::sim
