#include "sim/pod_words.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <limits>
#include <span>

#include "sim/claim_words.h"
#include "sim/name_rules.h"
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

bool is_one_of(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), text) != words.end();
}

/// "key", "key:Effect" or "key:Operator:value".
Result<api::Toleration> parse_toleration(const std::string& text) {
  const std::vector<std::string> parts = split(text, ':');
  api::Toleration toleration;
  toleration.key = parts[0];
  toleration.op = "Exists";
  GANG_TRY_VOID(check_key("tolerate=" + text, toleration.key));
  if (parts.size() == 2) toleration.effect = parts[1];
  if (parts.size() == 3) {
    toleration.op = parts[1];
    toleration.value = parts[2];
  }
  const bool is_effect =
      toleration.effect.empty() ||
      is_one_of(toleration.effect, {"NoSchedule", "PreferNoSchedule", "NoExecute"});
  const bool is_operator = parts.size() < 3 || is_one_of(toleration.op, {"Equal", "Gt", "Lt"});
  if (parts.size() > 3 || !is_effect || !is_operator) {
    return fail(Code::kInvalidArgument,
                "tolerate=" + text +
                    " is no toleration; write key, key:NoSchedule or key:Equal:value (Gt, Lt)");
  }
  return toleration;
}

bool is_address(const std::string& text) {
  std::array<unsigned char, sizeof(in6_addr)> parsed{};
  return inet_pton(AF_INET, text.c_str(), parsed.data()) == 1 ||
         inet_pton(AF_INET6, text.c_str(), parsed.data()) == 1;
}

/// "8471", "8471/UDP", "8471/TCP@127.0.0.1".
Result<api::HostPort> parse_port(const std::string& text) {
  const std::size_t at_sign = text.find('@');
  const std::string left = text.substr(0, at_sign);
  const std::size_t slash = left.find('/');
  const std::optional<int> number = parse_number(left.substr(0, slash));
  api::HostPort port;
  port.protocol = slash == std::string::npos ? "TCP" : left.substr(slash + 1);
  port.ip = at_sign == std::string::npos ? "0.0.0.0" : text.substr(at_sign + 1);
  const bool is_port = number && *number >= 1 && *number <= 65535;
  if (!is_port || !is_one_of(port.protocol, {"TCP", "UDP", "SCTP"}) || !is_address(port.ip)) {
    return fail(
        Code::kInvalidArgument,
        "port=" + text + " is no port; write 1 to 65535, like 8471, 8471/UDP or 8471/TCP@10.0.0.1");
  }
  port.port = *number;
  return port;
}

/// An operator of labels and how many values stand behind it.
struct Operator {
  std::string_view name;
  std::size_t values_min;
  std::size_t values_max;
};

/// An option of the form key:Operator:values: its operators, and its forms for the error.
struct LabelWord {
  std::span<const Operator> operators;
  std::string_view forms;
};

constexpr std::size_t kAnyCount = std::numeric_limits<std::size_t>::max();
constexpr std::array kOperators = {Operator{"In", 1, kAnyCount}, Operator{"NotIn", 1, kAnyCount},
                                   Operator{"Exists", 0, 0},     Operator{"DoesNotExist", 0, 0},
                                   Operator{"Gt", 1, 1},         Operator{"Lt", 1, 1}};
constexpr LabelWord kAffinityWord = {
    kOperators, "key:In:a,b, key:NotIn:a,b, key:Exists, key:DoesNotExist, key:Gt:5 or key:Lt:5"};
/// Labels of pods are not compared as numbers.
constexpr LabelWord kRepelsWord = {
    std::span(kOperators).first(4),
    "key:In:a,b@topologyKey, key:NotIn:a,b@topologyKey, key:Exists@topologyKey or "
    "key:DoesNotExist@topologyKey"};

/// "key:Operator:a,b". `where` is the whole option as it was written.
Result<api::NodeSelectorRequirement> parse_requirement(const std::string& where,
                                                       const std::string& text,
                                                       const LabelWord& word) {
  const auto refuse = [&](const std::string& problem) {
    return fail(Code::kInvalidArgument,
                where + " " + problem + "; write " + std::string(word.forms));
  };
  const std::vector<std::string> parts = split(text, ':');
  if (parts.size() < 2 || parts.size() > 3) return refuse("is not of the form key:Operator:values");
  api::NodeSelectorRequirement requirement{parts[0], parts[1], {}};
  if (parts.size() == 3) requirement.values = split(parts[2], ',');
  GANG_TRY_VOID(check_key(where, requirement.key));
  const auto op = std::ranges::find(word.operators, parts[1], &Operator::name);
  if (op == word.operators.end()) return refuse("has no operator \"" + parts[1] + "\"");
  const std::size_t count = requirement.values.size();
  if (count < op->values_min || count > op->values_max) {
    return refuse("has " + std::to_string(count) + (count == 1 ? " value for " : " values for ") +
                  parts[1]);
  }
  const bool is_number = parts[1] == "Gt" || parts[1] == "Lt";
  for (const std::string& value : requirement.values) {
    if (value.empty()) return refuse("has an empty value");
    if (!is_number) GANG_TRY_VOID(check_value(where, value));
  }
  return requirement;
}

/// "key:Operator:a,b": one more expression of the only required term.
Result<void> add_affinity(api::Pod& pod, const std::string& text) {
  GANG_TRY(api::NodeSelectorRequirement requirement,
           parse_requirement("affinity=" + text, text, kAffinityWord));
  if (!pod.required_affinity) pod.required_affinity.emplace().terms.emplace_back();
  pod.required_affinity->terms[0].expressions.push_back(std::move(requirement));
  return {};
}

