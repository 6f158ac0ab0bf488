// The scheduling rules of a pod's spec: node affinity, tolerations, required anti-affinity, and the
// facts about rules that are not kept as values.
#include <algorithm>
#include <array>

#include "api/json_kinds.h"

namespace gang::api {
namespace {

constexpr std::string_view kRequiredKey = "requiredDuringSchedulingIgnoredDuringExecution";
constexpr std::string_view kPreferredKey = "preferredDuringSchedulingIgnoredDuringExecution";

constexpr std::array<std::string_view, 9> kRuleVolumes = {
    "persistentVolumeClaim", "ephemeral", "gcePersistentDisk",
    "awsElasticBlockStore",  "azureDisk", "cinder",
    "portworxVolume",        "rbd",       "iscsi"};

std::vector<NodeSelectorRequirement> decode_requirements(JsonView list, JsonReader& reader) {
  std::vector<NodeSelectorRequirement> requirements;
  for (JsonView json = reader.first(list); json.valid(); json = json.next()) {
    requirements.push_back(
        {reader.text(json, "key"), reader.text(json, "operator"), reader.texts(json["values"])});
  }
  return requirements;
}

NodeSelectorTerm decode_term(JsonView json, JsonReader& reader) {
  return {decode_requirements(reader.at(json, "matchExpressions"), reader),
          decode_requirements(reader.at(json, "matchFields"), reader)};
}

void decode_node_affinity(JsonView affinity, Pod& pod, JsonReader& reader) {
  pod.required_affinity = decode_node_selector(reader.at(affinity, kRequiredKey), reader);
  const JsonView preferred = reader.at(affinity, kPreferredKey);
  for (JsonView json = reader.first(preferred); json.valid(); json = json.next()) {
    pod.preferred_affinity.push_back({reader.int32(reader.at(json, "weight"), 0),
                                      decode_term(reader.at(json, "preference"), reader)});
  }
}

std::optional<LabelSelector> decode_label_selector(JsonView json, JsonReader& reader) {
  if (!json.exists()) return std::nullopt;
  LabelSelector selector;
  for (const auto& [key, value] : reader.string_map(reader.at(json, "matchLabels"))) {
    selector.requirements.push_back({key, "In", {value}});
  }
  for (auto& requirement : decode_requirements(reader.at(json, "matchExpressions"), reader)) {
    selector.requirements.push_back(std::move(requirement));
  }
  return selector;
}

void decode_anti_affinity(JsonView terms, Pod& pod, JsonReader& reader) {
  for (JsonView json = reader.first(terms); json.valid(); json = json.next()) {
    PodAntiAffinityTerm term;
    term.topology_key = reader.text(json, "topologyKey");
    term.selector = decode_label_selector(json["labelSelector"], reader);
    term.namespaces = reader.texts(json["namespaces"]);
    term.namespace_selector = decode_label_selector(json["namespaceSelector"], reader);
    if (term.namespaces.empty() && !term.namespace_selector) {
      term.namespaces.push_back(pod.meta.key.name_space);
    }
    pod.anti_affinity.push_back(std::move(term));
  }
}

void decode_tolerations(JsonView list, Pod& pod, JsonReader& reader) {
  for (JsonView json = reader.first(list); json.valid(); json = json.next()) {
    pod.tolerations.push_back({reader.text(json, "key"), reader.text(json, "operator"),
                               reader.text(json, "value"), reader.text(json, "effect")});
  }
}

/// A constraint of unknown kind counts as one that must hold.
bool has_hard_spread(JsonView constraints, JsonReader& reader) {
  bool found = false;
  for (JsonView json = reader.first(constraints); json.valid(); json = json.next()) {
    found = found || reader.text(json, "whenUnsatisfiable") != "ScheduleAnyway";
  }
  return found;
}

bool has_rule_volume(JsonView volumes, JsonReader& reader) {
  bool found = false;
  for (JsonView json = reader.first(volumes); json.valid(); json = json.next()) {
    found = found ||
            std::any_of(kRuleVolumes.begin(), kRuleVolumes.end(),
                        [&](std::string_view source) { return reader.at(json, source).exists(); });
  }
  return found;
}

/// RestartAllContainersOnContainerExits or VolumeBindMountOptions.
bool container_needs_feature(JsonView container, JsonReader& reader) {
  bool needed = false;
  const JsonView rules = reader.at(container, "restartPolicyRules");
  for (JsonView rule = reader.first(rules); rule.valid(); rule = rule.next()) {
    needed = needed || reader.text(rule, "action") == "RestartAllContainers";
  }
  const JsonView mounts = reader.at(container, "volumeMounts");
  for (JsonView mount = reader.first(mounts); mount.valid(); mount = mount.next()) {
    const JsonView options = reader.at(mount, "bindMountOptions");
    needed = needed || (options.exists() && options.first().valid());
  }
  return needed;
}

bool needs_declared_feature(JsonView spec, JsonReader& reader) {
  const bool host_network = reader.flag(spec, "hostNetwork");
  const bool own_users = spec["hostUsers"].exists() && !reader.flag(spec, "hostUsers");
  bool needed = host_network && own_users;
  for (const std::string_view key : {"initContainers", "containers", "ephemeralContainers"}) {
    const JsonView list = reader.at(spec, key);
    for (JsonView json = reader.first(list); json.valid(); json = json.next()) {
      needed = container_needs_feature(json, reader) || needed;
    }
  }
  return needed;
}

}  // namespace

std::optional<NodeSelector> decode_node_selector(JsonView json, JsonReader& reader) {
  if (!json.exists()) return std::nullopt;
  NodeSelector selector;
  const JsonView terms = reader.at(json, "nodeSelectorTerms");
  for (JsonView term = reader.first(terms); term.valid(); term = term.next()) {
    selector.terms.push_back(decode_term(term, reader));
  }
  return selector;
}

void decode_pod_rules(JsonView spec, Pod& pod, JsonReader& reader) {
  const JsonView affinity = reader.at(spec, "affinity");
  decode_node_affinity(reader.at(affinity, "nodeAffinity"), pod, reader);
  decode_anti_affinity(reader.at(reader.at(affinity, "podAntiAffinity"), kRequiredKey), pod,
                       reader);
  const JsonView attract = reader.at(reader.at(affinity, "podAffinity"), kRequiredKey);
  decode_tolerations(reader.at(spec, "tolerations"), pod, reader);
  pod.rules.pod_affinity = reader.first(attract).valid() || !pod.anti_affinity.empty();
  pod.rules.topology_spread = has_hard_spread(reader.at(spec, "topologySpreadConstraints"), reader);
  pod.rules.volumes = has_rule_volume(reader.at(spec, "volumes"), reader);
  pod.rules.resource_claims = !pod.claims.empty();
  pod.rules.declared_features = needs_declared_feature(spec, reader);
}

}  // namespace gang::api
