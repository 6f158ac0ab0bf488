#include "cluster/part_maker.h"

#include <algorithm>
#include <utility>

namespace gang::cluster {
namespace {

void note(std::string problem, PoolPart& part) {
  if (part.problem.empty()) part.problem = std::move(problem);
}

void add_set(const api::CounterSet& set, PoolCounters& counters) {
  const auto index = static_cast<std::uint32_t>(counters.sets.size());
  counters.sets.push_back(set.name);
  for (const auto& [name, declared] : set.counters) {
    counters.counters.push_back({index, name, declared});
  }
}

bool is_met(const std::optional<std::string>& wanted, const std::string& value) {
  return !wanted || *wanted == value;
}

std::vector<api::DeviceTaint> taints_of(const std::vector<RulePtr>& rules,
                                        const api::ResourceSlice& slice,
                                        const std::string& device) {
  std::vector<api::DeviceTaint> found;
  for (const auto& rule : rules) {
    if (is_for(*rule, slice.driver, slice.pool) && is_met(rule->selector->device, device)) {
      found.push_back(rule->taint);
    }
  }
  return found;
}

}  // namespace

bool is_for(const api::DeviceTaintRule& rule, const std::string& driver, const std::string& pool) {
  return rule.selector && is_met(rule.selector->driver, driver) &&
         is_met(rule.selector->pool, pool);
}

std::shared_ptr<const PoolCounters> counters_of(std::vector<SlicePtr> slices) {
  PoolCounters made;
  for (const SlicePtr& slice : slices) {
    for (const api::CounterSet& set : slice->shared_counters) {
      if (std::ranges::find(made.sets, set.name) == made.sets.end()) {
        add_set(set, made);
      } else if (made.problem.empty()) {
        made.problem = "duplicate counter set name " + set.name;
      }
    }
  }
  made.slices = std::move(slices);
  return std::make_shared<const PoolCounters>(std::move(made));
}

bool has_same_positions(const PoolCounters& a, const PoolCounters& b) {
  if (&a == &b) return true;
  const auto is_same = [](const PoolCounter& one, const PoolCounter& other) {
    return one.set == other.set && one.name == other.name;
  };
  return a.sets == b.sets && std::ranges::equal(a.counters, b.counters, is_same);
}

bool taints(const api::DeviceTaintRule& rule, const PoolPart& part) {
  return is_for(rule, part.slice->driver, part.slice->pool) &&
         std::ranges::any_of(part.devices, [&](const auto& device) {
           return is_met(rule.selector->device, device.device->name);
         });
}

PartPtr PartMaker::make(const SlicePtr& slice, PoolState state) const {
  PoolPart part{.slice = slice, .devices = {}, .problem = {}};
  if (state != PoolState::kUnseen && slice->shared_counters.empty()) {
    part.devices.reserve(slice->devices.size());
    for (const api::Device& device : slice->devices) {
      PoolDevice& added = part.devices.emplace_back();
      added.id = names.id_of(*slice, device);
      added.device = &device;
      added.rule_taints = taints_of(rules, *slice, device.name);
      if (features.partitionable_devices) resolve_counters(added, part);
    }
  }
  return std::make_shared<const PoolPart>(std::move(part));
}

void PartMaker::resolve_counters(PoolDevice& device, PoolPart& part) const {
  for (const api::CounterConsumption& consumption : device.device->consumes_counters) {
    part.has_counters = true;
    const auto set = std::ranges::find(counters.sets, consumption.counter_set);
    if (set == counters.sets.end()) {
      note("counter set " + consumption.counter_set + " not found", part);
      continue;
    }
    const auto set_index = static_cast<std::uint32_t>(set - counters.sets.begin());
    device.counter_sets.push_back(set_index);
    for (const auto& [name, amount] : consumption.counters) {
      const auto counter = std::ranges::find_if(counters.counters, [&](const PoolCounter& one) {
        return one.set == set_index && one.name == name;
      });
      if (counter == counters.counters.end()) {
        note("counter " + name + " not found in counter set " + consumption.counter_set, part);
        continue;
      }
      device.counters.push_back(
          {static_cast<std::uint32_t>(counter - counters.counters.begin()), amount});
    }
  }
}

}  // namespace gang::cluster
