#include "sim/pod_words.h"

#include <algorithm>
#include <array>

#include "sim/resource_words.h"

namespace gang::sim {

namespace {

/// Options that belong to the verb and not to the pod.
constexpr std::array<std::string_view, 6> kVerbOptions = {"pods",   "min",      "on",
                                                          "parent", "topology", "grace"};

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::size_t at = 0;
  while (true) {
    const std::size_t end = text.find(separator, at);
    parts.push_back(text.substr(at, end == std::string::npos ? end : end - at));
    if (end == std::string::npos) return parts;
    at = end + 1;
  }
}

/// "key", "key:Effect" or "key:Operator:value".
api::Toleration parse_toleration(const std::string& text) {
  const std::vector<std::string> parts = split(text, ':');
  api::Toleration toleration;
  toleration.key = parts[0];
  toleration.op = "Exists";
  if (parts.size() == 2) toleration.effect = parts[1];
  if (parts.size() >= 3) {
    toleration.op = parts[1];
    toleration.value = parts[2];
  }
  return toleration;
}

/// "8471", "8471/UDP", "8471/TCP@127.0.0.1".
Result<api::HostPort> parse_port(const std::string& text) {
  const std::size_t at_sign = text.find('@');
  const std::string left = text.substr(0, at_sign);
  const std::size_t slash = left.find('/');
  const std::optional<int> number = parse_number(left.substr(0, slash));
  if (!number || *number > 65535) {
    return fail(Code::kInvalidArgument, "port=" + text + " is no port; write one like 8471/UDP");
  }
  api::HostPort port;
  port.port = *number;
  port.protocol = slash == std::string::npos ? "TCP" : left.substr(slash + 1);
  port.ip = at_sign == std::string::npos ? "0.0.0.0" : text.substr(at_sign + 1);
  return port;
}

/// "key:Operator:a,b": one more expression of the only required term.
Result<void> add_affinity(api::Pod& pod, const std::string& text) {
  const std::vector<std::string> parts = split(text, ':');
  if (parts.size() < 2 || parts.size() > 3) {
    return fail(Code::kInvalidArgument,
                "affinity=" + text + " is not key:Operator:values; write one like pool:In:a,b");
  }
  api::NodeSelectorRequirement requirement{parts[0], parts[1], {}};
  if (parts.size() == 3) requirement.values = split(parts[2], ',');
  if (!pod.required_affinity) pod.required_affinity.emplace().terms.emplace_back();
  pod.required_affinity->terms[0].expressions.push_back(std::move(requirement));
  return {};
}

Result<void> set_request(api::Pod& pod, api::ContainerKind kind, const std::string& key,
                         const std::string& value) {
  const std::optional<std::string> resource = resource_name(key);
  if (!resource) {
    return fail(Code::kInvalidArgument,
                "\"" + key + "\" is no option of a pod and no resource; see the verbs' page");
  }
  GANG_TRY(const api::Quantity quantity, parse_amount(key, value));
  const auto at = std::find_if(pod.containers.begin(), pod.containers.end(),
                               [&](const api::Container& c) { return c.kind == kind; });
  if (at != pod.containers.end()) {
    at->requests.set(*resource, quantity);
    return {};
  }
  api::Container container;
  container.name = kind == api::ContainerKind::kInit ? "init" : "sidecar";
  container.kind = kind;
  container.requests.set(*resource, quantity);
  pod.containers.insert(std::prev(pod.containers.end()), std::move(container));
  return {};
}

Result<void> set_priority(api::Pod& pod, const std::string& value) {
  const std::optional<int> number = parse_number(value);
  if (!number) return fail(Code::kInvalidArgument, "priority=" + value + " is not a number");
  pod.priority = *number;
  pod.priority_class_name = "priority-" + value;
  return {};
}

Result<void> apply_option(api::Pod& pod, const std::string& key, const std::string& value) {
  const auto suffix = [&](std::string_view prefix) { return key.substr(prefix.size()); };
  if (key == "group") {
    pod.pod_group_name = value;
  } else if (key == "namespace") {
    pod.meta.key.name_space = value;
  } else if (key == "scheduler") {
    pod.scheduler_name = value;
  } else if (key == "gate") {
    pod.scheduling_gates.push_back(value);
  } else if (key == "priority") {
    return set_priority(pod, value);
  } else if (key == "tolerate") {
    pod.tolerations.push_back(parse_toleration(value));
  } else if (key == "port") {
    GANG_TRY(api::HostPort port, parse_port(value));
    pod.host_ports.push_back(std::move(port));
  } else if (key == "affinity") {
    return add_affinity(pod, value);
  } else if (key.starts_with("selector.")) {
    pod.node_selector.emplace_back(suffix("selector."), value);
    std::sort(pod.node_selector.begin(), pod.node_selector.end());
  } else if (key.starts_with("init.")) {
    return set_request(pod, api::ContainerKind::kInit, suffix("init."), value);
  } else if (key.starts_with("sidecar.")) {
    return set_request(pod, api::ContainerKind::kSidecar, suffix("sidecar."), value);
  } else {
    return set_request(pod, api::ContainerKind::kMain, key, value);
  }
  return {};
}

/// `uses=`: a rule of the pod that is only a fact here.
Result<void> apply_rule(api::PodRules& rules, const std::string& value) {
  if (value == "pod-affinity") {
    rules.pod_affinity = true;
  } else if (value == "topology-spread") {
    rules.topology_spread = true;
  } else if (value == "volumes") {
    rules.volumes = true;
  } else if (value == "resource-claims") {
    rules.resource_claims = true;
  } else {
    return fail(Code::kInvalidArgument,
                "uses=" + value +
                    " is unknown; write pod-affinity, topology-spread, volumes or resource-claims");
  }
  return {};
}

api::Pod default_pod() {
  api::Pod pod;
  pod.meta.key.name_space = "default";
  pod.meta.controller = api::ControllerRef{"Job", "job", {"job-uid"}};
  pod.scheduler_name = "gang-scheduler";
  api::Container main;
  main.name = "main";
  main.requests.set("cpu", api::Quantity::from_milli(100));
  main.requests.set("memory", *api::Quantity::parse("64Mi"));
  pod.containers.push_back(std::move(main));
  return pod;
}

}  // namespace

Result<api::Pod> pod_model(const Command& command) {
  api::Pod pod = default_pod();
  for (const auto& [key, value] : command.options()) {
    const bool is_verb_option =
        std::find(kVerbOptions.begin(), kVerbOptions.end(), key) != kVerbOptions.end();
    if (is_verb_option) continue;
    if (key == "uses") {
      GANG_TRY_VOID(apply_rule(pod.rules, value));
    } else {
      GANG_TRY_VOID(apply_option(pod, key, value));
    }
  }
  if (command.has_word("bare")) pod.meta.controller.reset();
  return pod;
}

}  // namespace gang::sim
