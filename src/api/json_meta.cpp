#include "api/json_meta.h"

#include <algorithm>

#include "gang/base/utf8.h"

namespace gang::api {
namespace {

/// Whether the text can stand as one segment of a request path.
bool is_usable_name(std::string_view name) {
  if (name.empty() || name.size() > kNameBytesMax || name == "." || name == "..") return false;
  return std::all_of(name.begin(), name.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte > 0x20 && byte < 0x7F && c != '/' && c != '%';
  });
}

Result<ObjectKey> decode_key(JsonView meta) {
  const JsonView name = meta["name"];
  if (!name.is(JsonType::kString) || !is_usable_name(name.text())) {
    return fail(Code::kInvalidArgument,
                "metadata.name: missing or not a name; write a DNS name of at most 253 bytes");
  }
  const JsonView name_space = meta["namespace"];
  if (!name_space.exists()) return ObjectKey{"", std::string(name.text())};
  const bool usable = name_space.is(JsonType::kString) &&
                      (name_space.text().empty() || is_usable_name(name_space.text()));
  if (!usable) {
    return fail(Code::kInvalidArgument,
                "metadata.namespace: not a name; write a DNS name of at most 253 bytes");
  }
  return ObjectKey{std::string(name_space.text()), std::string(name.text())};
}

/// "batch" of "batch/v1", "" of "v1".
std::string group_of(const std::string& api_version) {
  const std::size_t slash = api_version.find('/');
  return slash == std::string::npos ? std::string() : api_version.substr(0, slash);
}

std::optional<ControllerRef> decode_controller(JsonView owners, JsonReader& reader) {
  std::optional<ControllerRef> controller;
  for (JsonView owner = reader.first(owners); owner.valid(); owner = owner.next()) {
    if (controller || !reader.flag(owner, "controller")) continue;
    controller =
        ControllerRef{reader.text(owner, "kind"), reader.text(owner, "name"),
                      Uid{reader.text(owner, "uid")}, group_of(reader.text(owner, "apiVersion"))};
  }
  return controller;
}

ConditionStatus condition_status(std::string_view text) {
  if (text == "True") return ConditionStatus::kTrue;
  return text == "False" ? ConditionStatus::kFalse : ConditionStatus::kUnknown;
}

}  // namespace

Result<ObjectMeta> decode_meta(JsonView object, std::string_view expected_kind,
                               JsonReader& reader) {
  const JsonView kind = object["kind"];
  if (kind.is(JsonType::kString) && kind.text() != expected_kind) {
    return fail(Code::kInvalidArgument, "kind: \"" + std::string(cut_text(kind.text(), 64)) +
                                            "\" is the wrong kind; send a " +
                                            std::string(expected_kind));
  }
  const JsonView json = object["metadata"];
  ObjectMeta meta;
  GANG_TRY(meta.key, decode_key(json));
  meta.uid.text = reader.text(json, "uid");
  meta.resource_version.text = reader.text(json, "resourceVersion");
  meta.generation = reader.int64(json["generation"], 0);
  meta.creation_time = reader.time(json["creationTimestamp"]).value_or(TimePoint{});
  meta.deletion_time = reader.time(json["deletionTimestamp"]);
  meta.labels = reader.string_map(json["labels"]);
  meta.annotations = reader.string_map(json["annotations"]);
  std::erase_if(meta.annotations, [](const auto& a) { return a.first == kInitialEventsEnd; });
  meta.controller = decode_controller(json["ownerReferences"], reader);
  return meta;
}

std::vector<Condition> decode_conditions(JsonView list, JsonReader& reader) {
  std::vector<Condition> conditions;
  for (JsonView json = reader.first(list); json.valid(); json = json.next()) {
    Condition condition;
    condition.type = reader.text(json, "type");
    condition.status = condition_status(reader.text(json, "status"));
    condition.reason = reader.text(json, "reason");
    condition.message = reader.text(json, "message");
    condition.last_transition_time = reader.time(json["lastTransitionTime"]).value_or(TimePoint{});
    condition.observed_generation = reader.int64(json["observedGeneration"], 0);
    conditions.push_back(std::move(condition));
  }
  return conditions;
}

}  // namespace gang::api