/// "key:Operator:a,b@topology-key": a required anti-affinity term on pods of the own namespace.
Result<void> add_anti_affinity(api::Pod& pod, const std::string& text) {
  const std::string where = "repels=" + text;
  const std::size_t at_sign = text.rfind('@');
  if (at_sign == std::string::npos) {
    return fail(Code::kInvalidArgument,
                where + " has no @topologyKey; write " + std::string(kRepelsWord.forms));
  }
  GANG_TRY(api::NodeSelectorRequirement requirement,
           parse_requirement(where, text.substr(0, at_sign), kRepelsWord));
  api::PodAntiAffinityTerm term;
  term.topology_key = text.substr(at_sign + 1);
  GANG_TRY_VOID(check_key(where + ": topologyKey", term.topology_key));
  term.selector.emplace().requirements.push_back(std::move(requirement));
  pod.anti_affinity.push_back(std::move(term));
  pod.rules.pod_affinity = true;
  return {};
}

/// `option` is "memory", "init.memory" or "sidecar.memory".
Result<void> set_request(api::Pod& pod, api::ContainerKind kind, const std::string& option,
                         const std::string& value) {
  const bool is_main = kind == api::ContainerKind::kMain;
  const std::string key = is_main ? option : option.substr(option.find('.') + 1);
  const std::optional<std::string> resource = resource_name(key);
  if (!resource) {
    return fail(Code::kInvalidArgument,
                option +
                    "= is no option of a pod and no resource; write one of affinity, claim, gate, "
                    "group, label.KEY, namespace, port, priority, repels, scheduler, selector.KEY, "
                    "tolerate, uses, " +
                    std::string(kResourceForms));
  }
  GANG_TRY(const api::Quantity quantity, parse_amount(option, *resource, value));
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
  if (!number || *number > kPriorityMax) {
    return fail(Code::kInvalidArgument, "priority=" + value +
                                            " is not allowed; write a whole number up to " +
                                            std::to_string(kPriorityMax));
  }
  pod.priority = *number;
  pod.priority_class_name = "priority-" + value;
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

Result<void> add_gate(api::Pod& pod, const std::string& gate) {
  GANG_TRY_VOID(check_key("gate=", gate));
  if (std::find(pod.scheduling_gates.begin(), pod.scheduling_gates.end(), gate) !=
      pod.scheduling_gates.end()) {
    return fail(Code::kAlreadyExists, "gate=" + gate + " is there twice; keep one");
  }
  pod.scheduling_gates.push_back(gate);
  return {};
}

Result<void> add_selector(api::Pod& pod, const std::string& key, const std::string& value) {
  GANG_TRY_VOID(check_key("selector." + key + "=", key));
  GANG_TRY_VOID(check_value("selector." + key + "=", value));
  pod.node_selector.emplace_back(key, value);
  std::sort(pod.node_selector.begin(), pod.node_selector.end());
  return {};
}

Result<void> add_label(api::Pod& pod, const std::string& key, const std::string& value) {
  GANG_TRY_VOID(check_key("label." + key + "=", key));
  GANG_TRY_VOID(check_value("label." + key + "=", value));
  pod.meta.labels.emplace_back(key, value);
  std::sort(pod.meta.labels.begin(), pod.meta.labels.end());
  return {};
}

/// Options whose value is a name: where the pod belongs. False when `key` is none of them.
Result<bool> apply_name(api::Pod& pod, const std::string& key, const std::string& value) {
  if (key == "namespace") {
    GANG_TRY_VOID(check_namespace("namespace=", value));
    pod.meta.key.name_space = value;
    return true;
  }
  if (key != "group" && key != "scheduler") return false;
  GANG_TRY_VOID(check_name(key + "=", value));
  (key == "group" ? pod.pod_group_name : pod.scheduler_name) = value;
  return true;
}

Result<void> apply_option(api::Pod& pod, const std::string& key, const std::string& value) {
  const auto suffix = [&](std::string_view prefix) { return key.substr(prefix.size()); };
  GANG_TRY(const bool is_name, apply_name(pod, key, value));
  if (is_name) return {};
  if (key == "gate") return add_gate(pod, value);
  if (names_claim(key) || names_shared_claim(key)) {
    pod.rules.resource_claims = true;
    return add_claim_entry(pod.claims, key, value);
  }
  if (key == "priority") return set_priority(pod, value);
  if (key == "affinity") return add_affinity(pod, value);
  if (key == "repels") return add_anti_affinity(pod, value);
  if (key.starts_with("label.")) return add_label(pod, suffix("label."), value);
  if (key == "uses") return apply_rule(pod.rules, value);
  if (key == "tolerate") {
    GANG_TRY(api::Toleration toleration, parse_toleration(value));
    pod.tolerations.push_back(std::move(toleration));
  } else if (key == "port") {
    GANG_TRY(api::HostPort port, parse_port(value));
    pod.host_ports.push_back(std::move(port));
  } else if (key.starts_with("selector.")) {
    return add_selector(pod, suffix("selector."), value);
  } else if (key.starts_with("init.")) {
    return set_request(pod, api::ContainerKind::kInit, key, value);
  } else if (key.starts_with("sidecar.")) {
    return set_request(pod, api::ContainerKind::kSidecar, key, value);
  } else {
    return set_request(pod, api::ContainerKind::kMain, key, value);
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
    GANG_TRY_VOID(apply_option(pod, key, value));
  }
  if (command.has_word("bare")) pod.meta.controller.reset();
  return pod;
}

}  // namespace gang::sim
