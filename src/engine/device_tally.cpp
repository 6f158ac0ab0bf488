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

const api::QuantityMap& used_of(const DeviceTaken* taken) {
  static const api::QuantityMap kNothing;
  return taken == nullptr ? kNothing : taken->capacity;
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
    const Fate fate = fate_of(candidate, *tally.ask, seen.access);
    const bool is_able = fate != Fate::kUnusable && fate != Fate::kSmall;
    here.able += is_able ? 1 : 0;
    here.free += fate == Fate::kFree ? 1 : 0;
    if (!seen_[alternative.index].insert(id).second) continue;
    if (is_able) able_.insert(id);
    if (fate == Fate::kFree) free_.insert(id);
    tally.fleet.is_shared |= is_able && candidate.device->device->allow_multiple_allocations;
    add(fate, candidate, tally, seen);
  }
}

Counter::Fate Counter::fate_of(const DeviceCandidate& candidate, const api::DeviceAsk& ask,
                               Access access) {
  const PoolDevice& device = *candidate.device;
  if (access == Access::kNowhere) return Fate::kUnusable;
  if (is_small(device, ask)) return Fate::kSmall;
  const bool looks_on = ask.admin_access.value_or(false);
  const DeviceTaken* taken = stage_.usage.find(device.id);
  if (taken != nullptr && taken->whole > 0 && !looks_on) return Fate::kHeld;
  if (!tolerates(stage_.inputs.features, ask.tolerations, device)) return Fate::kTainted;
  if (access == Access::kBeyond) return Fate::kBeyond;
  if (access == Access::kClosed) return Fate::kClosed;
  if (stage_.inputs.avoided.has(device.id)) return Fate::kAvoided;
  if (blocker_of(candidate) != nullptr) return Fate::kBlocked;
  return looks_on ? Fate::kFree : fate_of_rest(candidate, ask);
}

Counter::Fate Counter::fate_of_rest(const DeviceCandidate& candidate, const api::DeviceAsk& ask) {
  if (is_drained(candidate)) return Fate::kDrained;
  return is_full(candidate, ask) ? Fate::kFull : Fate::kFree;
}

void Counter::add(Fate fate, const DeviceCandidate& candidate, AskTally& tally,
                  const SeenNode& seen) {
  Tally& fleet = tally.fleet;
  ++fleet.matching;
  fleet.drivers.insert(candidate.pool->driver());
  switch (fate) {
    case Fate::kUnusable:
      ++fleet.unusable;
      return;
    case Fate::kSmall:
      ++fleet.small;
      return;
    case Fate::kHeld:
      ++fleet.held;
      return;
    case Fate::kTainted:
      return add_tainted(candidate, tally);
    case Fate::kBeyond:
      if (fleet.beyond++ == 0) fleet.holder = seen.holder;
      return;
    case Fate::kClosed:
      ++fleet.closed;
      return;
    case Fate::kAvoided:
      ++fleet.avoided;
      return;
    case Fate::kBlocked:
      if (fleet.blocked++ == 0) fleet.blocker = text_of(*blocker_of(candidate), *candidate.pool);
      return;
    case Fate::kDrained:
      if (fleet.drained++ == 0) fleet.drain = counter_of(candidate);
      return;
    case Fate::kFull:
      if (fleet.full++ == 0) fleet.fill = capacity_of(candidate, *tally.ask);
      return;
    case Fate::kFree:
      return add_free(candidate, tally);
  }
}

void Counter::add_free(const DeviceCandidate& candidate, AskTally& tally) {
  Tally& fleet = tally.fleet;
  if (candidate.device->device->allow_multiple_allocations && fleet.capacity.empty()) {
    fleet.capacity = capacity_of(candidate, *tally.ask);
  }
  if (candidate.device->counters.empty()) return;
  fleet.costs_counters = true;
  if (fleet.counters.empty()) fleet.counters = counter_of(candidate);
}

