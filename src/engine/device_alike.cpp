#include "engine/device_alike.h"

#include <algorithm>
#include <optional>
#include <set>
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

void add(std::string& text, const std::optional<api::Quantity>& amount) {
  add(text, amount ? amount->text() : std::string());
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

void add_policy(const api::RequestPolicy& policy, std::string& traits) {
  add(traits, policy.default_value);
  for (const api::Quantity& value : policy.valid_values) add(traits, value.text());
  add(traits, "range");
  if (!policy.valid_range) return;
  add(traits, policy.valid_range->min);
  add(traits, policy.valid_range->max);
  add(traits, policy.valid_range->step);
}

void add_facts(const DeviceCandidate& candidate, bool is_local, std::string& traits) {
  const api::Device& device = *candidate.device->device;
  add(traits, candidate.pool->driver() + "/" + candidate.pool->name());
  if (!is_local) {
    // What differs by device for other nodes too: no two are alike.
    const bool is_own_place =
        candidate.slice().per_device_node_selection || !device.consumes_counters.empty();
    add(traits, is_own_place ? device.name : candidate.slice().meta.key.name);
  }
  for (const std::string& skipped : candidate.slice().skip_node_operations) add(traits, skipped);
  for (const auto& [name, capacity] : device.capacity) {
    add(traits, name + "=" + capacity.value.text());
    if (capacity.policy) add_policy(*capacity.policy, traits);
  }
  // Where partitions are off they take of no counter here, and are not given out.
  const bool is_off = candidate.device->counter_sets.empty() && !device.consumes_counters.empty();
  add(traits, is_off ? "partition" : "");
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

void add_use(const cluster::DeviceTaken* taken, std::string& traits) {
  if (taken == nullptr) return;
  add(traits, "whole " + std::to_string(taken->whole) + " shares " + std::to_string(taken->shares));
  add(traits, taken->capacity);
}

void join_sets(const cluster::PoolPart& part, std::vector<std::uint32_t>& joined) {
  for (const cluster::PoolDevice& device : part.devices) {
    for (const std::uint32_t set : device.counter_sets) {
      const std::uint32_t from = joined[set];
      const std::uint32_t to = joined[device.counter_sets.front()];
      std::ranges::replace(joined, from, to);
    }
  }
}

/// Counter sets of a pool that some device takes from together, as one number each.
std::vector<std::uint32_t> joined_sets(const cluster::DevicePool& pool) {
  std::vector<std::uint32_t> joined(pool.counter_sets().size());
  for (std::uint32_t set = 0; set < joined.size(); ++set) joined[set] = set;
  for (const cluster::PartPtr& part : pool.parts()) {
    if (part->has_counters) join_sets(*part, joined);
  }
  return joined;
}

/// Writes what tells a group of a node's devices from another, device by device.
class GroupTraits {
 public:
  GroupTraits(const DeviceInputs& inputs, const DeviceNode& node,
              std::vector<PreparedClaim>& claims, const cluster::DeviceUsage& usage)
      : inputs_(inputs), node_(node), claims_(claims), usage_(usage) {
    for (const PreparedClaim& claim : claims) {
      for (const api::DeviceConstraint& constraint : claim.claim->spec.constraints) {
        compared_.insert({constraint.attribute, ""});
        add_derivations(claim, constraint.attribute);
      }
    }
  }

  /// To be told of every group before the first traits_of().
  void learn(const std::vector<std::uint32_t>& positions) {
    ++groups_seen_;
    for (const std::uint32_t position : positions) {
      for (const Compared& compared : compared_) {
        const auto [place, is_new] =
            holder_of_.try_emplace(named_value(compared, position), groups_seen_);
        if (!is_new && place->second != groups_seen_) place->second = 0;
      }
    }
  }

  std::string traits_of(const std::vector<std::uint32_t>& positions, bool is_local) {
    own_values_.clear();
    counters_.clear();
    sets_.clear();
    std::string traits;
    for (const std::uint32_t position : positions) {
      const DeviceCandidate& candidate = node_.candidates[position];
      add_facts(candidate, is_local, traits);
      add_counters(candidate, traits);
      add_taints(candidate.device->device->taints, traits);
      add_taints(candidate.device->rule_taints, traits);
      add_use(usage_.find(candidate.device->id), traits);
      if (inputs_.avoided.has(candidate.device->id)) add(traits, "avoided");
      add_answers(position, traits);
      add_values(position, traits);
      add(traits, "-");
    }
    return traits;
  }

 private:
  /// An attribute that constraints compare, as the device has it or as an expression derives it.
  struct Compared {
    std::string attribute;
    std::string expression;  ///< "" = as the device has it
    friend auto operator<=>(const Compared&, const Compared&) = default;
  };

  void add_derivations(const PreparedClaim& claim, const std::string& attribute) {
    for (const PreparedRequest& request : claim.requests) {
      for (const PreparedAsk& ask : request.asks) {
        const std::string* expression = derivation_of(*ask.ask, attribute);
        if (expression != nullptr) compared_.insert({attribute, *expression});
      }
    }
  }

  /// Null where there is none, also where it cannot be derived: no constraint gets past that.
  const api::AttributeValue* value_of(const Compared& compared, std::uint32_t position) const {
    const DeviceCandidate& candidate = node_.candidates[position];
    const std::string& driver = candidate.pool->driver();
    const api::Device& device = *candidate.device->device;
    if (compared.expression.empty()) return attribute_of(device, driver, compared.attribute);
    const auto& derived =
        inputs_.budget.derive(inputs_.selectors, {compared.expression, driver, device},
                              {.attribute = compared.attribute});
    return derived.end == cluster::Derived::End::kValue ? &derived.value : nullptr;
  }

  /// Attribute and value; the value is empty where the device has none.
  std::pair<std::string, std::string> named_value(const Compared& compared,
                                                  std::uint32_t position) const {
    const api::AttributeValue* value = value_of(compared, position);
    if (value == nullptr) return {compared.attribute, ""};
    return {compared.attribute,
            std::visit([](const auto& held) { return "=" + text_of(held); }, *value)};
  }

  /// Values that no other group has count by the order in which the group shows them.
  void add_values(std::uint32_t position, std::string& traits) {
    for (const Compared& compared : compared_) {
      const auto named = named_value(compared, position);
      const bool is_own = !named.second.empty() && holder_of_.at(named) != 0;
      if (!is_own || inputs_.features.list_type_attributes) {
        add(traits, named.second);
        continue;
      }
      const auto next = own_values_.size();
      add(traits, "own " + std::to_string(own_values_.try_emplace(named, next).first->second));
    }
  }

  /// Counters are numbered in the order in which the group's devices take of them.
  void add_counters(const DeviceCandidate& candidate, std::string& traits) {
    for (const cluster::CounterUse& use : candidate.device->counters) {
      const auto next = counters_.size();
      const auto [place, is_new] = counters_.try_emplace(use.counter, next);
      add(traits, std::to_string(place->second) + "-" + use.amount.text());
      if (is_new) add(traits, candidate.pool->counters()[use.counter].declared.text());
    }
    const auto& sets = candidate.device->counter_sets;
    for (std::size_t i = 0; i < sets.size(); ++i) {
      const auto next = sets_.size();
      add(traits, "set " + std::to_string(sets_.try_emplace(sets[i], next).first->second));
      const auto& uses = candidate.device->device->consumes_counters[i];
      for (const std::string& group : uses.compatibility_groups) add(traits, group);
    }
  }

  void add_answers(std::uint32_t position, std::string& traits) {
    for (PreparedClaim& claim : claims_) {
      for (PreparedRequest& request : claim.requests) {
        for (PreparedAsk& ask : request.asks) {
          const DeviceStep step = judge_selectable(inputs_, node_, claim, ask, position);
          traits += step.is_yes() ? '1' : '0';
        }
      }
    }
    add(traits, "");
  }

  const DeviceInputs& inputs_;
  const DeviceNode& node_;
  std::vector<PreparedClaim>& claims_;
  const cluster::DeviceUsage& usage_;
  std::set<Compared> compared_;
  std::size_t groups_seen_ = 0;
  /// The one group that has the value; 0 = several.
  std::map<std::pair<std::string, std::string>, std::size_t> holder_of_;
  std::map<std::pair<std::string, std::string>, std::size_t> own_values_;  ///< of one group
  std::map<std::uint32_t, std::size_t> counters_;                          ///< of one group
  std::map<std::uint32_t, std::size_t> sets_;                              ///< of one group
};

/// Texts in an order that does not tell where they come from.
std::string sorted_text(std::vector<std::string> texts) {
  std::ranges::sort(texts);
  std::string text;
  for (const std::string& one : texts) add(text, one);
  return text;
}

}  // namespace

DeviceAlike::DeviceAlike(const DeviceInputs& inputs, const DeviceNode& node,
                         std::vector<PreparedClaim>& claims, const cluster::DeviceUsage& usage)
    : node_(node) {
  make_groups();
  GroupTraits traits(inputs, node, claims, usage);
  for (const Group& group : groups_) traits.learn(group.positions);
  Likenesses known;
  for (Group& group : groups_) {
    const bool is_local_group = is_local(node.candidates[group.positions.front()]);
    const auto next = known.size();
    group.likeness =
        known.try_emplace(traits.traits_of(group.positions, is_local_group), next).first->second;
  }
}

void DeviceAlike::make_groups() {
  std::map<const cluster::DevicePool*, std::vector<std::uint32_t>> sets;
  std::map<std::pair<const cluster::DevicePool*, std::uint32_t>, std::size_t> known;
  for (std::uint32_t position = 0; position < node_.candidates.size(); ++position) {
    const DeviceCandidate& candidate = node_.candidates[position];
    place_of_[candidate.device->id.value] = position;
    std::size_t group = groups_.size();
    if (!candidate.device->counter_sets.empty()) {
      const auto [of_pool, is_new] = sets.try_emplace(candidate.pool);
      if (is_new) of_pool->second = joined_sets(*candidate.pool);
      const std::uint32_t set = of_pool->second[candidate.device->counter_sets.front()];
      group = known.try_emplace({candidate.pool, set}, group).first->second;
    }
    if (group == groups_.size()) groups_.emplace_back();
    groups_[group].positions.push_back(position);
    group_of_.push_back(group);
  }
}

/// Whether only this node has devices of the pool.
bool DeviceAlike::is_local(const DeviceCandidate& candidate) const {
  return std::ranges::all_of(candidate.pool->parts(), [this](const cluster::PartPtr& part) {
    const api::ResourceSlice& slice = *part->slice;
    return !slice.per_device_node_selection && slice.place.node_name == node_.facts.name;
  });
}

std::string DeviceAlike::signature(const std::vector<std::vector<ChosenDevice>>& chosen,
                                   const DeviceLedger& ledger) const {
  std::map<std::size_t, std::vector<std::string>> by_group;
  for (std::size_t claim = 0; claim < chosen.size(); ++claim) {
    for (const ChosenDevice& one : chosen[claim]) {
      const std::uint32_t position = place_of_.at(one.candidate.device->id.value);
      const std::vector<std::uint32_t>& positions = groups_[group_of_[position]].positions;
      const auto place = std::ranges::find(positions, position) - positions.begin();
      std::string text = std::to_string(claim) + " " + one.ask->full_name + " ";
      text += std::to_string(place) + " ";
      add(text, one.capacity);
      by_group[group_of_[position]].push_back(std::move(text));
    }
  }
  std::vector<std::string> texts;
  for (auto& [index, devices] : by_group) {
    const Group& group = groups_[index];
    std::string text = std::to_string(group.likeness) + "\n" + sorted_text(std::move(devices));
    for (const std::uint32_t position : group.positions) {
      add(text, ledger.taken_text(node_.candidates[position].device->id));
    }
    texts.push_back(std::move(text));
  }
  return sorted_text(std::move(texts));
}

std::string DeviceAlike::state(const DeviceLedger& ledger) const {
  std::vector<std::string> texts;
  for (const Group& group : groups_) {
    std::string text;
    for (std::size_t place = 0; place < group.positions.size(); ++place) {
      const std::string taken =
          ledger.taken_text(node_.candidates[group.positions[place]].device->id);
      if (!taken.empty()) add(text, std::to_string(place) + " " + taken);
    }
    if (!text.empty()) texts.push_back(std::to_string(group.likeness) + "\n" + text);
  }
  return sorted_text(std::move(texts));
}

}  // namespace gang::engine
