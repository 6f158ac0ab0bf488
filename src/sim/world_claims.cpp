// class, template, claim, namespace, allocate, deallocate, condition: who asks for devices, and who
// has them.
#include <algorithm>
#include <string>
#include <utility>

#include "sim/claim_rules.h"
#include "sim/claim_words.h"
#include "sim/name_rules.h"
#include "sim/report.h"
#include "sim/world.h"

namespace gang::sim {

namespace {

/// Puts one object for each name, or none when one is there already.
template <class Object>
Result<Lines> put_each(SimCluster& cluster, const Command& command, const std::string& what,
                       api::Kind kind, const Object& model) {
  GANG_TRY(const std::vector<api::ObjectKey> keys, named_objects(command, 0, what));
  for (const api::ObjectKey& key : keys) {
    if (cluster.contains(kind, key)) return is_there(what, key, "delete it");
  }
  for (const api::ObjectKey& key : keys) {
    Object object = model;
    object.meta.key = key;
    cluster.put(std::move(object));
  }
  return Lines{what + " " + short_name(keys.front()) + (keys.size() > 1 ? " ..." : "")};
}

Result<api::ResourceClaim> known_claim(const SimCluster& cluster, const std::string& name) {
  GANG_TRY(const api::ObjectKey key, parse_key("claim", name));
  const auto* known = cluster.find<api::ResourceClaim>(key);
  if (known == nullptr) return is_not_there(cluster, "claim", key);
  return *known;
}

/// The slice that has the device pool/name, or null.
const api::ResourceSlice* slice_of(const SimCluster& cluster, const std::string& pool,
                                   const std::string& device) {
  for (const auto& [key, slice] : cluster.all<api::ResourceSlice>()) {
    const bool has_device =
        std::ranges::find(slice.devices, device, &api::Device::name) != slice.devices.end();
    if (slice.pool == pool && has_device) return &slice;
  }
  return nullptr;
}

Result<void> add_device(const SimCluster& cluster, api::ResourceClaim& claim,
                        const std::string& text) {
  const std::size_t slash = text.rfind('/');
  const std::string pool = text.substr(0, slash);
  const std::string device = slash == std::string::npos ? "" : text.substr(slash + 1);
  const api::ResourceSlice* slice = slice_of(cluster, pool, device);
  if (slice == nullptr) {
    return fail(Code::kNotFound, "there is no device " + text +
                                     "; write POOL/DEVICE, like "
                                     "n1/gpu-0");
  }
  api::Allocation& allocation = *claim.allocation;
  const std::string request = claim.spec.requests.empty() ? "" : claim.spec.requests[0].name;
  allocation.results.push_back(
      {.request = request, .driver = slice->driver, .pool = pool, .device = device});
  if (!slice->place.node_name.empty()) {
    api::NodeSelector selector;
    selector.terms.emplace_back().fields = {{"metadata.name", "In", {slice->place.node_name}}};
    allocation.node_selector = std::move(selector);
  }
  return {};
}

/// The entry of the driver for that device in the status of the claim, made where it lacks.
api::AllocatedDeviceStatus& status_of(api::ResourceClaim& claim, const api::DeviceResult& result) {
  const auto at = std::ranges::find_if(claim.devices, [&](const api::AllocatedDeviceStatus& one) {
    return one.driver == result.driver && one.pool == result.pool && one.device == result.device &&
           one.share_id == result.share_id;
  });
  if (at != claim.devices.end()) return *at;
  return claim.devices.emplace_back(api::AllocatedDeviceStatus{.driver = result.driver,
                                                               .pool = result.pool,
                                                               .device = result.device,
                                                               .share_id = result.share_id,
                                                               .conditions = {}});
}

Result<api::Condition> parse_condition(const std::string& type, const std::string& status) {
  GANG_TRY_VOID(check_key("condition", type));
  if (status != "True" && status != "False") {
    return fail(Code::kInvalidArgument,
                type + "=" + status + ": a condition of a device is True or False");
  }
  const bool is_true = status == "True";
  return api::Condition{
      .type = type, .status = is_true ? api::ConditionStatus::kTrue : api::ConditionStatus::kFalse};
}

/// The conditions of the command, each with its reason= and message=.
Result<std::vector<api::Condition>> parse_conditions(const Command& command) {
  std::string reason;
  std::string message;
  std::vector<api::Condition> conditions;
  for (const auto& [key, value] : command.options()) {
    if (key == "reason") {
      reason = value;
    } else if (key == "message") {
      message = value;
    } else {
      GANG_TRY(api::Condition condition, parse_condition(key, value));
      conditions.push_back(std::move(condition));
    }
  }
  if (conditions.empty()) {
    return fail(Code::kInvalidArgument,
                "a condition is missing; write: condition CLAIM example.com/ready=True");
  }
  for (api::Condition& condition : conditions) {
    condition.reason = reason;
    condition.message = message;
  }
  return conditions;
}

void set_condition(std::vector<api::Condition>& conditions, const api::Condition& condition) {
  std::erase_if(conditions, [&](const api::Condition& one) { return one.type == condition.type; });
  conditions.push_back(condition);
}

}  // namespace

Result<void> check_entries(const SimCluster& cluster, const std::vector<api::ObjectKey>& keys,
                           const std::vector<api::ClaimEntry>& entries) {
  for (const api::ClaimEntry& entry : entries) {
    if (entry.claim_name.empty()) continue;
    const api::ObjectKey named{keys.front().name_space, entry.claim_name};
    const bool is_template = cluster.contains(api::Kind::kResourceClaimTemplate, named) &&
                             !cluster.contains(api::Kind::kResourceClaim, named);
    if (!is_template) continue;
    const std::string option = "claim." + entry.name + "=";
    return fail(Code::kInvalidArgument, option + entry.claim_name +
                                            ": that is a template, and no claim; write " + option +
                                            "template:" + entry.claim_name);
  }
  return {};
}

Result<Lines> make_class(SimCluster& cluster, const Command& command) {
  api::DeviceClass model;
  for (const auto& [key, value] : command.options()) {
    if (key == "driver") {
      GANG_TRY_VOID(check_name("driver=", value));
      model.selectors.push_back({"device.driver == '" + value + "'"});
    } else if (key == "selector") {
      model.selectors.push_back({value});
      GANG_TRY_VOID(check_selectors("selector=", model.selectors));
    } else {
      GANG_TRY_VOID(check_key("extended=", value));
      model.extended_resource_name = value;
    }
  }
  return put_each(cluster, command, "class", api::Kind::kDeviceClass, model);
}

Result<Lines> make_template(SimCluster& cluster, const Command& command) {
  api::ResourceClaimTemplate model;
  GANG_TRY(model.spec, claim_spec(command));
  return put_each(cluster, command, "template", api::Kind::kResourceClaimTemplate, model);
}

Result<Lines> make_claim(SimCluster& cluster, const Command& command) {
  api::ResourceClaim model;
  GANG_TRY(model.spec, claim_spec(command));
  return put_each(cluster, command, "claim", api::Kind::kResourceClaim, model);
}

Result<Lines> make_namespace(SimCluster& cluster, const Command& command) {
  api::Namespace model;
  for (const auto& [key, value] : command.options()) {
    GANG_TRY_VOID(check_key("label", key));
    GANG_TRY_VOID(check_value("label " + key, value));
    model.meta.labels.emplace_back(key, value);
  }
  std::ranges::sort(model.meta.labels);
  return put_each(cluster, command, "namespace", api::Kind::kNamespace, model);
}

Result<Lines> allocate_claim(SimCluster& cluster, const Command& command) {
  GANG_TRY(api::ResourceClaim claim, known_claim(cluster, command.words()[0]));
  if (claim.allocation) {
    return fail(Code::kAlreadyExists, "claim " + command.words()[0] +
                                          " has devices already; "
                                          "deallocate it first");
  }
  claim.allocation.emplace();
  for (std::size_t i = 1; i < command.words().size(); ++i) {
    GANG_TRY_VOID(add_device(cluster, claim, command.words()[i]));
  }
  if (const std::string* name = command.option("for")) {
    GANG_TRY(const api::ObjectKey key, parse_key("pod", *name));
    const api::Pod* pod = cluster.pod(key);
    if (pod == nullptr) return in_context("for=", is_not_there(cluster, "pod", key).value());
    claim.reserved_for.push_back({"", "pods", key.name, pod->meta.uid});
  }
  claim.finalizers = {std::string(api::kClaimFinalizer)};
  const std::string devices = devices_text(*claim.allocation);
  cluster.put(std::move(claim));
  return Lines{command.words()[0] + " has " + devices};
}

Result<Lines> deallocate_claim(SimCluster& cluster, const Command& command) {
  GANG_TRY(api::ResourceClaim claim, known_claim(cluster, command.words()[0]));
  if (!claim.allocation) {
    return fail(Code::kNotFound, "claim " + command.words()[0] + " has no devices; name another");
  }
  claim.allocation.reset();
  claim.reserved_for.clear();
  claim.devices.clear();
  std::erase(claim.finalizers, std::string(api::kClaimFinalizer));
  cluster.put(std::move(claim));
  return Lines{command.words()[0] + " is free"};
}

Result<Lines> set_device_conditions(SimCluster& cluster, const Command& command) {
  GANG_TRY(api::ResourceClaim claim, known_claim(cluster, command.words()[0]));
  if (!claim.allocation) {
    return fail(Code::kNotFound, "claim " + command.words()[0] + " has no devices; name another");
  }
  GANG_TRY(const std::vector<api::Condition> conditions, parse_conditions(command));
  for (const api::Condition& condition : conditions) {
    for (const api::DeviceResult& result : claim.allocation->results) {
      set_condition(status_of(claim, result).conditions, condition);
    }
  }
  cluster.put(std::move(claim));
  return Lines{"changed"};
}

}  // namespace gang::sim
