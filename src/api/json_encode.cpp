// The encoding half of api/json.h: the bodies of the commit protocol, keys sorted, byte for byte
// the same for the same value. Bytes that are no UTF-8 become U+FFFD.
#include <nlohmann/json.hpp>

#include "api/json_device.h"
#include "api/json_reader.h"
#include "gang/api/json.h"
#include "gang/base/utf8.h"

namespace gang::api {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kNoteBytesMax = 1'024;
constexpr std::string_view kNoteEnd = " ...";

std::string dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// Only the preconditions that are set.
Json preconditions(const Uid& uid, const ResourceVersion& version) {
  Json json = Json::object();
  if (!uid.empty()) json["uid"] = uid.text;
  if (!version.empty()) json["resourceVersion"] = version.text;
  return json;
}

/// Every text field is written, empty ones too: a merge must replace what an older reason left.
Json condition_json(const Condition& condition) {
  Json json = {{"type", condition.type},
               {"status", std::string(status_text(condition.status))},
               {"reason", condition.reason},
               {"message", condition.message},
               {"lastTransitionTime", format_rfc3339(condition.last_transition_time)}};
  if (condition.observed_generation > 0) {
    json["observedGeneration"] = condition.observed_generation;
  }
  return json;
}

/// As upstream cuts event notes, but never inside a code point.
std::string cut_note(const std::string& note) {
  // Through the encoder and back, since bytes that are no UTF-8 grow when they are replaced.
  const std::string valid = Json::parse(dump(Json(note)), nullptr, false).get<std::string>();
  if (valid.size() <= kNoteBytesMax) return valid;
  return std::string(cut_text(valid, kNoteBytesMax - kNoteEnd.size())).append(kNoteEnd);
}

/// Recursion ends at kDepthMax of the parsed tree.
std::string container_text(JsonView value) {
  const bool is_object = value.is(JsonType::kObject);
  std::string text(is_object ? "{" : "[");
  for (JsonView child = value.first(); child.valid(); child = child.next()) {
    if (text.size() > 1) text += ',';
    if (is_object) text += dump(Json(std::string(child.key()))) + ":";
    text += json_text(child);
  }
  text += is_object ? '}' : ']';
  return text;
}

}  // namespace

std::string json_text(JsonView value) {
  if (!value.exists()) return "null";
  switch (value.type()) {
    case JsonType::kNull:
      return "null";
    case JsonType::kFalse:
      return "false";
    case JsonType::kTrue:
      return "true";
    case JsonType::kNumber:
      return std::string(value.text());
    case JsonType::kString:
      return dump(Json(std::string(value.text())));
    case JsonType::kObject:
    case JsonType::kArray:
      return container_text(value);
  }
  return "null";
}

std::string encode_binding(const Binding& binding) {
  Json meta = preconditions(binding.uid, binding.resource_version);
  meta["name"] = binding.pod.name;
  meta["namespace"] = binding.pod.name_space;
  for (const auto& [key, value] : binding.annotations) meta["annotations"][key] = value;
  return dump({{"apiVersion", "v1"},
               {"kind", "Binding"},
               {"metadata", std::move(meta)},
               {"target", {{"kind", "Node"}, {"name", binding.node_name}}}});
}

Json extended_claim_json(const ExtendedClaimStatus& status) {
  Json mappings = Json::array();
  for (const ExtendedRequestMapping& mapping : status.mappings) {
    mappings.push_back({{"containerName", mapping.container_name},
                        {"resourceName", mapping.resource_name},
                        {"requestName", mapping.request_name}});
  }
  return {{"resourceClaimName", status.claim_name}, {"requestMappings", std::move(mappings)}};
}

std::string encode_pod_status_patch(const PodStatusPatch& patch) {
  Json status = Json::object();
  if (patch.condition) status["conditions"] = Json::array({condition_json(*patch.condition)});
  if (patch.nominated_node_name) {
    // In a merge patch null takes a field away.
    status["nominatedNodeName"] =
        patch.nominated_node_name->empty() ? Json() : Json(*patch.nominated_node_name);
  }
  if (patch.extended_claim) {
    status["extendedResourceClaimStatus"] = extended_claim_json(*patch.extended_claim);
  }
  return dump({{"metadata", preconditions(patch.uid, patch.resource_version)},
               {"status", std::move(status)}});
}

std::string encode_pod_group_status_patch(const PodGroupStatusPatch& patch) {
  Json conditions = Json::array();
  for (const Condition& condition : patch.conditions) {
    conditions.push_back(condition_json(condition));
  }
  return dump({{"metadata", preconditions(patch.uid, {})},
               {"status", {{"conditions", std::move(conditions)}}}});
}

std::string encode_delete_options(const Uid& uid, const ResourceVersion& version) {
  return dump({{"apiVersion", "v1"},
               {"kind", "DeleteOptions"},
               {"preconditions", preconditions(uid, version)}});
}

std::string encode_event(const Event& event) {
  const EventTarget& target = event.regarding;
  Json regarding = preconditions(target.uid, target.resource_version);
  regarding["apiVersion"] = target.api_version;
  regarding["kind"] = target.kind;
  regarding["name"] = target.key.name;
  if (!target.key.name_space.empty()) regarding["namespace"] = target.key.name_space;
  const std::string& name_space = target.key.name_space.empty() ? "default" : target.key.name_space;
  return dump({{"apiVersion", "events.k8s.io/v1"},
               {"kind", "Event"},
               {"metadata", {{"name", event.name}, {"namespace", name_space}}},
               {"eventTime", format_rfc3339_micro(event.time)},
               {"reportingController", event.reporting_controller},
               {"reportingInstance", event.reporting_instance},
               {"action", event.action},
               {"reason", event.reason},
               {"regarding", std::move(regarding)},
               {"note", cut_note(event.note)},
               {"type", event.type}});
}

}  // namespace gang::api
