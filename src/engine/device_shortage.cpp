#include "engine/device_shortage.h"

#include <fmt/format.h>
#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>

#include "engine/device_capacity.h"
#include "engine/device_pool_text.h"

namespace gang::engine {
namespace {

constexpr std::size_t kExpressionMax = 120;
/// Above this a count is told no more exactly; claims take 32 devices.
constexpr std::int64_t kNeededMax = 1'000'000;

/// A node as the members of the kind see it.
struct SeenNode {
  DeviceNode devices;
  bool is_closed = false;  ///< its labels or taints let none of them in
};

/// What became of the devices that one request could have. A value.
struct Tally {
  std::int64_t matching = 0;
  std::int64_t small = 0;         ///< of them, without the capacity asked for, whoever has them
  std::int64_t held = 0;          ///< of the others, given whole to claims
  std::int64_t tainted = 0;       ///< of the rest, with a taint that is not tolerated
  std::int64_t evicting = 0;      ///< of these, tolerated but for an effect NoExecute
  std::int64_t closed = 0;        ///< of the rest, on nodes only that let no member in
  std::int64_t avoided = 0;       ///< of the rest, left out by the gang for now
  std::int64_t blocked = 0;       ///< of the rest, behind a claim's device that no slice shows
  std::string blocker;            ///< which claim and device, for the first of these
  bool costs_counters = false;    ///< one that is free costs counters, which others cost too
  bool is_shared = false;         ///< one is given out in shares, so the numbers prove nothing
  std::set<std::string> drivers;  ///< of all that match
  std::string refusal;            ///< why no node was looked at for the request, or ""
  /// Those that serve the request while nobody else has them.
  [[nodiscard]] std::int64_t able() const { return matching - small; }
  [[nodiscard]] std::int64_t free() const {
    return able() - held - tainted - closed - avoided - blocked;
  }
};

/// Counts devices for one ask, each once however many nodes can use it: closed nodes come last.
class Counter {
 public:
  Counter(const DeviceStage& stage, const api::ResourceClaim& claim, std::size_t request,
          std::size_t alternative = 0)
      : stage_(stage), claim_(claim), request_(request), alternative_(alternative) {}

  void look_at(const SeenNode& seen) {
    const DeviceNode& node = seen.devices;
    PreparedClaim claim{.claim = &claim_, .requests = {}};
    const DeviceStep step = prepare_claim(stage_.inputs, node, claim);
    if (!step.is_yes()) {
      if (tally_.refusal.empty()) tally_.refusal = step.message;
      return;
    }
    PreparedAsk& ask = claim.requests[request_].asks[alternative_];
    for (std::uint32_t i = 0; i < node.candidates.size(); ++i) {
      const cluster::PoolDevice& device = *node.candidates[i].device;
      if (seen_.contains(device.id)) continue;
      if (!judge_selectable(stage_.inputs, node, claim, ask, i).is_yes()) continue;
      seen_.insert(device.id);
      tally_.drivers.insert(node.candidates[i].pool->driver());
      count(node.candidates[i], *ask.ask, seen.is_closed);
    }
  }

  [[nodiscard]] const Tally& tally() const { return tally_; }

 private:
  void count(const DeviceCandidate& candidate, const api::DeviceAsk& ask, bool is_closed) {
    const cluster::PoolDevice& device = *candidate.device;
    const cluster::DeviceTaken* taken = stage_.usage.find(device.id);
    const cluster::DeviceFeatures& features = stage_.inputs.features;
    ++tally_.matching;
    if (is_small(device, ask)) {
      ++tally_.small;
      return;
    }
    if (device.device->allow_multiple_allocations) tally_.is_shared = true;
    if (taken != nullptr && taken->whole > 0 && !ask.admin_access.value_or(false)) {
      ++tally_.held;
    } else if (!tolerates(features, ask.tolerations, device)) {
      cluster::DeviceFeatures as_upstream = features;
      as_upstream.strict_no_execute = false;
      ++tally_.tainted;
      if (tolerates(as_upstream, ask.tolerations, device)) ++tally_.evicting;
    } else if (is_closed) {
      ++tally_.closed;
    } else if (stage_.inputs.avoided.has(device.id)) {
      ++tally_.avoided;
    } else if (const auto* blocker = blocker_of(candidate)) {
      ++tally_.blocked;
      if (tally_.blocker.empty()) tally_.blocker = text_of(*blocker, *candidate.pool);
    } else if (!device.counters.empty()) {
      tally_.costs_counters = true;
    }
  }

