#include "engine/device_search.h"

#include <algorithm>
#include <utility>

namespace gang::engine {
namespace {

using End = DeviceStep::End;

DeviceStep no() {
  return {.end = End::kNo, .message = {}};
}

const char* effect_text(api::DeviceTaintEffect effect) {
  return effect == api::DeviceTaintEffect::kNoExecute ? "NoExecute" : "NoSchedule";
}

bool covers(const cluster::DeviceFeatures& features, const api::DeviceToleration& toleration,
            const api::DeviceTaint& taint) {
  const bool may_be_empty =
      !features.strict_no_execute || taint.effect != api::DeviceTaintEffect::kNoExecute;
  const bool is_any_effect = may_be_empty && toleration.effect.empty();
  if (!is_any_effect && toleration.effect != effect_text(taint.effect)) return false;
  if (!toleration.key.empty() && toleration.key != taint.key) return false;
  if (toleration.op == "Exists") return true;
  return (toleration.op.empty() || toleration.op == "Equal") && toleration.value == taint.value;
}

/// Devices of the claim where every request takes its first alternative.
std::size_t first_count(const PreparedClaim& claim) {
  std::int64_t count = 0;
  for (const PreparedRequest& request : claim.requests) count += request.asks.front().count;
  return static_cast<std::size_t>(std::clamp<std::int64_t>(count, 0, kClaimDevicesMax));
}

/// Whether the device fits however much of it is asked for: as a whole, by what nobody limits.
bool has_plain_capacity(const api::Device& device) {
  return std::ranges::all_of(device.capacity, [](const auto& named) {
    return !named.second.policy && !named.second.value.is_negative();
  });
}

}  // namespace

std::string taint_text(const api::DeviceTaint& taint) {
  const std::string value = taint.value.empty() ? "" : "=" + taint.value;
  return taint.key + value + ":" + effect_text(taint.effect);
}

bool tolerates(const cluster::DeviceFeatures& features,
               const std::vector<api::DeviceToleration>& tolerations,
               const api::DeviceTaint& taint) {
  if (!features.device_taints || taint.effect == api::DeviceTaintEffect::kNone) return true;
  return std::ranges::any_of(
      tolerations, [&](const api::DeviceToleration& one) { return covers(features, one, taint); });
}

bool tolerates(const cluster::DeviceFeatures& features,
               const std::vector<api::DeviceToleration>& tolerations,
               const cluster::PoolDevice& device) {
  const auto is_covered = [&](const api::DeviceTaint& taint) {
    return tolerates(features, tolerations, taint);
  };
  return std::ranges::all_of(device.device->taints, is_covered) &&
         std::ranges::all_of(device.rule_taints, is_covered);
}

void DeviceSearch::begin(const DeviceNode& node,
                         const std::vector<const api::ResourceClaim*>& claims, DeviceTurn turn) {
  node_ = &node;
  turn_ = turn;
  first_claim_ = attempt_.claims_begun;
  attempt_.claims_begun += static_cast<std::int32_t>(claims.size());
  claims_.resize(claims.size());
  chosen_.resize(claims.size());
  constraints_.clear();
  for (std::size_t i = 0; i < claims.size(); ++i) {
    claims_[i].claim = claims[i];
    claims_[i].requests.clear();
    chosen_[i].clear();
    constraints_.emplace_back(claims[i]->spec, attempt_.inputs);
  }
}

DeviceStep DeviceSearch::run(AfterDevices& after) {
  for (PreparedClaim& claim : claims_) {
    DeviceStep step = prepare_claim(attempt_.inputs, *node_, claim);
    if (!step.is_yes()) return step;
  }
  for (std::size_t i = 0; i < claims_.size(); ++i) chosen_[i].reserve(first_count(claims_[i]));
  after_ = &after;
  DeviceStep step = begin_claim(0);
  if (step.end == End::kTooMany) step = no();
  if (step.end != End::kNo) return step;
  const auto invalid = std::ranges::find_if(node_->pools, [](const NodePool& pool) {
    return pool.state == cluster::PoolState::kInvalid;
  });
  if (invalid == node_->pools.end()) return step;
  return {.end = End::kNode, .message = "invalid resource pools were encountered"};
}

DeviceStep DeviceSearch::begin_claim(std::size_t claim) {
  if (claim == claims_.size()) return after_->solved();
  return begin_request(claim, 0);
}

DeviceStep DeviceSearch::begin_request(std::size_t claim, std::size_t request) {
  if (request == claims_[claim].requests.size()) {
    DeviceStep step = begin_claim(claim + 1);
    // Too many in a later claim: another choice here may need fewer there.
    return step.end == End::kTooMany ? no() : step;
  }
  if (claims_[claim].requests[request].has_alternatives())
    return begin_alternatives(claim, request);
  return take_next({.claim = claim, .request = request});
}

DeviceStep DeviceSearch::begin_alternatives(std::size_t claim, std::size_t request) {
  PreparedRequest& prepared = claims_[claim].requests[request];
  bool all_too_many = true;
  for (std::size_t i = 0; i < prepared.asks.size(); ++i) {
    const std::size_t ask = (i + turn_.alternative) % prepared.asks.size();
    prepared.selected = ask;
    DeviceStep step = take_next({.claim = claim, .request = request, .ask = ask});
    if (step.end == End::kTooMany) continue;
    all_too_many = false;
    if (step.end != End::kNo) return step;
  }
  return {.end = all_too_many ? End::kTooMany : End::kNo, .message = {}};
}

DeviceStep DeviceSearch::take_next(const Position& at) {
  if (!attempt_.step()) return DeviceAttempt::at_limit();
  const PreparedAsk& ask = ask_at(at);
  if (ask.takes_all() && ask.all.empty()) return no();
  if (at.taken == ask.count) return begin_request(at.claim, at.request + 1);
  const auto held = static_cast<std::int64_t>(chosen_[at.claim].size());
  if (ask.count - at.taken > kClaimDevicesMax - held) return {.end = End::kTooMany, .message = {}};
  if (ask.takes_all()) return take_from_all(at);
  if (is_plain(at)) {
    if (std::optional<DeviceStep> step = take_plainly(at)) return *std::move(step);
  }
  const auto candidates = static_cast<std::uint32_t>(node_->candidates.size());
  for (std::uint32_t place = at.start; place < candidates; ++place) {
    const std::int64_t steps_before = attempt_.steps_left;
    DeviceStep step = try_candidate(at, place);
    const bool was_tried = attempt_.steps_left != steps_before;
    if (!was_tried && !attempt_.look(1)) return DeviceAttempt::at_limit();
    if (step.end != End::kNo) return step;
  }
  return no();
}

/// Whether the ask is the last one, and for a number of whole devices that nothing ties together.
bool DeviceSearch::is_plain(const Position& at) const {
  const PreparedAsk& ask = ask_at(at);
  return at.taken == 0 && at.claim + 1 == claims_.size() &&
         at.request + 1 == claims_[at.claim].requests.size() && !ask.is_admin() &&
         ask.ask->capacity.empty() && claims_[at.claim].claim->spec.constraints.empty() &&
         ask.count <= attempt_.steps_left;
}

/// The first solution, if that is one, without a search; nothing: it is to be searched for.
std::optional<DeviceStep> DeviceSearch::take_plainly(const Position& at) {
  const DeviceLedger::Checkpoint checkpoint = attempt_.ledger.checkpoint();
  const std::size_t held = chosen_[at.claim].size();
  DeviceStep step = no();
  if (take_first(at)) {
    attempt_.steps_left -= ask_at(at).count;
    step = begin_request(at.claim, at.request + 1);
    if (step.is_yes()) return step;
    // What follows tries the devices again.
    attempt_.steps_left += ask_at(at).count;
  }
  attempt_.ledger.rollback(checkpoint);
  chosen_[at.claim].resize(held);
  if (step.end != End::kNo) return step;
  return std::nullopt;
}

/// False: some device is to be looked at more closely, or there are not enough.
bool DeviceSearch::take_first(const Position& at) {
  const PreparedAsk& ask = ask_at(at);
  std::int64_t taken = 0;
  std::uint32_t i = 0;
  for (; i < node_->candidates.size() && taken < ask.count; ++i) {
    const std::uint32_t index = candidate_at(i);
    const Fit fit = fit_of(at, index);
    if (fit == Fit::kUnknown) break;
    if (fit == Fit::kNo) continue;
    const DeviceCandidate& candidate = node_->candidates[index];
    attempt_.ledger.take_device(take_of(at, candidate), {});
    chosen_[at.claim].push_back({.candidate = candidate, .ask = &ask});
    ++taken;
  }
  return attempt_.look(i - taken) && taken == ask.count && ask.count <= attempt_.steps_left;
}

/// Counters and what many can use are not for the first look.
DeviceSearch::Fit DeviceSearch::fit_of(const Position& at, std::uint32_t index) {
  const DeviceCandidate& candidate = node_->candidates[index];
  const api::Device& device = *candidate.device->device;
  if (attempt_.inputs.avoided.has(candidate.device->id)) return Fit::kNo;
  const bool is_free = attempt_.ledger.is_free(candidate.device->id);
  if (!is_free && attempt_.ledger.is_in_use(take_of(at, candidate))) return Fit::kNo;
  if (ask_at(at).selectable[index] != DeviceAnswer::kYes) {
    const DeviceStep step =
        judge_selectable(attempt_.inputs, *node_, claims_[at.claim], ask_at(at), index);
    if (!step.is_yes()) return step.is_final() ? Fit::kUnknown : Fit::kNo;
  }
  const bool is_whole = is_free && device.consumes_counters.empty() &&
                        !device.allow_multiple_allocations && has_plain_capacity(device);
  if (!is_whole) return Fit::kUnknown;
  const bool may =
      may_skip_operations(candidate) &&
      tolerates(attempt_.inputs.features, ask_at(at).ask->tolerations, *candidate.device);
  return may ? Fit::kYes : Fit::kNo;
}

DeviceStep DeviceSearch::take_from_all(const Position& at) {
  const PreparedAsk& ask = ask_at(at);
  const DeviceCandidate& candidate = node_->candidates[ask.all[static_cast<std::size_t>(at.taken)]];
  if (is_taken(at, candidate)) return no();
  const DeviceLedger::Checkpoint checkpoint = attempt_.ledger.checkpoint();
  DeviceStep step = take(at, candidate);
  if (!step.is_yes()) return step;
  Position next = at;
  ++next.taken;
  step = take_next(next);
  if (!step.is_yes()) give_back(at, checkpoint);
  return step;
}

DeviceStep DeviceSearch::try_candidate(const Position& at, std::uint32_t place) {
  const std::uint32_t index = candidate_at(place);
  const DeviceCandidate& candidate = node_->candidates[index];
  PreparedAsk& ask = ask_at(at);
  if (is_taken(at, candidate)) return no();
  DeviceStep step = judge_selectable(attempt_.inputs, *node_, claims_[at.claim], ask, index);
  if (!step.is_yes()) return step;
  const DeviceLedger::Checkpoint checkpoint = attempt_.ledger.checkpoint();
  step = take(at, candidate);
  if (!step.is_yes()) return step;
  Position next = at;
  ++next.taken;
  next.start = place + 1;
  step = take_next(next);
  if (!step.is_yes()) give_back(at, checkpoint);
  return step;
}

/// One device, which nobody has whole, of an ask looks at capacity first, mode All at the
/// constraints: what both refuse is fatal in the second case only.
DeviceStep DeviceSearch::take(const Position& at, const DeviceCandidate& candidate) {
  const PreparedAsk& ask = ask_at(at);
  const DeviceTake wanted = take_of(at, candidate);
  DeviceLedger& ledger = attempt_.ledger;
  CapacityCharge charged;
  DeviceStep step = ask.takes_all() ? DeviceStep() : charge(at, candidate, charged);
  if (!step.is_yes()) return step;
  const DeviceLedger::Checkpoint checkpoint = ledger.checkpoint();
  if (!may_skip_operations(candidate)) return no();
  if (ledger.take_counters(wanted) != DeviceRefusal::kNone) return no();
  step = constrain(at, candidate);
  if (step.is_yes() && ask.takes_all()) {
    step = charge(at, candidate, charged);
    if (!step.is_yes()) constraints_[at.claim].undo();
  }
  if (!step.is_yes()) {
    ledger.rollback(checkpoint);
    return step;
  }
  const bool is_share = ledger.is_multi(*candidate.device);
  if (!is_share) charged.amounts.clear();
  ledger.take_device(wanted, charged.amounts);
  chosen_[at.claim].push_back({.candidate = candidate,
                               .ask = &ask,
                               .capacity = std::move(charged.amounts),
                               .is_share = is_share});
  return {};
}

/// Whether somebody has the device already, or the gang leaves it out.
bool DeviceSearch::is_taken(const Position& at, const DeviceCandidate& candidate) const {
  return attempt_.inputs.avoided.has(candidate.device->id) ||
         attempt_.ledger.is_in_use(take_of(at, candidate));
}

bool DeviceSearch::may_skip_operations(const DeviceCandidate& candidate) const {
  const cluster::DeviceFeatures& features = attempt_.inputs.features;
  if (!features.has_alpha() || candidate.slice().skip_node_operations.empty()) return true;
  return features.optional_node_operations && node_->optional_node_operations;
}

/// Taints, then the constraints of the claim; kYes: the constraints hold the device.
DeviceStep DeviceSearch::constrain(const Position& at, const DeviceCandidate& candidate) {
  const PreparedAsk& ask = ask_at(at);
  if (!tolerates(attempt_.inputs.features, ask.ask->tolerations, *candidate.device)) return no();
  const std::string& request = claims_[at.claim].requests[at.request].request->name;
  const Result<bool> fits =
      constraints_[at.claim].add({request, ask.full_name, *ask.ask, candidate});
  if (!fits) {
    const bool is_spent = fits.error().code == Code::kResourceExhausted;
    return {.end = is_spent ? End::kLimit : End::kFatal, .message = fits.error().message};
  }
  if (*fits) return {};
  if (!ask.takes_all()) return no();
  return {.end = End::kFatal,
          .message = where(at) + ": cannot add device " + candidate.text() +
                     " because a claim constraint would not be satisfied"};
}

void DeviceSearch::give_back(const Position& at, DeviceLedger::Checkpoint checkpoint) {
  chosen_[at.claim].pop_back();
  constraints_[at.claim].undo();
  attempt_.ledger.rollback(checkpoint);
}

PreparedAsk& DeviceSearch::ask_at(const Position& at) {
  return claims_[at.claim].requests[at.request].asks[at.ask];
}

const PreparedAsk& DeviceSearch::ask_at(const Position& at) const {
  return claims_[at.claim].requests[at.request].asks[at.ask];
}

DeviceTake DeviceSearch::take_of(const Position& at, const DeviceCandidate& candidate) const {
  return {.pool = *candidate.pool,
          .device = *candidate.device,
          .claim = first_claim_ + static_cast<std::int32_t>(at.claim),
          .admin_access = ask_at(at).is_admin()};
}

DeviceStep DeviceSearch::charge(const Position& at, const DeviceCandidate& candidate,
                                CapacityCharge& charged) {
  const cluster::DeviceFeatures& features = attempt_.inputs.features;
  if (!features.consumable_capacity) return {};
  const api::Device& device = *candidate.device->device;
  const api::QuantityMap used = attempt_.ledger.used_capacity(candidate.device->id);
  // What a whole device is charged is kept by nobody.
  const bool is_plain = used.empty() && !attempt_.ledger.is_multi(*candidate.device) &&
                        ask_at(at).ask->capacity.empty() && has_plain_capacity(device);
  if (is_plain) return {};
  charged = charge_for(ask_at(at).ask->capacity, device, used, features.fractional_capacity_range);
  if (charged.end == CapacityCharge::End::kSkip) return no();
  if (charged.end == CapacityCharge::End::kFits) return {};
  return {.end = End::kFatal,
          .message = where(at) + ": checking capacity for device " + candidate.text() + ": " +
                     charged.message};
}

std::string DeviceSearch::where(const Position& at) {
  return "claim " + claims_[at.claim].claim->meta.key.text() + ", request " + ask_at(at).told_name;
}

}  // namespace gang::engine
