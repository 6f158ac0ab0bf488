// The decoding half of api/json.h: one parse of the wanted keys, then the decoder of the kind.
#include "api/json_device.h"
#include "api/json_kinds.h"
#include "gang/api/json.h"

namespace gang::api {
namespace {

template <class T>
Result<Object> widen(Result<T> decoded) {
  if (!decoded) return tl::unexpected<Error>(std::move(decoded).error());
  return Object(*std::move(decoded));
}

/// One parse of what is wanted, then the decoder.
template <class T>
Result<T> decode_as(std::string_view json, const Want& want,
                    Result<T> (*decode)(JsonView, std::string)) {
  GANG_TRY(ParsedJson parsed, parse_wanted(json, want));
  return decode(parsed.tree.root(), std::move(parsed.problem));
}

constexpr Want kListMetaWants[] = {Want("resourceVersion"), Want("continue")};
constexpr Want kListWants[] = {Want("metadata", kListMetaWants)};
constexpr Want kVersionWants[] = {Want("version")};
constexpr Want kNameWants[] = {Want("name")};
constexpr Want kGroupWants[] = {Want("versions", kVersionWants)};
constexpr Want kResourceListWants[] = {Want("resources", kNameWants)};

/// One text member of every element of a list; the list must be there.
Result<std::vector<std::string>> member_texts(JsonView list, std::string_view key) {
  if (!list.is(JsonType::kArray)) {
    return fail(Code::kInvalidArgument,
                "not a discovery document: the list of \"" + std::string(key) + "\" is missing");
  }
  std::vector<std::string> texts;
  for (JsonView element = list.first(); element.valid(); element = element.next()) {
    if (const JsonView text = element[key]; text.is(JsonType::kString)) {
      texts.emplace_back(text.text());
    }
  }
  return texts;
}

}  // namespace

const Want& want_of(Kind kind) {
  switch (kind) {
    case Kind::kPod:
    case Kind::kFinishedPod:
      return kPodWant;
    case Kind::kNode:
      return kNodeWant;
    case Kind::kPodGroup:
    case Kind::kCompositePodGroup:
      return kPodGroupWant;
    case Kind::kWorkload:
      return kWorkloadWant;
    case Kind::kPriorityClass:
      return kPriorityClassWant;
    case Kind::kNamespace:
      return kNamespaceWant;
    case Kind::kResourceSlice:
      return kResourceSliceWant;
    case Kind::kResourceClaim:
      return kResourceClaimWant;
    case Kind::kResourceClaimTemplate:
      return kResourceClaimTemplateWant;
    case Kind::kDeviceClass:
      return kDeviceClassWant;
    case Kind::kDeviceTaintRule:
      return kDeviceTaintRuleWant;
  }
  return kPodWant;
}

Result<Object> object_from(Kind kind, JsonView json, std::string problem) {
  switch (kind) {
    case Kind::kPod:
    case Kind::kFinishedPod:
      return widen(pod_from(json, std::move(problem)));
    case Kind::kNode:
      return widen(node_from(json, std::move(problem)));
    case Kind::kPodGroup:
      return widen(pod_group_from(json, std::move(problem)));
    case Kind::kCompositePodGroup:
      return widen(composite_pod_group_from(json, std::move(problem)));
    case Kind::kWorkload:
      return widen(workload_from(json, std::move(problem)));
    case Kind::kPriorityClass:
      return widen(priority_class_from(json, std::move(problem)));
    case Kind::kNamespace:
      return widen(namespace_from(json, std::move(problem)));
    case Kind::kResourceSlice:
      return widen(resource_slice_from(json, std::move(problem)));
    case Kind::kResourceClaim:
      return widen(resource_claim_from(json, std::move(problem)));
    case Kind::kResourceClaimTemplate:
      return widen(resource_claim_template_from(json, std::move(problem)));
    case Kind::kDeviceClass:
      return widen(device_class_from(json, std::move(problem)));
    case Kind::kDeviceTaintRule:
      return widen(device_taint_rule_from(json, std::move(problem)));
  }
  return fail(Code::kInternal, "unknown kind");
}

Result<Object> decode_object(Kind kind, std::string_view json) {
  GANG_TRY(ParsedJson parsed, parse_wanted(json, want_of(kind)));
  return object_from(kind, parsed.tree.root(), std::move(parsed.problem));
}

Result<Pod> decode_pod(std::string_view json) {
  return decode_as(json, kPodWant, pod_from);
}

Result<Node> decode_node(std::string_view json) {
  return decode_as(json, kNodeWant, node_from);
}

Result<PodGroup> decode_pod_group(std::string_view json) {
  return decode_as(json, kPodGroupWant, pod_group_from);
}

Result<ResourceSlice> decode_resource_slice(std::string_view json) {
  return decode_as(json, kResourceSliceWant, resource_slice_from);
}

Result<DeviceTaintRule> decode_device_taint_rule(std::string_view json) {
  return decode_as(json, kDeviceTaintRuleWant, device_taint_rule_from);
}

Result<DeviceClass> decode_device_class(std::string_view json) {
  return decode_as(json, kDeviceClassWant, device_class_from);
}

Result<ResourceClaim> decode_resource_claim(std::string_view json) {
  return decode_as(json, kResourceClaimWant, resource_claim_from);
}

Result<ResourceClaimTemplate> decode_resource_claim_template(std::string_view json) {
  return decode_as(json, kResourceClaimTemplateWant, resource_claim_template_from);
}

Result<ListMeta> decode_list_meta(std::string_view json) {
  GANG_TRY(ParsedJson parsed, parse_wanted(json, Want("", kListWants)));
  const JsonView meta = parsed.tree.root()["metadata"];
  JsonReader reader(std::move(parsed.problem));
  ListMeta result{ResourceVersion{reader.text(meta, "resourceVersion")},
                  reader.text(meta, "continue")};
  if (!reader.problem().empty()) return fail(Code::kInvalidArgument, reader.problem());
  return result;
}

Result<std::vector<std::string>> decode_group_versions(std::string_view json) {
  GANG_TRY(ParsedJson parsed, parse_wanted(json, Want("", kGroupWants)));
  return member_texts(parsed.tree.root()["versions"], "version");
}

Result<std::vector<std::string>> decode_resource_names(std::string_view json) {
  GANG_TRY(ParsedJson parsed, parse_wanted(json, Want("", kResourceListWants)));
  GANG_TRY(std::vector<std::string> names, member_texts(parsed.tree.root()["resources"], "name"));
  std::erase_if(names, [](const std::string& name) { return name.find('/') != name.npos; });
  return names;
}

}  // namespace gang::api