  [[nodiscard]] bool is_small(const cluster::PoolDevice& device, const api::DeviceAsk& ask) const {
    if (ask.capacity.empty()) return false;
    const bool fractional = stage_.inputs.features.fractional_capacity_range;
    return charge_for(ask.capacity, *device.device, {}, fractional).end ==
           CapacityCharge::End::kSkip;
  }

  /// What makes the device's counters unknown; null where they are known, or shared already.
  [[nodiscard]] const cluster::UnseenDevice* blocker_of(const DeviceCandidate& candidate) const {
    const bool is_shared = stage_.usage.find(candidate.device->id) != nullptr;
    if (candidate.device->device->consumes_counters.empty() || is_shared) return nullptr;
    const std::vector<cluster::UnseenDevice>& unseen = candidate.pool->unseen();
    return unseen.empty() ? nullptr : &unseen.front();
  }

  static std::string text_of(const cluster::UnseenDevice& unseen, const cluster::DevicePool& pool) {
    return fmt::format("claim {} holds device {}/{}/{}, which no slice shows", unseen.claim.text(),
                       pool.driver(), pool.name(), unseen.name);
  }

  const DeviceStage& stage_;
  const api::ResourceClaim& claim_;
  const std::size_t request_;
  const std::size_t alternative_;
  std::set<cluster::DeviceId> seen_;
  Tally tally_;
};

std::string selectors_text(const api::DeviceAsk& ask) {
  if (ask.selectors.empty()) return "";
  std::string text = ask.selectors.front().expression.value_or("");
  if (text.size() > kExpressionMax) text = text.substr(0, kExpressionMax) + "...";
  const std::string more =
      ask.selectors.size() > 1 ? fmt::format(" and {} more", ask.selectors.size() - 1) : "";
  return fmt::format(" `{}`{}", text, more);
}

/// What else the free devices must fulfil, where there are enough of them; "" is nothing.
std::string conditions_text(const api::ClaimSpec& spec, const Tally& tally) {
  std::vector<std::string> conditions;
  if (tally.costs_counters) conditions.emplace_back("the counters that they share");
  if (tally.is_shared) conditions.emplace_back("their capacity");
  for (const api::DeviceConstraint& constraint : spec.constraints) {
    const char* kind =
        constraint.kind == api::ConstraintKind::kDistinct ? "distinctAttribute" : "matchAttribute";
    std::string text = fmt::format("{} {}", kind, constraint.attribute);
    const bool is_known = std::ranges::find(conditions, text) != conditions.end();
    if (!is_known) conditions.push_back(std::move(text));
  }
  if (conditions.empty()) return "";
  return fmt::format("; to be met as well: {}", fmt::join(conditions, ", "));
}

/// Devices that so many users need for this request and those of the claim that ask alike. Claims
/// that look on may all look on the same ones.
std::int64_t needed_of(const api::ClaimSpec& spec, const api::DeviceAsk& ask, std::int64_t users) {
  std::int64_t count = 0;
  for (const api::DeviceRequest& request : spec.requests) {
    if (!request.exactly || request.exactly->class_name != ask.class_name) continue;
    if (request.exactly->selectors != ask.selectors) continue;
    if (request.exactly->admin_access != ask.admin_access) continue;
    count += std::min(request.exactly->count, kNeededMax);
  }
  // One of several alternatives stands for itself.
  const std::int64_t of_one = std::max(count, std::min(ask.count, kNeededMax));
  return ask.admin_access.value_or(false) ? of_one : of_one * users;
}

std::string capacity_text(const api::QuantityMap& capacity) {
  std::vector<std::string> amounts;
  for (const auto& [name, amount] : capacity) amounts.push_back(name + " " + amount.text());
  return fmt::format("{}", fmt::join(amounts, " and "));
}

/// The ask of an exact request, or its first alternative.
const api::DeviceAsk& first_ask(const api::DeviceRequest& request) {
  return request.exactly ? *request.exactly : request.first_available.front();
}

std::string text_of(const api::DeviceRequest& request, const Tally& tally, std::int64_t needed) {
  const api::DeviceAsk& ask = first_ask(request);
  const std::string selectors = selectors_text(ask);
  std::string text = "device class " + ask.class_name;
  if (request.first_available.size() > 1) {
    text += fmt::format(" (first of {} alternatives)", request.first_available.size());
  }
  text += fmt::format(": {} free of {}{}{}", tally.free(), tally.matching,
                      selectors.empty() ? "" : " that match", selectors);
  if (tally.small > 0) {
    text += fmt::format("; {} cannot give {}", tally.small, capacity_text(ask.capacity));
  }
  if (tally.held > 0) text += fmt::format("; {} allocated", tally.held);
  if (tally.tainted > 0) text += fmt::format("; {} tainted", tally.tainted);
  if (tally.evicting > 0) {
    text +=
        fmt::format(" ({} NoExecute, which needs a toleration with that effect)", tally.evicting);
  }
  if (tally.closed > 0) text += fmt::format("; {} on nodes that take no such pod", tally.closed);
  if (tally.avoided > 0) text += fmt::format("; {} not made ready of late", tally.avoided);
  if (tally.blocked > 0) {
    text += fmt::format("; {} with counters of unknown use: {}", tally.blocked, tally.blocker);
  }
  if (ask.mode == api::AllocationMode::kAll) return text + "; needed: all of a node";
  return text + fmt::format("; needed {}", needed);
}

/// A request of a claim that so many members have, each for itself. A value.
struct Wanted {
  const api::ResourceClaim* claim = nullptr;
  std::size_t request = 0;
  std::int64_t users = 1;
};

/// How far the free devices are from what is needed.
struct Lack {
  Shortage shortage;
  std::int64_t margin = 0;
  /// There are enough of them: what keeps them apart, or "" where that is not known.
  std::optional<std::string> conditions;
  bool is_refusal = false;  ///< the text is that of a claim that no node can serve
};

std::vector<const DeviceNode*> views_of(const std::vector<SeenNode>& nodes) {
  std::vector<const DeviceNode*> devices;
  devices.reserve(nodes.size());
  for (const SeenNode& node : nodes) devices.push_back(&node.devices);
  return devices;
}

Lack lack_of(const DeviceStage& stage, const std::vector<SeenNode>& nodes, const Wanted& wanted) {
  Counter counter(stage, *wanted.claim, wanted.request);
  for (const SeenNode& node : nodes) counter.look_at(node);
  // What is wrong with the claim itself shows without devices.
  const api::StringMap no_labels;
  if (nodes.empty()) counter.look_at({.devices = {.facts = {.name = "", .labels = no_labels}}});
  const api::ClaimSpec& spec = wanted.claim->spec;
  const api::DeviceRequest& request = spec.requests[wanted.request];
  const api::DeviceAsk& ask = first_ask(request);
  const bool takes_all = ask.mode == api::AllocationMode::kAll;
  const std::int64_t needed = takes_all ? 1 : needed_of(spec, ask, wanted.users);
  const Tally& tally = counter.tally();
  Lack lack{
      .shortage = {.text = text_of(request, tally, needed),
                   .is_hopeless = request.exactly && !tally.is_shared && tally.able() < needed},
      .margin = tally.free() - needed,
      .conditions = {}};
  if (tally.matching == 0 && !tally.refusal.empty()) {
    lack.shortage.text = tally.refusal;
    lack.is_refusal = true;
    return lack;
  }
  if (lack.margin < 0 && !tally.is_shared) {
    lack.shortage.text += pools_text(stage.inputs, views_of(nodes), ask, tally.drivers);
  } else if (!takes_all || tally.free() == tally.able()) {
    lack.conditions = conditions_text(spec, tally);
  }
  return lack;
}

/// Whether the node has so many free devices as one alternative of the request asks for.
bool has_free(const DeviceStage& stage, const SeenNode& node, const Wanted& wanted,
              std::size_t alternative) {
  const api::DeviceRequest& request = wanted.claim->spec.requests[wanted.request];
  const api::DeviceAsk& ask =
      request.exactly ? *request.exactly : request.first_available[alternative];
  Counter counter(stage, *wanted.claim, wanted.request, alternative);
  counter.look_at(node);
  const Tally& tally = counter.tally();
  // Who looks on takes nothing away, and several shares may be of one device.
  if (ask.admin_access.value_or(false) || tally.is_shared) return tally.able() > 0;
  if (ask.mode == api::AllocationMode::kAll) {
    return tally.able() > 0 && tally.free() == tally.able();
  }
  return tally.free() >= (request.exactly ? needed_of(wanted.claim->spec, ask, 1)
                                          : std::min(ask.count, kNeededMax));
}

bool has_free(const DeviceStage& stage, const SeenNode& node, const Wanted& wanted) {
  const std::size_t count =
      std::max<std::size_t>(1, wanted.claim->spec.requests[wanted.request].first_available.size());
  for (std::size_t alternative = 0; alternative < count; ++alternative) {
    if (has_free(stage, node, wanted, alternative)) return true;
  }
  return false;
}

/// The claim and its request; "" of a claim that is to be made for extended resources.
std::string name_of(const Wanted& wanted) {
  if (wanted.claim->meta.key.name.empty()) return "";
  return fmt::format("claim {}, request {}", wanted.claim->meta.key.text(),
                     wanted.claim->spec.requests[wanted.request].name);
}

/// The node that has most of what one member asks for, and what it lacks; "" where one has all.
std::string apart_text(const DeviceStage& stage, const std::vector<SeenNode>& nodes,
                       const std::vector<Wanted>& all) {
  const SeenNode* best = nullptr;
  const Wanted* lacking = nullptr;
  std::int64_t most = -1;
  for (const SeenNode& node : nodes) {
    std::int64_t count = 0;
    const Wanted* first = nullptr;
    for (const Wanted& wanted : all) {
      const bool has = has_free(stage, node, wanted);
      count += has ? 1 : 0;
      if (!has && first == nullptr) first = &wanted;
    }
    if (first == nullptr) return "";
    if (count <= most) continue;
    most = count;
    best = &node;
    lacking = first;
  }
  std::string text = "; to be met as well: all that a pod claims on one node";
  const std::string name = lacking == nullptr ? "" : name_of(*lacking);
  if (name.empty() || all.size() < 2) return text;
  return text + fmt::format(", of which {} lacks {}", best->devices.facts.name, name);
}

/// The scarcest of these, which are all that one member asks for.
Shortage scarcest(const DeviceStage& stage, const std::vector<SeenNode>& nodes,
                  const std::vector<Wanted>& all) {
  std::optional<Lack> worst;
  const Wanted* of = nullptr;
  for (const Wanted& wanted : all) {
    Lack lack = lack_of(stage, nodes, wanted);
    if (worst && lack.margin >= worst->margin) continue;
    worst = std::move(lack);
    of = &wanted;
  }
  if (!worst) return {};
  if (worst->conditions) {
    const std::string apart = apart_text(stage, nodes, all);
    worst->shortage.text += apart.empty() ? *worst->conditions : apart;
  }
  const std::string name = name_of(*of);
  if (all.size() > 1 && !worst->is_refusal && !name.empty()) {
    worst->shortage.text = name + ": " + worst->shortage.text;
  }
  return worst->shortage;
}

/// How many of so many members have a claim like this one each: all, unless they share it.
std::int64_t users_of(const DeviceKind& kind, std::size_t claim, std::int64_t users) {
  const auto count = std::ranges::count_if(kind.members, [claim](const DeviceMember& member) {
    return std::ranges::find(member.claims, claim) != member.claims.end();
  });
  return count > 1 ? 1 : users;
}

/// The devices of a node, made anew: the draft's are those of the attempt.
std::optional<DeviceNode> devices_of(const DeviceStage& stage, const cluster::NodeInfo& node) {
  auto devices = device_node_of(node, stage.pools_of(node.name));
  if (!devices) return std::nullopt;
  return *std::move(devices);
}

std::vector<SeenNode> nodes_with_pools(const Draft& draft, const DeviceStage& stage,
                                       std::uint32_t class_index) {
  const CapacityTable& table = draft.table(class_index);
  std::vector<SeenNode> nodes;
  for (const bool is_closed : {false, true}) {
    for (std::uint32_t rank = 0; rank < table.size(); ++rank) {
      const bool refuses = (table.entry(rank).reasons & table.rules().facts_lines) != 0;
      if (refuses != is_closed) continue;
      auto devices = devices_of(stage, *draft.snapshot().node(draft.snapshot().by_name()[rank]));
      if (!devices || devices->pools.empty()) continue;
      nodes.push_back({.devices = *std::move(devices), .is_closed = is_closed});
    }
  }
  return nodes;
}

}  // namespace

Shortage shortage_of(const Draft& draft, const DeviceStage& stage, const api::ResourceClaim& claim,
                     const DeviceKind& kind, std::int64_t users) {
  std::vector<Wanted> all;
  for (std::size_t i = 0; i < claim.spec.requests.size(); ++i) all.push_back({&claim, i, users});
  return {.text = scarcest(stage, nodes_with_pools(draft, stage, kind.class_index), all).text};
}

Shortage shortage_of(const Draft& draft, const DeviceStage& stage,
                     const std::vector<cluster::GangClaim>& claims, const DeviceKind& kind,
                     std::int64_t users) {
  std::vector<Wanted> all;
  for (const std::size_t index : kind.members.front().claims) {
    const cluster::GangClaim& claim = claims[index];
    if (claim.allocation) continue;
    for (std::size_t i = 0; i < claim.claim->spec.requests.size(); ++i) {
      all.push_back({claim.claim.get(), i, users_of(kind, index, users)});
    }
  }
  return scarcest(stage, nodes_with_pools(draft, stage, kind.class_index), all);
}

}  // namespace gang::engine
