// The only gate between JSON text and values.
//
// Decoding never throws and never recurses into what is not read (managedFields and the like are
// skipped at lexer speed; nested depth of what is read is limited to 64). A decode fails only when
// the text is no JSON object or its metadata has no usable name; any other broken field leaves the
// object readable by name with meta.unreadable set ("spec.priority: ...").
// Encoders write exactly the bodies of the commit protocol. Any thread; no state.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gang/api/claim.h"
#include "gang/api/delta.h"
#include "gang/base/result.h"

namespace gang::api {

/// Decodes one object of that kind.
[[nodiscard]] Result<Object> decode_object(Kind kind, std::string_view json);
[[nodiscard]] Result<Pod> decode_pod(std::string_view json);
[[nodiscard]] Result<Node> decode_node(std::string_view json);
[[nodiscard]] Result<PodGroup> decode_pod_group(std::string_view json);
[[nodiscard]] Result<ResourceSlice> decode_resource_slice(std::string_view json);
[[nodiscard]] Result<DeviceTaintRule> decode_device_taint_rule(std::string_view json);
[[nodiscard]] Result<DeviceClass> decode_device_class(std::string_view json);
[[nodiscard]] Result<ResourceClaim> decode_resource_claim(std::string_view json);
[[nodiscard]] Result<ResourceClaimTemplate> decode_resource_claim_template(std::string_view json);

/// metav1.Status, from a body that may also be plain text (429, 404 of an unknown path).
struct Status {
  int code = 0;         ///< HTTP code in the body; 0 when the body was no Status
  std::string reason;   ///< "Conflict", "Expired", ... ; empty when unknown
  std::string message;  ///< at most 1,024 bytes
  std::optional<int> retry_after_seconds;
  std::vector<std::string> causes;  ///< "reason field: message"
};

[[nodiscard]] Status decode_status(std::string_view body);

enum class WatchEventType { kAdded, kModified, kDeleted, kBookmark, kError };

/// One line of a watch stream.
struct WatchEvent {
  WatchEventType type = WatchEventType::kBookmark;
  Object object;                     ///< kAdded, kModified, kDeleted
  ResourceVersion resource_version;  ///< of the object or bookmark
  bool initial_events_end = false;   ///< bookmark annotated k8s.io/initial-events-end
  Status status;                     ///< kError
};

[[nodiscard]] Result<WatchEvent> decode_watch_event(Kind kind, std::string_view line);

/// metadata of a list body whose items were taken out.
struct ListMeta {
  ResourceVersion resource_version;
  std::string continue_token;
};

[[nodiscard]] Result<ListMeta> decode_list_meta(std::string_view json);

/// Group versions served: from /apis/<group> (APIGroup) the version names, from
/// /apis/<group>/<version> (APIResourceList) the resource names without subresources.
[[nodiscard]] Result<std::vector<std::string>> decode_group_versions(std::string_view json);
[[nodiscard]] Result<std::vector<std::string>> decode_resource_names(std::string_view json);

/// POST .../binding. `annotations` are merged into the pod by the server in the same write.
struct Binding {
  ObjectKey pod;
  Uid uid;
  ResourceVersion resource_version;  ///< empty = no precondition
  std::string node_name;
  StringMap annotations;
};

[[nodiscard]] std::string encode_binding(const Binding& binding);

/// Strategic-merge PATCH of pods/status. Absent parts are left alone.
struct PodStatusPatch {
  ObjectKey pod;
  Uid uid;
  ResourceVersion resource_version;                ///< sent as precondition; empty = none
  std::optional<Condition> condition;              ///< merged by type
  std::optional<std::string> nominated_node_name;  ///< "" clears
  /// Replaces the one that is there. The server takes none away: null leaves what was written.
  std::optional<ExtendedClaimStatus> extended_claim = {};
};

[[nodiscard]] std::string encode_pod_status_patch(const PodStatusPatch& patch);

/// Strategic-merge PATCH of podgroups/status: conditions merged by type, uid as precondition.
struct PodGroupStatusPatch {
  ObjectKey group;
  Uid uid;
  std::vector<Condition> conditions;
};

[[nodiscard]] std::string encode_pod_group_status_patch(const PodGroupStatusPatch& patch);

/// DELETE body with preconditions; the pod's own grace period applies.
[[nodiscard]] std::string encode_delete_options(const Uid& uid, const ResourceVersion& version);

/// What an event is about.
struct EventTarget {
  std::string api_version;  ///< "v1", "scheduling.k8s.io/v1beta1"
  std::string kind;
  ObjectKey key;
  Uid uid;
  ResourceVersion resource_version;
};

/// events.k8s.io/v1 Event.
struct Event {
  EventTarget regarding;
  std::string name;  ///< "<regarding>.<hex nanoseconds>"
  std::string type;  ///< "Normal", "Warning"
  std::string reason;
  std::string action;
  std::string note;  ///< cut to 1,024 bytes by the encoder as upstream does (1,020 + " ...")
  std::string reporting_controller;
  std::string reporting_instance;
  TimePoint time{};
};

[[nodiscard]] std::string encode_event(const Event& event);

}  // namespace gang::api
