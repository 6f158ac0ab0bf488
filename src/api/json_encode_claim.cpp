// Encoders of what is written to claims, keys sorted.
#include <nlohmann/json.hpp>

#include "gang/api/claim_write.h"

namespace gang::api {
namespace {

using Json = nlohmann::json;

Json quantities_json(const QuantityMap& map) {
  Json json = Json::object();
  for (const auto& [name, amount] : map) json[name] = amount.text();
  return json;
}

Json toleration_json(const DeviceToleration& toleration) {
  Json json = Json::object();
  if (!toleration.key.empty()) json["key"] = toleration.key;
  if (!toleration.op.empty()) json["operator"] = toleration.op;
  if (!toleration.value.empty()) json["value"] = toleration.value;
  if (!toleration.effect.empty()) json["effect"] = toleration.effect;
  if (toleration.seconds) json["tolerationSeconds"] = *toleration.seconds;
  return json;
}

template <class Item, class Write>
void add_list(Json& json, const char* key, const std::vector<Item>& items, Write write) {
  for (const Item& item : items) json[key].push_back(write(item));
}

Json result_json(const DeviceResult& result) {
  const auto text = [](const std::string& value) { return Json(value); };
  Json json = {{"request", result.request},
               {"driver", result.driver},
               {"pool", result.pool},
               {"device", result.device}};
  if (result.admin_access) json["adminAccess"] = true;
  add_list(json, "tolerations", result.tolerations, toleration_json);
  add_list(json, "bindingConditions", result.binding_conditions, text);
  add_list(json, "bindingFailureConditions", result.binding_failure_conditions, text);
  add_list(json, "skipNodeOperations", result.skip_node_operations, text);
  if (result.share_id) json["shareID"] = *result.share_id;
  if (!result.consumed_capacity.empty()) {
    json["consumedCapacity"] = quantities_json(result.consumed_capacity);
  }
  return json;
}

Json config_json(const AllocatedConfig& config) {
  Json json = {{"source", config.source == ConfigSource::kClass ? "FromClass" : "FromClaim"}};
  if (!config.config.requests.empty()) json["requests"] = config.config.requests;
  if (config.config.opaque) {
    Json parameters = Json::parse(config.config.opaque->parameters, nullptr, false);
    json["opaque"] = {{"driver", config.config.opaque->driver},
                      {"parameters", parameters.is_discarded() ? Json() : std::move(parameters)}};
  }
  return json;
}

Json requirement_json(const NodeSelectorRequirement& requirement) {
  Json json = {{"key", requirement.key}, {"operator", requirement.op}};
  if (!requirement.values.empty()) json["values"] = requirement.values;
  return json;
}

Json term_json(const NodeSelectorTerm& term) {
  Json json = Json::object();
  add_list(json, "matchExpressions", term.expressions, requirement_json);
  add_list(json, "matchFields", term.fields, requirement_json);
  return json;
}

Json allocation_json(const Allocation& allocation) {
  Json devices = Json::object();
  add_list(devices, "results", allocation.results, result_json);
  add_list(devices, "config", allocation.configs, config_json);
  Json json = {{"devices", std::move(devices)}};
  if (allocation.node_selector) {
    json["nodeSelector"]["nodeSelectorTerms"] = Json::array();
    add_list(json["nodeSelector"], "nodeSelectorTerms", allocation.node_selector->terms, term_json);
  }
  if (allocation.time) json["allocationTimestamp"] = format_rfc3339(*allocation.time);
  return json;
}

Json consumer_json(const ClaimConsumer& consumer) {
  Json json = {
      {"resource", consumer.resource}, {"name", consumer.name}, {"uid", consumer.uid.text}};
  if (!consumer.api_group.empty()) json["apiGroup"] = consumer.api_group;
  return json;
}

std::string dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Json guard_json(const Uid& uid, const ResourceVersion& version) {
  return {{"uid", uid.text}, {"resourceVersion", version.text}};
}

}  // namespace

std::string encode_allocation(const Allocation& allocation) {
  return dump(allocation_json(allocation));
}

std::string encode_new_claim(const NewClaim& claim) {
  const Json owner = {{"apiVersion", "v1"},
                      {"kind", "Pod"},
                      {"name", claim.pod},
                      {"uid", claim.pod_uid.text},
                      {"controller", true}};
  const Json meta = {{"name", claim.claim.name},
                     {"namespace", claim.claim.name_space},
                     {"generateName", claim.generate_name},
                     {"annotations", {{std::string(kExtendedClaim), "true"}}},
                     {"ownerReferences", Json::array({owner})}};
  Json devices = Json::object();
  add_list(devices, "requests", claim.requests, [](const DeviceRequest& request) {
    return Json{{"name", request.name},
                {"exactly",
                 {{"deviceClassName", request.exactly->class_name},
                  {"allocationMode", "ExactCount"},
                  {"count", request.exactly->count}}}};
  });
  return dump({{"apiVersion", "resource.k8s.io/v1"},
               {"kind", "ResourceClaim"},
               {"metadata", meta},
               {"spec", {{"devices", std::move(devices)}}}});
}

std::string encode_claim_patch(const ClaimPatch& patch) {
  Json meta = guard_json(patch.uid, patch.resource_version);
  meta["finalizers"] = patch.finalizers;
  if (!patch.fence.empty()) meta["annotations"][std::string(kClaimFence)] = patch.fence;
  return dump({{"metadata", std::move(meta)}});
}

std::string encode_claim_status_patch(const ClaimStatusPatch& patch) {
  Json status = Json::object();
  status["reservedFor"] = Json::array();
  add_list(status, "reservedFor", patch.reserved_for, consumer_json);
  switch (patch.allocation_part) {
    case ClaimStatusPatch::Part::kKeep:
      break;
    case ClaimStatusPatch::Part::kSet:
      status["allocation"] = allocation_json(patch.allocation);
      break;
    case ClaimStatusPatch::Part::kClear:
      // In a merge patch null takes a field away.
      status["allocation"] = nullptr;
      status["devices"] = nullptr;
      break;
  }
  return dump(
      {{"metadata", guard_json(patch.uid, patch.resource_version)}, {"status", std::move(status)}});
}

}  // namespace gang::api
