#include "engine/allocation_checker.h"

#include <algorithm>
#include <optional>
#include <type_traits>
#include <variant>

#include "gang/cel/program.h"

namespace gang::engine {
namespace {

std::string name_of(const api::DeviceResult& result) {
  return result.driver + "/" + result.pool + "/" + result.device;
}

bool has(const std::vector<std::string>& list, const std::string& wanted) {
  return std::ranges::find(list, wanted) != list.end();
}

cel::AttributeValue value_of(const api::AttributeValue& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  if (const auto* number = std::get_if<std::int64_t>(&value)) return *number;
  if (const auto* flag = std::get_if<bool>(&value)) return *flag;
  if (const auto* version = std::get_if<api::Version>(&value)) return cel::Version{version->text};
  return std::monostate();
}

bool is_selected(const std::vector<api::DeviceSelector>& selectors, const std::string& driver,
                 const api::Device& device) {
  cel::DeviceSource source{.driver = driver,
                           .allow_multiple_allocations = device.allow_multiple_allocations};
  for (const auto& [name, value] : device.attributes) {
    source.attributes.emplace_back(name, value_of(value));
  }
  for (const auto& [name, one] : device.capacity) source.capacity.emplace_back(name, one.value);
  const cel::Device read(source);
  cel::Scratch scratch;
  return std::ranges::all_of(selectors, [&](const api::DeviceSelector& selector) {
    const auto program = cel::Program::compile(selector.expression.value_or(""));
    if (!program) return false;
    const cel::Match match = program->matches(read, scratch);
    return match.selected && *match.selected;
  });
}

bool is_tolerated(const api::DeviceTaint& taint,
                  const std::vector<api::DeviceToleration>& tolerations) {
  if (taint.effect == api::DeviceTaintEffect::kNone) return true;
  const bool is_evicting = taint.effect == api::DeviceTaintEffect::kNoExecute;
  const std::string effect = is_evicting ? "NoExecute" : "NoSchedule";
  return std::ranges::any_of(tolerations, [&](const api::DeviceToleration& one) {
    const bool is_key = one.key.empty() || one.key == taint.key;
    const bool is_effect = one.effect.empty() || one.effect == effect;
    return is_key && is_effect && (one.op == "Exists" || one.value == taint.value);
  });
}

/// The operator In is all that real slices and allocations use; another one holds for nothing.
bool holds(const api::NodeSelectorRequirement& one, const std::string* value) {
  return one.op == "In" && value != nullptr && has(one.values, *value);
}

bool admits(const api::NodeSelector& selector, const api::Node& node) {
  return std::ranges::any_of(selector.terms, [&node](const api::NodeSelectorTerm& term) {
    const auto by_label = [&node](const api::NodeSelectorRequirement& one) {
      return holds(one, api::find(node.meta.labels, one.key));
    };
    const auto by_name = [&node](const api::NodeSelectorRequirement& one) {
      return one.key == "metadata.name" && holds(one, &node.meta.key.name);
    };
    return std::ranges::all_of(term.expressions, by_label) &&
           std::ranges::all_of(term.fields, by_name);
  });
}

bool is_there(const api::DevicePlace& place, const api::Node& node) {
  if (place.all_nodes) return true;
  if (place.node_selector) return admits(*place.node_selector, node);
  return place.node_name == node.meta.key.name;
}

const api::AttributeValue* attribute(const api::Device& device, const std::string& driver,
                                     const std::string& name) {
  for (const auto& [key, value] : device.attributes) {
    if (key == name || driver + "/" + key == name) return &value;
  }
  return nullptr;
}

/// The ask that a result names: "main" or "main/alternative".
const api::DeviceAsk* ask_of(const api::ResourceClaim& claim, const std::string& request) {
  for (const api::DeviceRequest& one : claim.spec.requests) {
    if (one.exactly && one.name == request) return &*one.exactly;
    for (const api::DeviceAsk& ask : one.first_available) {
      if (one.name + "/" + ask.name == request) return &ask;
    }
  }
  return nullptr;
}

std::string main_of(const std::string& request) {
  return request.substr(0, request.find('/'));
}

using Nano = decltype(api::Quantity().nano());

/// What a share takes of a capacity: what is asked for, or the default, up to the next allowed
/// amount. Nothing: more than the policy allows.
std::optional<Nano> share_of(const api::DeviceCapacity& capacity, const api::Quantity* asked) {
  if (!capacity.policy) return asked != nullptr ? asked->nano() : capacity.value.nano();
  const api::RequestPolicy& policy = *capacity.policy;
  const api::Quantity& standard = policy.default_value ? *policy.default_value : capacity.value;
  const Nano wanted = asked != nullptr ? asked->nano() : standard.nano();
  if (policy.valid_range) {
    const api::CapacityRange& range = *policy.valid_range;
    const Nano above = std::max<Nano>(wanted - range.min->nano(), 0);
    const Nano step = range.step ? range.step->nano() : 1;
    const Nano share = range.min->nano() + (above + step - 1) / step * step;
    if (range.max && share > range.max->nano()) return std::nullopt;
    return share;
  }
  for (const api::Quantity& allowed : policy.valid_values) {
    if (allowed.nano() >= wanted) return allowed.nano();
  }
  return policy.valid_values.empty() ? std::optional(wanted) : std::nullopt;
}

/// What is wrong with the amounts of a share.
std::string shares_of(const api::DeviceAsk& ask, const api::DeviceResult& result,
                      const api::Device& device) {
  if (!device.allow_multiple_allocations) {
    return result.consumed_capacity.empty() ? "" : "amounts of a whole device";
  }
  for (const auto& [name, capacity] : device.capacity) {
    const auto expected = share_of(capacity, api::find_named(ask.capacity, name));
    const api::Quantity* taken = api::find_named(result.consumed_capacity, name);
    if (!expected || taken == nullptr || taken->nano() != *expected)
      return "a wrong amount of " + name;
  }
  return "";
}

}  // namespace

/// The slices of the newest generation, if all are there.
std::vector<const api::ResourceSlice*> AllocationChecker::pool_of(const std::string& driver,
                                                                  const std::string& pool) const {
  std::vector<const api::ResourceSlice*> newest;
  for (const api::ResourceSlice& slice : slices_) {
    if (slice.driver != driver || slice.pool != pool) continue;
    if (!newest.empty() && newest.front()->pool_generation > slice.pool_generation) continue;
    if (!newest.empty() && newest.front()->pool_generation < slice.pool_generation) newest.clear();
    newest.push_back(&slice);
  }
  const bool is_whole = std::ranges::all_of(newest, [&newest](const api::ResourceSlice* one) {
    return one->pool_slice_count == static_cast<std::int64_t>(newest.size());
  });
  return is_whole ? newest : std::vector<const api::ResourceSlice*>();
}

AllocationChecker::Found AllocationChecker::find(const api::DeviceResult& result) const {
  for (const api::ResourceSlice* slice : pool_of(result.driver, result.pool)) {
    const auto device = std::ranges::find(slice->devices, result.device, &api::Device::name);
    if (device != slice->devices.end()) return {slice, &*device};
  }
  return {};
}

std::string AllocationChecker::charge(const api::ResourceClaim& claim, const std::string& node) {
  const auto at = nodes_.find(node);
  if (at == nodes_.end()) return "no node " + node;
  const bool is_pinned = claim.allocation->node_selector.has_value();
  if (is_pinned && !admits(*claim.allocation->node_selector, at->second)) {
    return "the allocation is not for node " + node;
  }
  for (const api::DeviceResult& result : claim.allocation->results) {
    const api::DeviceAsk* ask = ask_of(claim, result.request);
    if (ask == nullptr) return "no request " + result.request;
    std::string problem = problem_of(*ask, result, at->second);
    if (!problem.empty()) return name_of(result) + ": " + problem;
    if (!is_pinned && !find(result).slice->place.node_name.empty()) return "no node selector";
  }
  charged_[claim.meta.key] = claim;
  const std::string counts = counts_of(claim, at->second);
  return counts.empty() ? constraints_of(claim) : counts;
}

std::vector<api::DeviceTaint> AllocationChecker::taints_of(const Found& found) const {
  std::vector<api::DeviceTaint> taints = found.device->taints;
  for (const api::DeviceTaintRule& rule : rules_) {
    if (!rule.selector) continue;
    const bool is_meant =
        rule.selector->driver.value_or(found.slice->driver) == found.slice->driver &&
        rule.selector->pool.value_or(found.slice->pool) == found.slice->pool &&
        rule.selector->device.value_or(found.device->name) == found.device->name;
    if (is_meant) taints.push_back(rule.taint);
  }
  return taints;
}

std::string AllocationChecker::refusal(const api::DeviceAsk& ask, const Found& found,
                                       const api::Node& node) const {
  const api::Device& device = *found.device;
  const bool is_by_device = found.slice->per_device_node_selection;
  if (!is_there(is_by_device ? device.place : found.slice->place, node)) return "not on the node";
  const auto device_class = classes_.find(ask.class_name);
  if (device_class == classes_.end()) return "no class " + ask.class_name;
  if (!is_selected(device_class->second.selectors, found.slice->driver, device)) {
    return "not of the class";
  }
  if (!is_selected(ask.selectors, found.slice->driver, device)) return "not selected";
  const std::vector<api::DeviceTaint> taints = taints_of(found);
  const bool is_tolerable = std::ranges::all_of(taints, [&ask](const api::DeviceTaint& taint) {
    return is_tolerated(taint, ask.tolerations);
  });
  if (!is_tolerable && !ask.admin_access.value_or(false)) return "tainted";
  for (const auto& [key, wanted] : ask.capacity) {
    const auto* whole = api::find_named(device.capacity, key);
    if (whole == nullptr || whole->value < wanted) return "too small";
  }
  return "";
}

std::string AllocationChecker::problem_of(const api::DeviceAsk& ask,
                                          const api::DeviceResult& result,
                                          const api::Node& node) const {
  const Found found = find(result);
  if (found.device == nullptr) return "in no pool";
  std::string problem = refusal(ask, found, node);
  if (!problem.empty()) return problem;
  if (result.admin_access != ask.admin_access.value_or(false)) return "admin access differs";
  if (result.share_id.has_value() != found.device->allow_multiple_allocations) {
    return "a share or not, against what the device allows";
  }
  if (result.binding_conditions != found.device->binding_conditions ||
      result.binding_failure_conditions != found.device->binding_failure_conditions) {
    return "binding conditions differ";
  }
  return shares_of(ask, result, *found.device);
}

std::set<std::string> AllocationChecker::all_for(const api::DeviceAsk& ask,
                                                 const api::Node& node) const {
  std::set<std::string> names;
  for (const api::ResourceSlice& slice : slices_) {
    for (const api::Device& device : slice.devices) {
      const bool is_wanted = refusal(ask, {&slice, &device}, node).empty();
      if (is_wanted) names.insert(slice.driver + "/" + slice.pool + "/" + device.name);
    }
  }
  return names;
}

/// Each request has as many devices as it asks for, no device twice.
std::string AllocationChecker::counts_of(const api::ResourceClaim& claim,
                                         const api::Node& node) const {
  std::map<std::string, std::set<std::string>> given;
  for (const api::DeviceResult& result : claim.allocation->results) {
    const bool is_new = given[result.request].insert(name_of(result)).second;
    if (!is_new) return name_of(result) + " twice in request " + result.request;
  }
  for (const api::DeviceRequest& request : claim.spec.requests) {
    std::vector<std::string> served;
    for (const auto& [name, devices] : given) {
      if (main_of(name) == request.name) served.push_back(name);
    }
    if (served.size() != 1) return "request " + request.name + " is not served once";
    const api::DeviceAsk& ask = *ask_of(claim, served.front());
    const std::set<std::string>& devices = given[served.front()];
    const bool is_right = ask.mode == api::AllocationMode::kAll
                              ? devices == all_for(ask, node)
                              : static_cast<std::int64_t>(devices.size()) == ask.count;
    if (!is_right) return "request " + request.name + " has a wrong number of devices";
  }
  return "";
}

std::string AllocationChecker::constraints_of(const api::ResourceClaim& claim) const {
  for (const api::DeviceConstraint& constraint : claim.spec.constraints) {
    std::vector<api::AttributeValue> values;
    for (const api::DeviceResult& result : claim.allocation->results) {
      const bool is_meant = constraint.requests.empty() ||
                            has(constraint.requests, result.request) ||
                            has(constraint.requests, main_of(result.request));
      if (!is_meant) continue;
      const auto* value = attribute(*find(result).device, result.driver, constraint.attribute);
      if (value == nullptr) return name_of(result) + " lacks " + constraint.attribute;
      values.push_back(*value);
    }
    const std::set<api::AttributeValue> different(values.begin(), values.end());
    const bool is_match = constraint.kind == api::ConstraintKind::kMatch;
    if (is_match && different.size() > 1) return constraint.attribute + " differs";
    if (!is_match && different.size() < values.size()) return constraint.attribute + " repeats";
  }
  return "";
}

std::map<std::string, AllocationChecker::Taken> AllocationChecker::taken() const {
  std::map<std::string, Taken> devices;
  for (const auto& [key, claim] : charged_) {
    for (const api::DeviceResult& result : claim.allocation->results) {
      if (result.admin_access) continue;
      Taken& one = devices[name_of(result)];
      one.found = find(result);
      ++(result.share_id ? one.shares : one.whole);
      for (const auto& [name, amount] : result.consumed_capacity) one.capacity[name] += amount;
    }
  }
  return devices;
}

std::string AllocationChecker::overuse() const {
  Amounts left;
  for (const auto& [name, one] : taken()) {
    if (one.whole > 1 || (one.whole > 0 && one.shares > 0)) return name + " twice";
    for (const auto& [capacity, amount] : one.capacity) {
      const auto* whole = api::find_named(one.found.device->capacity, capacity);
      if (whole == nullptr || whole->value < amount) return name + " has too little " + capacity;
    }
    std::string problem = take(one.found, left);
    if (!problem.empty()) return problem;
  }
  return "";
}

std::string AllocationChecker::take(const Found& found, Amounts& left) const {
  const std::string pool = found.slice->driver + "/" + found.slice->pool + "/";
  for (const api::ResourceSlice* slice : pool_of(found.slice->driver, found.slice->pool)) {
    for (const api::CounterSet& set : slice->shared_counters) {
      for (const auto& [name, amount] : set.counters) {
        left.try_emplace(pool + set.name + "/" + name, amount);
      }
    }
  }
  for (const api::CounterConsumption& use : found.device->consumes_counters) {
    for (const auto& [counter, amount] : use.counters) {
      const auto place = left.find(pool + use.counter_set + "/" + counter);
      if (place == left.end()) return pool + " has no counter " + counter;
      place->second -= amount;
      if (place->second.is_negative()) return place->first + " is overdrawn";
    }
  }
  return "";
}

}  // namespace gang::engine
