// One table of wanted keys and one decoder per kind, from a parsed tree to a value.
//
// A decoder fails only as decode_meta() does; any other problem ends in meta.unreadable. `problem`
// is what parsing already complained about, or empty.
#pragma once

#include <optional>
#include <string>

#include "api/json_meta.h"
#include "gang/api/json.h"

namespace gang::api {

extern const Want kPodWant;
extern const Want kNodeWant;
extern const Want kPodGroupWant;  ///< also CompositePodGroup
extern const Want kWorkloadWant;
extern const Want kPriorityClassWant;
extern const Want kNamespaceWant;
extern const Want kStatusWant;

[[nodiscard]] Result<Pod> pod_from(JsonView json, std::string problem);
[[nodiscard]] Result<Node> node_from(JsonView json, std::string problem);
[[nodiscard]] Result<PodGroup> pod_group_from(JsonView json, std::string problem);
[[nodiscard]] Result<CompositePodGroup> composite_pod_group_from(JsonView json,
                                                                 std::string problem);
[[nodiscard]] Result<Workload> workload_from(JsonView json, std::string problem);
[[nodiscard]] Result<PriorityClass> priority_class_from(JsonView json, std::string problem);
[[nodiscard]] Result<Namespace> namespace_from(JsonView json, std::string problem);

/// metav1.Status; what is broken in it is left out.
[[nodiscard]] Status status_from(JsonView json);

/// The fields that a group's spec and a Workload's template share. `count_key` is "minCount" or
/// "minGroupCount".
[[nodiscard]] GroupSpec group_spec_from(JsonView spec, std::string_view count_key,
                                        JsonReader& reader);

/// A core/v1 NodeSelector; nothing when absent.
[[nodiscard]] std::optional<NodeSelector> decode_node_selector(JsonView json, JsonReader& reader);

/// Affinity, tolerations, constraints and volumes of a pod's spec.
void decode_pod_rules(JsonView spec, Pod& pod, JsonReader& reader);

/// The table and the decoder of any kind.
[[nodiscard]] const Want& want_of(Kind kind);
[[nodiscard]] Result<Object> object_from(Kind kind, JsonView json, std::string problem);

}  // namespace gang::api
