#include "engine/device_request.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "engine/device_capacity.h"

namespace gang::engine {
namespace {

using End = DeviceStep::End;
using api::AllocationMode;
using cluster::PoolState;
using cluster::Selected;

DeviceStep fatal(std::string message) {
  return {.end = End::kFatal, .message = std::move(message)};
}

std::string where(const PreparedClaim& claim, const PreparedAsk& ask) {
  return "claim " + claim.claim->meta.key.text() + ", request " + ask.told_name;
}

/// Who has the selectors: a class or a claim.
struct SelectorOwner {
  const char* what;
  const api::ObjectKey& key;
  std::string_view request = {};  ///< of the claim
};

DeviceStep selector_error(const SelectorOwner& owner, std::size_t index,
                          const DeviceCandidate& candidate, const Selected& selected) {
  const std::string selector =
      std::string(owner.what) + " " + owner.key.text() + ": selector #" + std::to_string(index);
  if (selected.end == Selected::End::kCompileError) {
    return fatal(selector + ": CEL compile error: " + selected.message);
  }
  return fatal(selector + " on device " + candidate.text() +
               ": CEL runtime error: " + selected.message);
}

/// All of the selectors in order; the first that is false or wrong ends it.
DeviceStep judge(const DeviceInputs& inputs, const std::vector<api::DeviceSelector>& selectors,
                 const SelectorOwner& owner, const DeviceCandidate& candidate) {
  static const std::string nothing;
  for (std::size_t i = 0; i < selectors.size(); ++i) {
    const Selected selected = inputs.budget.judge(
        inputs.selectors,
        {.expression = selectors[i].expression ? *selectors[i].expression : nothing,
         .driver = candidate.pool->driver(),
         .device = *candidate.device->device},
        {.what = owner.what, .owner = &owner.key, .request = owner.request, .index = i});
    if (selected.end == Selected::End::kYes) continue;
    if (selected.end == Selected::End::kNo) return {.end = End::kNo, .message = {}};
    if (selected.end == Selected::End::kNotAsked) return {.end = End::kLimit, .message = {}};
    return selector_error(owner, i, candidate, selected);
  }
  return {};
}

/// Where AskAnswers keeps what is known of the device.
DeviceAnswer& kept_answer(const DeviceInputs& inputs, const PreparedAsk& ask,
                          const DeviceCandidate& candidate) {
  const auto position = candidate.device - candidate.part->devices.data();
  return inputs.answers.of(candidate.slice(), ask.number)[static_cast<std::size_t>(position)];
}

DeviceStep judge_uncached(const DeviceInputs& inputs, const DeviceNode& node,
                          const PreparedClaim& claim, const PreparedAsk& ask,
                          const DeviceCandidate& candidate) {
  const bool waits = !candidate.device->device->binding_conditions.empty();
  if (waits && !inputs.features.binding_conditions) return {.end = End::kNo, .message = {}};
  if (!inputs.as_upstream && candidate.node_terms() > 1) return {.end = End::kNo, .message = {}};
  DeviceStep step =
      judge(inputs, ask.device_class->selectors, {"class", ask.device_class->meta.key}, candidate);
  if (!step.is_yes()) return step;
  step =
      judge(inputs, ask.ask->selectors, {"claim", claim.claim->meta.key, ask.told_name}, candidate);
  if (!step.is_yes() || !candidate.slice().per_device_node_selection) return step;
  const Result<bool> usable = cluster::is_usable_on(candidate.device->device->place, node.facts);
  if (!usable) return fatal(usable.error().message);
  return {.end = *usable ? End::kYes : End::kNo, .message = {}};
}

/// Features, selectors and class of an ask; sets its class.
DeviceStep check_ask(const DeviceInputs& inputs, const PreparedClaim& claim, PreparedAsk& ask) {
  const api::DeviceAsk& wanted = *ask.ask;
  if (!wanted.derived_attributes.empty() && !inputs.features.derived_attributes) {
    return fatal(where(claim, ask) +
                 ": cannot handle request with derived attributes, the feature is disabled");
  }
  for (std::size_t i = 0; i < wanted.selectors.size(); ++i) {
    if (wanted.selectors[i].expression) continue;
    return fatal(where(claim, ask) + ", selector #" + std::to_string(i) +
                 ": CEL expression empty (unsupported selector type?)");
  }
  if (wanted.admin_access && !inputs.features.admin_access) {
    return fatal(where(claim, ask) + ": admin access is requested, but the feature is disabled");
  }
  if (wanted.class_name.empty()) {
    return fatal(where(claim, ask) + ": missing device class name (unsupported request type?)");
  }
  const auto found = inputs.classes.find(wanted.class_name);
  if (found == inputs.classes.end()) {
    return fatal(where(claim, ask) + ": could not retrieve device class " + wanted.class_name +
                 ": it does not exist");
  }
  ask.device_class = found->second.get();
  return {};
}

/// Whether the bad pool could hold devices that the ask wants: it has one, or nothing is known.
DeviceStep concerns(const DeviceInputs& inputs, const DeviceNode& node, const PreparedClaim& claim,
                    const PreparedAsk& ask, const NodePool& pool) {
  if (pool.device_count() == 0) return {};
  for (const DeviceCandidate& candidate : candidates_of(pool)) {
    DeviceStep step = judge_uncached(inputs, node, claim, ask, candidate);
    if (step.end != End::kNo) return step;
  }
  return {.end = End::kNo, .message = {}};
}

DeviceStep bad_pool(const DeviceInputs& inputs, const DeviceNode& node, const PreparedClaim& claim,
                    const PreparedAsk& ask, const NodePool& pool) {
  if (!inputs.as_upstream) {
    DeviceStep step = concerns(inputs, node, claim, ask, pool);
    if (step.end == End::kNo) return {};
    if (step.end == End::kFatal || step.end == End::kLimit) return step;
  }
  const char* what = pool.state == PoolState::kIncomplete ? "being updated" : "invalid";
  return {.end = inputs.as_upstream ? End::kFatal : End::kNode,
          .message = where(claim, ask) + ": asks for all devices, but resource pool " +
                     pool.pool->driver() + "/" + pool.pool->name() + " is currently " + what};
}

/// Adds the candidates [first, first + count) that the ask wants and that are large enough.
DeviceStep collect(const DeviceInputs& inputs, const DeviceNode& node, const PreparedClaim& claim,
                   PreparedAsk& ask, std::pair<std::uint32_t, std::uint32_t> range) {
  for (std::uint32_t at = range.first; at < range.second; ++at) {
    DeviceStep step = judge_selectable(inputs, node, claim, ask, at);
    if (step.is_final()) return step;
    if (!step.is_yes()) continue;
    const DeviceCandidate& candidate = node.candidates[at];
    if (inputs.features.consumable_capacity) {
      const CapacityCharge charge = charge_for(ask.ask->capacity, *candidate.device->device, {},
                                               inputs.features.fractional_capacity_range);
      if (charge.end == CapacityCharge::End::kFatal) {
        return fatal(where(claim, ask) + ": checking capacity for device " +
                     candidate.device->device->name + ": " + charge.message);
      }
      if (charge.end == CapacityCharge::End::kSkip) continue;
    }
    ask.all.push_back(at);
  }
  return {};
}

DeviceStep collect_all(const DeviceInputs& inputs, const DeviceNode& node,
                       const PreparedClaim& claim, PreparedAsk& ask) {
  std::uint32_t first = 0;
  for (const NodePool& pool : node.pools) {
    if (pool.state != PoolState::kReady) {
      DeviceStep step = bad_pool(inputs, node, claim, ask, pool);
      if (!step.is_yes()) return step;
      continue;
    }
    const std::uint32_t last = first + static_cast<std::uint32_t>(pool.device_count());
    DeviceStep step = collect(inputs, node, claim, ask, {first, last});
    if (!step.is_yes()) return step;
    first = last;
  }
  ask.count = static_cast<std::int64_t>(ask.all.size());
  return {};
}

/// What the pools of the node have answered already.
void add_known(const DeviceInputs& inputs, const DeviceNode& node, PreparedAsk& ask) {
  ask.selectable.reserve(node.candidates.size());
  for (const NodePool& view : node.pools) {
    if (view.state != PoolState::kReady) continue;
    for (const cluster::PoolPart* part : view.parts) {
      if (part->devices.empty()) continue;
      const std::vector<DeviceAnswer>& known = inputs.answers.of(*part->slice, ask.number);
      ask.selectable.insert(ask.selectable.end(), known.begin(), known.end());
    }
  }
}

DeviceStep prepare_ask(const DeviceInputs& inputs, const DeviceNode& node,
                       const PreparedClaim& claim, PreparedAsk& ask) {
  DeviceStep step = check_ask(inputs, claim, ask);
  if (!step.is_yes()) return step;
  ask.number = inputs.answers.number_of(*ask.device_class, ask.ask->selectors);
  add_known(inputs, node, ask);
  switch (ask.ask->mode) {
    case AllocationMode::kExactCount:
      ask.count = ask.ask->count;
      return {};
    case AllocationMode::kAll:
      return collect_all(inputs, node, claim, ask);
    case AllocationMode::kUnknown:
      return fatal(where(claim, ask) + ": unsupported count mode");
  }
  return {};
}

PreparedRequest make_request(const DeviceInputs& inputs, const api::DeviceRequest& request) {
  PreparedRequest prepared{.request = &request, .asks = {}};
  prepared.asks.reserve(request.exactly ? 1 : request.first_available.size());
  if (request.exactly) {
    prepared.asks.push_back({.ask = &*request.exactly,
                             .full_name = request.name,
                             .told_name = request.name,
                             .all = {},
                             .selectable = {}});
  }
  for (const api::DeviceAsk& ask : request.first_available) {
    const std::string full_name = request.name + "/" + ask.name;
    prepared.asks.push_back({.ask = &ask,
                             .full_name = full_name,
                             .told_name = inputs.as_upstream ? ask.name : full_name,
                             .all = {},
                             .selectable = {}});
  }
  return prepared;
}

/// What uses a feature that is off, in any alternative: before anything else of the request.
DeviceStep check_features(const DeviceInputs& inputs, const PreparedClaim& claim,
                          const PreparedRequest& request) {
  const std::string owner = "claim " + claim.claim->meta.key.text();
  if (request.has_alternatives() && !inputs.features.prioritized_list) {
    return fatal(owner + ", request " + request.request->name +
                 ": has subrequests, but the DRAPrioritizedList feature is disabled");
  }
  if (inputs.features.consumable_capacity) return {};
  const char* kind = request.has_alternatives() ? ", subrequest " : ", request ";
  for (const PreparedAsk& ask : request.asks) {
    if (ask.ask->capacity.empty()) continue;
    return fatal(owner + kind + ask.told_name +
                 ": has capacity requests, but the DRAConsumableCapacity feature is disabled");
  }
  return {};
}

}  // namespace

DeviceStep judge_selectable(const DeviceInputs& inputs, const DeviceNode& node,
                            const PreparedClaim& claim, PreparedAsk& ask, std::uint32_t candidate) {
  DeviceAnswer& known = ask.selectable[candidate];
  if (known != DeviceAnswer::kUnknown) {
    return {.end = known == DeviceAnswer::kYes ? End::kYes : End::kNo, .message = {}};
  }
  const DeviceCandidate& wanted = node.candidates[candidate];
  DeviceStep step = judge_uncached(inputs, node, claim, ask, wanted);
  if (step.is_final()) return step;
  known = step.is_yes() ? DeviceAnswer::kYes : DeviceAnswer::kNo;
  // Where devices choose nodes themselves the answer is this node's.
  if (wanted.slice().per_device_node_selection) return step;
  kept_answer(inputs, ask, wanted) = known;
  return step;
}

DeviceStep prepare_claim(const DeviceInputs& inputs, const DeviceNode& node, PreparedClaim& claim) {
  std::int64_t least = 0;
  claim.requests.reserve(claim.claim->spec.requests.size());
  for (const api::DeviceRequest& request : claim.claim->spec.requests) {
    PreparedRequest& prepared = claim.requests.emplace_back(make_request(inputs, request));
    DeviceStep allowed = check_features(inputs, claim, prepared);
    if (!allowed.is_yes()) return allowed;
    std::int64_t smallest = std::numeric_limits<std::int64_t>::max();
    for (PreparedAsk& ask : prepared.asks) {
      DeviceStep step = prepare_ask(inputs, node, claim, ask);
      if (!step.is_yes()) return step;
      smallest = std::min(smallest, ask.count);
    }
    if (smallest > kClaimDevicesMax - least) {
      return {.end = inputs.as_upstream ? End::kFatal : End::kNode,
              .message = "claim " + claim.claim->meta.key.text() + ", request " + request.name +
                         ": adding " + std::to_string(smallest) +
                         " devices exceeds the claim limit of " + std::to_string(kClaimDevicesMax) +
                         ", with " + std::to_string(least) + " already accounted for"};
    }
    least += smallest;
  }
  for (const api::DeviceConstraint& constraint : claim.claim->spec.constraints) {
    if (constraint.kind != api::ConstraintKind::kUnknown) continue;
    return fatal("claim " + claim.claim->meta.key.text() +
                 ": empty constraint (unsupported constraint type?)");
  }
  return {};
}

}  // namespace gang::engine