void Counter::add_tainted(const DeviceCandidate& candidate, AskTally& tally) const {
  cluster::DeviceFeatures as_upstream = stage_.inputs.features;
  as_upstream.strict_no_execute = false;
  const api::DeviceAsk& ask = *tally.ask;
  ++tally.fleet.tainted;
  if (tolerates(as_upstream, ask.tolerations, *candidate.device)) ++tally.fleet.evicting;
  if (!tally.fleet.taint.empty()) return;
  tally.fleet.taint =
      candidate.text() + ": " + taint_of(stage_.inputs.features, ask, *candidate.device);
}

bool Counter::is_small(const PoolDevice& device, const api::DeviceAsk& ask) const {
  if (ask.capacity.empty()) return false;
  const bool fractional = stage_.inputs.features.fractional_capacity_range;
  return charge_for(ask.capacity, *device.device, {}, fractional).end == CapacityCharge::End::kSkip;
}

bool Counter::is_full(const DeviceCandidate& candidate, const api::DeviceAsk& ask) const {
  const api::Device& device = *candidate.device->device;
  const DeviceTaken* taken = stage_.usage.find(candidate.device->id);
  if (!device.allow_multiple_allocations || taken == nullptr) return false;
  const bool fractional = stage_.inputs.features.fractional_capacity_range;
  return charge_for(ask.capacity, device, used_of(taken), fractional).end ==
         CapacityCharge::End::kSkip;
}

bool Counter::is_drained(const DeviceCandidate& candidate) {
  const auto& uses = candidate.device->counters;
  const DeviceTaken* taken = stage_.usage.find(candidate.device->id);
  if (uses.empty() || (taken != nullptr && taken->is_used())) return false;
  const std::vector<api::Quantity>& left = counters_left(*candidate.pool);
  return std::ranges::any_of(
      uses, [&left](const cluster::CounterUse& use) { return left[use.counter] < use.amount; });
}

const std::vector<api::Quantity>& Counter::counters_left(const DevicePool& pool) {
  const auto known = left_.find(&pool);
  if (known != left_.end()) return known->second;
  const std::vector<api::Quantity> taken = counters_taken(pool, stage_.usage);
  std::vector<api::Quantity> left;
  for (std::size_t i = 0; i < taken.size(); ++i) {
    left.push_back(less(pool.counters()[i].declared, taken[i]));
  }
  return left_.emplace(&pool, std::move(left)).first->second;
}

/// The counter of the device of which least is left beyond what the device takes.
std::string Counter::counter_of(const DeviceCandidate& candidate) {
  const DevicePool& pool = *candidate.pool;
  const std::vector<api::Quantity>& left = counters_left(pool);
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

/// The capacity of the device that falls short, or else the first that is asked for, or counts
/// by default.
std::string Counter::capacity_of(const DeviceCandidate& candidate,
                                 const api::DeviceAsk& ask) const {
  const api::Device& device = *candidate.device->device;
  const api::QuantityMap& used = used_of(stage_.usage.find(candidate.device->id));
  const bool fractional = stage_.inputs.features.fractional_capacity_range;
  const CapacityCharge charge = charge_for(ask.capacity, device, {}, fractional);
  std::string text;
  for (const auto& [name, amount] : charge.amounts) {
    api::Quantity left = api::find_named(device.capacity, name)->value;
    const std::string all = left.text();
    if (const api::Quantity* taken = api::find_named(used, name)) left -= *taken;
    const api::Quantity* asked = api::find_named(ask.capacity, name);
    const bool is_short = left < amount;
    const bool is_meant = asked != nullptr || ask.capacity.empty();
    if (!is_short && (!is_meant || !text.empty())) continue;
    text = fmt::format("{}: {} {} of {} free, {}", candidate.text(), name, left.text(), all,
                       asked == nullptr ? amount.text() + " by default" : asked->text() + " asked");
    if (is_short) break;
  }
  return text;
}

const cluster::UnseenDevice* Counter::blocker_of(const DeviceCandidate& candidate) const {
  const bool is_shared = stage_.usage.find(candidate.device->id) != nullptr;
  if (candidate.device->device->consumes_counters.empty() || is_shared) return nullptr;
  const std::vector<cluster::UnseenDevice>& unseen = candidate.pool->unseen();
  return unseen.empty() ? nullptr : &unseen.front();
}

}  // namespace gang::engine
