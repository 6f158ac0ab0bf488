#include "engine/device_tally.h"

#include <fmt/format.h>
#include <algorithm>
#include <optional>
#include <vector>

#include "engine/device_capacity.h"
#include "engine/device_held.h"
#include "engine/device_request.h"

namespace gang::engine {
namespace {

using cluster::DevicePool;
using cluster::DeviceTaken;
using cluster::PoolDevice;

std::string name_of(const DeviceCandidate& candidate) {
  return api::DeviceName{candidate.pool->driver(), candidate.pool->name(),
                         candidate.device->device->name}
      .text();
}

std::string text_of(const cluster::UnseenDevice& unseen, const DevicePool& pool) {
  return fmt::format("claim {} holds device {}/{}/{}, which no slice shows", unseen.claim.text(),
                     pool.driver(), pool.name(), unseen.name);
}

/// The first taint that is not tolerated.
std::string taint_of(const cluster::DeviceFeatures& features, const api::DeviceAsk& ask,
                     const PoolDevice& device) {
  const api::DeviceTaint* found = find_taint(device, [&](const api::DeviceTaint& taint) {
    return taint.effect != api::DeviceTaintEffect::kNone &&
           !tolerates(features, ask.tolerations, taint);
  });
  return found == nullptr ? "" : taint_text(*found);
}

api::Quantity less(api::Quantity amount, const api::Quantity& other) {
  amount -= other;
  return amount;
}

/// What nobody holds of the capacity.
api::Quantity left_of(const std::string& name, const api::DeviceCapacity& capacity,
                      const DeviceTaken* taken) {
  api::Quantity left = capacity.value;
  if (taken == nullptr) return left;
  for (const auto& [used, amount] : taken->capacity) {
    if (used == name) left -= amount;
  }
  return left;
}

/// The first capacity that is asked for.
std::string capacity_of(const DeviceCandidate& candidate, const api::DeviceAsk& ask,
                        const DeviceTaken* taken) {
  const auto& capacities = candidate.device->device->capacity;
  for (const auto& [name, asked] : ask.capacity) {
    const auto found =
        std::ranges::find(capacities, name, [](const auto& one) { return one.first; });
    if (found == capacities.end()) continue;
    return fmt::format("{}: {} {} of {} free, {} asked", name_of(candidate), name,
                       left_of(name, found->second, taken).text(), found->second.value.text(),
                       asked.text());
  }
  return "";
}

/// The counter of the device of which least is left beyond what the device takes.
std::string counter_of(const DeviceCandidate& candidate, const cluster::DeviceUsage& usage) {
  const DevicePool& pool = *candidate.pool;
  const std::vector<api::Quantity> taken = counters_taken(pool, usage);
  std::vector<api::Quantity> left;
  for (std::size_t i = 0; i < taken.size(); ++i) {
    left.push_back(less(pool.counters()[i].declared, taken[i]));
  }
  const auto& uses = candidate.device->counters;
  const auto spare = [&left](const cluster::CounterUse& use) {
    return less(left[use.counter], use.amount);
  };
  const auto least = std::ranges::min_element(
      uses, [&](const auto& a, const auto& b) { return spare(a) < spare(b); });
  const cluster::PoolCounter& counter = pool.counters()[least->counter];
  return fmt::format("{}/{}: {}/{} {} of {} free, {} asked", pool.driver(), pool.name(),
                     pool.counter_sets()[counter.set], counter.name, left[least->counter].text(),
                     counter.declared.text(), least->amount.text());
}

}  // namespace

void Counter::look_at(const SeenNode& seen) {
  const DeviceNode& node = seen.devices;
  PreparedClaim claim{.claim = &claim_, .requests = {}};
  const DeviceStep step = prepare_claim(stage_.inputs, node, claim);
  if (!step.is_yes()) {
    if (tally_.refusal.empty()) tally_.refusal = step.message;
    return;
  }
  PreparedAsk& ask = claim.requests[request_].asks[alternative_];
  for (std::uint32_t i = 0; i < node.candidates.size(); ++i) {
    const PoolDevice& device = *node.candidates[i].device;
    if (seen_.contains(device.id)) continue;
    if (!judge_selectable(stage_.inputs, node, claim, ask, i).is_yes()) continue;
    seen_.insert(device.id);
    tally_.drivers.insert(node.candidates[i].pool->driver());
    count(node.candidates[i], *ask.ask, seen.is_closed);
  }
}

void Counter::count(const DeviceCandidate& candidate, const api::DeviceAsk& ask, bool is_closed) {
  const PoolDevice& device = *candidate.device;
  const DeviceTaken* taken = stage_.usage.find(device.id);
  ++tally_.matching;
  if (is_small(device, ask)) {
    ++tally_.small;
    return;
  }
  if (device.device->allow_multiple_allocations) {
    tally_.is_shared = true;
    if (tally_.capacity.empty()) tally_.capacity = capacity_of(candidate, ask, taken);
  }
  if (taken != nullptr && taken->whole > 0 && !ask.admin_access.value_or(false)) {
    ++tally_.held;
  } else if (!tolerates(stage_.inputs.features, ask.tolerations, device)) {
    count_tainted(candidate, ask);
  } else if (is_closed) {
    ++tally_.closed;
  } else if (stage_.inputs.avoided.has(device.id)) {
    ++tally_.avoided;
  } else {
    count_free(candidate);
  }
}

void Counter::count_tainted(const DeviceCandidate& candidate, const api::DeviceAsk& ask) {
  cluster::DeviceFeatures as_upstream = stage_.inputs.features;
  as_upstream.strict_no_execute = false;
  ++tally_.tainted;
  if (tolerates(as_upstream, ask.tolerations, *candidate.device)) ++tally_.evicting;
  if (!tally_.taint.empty()) return;
  tally_.taint =
      name_of(candidate) + ": " + taint_of(stage_.inputs.features, ask, *candidate.device);
}

void Counter::count_free(const DeviceCandidate& candidate) {
  if (const auto* blocker = blocker_of(candidate)) {
    ++tally_.blocked;
    if (tally_.blocker.empty()) tally_.blocker = text_of(*blocker, *candidate.pool);
  } else if (!candidate.device->counters.empty()) {
    tally_.costs_counters = true;
    if (tally_.counters.empty()) tally_.counters = counter_of(candidate, stage_.usage);
  }
}

bool Counter::is_small(const PoolDevice& device, const api::DeviceAsk& ask) const {
  if (ask.capacity.empty()) return false;
  const bool fractional = stage_.inputs.features.fractional_capacity_range;
  return charge_for(ask.capacity, *device.device, {}, fractional).end == CapacityCharge::End::kSkip;
}

const cluster::UnseenDevice* Counter::blocker_of(const DeviceCandidate& candidate) const {
  const bool is_shared = stage_.usage.find(candidate.device->id) != nullptr;
  if (candidate.device->device->consumes_counters.empty() || is_shared) return nullptr;
  const std::vector<cluster::UnseenDevice>& unseen = candidate.pool->unseen();
  return unseen.empty() ? nullptr : &unseen.front();
}

}  // namespace gang::engine
