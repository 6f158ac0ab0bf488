#include "engine/device_alike.h"

#include <algorithm>
#include <type_traits>
#include <utility>

#include "engine/device_constraint.h"

namespace gang::engine {
namespace {

/// Fields of one text, each ended by a character that names do not have.
void add(std::string& text, const std::string& field) {
  text += field;
  text += '\n';
}

void add(std::string& text, const api::QuantityMap& amounts) {
  for (const auto& [name, amount] : amounts) add(text, name + "=" + amount.text());
}

template <class Value>
std::string text_of(const Value& value) {
  if constexpr (std::is_same_v<Value, std::monostate>) {
    return "";
  } else if constexpr (std::is_same_v<Value, std::string>) {
    return "s" + value;
  } else if constexpr (std::is_same_v<Value, api::Version>) {
    return "v" + value.text;
  } else if constexpr (std::is_arithmetic_v<Value>) {
    return (std::is_same_v<Value, bool> ? "b" : "i") + std::to_string(value);
  } else {
    std::string text = "[";
    for (const auto& one : value) text += text_of<typename Value::value_type>(one) + ",";
    return text;
  }
}

void add_facts(const DeviceCandidate& candidate, std::string& traits) {
  const api::Device& device = *candidate.device->device;
  add(traits, candidate.pool->driver() + "/" + candidate.pool->name());
  // What differs by device for other nodes too: no two are alike.
  const bool is_own_place = candidate.slice().per_device_node_selection;
  add(traits, is_own_place ? device.name : std::to_string(candidate.device->slice));
  for (const auto& [name, capacity] : device.capacity) {
    add(traits, name + "=" + capacity.value.text());
    if (capacity.policy) add(traits, device.name);
  }
  for (const cluster::CounterUse& use : candidate.device->counters) {
    add(traits, std::to_string(use.counter) + "-" + use.amount.text());
  }
  for (const api::CounterConsumption& use : device.consumes_counters) {
    for (const std::string& group : use.compatibility_groups) add(traits, group);
  }
  for (const std::string& condition : device.binding_conditions) add(traits, condition);
  add(traits, device.binds_to_node ? "binds" : "");
  add(traits, device.allow_multiple_allocations ? "many" : "");
}

void add_taints(const std::vector<api::DeviceTaint>& taints, std::string& traits) {
  for (const api::DeviceTaint& taint : taints) {
    add(traits,
        taint.key + "=" + taint.value + ":" + std::to_string(static_cast<int>(taint.effect)));
  }
}

}  // namespace

DeviceAlike::DeviceAlike(const DeviceInputs& inputs, const DeviceNode& node,
                         std::vector<PreparedClaim>& claims, const DeviceLedger& ledger)
    : inputs_(inputs), node_(node), claims_(claims) {
  for (const DeviceCandidate& candidate : node.candidates) {
    if (!ledger.is_multi(*candidate.device)) continue;
    std::string& used = used_[candidate.device->id.value];
    add(used, ledger.used_capacity(candidate.device->id));
    add(used, std::to_string(ledger.share_count(candidate.device->id)));
  }
}

const std::string& DeviceAlike::traits_of(const DeviceCandidate& candidate) {
  const std::uint32_t id = candidate.device->id.value;
  const auto [at, is_new] = traits_.try_emplace(id);
  std::string& traits = at->second;
  if (!is_new) return traits;
  add_facts(candidate, traits);
  add_taints(candidate.device->device->taints, traits);
  add_taints(candidate.device->rule_taints, traits);
  if (const auto used = used_.find(id); used != used_.end()) add(traits, used->second);
  add_answers(candidate, traits);
  return traits;
}

void DeviceAlike::add_answers(const DeviceCandidate& candidate, std::string& traits) {
  const auto is_same = [&](const DeviceCandidate& one) { return one.device == candidate.device; };
  const auto found = std::ranges::find_if(node_.candidates, is_same);
  const auto position = static_cast<std::uint32_t>(found - node_.candidates.begin());
  for (PreparedClaim& claim : claims_) {
    for (PreparedRequest& request : claim.requests) {
      for (PreparedAsk& ask : request.asks) {
        const DeviceStep step = judge_selectable(inputs_, node_, claim, ask, position);
        traits += step.is_yes() ? '1' : '0';
      }
    }
    for (const api::DeviceConstraint& constraint : claim.claim->spec.constraints) {
      const api::AttributeValue* value =
          attribute_of(*candidate.device->device, candidate.pool->driver(), constraint.attribute);
      if (value != nullptr) {
        traits += std::visit([](const auto& held) { return text_of(held); }, *value);
      }
      add(traits, "");
    }
  }
}

std::string DeviceAlike::signature(const std::vector<std::vector<ChosenDevice>>& chosen) {
  std::string text;
  for (const std::vector<ChosenDevice>& of_claim : chosen) {
    std::vector<std::string> devices;
    for (const ChosenDevice& one : of_claim) {
      std::string device = one.ask->full_name + '\n' + traits_of(one.candidate);
      add(device, one.capacity);
      devices.push_back(std::move(device));
    }
    std::ranges::sort(devices);
    for (const std::string& device : devices) add(text, device);
    text += '\f';
  }
  return text;
}

}  // namespace gang::engine
