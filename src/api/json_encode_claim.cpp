// Encoders of what is written to claims, keys sorted.
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "gang/api/claim_write.h"

namespace gang::api {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kNameMax = 253;

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

Json consumer_json(const ClaimConsumer& consumer) {
  Json json = {
      {"resource", consumer.resource}, {"name", consumer.name}, {"uid", consumer.uid.text}};
  if (!consumer.api_group.empty()) json["apiGroup"] = consumer.api_group;
  return json;
}

std::string dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// An object of members that are JSON texts already; those without text are left out.
std::string object_text(std::initializer_list<std::pair<std::string_view, std::string>> members) {
  std::string text = "{";
  for (const auto& [key, value] : members) {
    if (value.empty()) continue;
    text.append(text.size() > 1 ? "," : "").append("\"").append(key).append("\":").append(value);
  }
  return text + "}";
}

/// The parameters as they were told: a number has more forms than a parser of JSON keeps apart.
std::string config_text(const AllocatedConfig& config) {
  const std::vector<std::string>& requests = config.config.requests;
  std::string opaque;
  if (config.config.opaque) {
    const std::string& parameters = config.config.opaque->parameters;
    opaque = object_text({{"driver", dump(config.config.opaque->driver)},
                          {"parameters", Json::accept(parameters) ? parameters : "null"}});
  }
  return object_text(
      {{"opaque", std::move(opaque)},
       {"requests", requests.empty() ? "" : dump(requests)},
       {"source", config.source == ConfigSource::kClass ? "\"FromClass\"" : "\"FromClaim\""}});
}

std::string configs_text(const std::vector<AllocatedConfig>& configs) {
  if (configs.empty()) return "";
  std::string text;
  for (const AllocatedConfig& config : configs) {
    text.append(text.empty() ? "[" : ",").append(config_text(config));
  }
  return text + "]";
}

std::string selector_text(const NodeSelector& selector) {
  Json terms = Json::array();
  for (const NodeSelectorTerm& term : selector.terms) terms.push_back(term_json(term));
  return dump({{"nodeSelectorTerms", std::move(terms)}});
}

std::string allocation_text(const Allocation& allocation) {
  Json results = Json::array();
  for (const DeviceResult& result : allocation.results) results.push_back(result_json(result));
  return object_text(
      {{"allocationTimestamp", allocation.time ? dump(format_rfc3339(*allocation.time)) : ""},
       {"devices", object_text({{"config", configs_text(allocation.configs)},
                                {"results", results.empty() ? "" : dump(results)}})},
       {"nodeSelector", allocation.node_selector ? selector_text(*allocation.node_selector) : ""}});
}

Json guard_json(const Uid& uid, const ResourceVersion& version) {
  return {{"uid", uid.text}, {"resourceVersion", version.text}};
}

}  // namespace

std::string encode_allocation(const Allocation& allocation) {
  return allocation_text(allocation);
}

std::string encode_new_claim(const NewClaim& claim) {
  const Json owner = {{"apiVersion", "v1"},
                      {"kind", "Pod"},
                      {"name", claim.pod},
                      {"uid", claim.pod_uid.text},
                      {"controller", true}};
  Json meta = {{"name", claim.claim.name},
               {"namespace", claim.claim.name_space},
               {"annotations", {{std::string(kExtendedClaim), "true"}}},
               {"ownerReferences", Json::array({owner})}};
  if (claim.generate_name.size() <= kNameMax) meta["generateName"] = claim.generate_name;
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
  Json consumers = Json::array();
  for (const ClaimConsumer& consumer : patch.reserved_for) {
    consumers.push_back(consumer_json(consumer));
  }
  std::string allocation;
  std::string devices;
  switch (patch.allocation_part) {
    case ClaimStatusPatch::Part::kKeep:
      break;
    case ClaimStatusPatch::Part::kSet:
      allocation = allocation_text(patch.allocation);
      break;
    case ClaimStatusPatch::Part::kClear:
      // In a merge patch null takes a field away.
      allocation = devices = "null";
      break;
  }
  return object_text({{"metadata", dump(guard_json(patch.uid, patch.resource_version))},
                      {"status", object_text({{"allocation", std::move(allocation)},
                                              {"devices", std::move(devices)},
                                              {"reservedFor", dump(consumers)}})}});
}

}  // namespace gang::api
