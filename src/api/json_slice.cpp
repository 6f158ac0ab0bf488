// ResourceSlice and DeviceTaintRule.
#include "api/json_device.h"
#include "api/json_kinds.h"

namespace gang::api {
namespace {

// Unions are kept whole: a member that is unknown here must be seen, not pruned.
constexpr Want kPoolWants[] = {Want("name"), Want("generation"), Want("resourceSliceCount")};
constexpr Want kTaintWants[] = {Want("key"), Want("value"), Want("effect"), Want("timeAdded")};
constexpr Want kDeviceWants[] = {Want("name"),
                                 Want("attributes"),
                                 Want("capacity"),
                                 Want("consumesCounters"),
                                 Want("nodeName"),
                                 Want("nodeSelector"),
                                 Want("allNodes"),
                                 Want("taints", kTaintWants),
                                 Want("bindsToNode"),
                                 Want("bindingConditions"),
                                 Want("bindingFailureConditions"),
                                 Want("allowMultipleAllocations")};
constexpr Want kSliceSpecWants[] = {Want("driver"),
                                    Want("pool", kPoolWants),
                                    Want("nodeName"),
                                    Want("nodeSelector"),
                                    Want("allNodes"),
                                    Want("perDeviceNodeSelection"),
                                    Want("devices", kDeviceWants),
                                    Want("sharedCounters"),
                                    Want("skipNodeOperations")};
constexpr Want kSliceWants[] = {Want("kind"), Want("metadata", kMetaWants),
                                Want("spec", kSliceSpecWants)};
constexpr Want kRuleSelectorWants[] = {Want("driver"), Want("pool"), Want("device")};
constexpr Want kRuleSpecWants[] = {Want("deviceSelector", kRuleSelectorWants),
                                   Want("taint", kTaintWants)};
constexpr Want kRuleWants[] = {Want("kind"), Want("metadata", kMetaWants),
                               Want("spec", kRuleSpecWants)};

/// First member of an object; refuses a value that is no object.
JsonView first_member(JsonView object, JsonReader& reader) {
  if (!object.exists()) return {};
  (void)reader.at(object, "");
  return object.is(JsonType::kObject) ? object.first() : JsonView();
}

/// A list wins over a scalar; of several scalars none counts.
AttributeValue attribute_from(JsonView json, JsonReader& reader) {
  const auto flag = [](JsonView v, JsonReader& r) { return r.flag(v); };
  const auto number = [](JsonView v, JsonReader& r) { return r.int64(v, 0); };
  const auto text = [](JsonView v, JsonReader& r) { return r.text(v); };
  const auto version = [](JsonView v, JsonReader& r) { return Version{r.text(v)}; };
  if (const JsonView list = reader.at(json, "bools"); list.exists()) {
    return list_from<bool>(list, reader, flag);
  }
  if (const JsonView list = reader.at(json, "ints"); list.exists()) {
    return list_from<std::int64_t>(list, reader, number);
  }
  if (const JsonView list = reader.at(json, "strings"); list.exists()) {
    return list_from<std::string>(list, reader, text);
  }
  if (const JsonView list = reader.at(json, "versions"); list.exists()) {
    return list_from<Version>(list, reader, version);
  }
  AttributeValue value;
  int found = 0;
  if (const JsonView v = json["bool"]; v.exists()) value = reader.flag(v), ++found;
  if (const JsonView v = json["int"]; v.exists()) value = reader.int64(v, 0), ++found;
  if (const JsonView v = json["string"]; v.exists()) value = reader.text(v), ++found;
  if (const JsonView v = json["version"]; v.exists()) value = version(v, reader), ++found;
  return found == 1 ? value : AttributeValue();
}

std::shared_ptr<const RequestPolicy> policy_from(JsonView json, JsonReader& reader) {
  if (!json.exists()) return nullptr;
  RequestPolicy policy;
  policy.default_value = quantity_from(reader.at(json, "default"), reader);
  const JsonView values = reader.at(json, "validValues");
  for (JsonView value = reader.first(values); value.valid(); value = value.next()) {
    if (const auto amount = quantity_from(value, reader)) policy.valid_values.push_back(*amount);
  }
  if (const JsonView range = reader.at(json, "validRange"); range.exists()) {
    policy.valid_range = CapacityRange{.min = quantity_from(reader.at(range, "min"), reader),
                                       .max = quantity_from(reader.at(range, "max"), reader),
                                       .step = quantity_from(reader.at(range, "step"), reader)};
  }
  return std::make_shared<const RequestPolicy>(std::move(policy));
}

DevicePlace place_from(JsonView json, JsonReader& reader) {
  return {.node_name = reader.text(json, "nodeName"),
          .node_selector = decode_node_selector(reader.at(json, "nodeSelector"), reader),
          .all_nodes = reader.flag(json, "allNodes")};
}

CounterConsumption consumption_from(JsonView json, JsonReader& reader) {
  CounterConsumption consumption{.counter_set = reader.text(json, "counterSet")};
  const JsonView counters = reader.at(json, "counters");
  for (JsonView c = first_member(counters, reader); c.valid(); c = c.next()) {
    if (const auto amount = quantity_from(reader.at(c, "value"), reader)) {
      consumption.counters.emplace_back(c.key(), *amount);
    }
  }
  sort_named(consumption.counters);
  consumption.compatibility_groups = reader.texts(reader.at(json, "compatibilityGroups"));
  return consumption;
}

DeviceTaint taint_from(JsonView json, JsonReader& reader) {
  const std::string effect = reader.text(json, "effect");
  DeviceTaint taint{.key = reader.text(json, "key"),
                    .value = reader.text(json, "value"),
                    .time_added = reader.time(reader.at(json, "timeAdded"))};
  if (effect == "NoSchedule") taint.effect = DeviceTaintEffect::kNoSchedule;
  if (effect == "NoExecute") taint.effect = DeviceTaintEffect::kNoExecute;
  return taint;
}

Device device_from(JsonView json, JsonReader& reader) {
  Device device;
  device.name = reader.text(json, "name");
  const JsonView attributes = reader.at(json, "attributes");
  for (JsonView a = first_member(attributes, reader); a.valid(); a = a.next()) {
    device.attributes.emplace_back(a.key(), attribute_from(a, reader));
  }
  sort_named(device.attributes);
  const JsonView capacity = reader.at(json, "capacity");
  for (JsonView c = first_member(capacity, reader); c.valid(); c = c.next()) {
    const auto value = quantity_from(reader.at(c, "value"), reader);
    device.capacity.emplace_back(
        c.key(), DeviceCapacity{value.value_or(Quantity()),
                                policy_from(reader.at(c, "requestPolicy"), reader)});
  }
  sort_named(device.capacity);
  device.consumes_counters =
      list_from<CounterConsumption>(reader.at(json, "consumesCounters"), reader, consumption_from);
  device.place = place_from(json, reader);
  device.taints = list_from<DeviceTaint>(reader.at(json, "taints"), reader, taint_from);
  device.binding_conditions = reader.texts(reader.at(json, "bindingConditions"));
  device.binding_failure_conditions = reader.texts(reader.at(json, "bindingFailureConditions"));
  device.binds_to_node = reader.flag(json, "bindsToNode");
  device.allow_multiple_allocations = reader.flag(json, "allowMultipleAllocations");
  return device;
}

CounterSet counter_set_from(JsonView json, JsonReader& reader) {
  CounterConsumption like = consumption_from(json, reader);
  return {.name = reader.text(json, "name"), .counters = std::move(like.counters)};
}

}  // namespace

constinit const Want kResourceSliceWant("", kSliceWants);
constinit const Want kDeviceTaintRuleWant("", kRuleWants);

std::optional<Quantity> quantity_from(JsonView value, JsonReader& reader) {
  if (!value.exists()) return std::nullopt;
  std::string why;
  std::optional<Quantity> amount = JsonReader::quantity(value, why);
  if (!amount) reader.refuse(value, why);
  return amount;
}

QuantityMap quantity_map_from(JsonView object, JsonReader& reader) {
  QuantityMap map;
  for (JsonView value = first_member(object, reader); value.valid(); value = value.next()) {
    if (const auto amount = quantity_from(value, reader)) map.emplace_back(value.key(), *amount);
  }
  sort_named(map);
  return map;
}

Result<ResourceSlice> resource_slice_from(JsonView json, std::string problem) {
  JsonReader reader(std::move(problem));
  ResourceSlice slice;
  GANG_TRY(slice.meta, decode_meta(json, "ResourceSlice", reader));
  slice.meta.key.name_space.clear();
  const JsonView spec = reader.at(json, "spec");
  slice.driver = reader.text(spec, "driver");
  const JsonView pool = reader.at(spec, "pool");
  slice.pool = reader.text(pool, "name");
  slice.pool_generation = reader.int64(reader.at(pool, "generation"), 0);
  slice.pool_slice_count = reader.int64(reader.at(pool, "resourceSliceCount"), 0);
  slice.place = place_from(spec, reader);
  slice.per_device_node_selection = reader.flag(spec, "perDeviceNodeSelection");
  slice.devices = list_from<Device>(reader.at(spec, "devices"), reader, device_from);
  slice.shared_counters =
      list_from<CounterSet>(reader.at(spec, "sharedCounters"), reader, counter_set_from);
  slice.skip_node_operations = reader.texts(reader.at(spec, "skipNodeOperations"));
  slice.meta.unreadable = reader.problem();
  return slice;
}

Result<DeviceTaintRule> device_taint_rule_from(JsonView json, std::string problem) {
  JsonReader reader(std::move(problem));
  DeviceTaintRule rule;
  GANG_TRY(rule.meta, decode_meta(json, "DeviceTaintRule", reader));
  rule.meta.key.name_space.clear();
  const JsonView spec = reader.at(json, "spec");
  if (const JsonView selector = reader.at(spec, "deviceSelector"); selector.exists()) {
    rule.selector = DeviceTaintSelector{.driver = reader.optional_text(selector, "driver"),
                                        .pool = reader.optional_text(selector, "pool"),
                                        .device = reader.optional_text(selector, "device")};
  }
  rule.taint = taint_from(reader.at(spec, "taint"), reader);
  rule.meta.unreadable = reader.problem();
  return rule;
}

}  // namespace gang::api
