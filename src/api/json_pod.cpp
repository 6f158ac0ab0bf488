#include <algorithm>

#include "api/json_device.h"
#include "api/json_kinds.h"

namespace gang::api {
namespace {

constexpr Want kRequestsWants[] = {Want("requests")};
constexpr Want kPortWants[] = {Want("hostIP"), Want("hostPort"), Want("protocol")};
constexpr Want kMountWants[] = {Want("bindMountOptions")};
constexpr Want kRestartRuleWants[] = {Want("action")};
constexpr Want kContainerWants[] = {Want("name"),
                                    Want("restartPolicy"),
                                    Want("resources", kRequestsWants),
                                    Want("ports", kPortWants),
                                    Want("volumeMounts", kMountWants),
                                    Want("restartPolicyRules", kRestartRuleWants)};
constexpr Want kEphemeralWants[] = {Want("volumeMounts", kMountWants)};
// Presence is all that is read of these.
constexpr Want kNothing[] = {Want("")};
constexpr Want kVolumeWants[] = {Want("persistentVolumeClaim", kNothing),
                                 Want("ephemeral", kNothing),
                                 Want("gcePersistentDisk", kNothing),
                                 Want("awsElasticBlockStore", kNothing),
                                 Want("azureDisk", kNothing),
                                 Want("cinder", kNothing),
                                 Want("portworxVolume", kNothing),
                                 Want("rbd", kNothing),
                                 Want("iscsi", kNothing)};
constexpr Want kSpreadWants[] = {Want("whenUnsatisfiable")};
constexpr Want kRequired[] = {Want("requiredDuringSchedulingIgnoredDuringExecution")};
constexpr Want kAffinityWants[] = {Want("nodeAffinity"), Want("podAffinity", kRequired),
                                   Want("podAntiAffinity", kRequired)};
constexpr Want kGroupWants[] = {Want("podGroupName")};
constexpr Want kNameWants[] = {Want("name")};
constexpr Want kSpecWants[] = {Want("schedulerName"),
                               Want("nodeName"),
                               Want("priority"),
                               Want("priorityClassName"),
                               Want("preemptionPolicy"),
                               Want("schedulingGroup", kGroupWants),
                               Want("schedulingGates", kNameWants),
                               Want("nodeSelector"),
                               Want("affinity", kAffinityWants),
                               Want("tolerations"),
                               Want("topologySpreadConstraints", kSpreadWants),
                               Want("volumes", kVolumeWants),
                               Want("resourceClaims", kClaimEntryWants),
                               Want("initContainers", kContainerWants),
                               Want("containers", kContainerWants),
                               Want("ephemeralContainers", kEphemeralWants),
                               Want("overhead"),
                               Want("resources", kRequestsWants),
                               Want("hostNetwork"),
                               Want("hostUsers")};
constexpr Want kContainerStatusWants[] = {Want("name"), Want("allocatedResources"),
                                          Want("resources", kRequestsWants)};
constexpr Want kStatusWants[] = {Want("phase"),
                                 Want("reason"),
                                 Want("nominatedNodeName"),
                                 Want("conditions", kConditionWants),
                                 Want("resourceClaimStatuses", kClaimStatusWants),
                                 Want("extendedResourceClaimStatus", kExtendedClaimWants),
                                 Want("initContainerStatuses", kContainerStatusWants),
                                 Want("containerStatuses", kContainerStatusWants),
                                 Want("resources", kRequestsWants),
                                 Want("allocatedResources")};
constexpr Want kPodWants[] = {Want("kind"), Want("metadata", kMetaWants), Want("spec", kSpecWants),
                              Want("status", kStatusWants)};

constexpr std::int32_t kPortMax = 65'535;

PodPhase phase_from(std::string_view text) {
  if (text.empty() || text == "Pending") return PodPhase::kPending;
  if (text == "Running") return PodPhase::kRunning;
  if (text == "Succeeded") return PodPhase::kSucceeded;
  return text == "Failed" ? PodPhase::kFailed : PodPhase::kUnknown;
}

void decode_host_ports(JsonView container, std::vector<HostPort>& ports, JsonReader& reader) {
  const JsonView list = reader.at(container, "ports");
  for (JsonView json = reader.first(list); json.valid(); json = json.next()) {
    HostPort port{reader.text(json, "hostIP"), reader.text(json, "protocol"),
                  reader.int32(reader.at(json, "hostPort"), 0)};
    if (port.port < 0 || port.port > kPortMax) {
      reader.refuse(json["hostPort"], std::to_string(port.port) + " is no port; write 1 to 65535");
    }
    if (port.port <= 0) continue;
    if (port.ip.empty()) port.ip = "0.0.0.0";
    if (port.protocol.empty()) port.protocol = "TCP";
    ports.push_back(std::move(port));
  }
}

Container decode_container(JsonView json, ContainerKind kind, JsonReader& reader) {
  Container container;
  container.name = reader.text(json, "name");
  container.kind = kind;
  container.requests = reader.resources(reader.at(reader.at(json, "resources"), "requests"));
  return container;
}

void decode_containers(JsonView spec, Pod& pod, JsonReader& reader) {
  const JsonView inits = reader.at(spec, "initContainers");
  for (JsonView json = reader.first(inits); json.valid(); json = json.next()) {
    const bool sidecar = reader.text(json, "restartPolicy") == "Always";
    pod.containers.push_back(
        decode_container(json, sidecar ? ContainerKind::kSidecar : ContainerKind::kInit, reader));
    if (sidecar) decode_host_ports(json, pod.host_ports, reader);
  }
  const JsonView mains = reader.at(spec, "containers");
  for (JsonView json = reader.first(mains); json.valid(); json = json.next()) {
    pod.containers.push_back(decode_container(json, ContainerKind::kMain, reader));
    decode_host_ports(json, pod.host_ports, reader);
  }
  std::sort(pod.host_ports.begin(), pod.host_ports.end());
}

std::optional<ResourceList> optional_resources(JsonView object, JsonReader& reader) {
  if (!object.exists()) return std::nullopt;
  return reader.resources(object);
}

/// Requests of a status' `resources`: there as soon as `resources` is there.
std::optional<ResourceList> actuated_resources(JsonView resources, JsonReader& reader) {
  if (!resources.exists()) return std::nullopt;
  return reader.resources(reader.at(resources, "requests"));
}

void decode_container_statuses(JsonView list, bool of_mains, Pod& pod, JsonReader& reader) {
  for (JsonView json = reader.first(list); json.valid(); json = json.next()) {
    const JsonView name = reader.at(json, "name");
    for (Container& container : pod.containers) {
      const bool is_main = container.kind == ContainerKind::kMain;
      if (is_main != of_mains || container.name != name.text()) continue;
      container.allocated = optional_resources(json["allocatedResources"], reader);
      container.actuated = actuated_resources(json["resources"], reader);
    }
  }
}

void decode_pod_level(JsonView spec, JsonView status, Pod& pod, JsonReader& reader) {
  const JsonView wanted = reader.at(spec, "resources");
  const JsonView actuated = reader.at(status, "resources");
  const JsonView allocated = reader.at(status, "allocatedResources");
  if (!wanted.exists() && !actuated.exists() && !allocated.exists()) return;
  pod.pod_level = PodLevelResources{reader.resources(reader.at(wanted, "requests")),
                                    actuated_resources(actuated, reader),
                                    optional_resources(allocated, reader)};
}

void decode_spec(JsonView spec, Pod& pod, JsonReader& reader) {
  pod.scheduler_name = reader.text(spec, "schedulerName");
  pod.node_name = reader.text(spec, "nodeName");
  pod.priority = reader.int32(reader.at(spec, "priority"), 0);
  pod.priority_class_name = reader.text(spec, "priorityClassName");
  pod.preemption_policy = reader.text(spec, "preemptionPolicy");
  pod.pod_group_name = reader.text(reader.at(spec, "schedulingGroup"), "podGroupName");
  const JsonView gates = reader.at(spec, "schedulingGates");
  for (JsonView gate = reader.first(gates); gate.valid(); gate = gate.next()) {
    pod.scheduling_gates.push_back(reader.text(gate, "name"));
  }
  pod.node_selector = reader.string_map(reader.at(spec, "nodeSelector"));
  pod.overhead = reader.resources(reader.at(spec, "overhead"));
  decode_containers(spec, pod, reader);
  pod.claims = claim_entries_from(reader.at(spec, "resourceClaims"), reader);
  decode_pod_rules(spec, pod, reader);
}

void decode_status(JsonView status, Pod& pod, JsonReader& reader) {
  pod.phase = phase_from(reader.text(status, "phase"));
  pod.status_reason = reader.text(status, "reason");
  pod.nominated_node_name = reader.text(status, "nominatedNodeName");
  pod.claim_statuses = claim_statuses_from(reader.at(status, "resourceClaimStatuses"), reader);
  pod.extended_claim =
      extended_claim_from(reader.at(status, "extendedResourceClaimStatus"), reader);
  pod.conditions = decode_conditions(reader.at(status, "conditions"), reader);
  std::erase_if(pod.conditions, [](const Condition& condition) {
    return condition.type != "PodScheduled" && condition.type != "DisruptionTarget" &&
           condition.type != "PodResizePending";
  });
  decode_container_statuses(reader.at(status, "initContainerStatuses"), false, pod, reader);
  decode_container_statuses(reader.at(status, "containerStatuses"), true, pod, reader);
}

}  // namespace

constinit const Want kPodWant("", kPodWants);

Result<Pod> pod_from(JsonView json, std::string problem) {
  JsonReader reader(std::move(problem));
  Pod pod;
  GANG_TRY(pod.meta, decode_meta(json, "Pod", reader));
  const JsonView spec = reader.at(json, "spec");
  const JsonView status = reader.at(json, "status");
  decode_spec(spec, pod, reader);
  decode_status(status, pod, reader);
  decode_pod_level(spec, status, pod, reader);
  pod.meta.unreadable = reader.problem();
  return pod;
}

}  // namespace gang::api
