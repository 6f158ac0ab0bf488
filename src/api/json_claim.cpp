// ResourceClaim, ResourceClaimTemplate and DeviceClass.
#include <algorithm>

#include "api/json_device.h"
#include "api/json_kinds.h"

namespace gang::api {
namespace {

constexpr Want kClaimMetaWants[] = {Want("name"),
                                    Want("namespace"),
                                    Want("uid"),
                                    Want("resourceVersion"),
                                    Want("generation"),
                                    Want("creationTimestamp"),
                                    Want("deletionTimestamp"),
                                    Want("labels"),
                                    Want("annotations", kClaimAnnotationWants),
                                    Want("ownerReferences", kOwnerWants),
                                    Want("finalizers")};
constexpr Want kDevicesWants[] = {Want("requests"), Want("constraints"), Want("config")};
constexpr Want kClaimSpecWants[] = {Want("devices", kDevicesWants)};
constexpr Want kReservedWants[] = {Want("apiGroup"), Want("resource"), Want("name"), Want("uid")};
constexpr Want kDeviceStatusWants[] = {Want("driver"), Want("pool"), Want("device"),
                                       Want("shareID"), Want("conditions", kConditionWants)};
constexpr Want kStatusWants[] = {Want("allocation"), Want("reservedFor", kReservedWants),
                                 Want("devices", kDeviceStatusWants)};
constexpr Want kClaimWants[] = {Want("kind"), Want("metadata", kClaimMetaWants),
                                Want("spec", kClaimSpecWants), Want("status", kStatusWants)};
constexpr Want kTemplateSpecWants[] = {Want("spec", kClaimSpecWants)};
constexpr Want kTemplateWants[] = {Want("kind"), Want("metadata", kMetaWants),
                                   Want("spec", kTemplateSpecWants)};
constexpr Want kClassSpecWants[] = {Want("selectors"), Want("config"),
                                    Want("extendedResourceName")};
constexpr Want kClassWants[] = {Want("kind"), Want("metadata", kMetaWants),
                                Want("spec", kClassSpecWants)};

void decode_count(JsonView json, DeviceAsk& ask, JsonReader& reader) {
  const std::string mode = reader.text(json, "allocationMode");
  const JsonView count = reader.at(json, "count");
  ask.count = reader.int64(count, 0);
  if (mode == "All") {
    ask.mode = AllocationMode::kAll;
    return;
  }
  if (!mode.empty() && mode != "ExactCount") {
    ask.mode = AllocationMode::kUnknown;
    return;
  }
  if (ask.count == 0) ask.count = 1;
  if (ask.count < 0) reader.refuse(count, "is negative; write 1 or more");
}

DerivedAttribute derived_from(JsonView json, JsonReader& reader) {
  return {.name = reader.text(json, "name"), .expression = reader.text(json, "expression")};
}

DeviceAsk ask_from(JsonView json, JsonReader& reader) {
  DeviceAsk ask;
  ask.name = reader.text(json, "name");
  ask.class_name = reader.text(json, "deviceClassName");
  ask.selectors =
      list_from<DeviceSelector>(reader.at(json, "selectors"), reader, device_selector_from);
  decode_count(json, ask, reader);
  if (const JsonView admin = reader.at(json, "adminAccess"); admin.exists()) {
    ask.admin_access = reader.flag(admin);
  }
  ask.tolerations = device_tolerations_from(reader.at(json, "tolerations"), reader);
  ask.capacity = quantity_map_from(reader.at(reader.at(json, "capacity"), "requests"), reader);
  ask.derived_attributes =
      list_from<DerivedAttribute>(reader.at(json, "derivedAttributes"), reader, derived_from);
  return ask;
}

DeviceRequest request_from(JsonView json, JsonReader& reader) {
  DeviceRequest request{.name = reader.text(json, "name")};
  const JsonView exactly = reader.at(json, "exactly");
  if (exactly.exists()) request.exactly = ask_from(exactly, reader);
  request.first_available =
      list_from<DeviceAsk>(reader.at(json, "firstAvailable"), reader, ask_from);
  if (request.exactly.has_value() == !request.first_available.empty()) {
    reader.refuse(json, "has neither or both of exactly and firstAvailable; keep one");
  }
  return request;
}

DeviceConstraint constraint_from(JsonView json, JsonReader& reader) {
  DeviceConstraint constraint{.requests = reader.texts(reader.at(json, "requests"))};
  const JsonView match = reader.at(json, "matchAttribute");
  const JsonView distinct = reader.at(json, "distinctAttribute");
  if (match.exists() == distinct.exists()) return constraint;
  constraint.kind = match.exists() ? ConstraintKind::kMatch : ConstraintKind::kDistinct;
  constraint.attribute = reader.text(match.exists() ? match : distinct);
  return constraint;
}

DeviceResult result_from(JsonView json, JsonReader& reader) {
  DeviceResult result;
  result.request = reader.text(json, "request");
  result.driver = reader.text(json, "driver");
  result.pool = reader.text(json, "pool");
  result.device = reader.text(json, "device");
  result.admin_access = reader.flag(json, "adminAccess");
  result.tolerations = device_tolerations_from(reader.at(json, "tolerations"), reader);
  result.binding_conditions = reader.texts(reader.at(json, "bindingConditions"));
  result.binding_failure_conditions = reader.texts(reader.at(json, "bindingFailureConditions"));
  result.share_id = reader.optional_text(json, "shareID");
  result.consumed_capacity = quantity_map_from(reader.at(json, "consumedCapacity"), reader);
  result.skip_node_operations = reader.texts(reader.at(json, "skipNodeOperations"));
  return result;
}

AllocatedConfig allocated_config_from(JsonView json, JsonReader& reader) {
  const bool of_class = reader.text(json, "source") == "FromClass";
  return {.source = of_class ? ConfigSource::kClass : ConfigSource::kClaim,
          .config = device_config_from(json, reader)};
}

Allocation allocation_from(JsonView json, JsonReader& reader) {
  const JsonView devices = reader.at(json, "devices");
  return {.results = list_from<DeviceResult>(reader.at(devices, "results"), reader, result_from),
          .configs = list_from<AllocatedConfig>(reader.at(devices, "config"), reader,
                                                allocated_config_from),
          .node_selector = decode_node_selector(reader.at(json, "nodeSelector"), reader),
          .time = reader.time(reader.at(json, "allocationTimestamp"))};
}

ClaimConsumer consumer_from(JsonView json, JsonReader& reader) {
  return {.api_group = reader.text(json, "apiGroup"),
          .resource = reader.text(json, "resource"),
          .name = reader.text(json, "name"),
          .uid = Uid{reader.text(json, "uid")}};
}

AllocatedDeviceStatus device_status_from(JsonView json, JsonReader& reader) {
  return {.driver = reader.text(json, "driver"),
          .pool = reader.text(json, "pool"),
          .device = reader.text(json, "device"),
          .share_id = reader.optional_text(json, "shareID"),
          .conditions = decode_conditions(reader.at(json, "conditions"), reader)};
}

}  // namespace

constinit const Want kDeviceClassWant("", kClassWants);
constinit const Want kResourceClaimWant("", kClaimWants);
constinit const Want kResourceClaimTemplateWant("", kTemplateWants);

std::vector<DeviceToleration> device_tolerations_from(JsonView list, JsonReader& reader) {
  return list_from<DeviceToleration>(list, reader, [](JsonView json, JsonReader& r) {
    DeviceToleration toleration{.key = r.text(json, "key"),
                                .op = r.text(json, "operator"),
                                .value = r.text(json, "value"),
                                .effect = r.text(json, "effect")};
    if (toleration.op.empty()) toleration.op = "Equal";
    if (const JsonView seconds = r.at(json, "tolerationSeconds"); seconds.exists()) {
      toleration.seconds = r.int64(seconds, 0);
    }
    return toleration;
  });
}

DeviceSelector device_selector_from(JsonView json, JsonReader& reader) {
  const JsonView cel = reader.at(json, "cel");
  DeviceSelector selector;
  if (cel.exists()) selector.expression = reader.text(cel, "expression");
  return selector;
}

DeviceConfig device_config_from(JsonView json, JsonReader& reader) {
  DeviceConfig config{.requests = reader.texts(reader.at(json, "requests"))};
  if (const JsonView opaque = reader.at(json, "opaque"); opaque.exists()) {
    config.opaque = OpaqueConfig{.driver = reader.text(opaque, "driver"),
                                 .parameters = json_text(reader.at(opaque, "parameters"))};
  }
  return config;
}

ClaimSpec claim_spec_from(JsonView devices, JsonReader& reader) {
  return {
      .requests = list_from<DeviceRequest>(reader.at(devices, "requests"), reader, request_from),
      .constraints =
          list_from<DeviceConstraint>(reader.at(devices, "constraints"), reader, constraint_from),
      .configs = list_from<DeviceConfig>(reader.at(devices, "config"), reader, device_config_from)};
}

std::vector<ClaimEntry> claim_entries_from(JsonView list, JsonReader& reader) {
  return list_from<ClaimEntry>(list, reader, [](JsonView json, JsonReader& r) {
    return ClaimEntry{.name = r.text(json, "name"),
                      .claim_name = r.text(json, "resourceClaimName"),
                      .template_name = r.text(json, "resourceClaimTemplateName")};
  });
}

std::vector<ClaimEntryStatus> claim_statuses_from(JsonView list, JsonReader& reader) {
  return list_from<ClaimEntryStatus>(list, reader, [](JsonView json, JsonReader& r) {
    return ClaimEntryStatus{.name = r.text(json, "name"),
                            .claim_name = r.text(json, "resourceClaimName")};
  });
}

std::optional<ExtendedClaimStatus> extended_claim_from(JsonView json, JsonReader& reader) {
  if (!json.exists()) return std::nullopt;
  return ExtendedClaimStatus{
      .claim_name = reader.text(json, "resourceClaimName"),
      .mappings = list_from<ExtendedRequestMapping>(
          reader.at(json, "requestMappings"), reader, [](JsonView mapping, JsonReader& r) {
            return ExtendedRequestMapping{.container_name = r.text(mapping, "containerName"),
                                          .resource_name = r.text(mapping, "resourceName"),
                                          .request_name = r.text(mapping, "requestName")};
          })};
}

Result<ResourceClaim> resource_claim_from(JsonView json, std::string problem) {
  JsonReader reader(std::move(problem));
  ResourceClaim claim;
  GANG_TRY(claim.meta, decode_meta(json, "ResourceClaim", reader));
  claim.finalizers = reader.texts(reader.at(reader.at(json, "metadata"), "finalizers"));
  claim.spec = claim_spec_from(reader.at(reader.at(json, "spec"), "devices"), reader);
  const JsonView status = reader.at(json, "status");
  if (const JsonView allocation = reader.at(status, "allocation"); allocation.exists()) {
    claim.allocation = allocation_from(allocation, reader);
  }
  claim.reserved_for =
      list_from<ClaimConsumer>(reader.at(status, "reservedFor"), reader, consumer_from);
  claim.devices =
      list_from<AllocatedDeviceStatus>(reader.at(status, "devices"), reader, device_status_from);
  claim.meta.unreadable = reader.problem();
  return claim;
}

Result<ResourceClaimTemplate> resource_claim_template_from(JsonView json, std::string problem) {
  JsonReader reader(std::move(problem));
  ResourceClaimTemplate result;
  GANG_TRY(result.meta, decode_meta(json, "ResourceClaimTemplate", reader));
  const JsonView spec = reader.at(reader.at(json, "spec"), "spec");
  result.spec = claim_spec_from(reader.at(spec, "devices"), reader);
  result.meta.unreadable = reader.problem();
  return result;
}

Result<DeviceClass> device_class_from(JsonView json, std::string problem) {
  JsonReader reader(std::move(problem));
  DeviceClass device_class;
  GANG_TRY(device_class.meta, decode_meta(json, "DeviceClass", reader));
  device_class.meta.key.name_space.clear();
  const JsonView spec = reader.at(json, "spec");
  device_class.selectors =
      list_from<DeviceSelector>(reader.at(spec, "selectors"), reader, device_selector_from);
  device_class.configs =
      list_from<DeviceConfig>(reader.at(spec, "config"), reader, device_config_from);
  device_class.extended_resource_name = reader.text(spec, "extendedResourceName");
  device_class.meta.unreadable = reader.problem();
  return device_class;
}

}  // namespace gang::api
