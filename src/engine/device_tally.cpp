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

Counter::Counter(const DeviceStage& stage, const api::ResourceClaim& claim, std::size_t request)
    : stage_(stage), claim_(claim), request_(request) {
  const api::DeviceRequest& wanted = claim.spec.requests[request];
  if (wanted.exactly) asks_.push_back({.ask = &*wanted.exactly, .fleet = {}, .nodes = {}});
  for (const api::DeviceAsk& ask : wanted.first_available) {
    asks_.push_back({.ask = &ask, .fleet = {}, .nodes = {}});
  }
  seen_.resize(asks_.size());
}

void Counter::look_at(const SeenNode& seen) {
  for (AskTally& one : asks_) one.nodes.emplace_back();
  PreparedClaim claim{.claim = &claim_, .requests = {}};
  const DeviceStep step = prepare_claim(stage_.inputs, seen.devices, claim);
  if (!step.is_yes()) {
    if (refusal_.empty()) refusal_ = step.message;
    return;
  }
  std::vector<PreparedAsk>& asks = claim.requests[request_].asks;
  for (std::size_t i = 0; i < asks_.size(); ++i) count(seen, claim, {.ask = asks[i], .index = i});
}

void Counter::count(const SeenNode& seen, const PreparedClaim& claim, Alternative alternative) {
  AskTally& tally = asks_[alternative.index];
  NodeTally& here = tally.nodes.back();
  const DeviceNode& node = seen.devices;
  for (std::uint32_t i = 0; i < node.candidates.size(); ++i) {
    if (!judge_selectable(stage_.inputs, node, claim, alternative.ask, i).is_yes()) continue;
    const DeviceCandidate& candidate = node.candidates[i];
    const cluster::DeviceId id = candidate.device->id;
    const Fate fate = fate_of(candidate, *tally.ask, seen.is_closed);
    here.able += fate != Fate::kSmall ? 1 : 0;
    here.free += fate == Fate::kFree ? 1 : 0;
    here.is_shared |= fate != Fate::kSmall && candidate.device->device->allow_multiple_allocations;
    if (!seen_[alternative.index].insert(id).second) continue;
    if (fate != Fate::kSmall) able_.insert(id);
    if (fate == Fate::kFree) free_.insert(id);
    add(fate, candidate, tally);
  }
}

Counter::Fate Counter::fate_of(const DeviceCandidate& candidate, const api::DeviceAsk& ask,
                               bool is_closed) const {
  const PoolDevice& device = *candidate.device;
  if (is_small(device, ask)) return Fate::kSmall;
  const DeviceTaken* taken = stage_.usage.find(device.id);
  if (taken != nullptr && taken->whole > 0 && !ask.admin_access.value_or(false)) {
    return Fate::kHeld;
  }
  if (!tolerates(stage_.inputs.features, ask.tolerations, device)) return Fate::kTainted;
  if (is_closed) return Fate::kClosed;
  if (stage_.inputs.avoided.has(device.id)) return Fate::kAvoided;
  return blocker_of(candidate) != nullptr ? Fate::kBlocked : Fate::kFree;
}

/// Adds a device that was not met before.
void Counter::add(Fate fate, const DeviceCandidate& candidate, AskTally& tally) const {
  Tally& fleet = tally.fleet;
  ++fleet.matching;
  fleet.drivers.insert(candidate.pool->driver());
  if (fate != Fate::kSmall && candidate.device->device->allow_multiple_allocations) {
    fleet.is_shared = true;
    if (fleet.capacity.empty()) {
      fleet.capacity = capacity_of(candidate, *tally.ask, stage_.usage.find(candidate.device->id));
    }
  }
  switch (fate) {
    case Fate::kSmall:
      ++fleet.small;
      return;
    case Fate::kHeld:
      ++fleet.held;
      return;
    case Fate::kTainted:
      return add_tainted(candidate, tally);
    case Fate::kClosed:
      ++fleet.closed;
      return;
    case Fate::kAvoided:
      ++fleet.avoided;
      return;
    case Fate::kBlocked:
      ++fleet.blocked;
      if (fleet.blocker.empty()) {
        fleet.blocker = text_of(*blocker_of(candidate), *candidate.pool);
      }
      return;
    case Fate::kFree:
      if (candidate.device->counters.empty()) return;
      fleet.costs_counters = true;
      if (fleet.counters.empty()) fleet.counters = counter_of(candidate, stage_.usage);
      return;
  }
}

void Counter::add_tainted(const DeviceCandidate& candidate, AskTally& tally) const {
  cluster::DeviceFeatures as_upstream = stage_.inputs.features;
  as_upstream.strict_no_execute = false;
  const api::DeviceAsk& ask = *tally.ask;
  ++tally.fleet.tainted;
  if (tolerates(as_upstream, ask.tolerations, *candidate.device)) ++tally.fleet.evicting;
  if (!tally.fleet.taint.empty()) return;
  tally.fleet.taint =
      name_of(candidate) + ": " + taint_of(stage_.inputs.features, ask, *candidate.device);
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
