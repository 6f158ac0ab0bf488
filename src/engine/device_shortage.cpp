#include "engine/device_shortage.h"

#include <fmt/format.h>
#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>

namespace gang::engine {
namespace {

constexpr std::size_t kExpressionMax = 120;
/// Above this a count is told no more exactly; claims take 32 devices.
constexpr std::int64_t kNeededMax = 1'000'000;

/// What became of the devices that one request could have. A value.
struct Tally {
  std::int64_t matching = 0;
  std::int64_t held = 0;          ///< of them, given whole to claims
  std::int64_t tainted = 0;       ///< of the others, with a taint that is not tolerated
  std::int64_t evicting = 0;      ///< of these, tolerated but for an effect NoExecute
  std::int64_t blocked = 0;       ///< of the rest, behind a claim's device that no slice shows
  std::string blocker;            ///< which claim and device, for the first of these
  bool costs_counters = false;    ///< one that is free costs counters, which others cost too
  bool is_shared = false;         ///< one is given out in shares, so the numbers prove nothing
  std::set<std::string> drivers;  ///< of all that match
  std::string refusal;            ///< why no node was looked at for the request, or ""
  [[nodiscard]] std::int64_t free() const { return matching - held - tainted - blocked; }
};

/// Counts devices for one ask, each once however many nodes can use it.
class Counter {
 public:
  Counter(const DeviceStage& stage, const PreparedClaim& like, std::size_t request)
      : stage_(stage), like_(like), request_(request) {}

  void look_at(const DeviceNode& node) {
    PreparedClaim claim{.claim = like_.claim, .requests = {}};
    const DeviceStep step = prepare_claim(stage_.inputs, node, claim);
    if (!step.is_yes()) {
      if (tally_.refusal.empty()) tally_.refusal = step.message;
      return;
    }
    PreparedAsk& ask = claim.requests[request_].asks.front();
    for (std::uint32_t i = 0; i < node.candidates.size(); ++i) {
      const cluster::PoolDevice& device = *node.candidates[i].device;
      if (seen_.contains(device.id)) continue;
      if (!judge_selectable(stage_.inputs, node, claim, ask, i).is_yes()) continue;
      seen_.insert(device.id);
      tally_.drivers.insert(node.candidates[i].pool->driver());
      count(node.candidates[i], *ask.ask);
    }
  }

  [[nodiscard]] const Tally& tally() const { return tally_; }

 private:
  void count(const DeviceCandidate& candidate, const api::DeviceAsk& ask) {
    const cluster::PoolDevice& device = *candidate.device;
    const cluster::DeviceTaken* taken = stage_.usage.find(device.id);
    const cluster::DeviceFeatures& features = stage_.inputs.features;
    ++tally_.matching;
    if (device.device->allow_multiple_allocations) tally_.is_shared = true;
    if (taken != nullptr && taken->whole > 0) {
      ++tally_.held;
    } else if (!tolerates(features, ask.tolerations, device)) {
      cluster::DeviceFeatures as_upstream = features;
      as_upstream.strict_no_execute = false;
      ++tally_.tainted;
      if (tolerates(as_upstream, ask.tolerations, device)) ++tally_.evicting;
    } else if (const auto* blocker = blocker_of(candidate)) {
      ++tally_.blocked;
      if (tally_.blocker.empty()) tally_.blocker = text_of(*blocker, *candidate.pool);
    } else if (!device.counters.empty()) {
      tally_.costs_counters = true;
    }
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
  const PreparedClaim& like_;
  const std::size_t request_;
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
    conditions.push_back(fmt::format("{} {}", kind, constraint.attribute));
  }
  if (conditions.empty()) return "";
  return fmt::format("; to be met as well: {}", fmt::join(conditions, ", "));
}

/// Why the pool, or a slice of it, offers nothing; "" when all of it does.
std::string pool_text(const NodePool& pool) {
  if (pool.state != cluster::PoolState::kReady) {
    return fmt::format("; pool {}/{} offers nothing: {}", pool.pool->driver(), pool.pool->name(),
                       pool.problem);
  }
  for (const cluster::PoolDevice* device : pool.devices) {
    const DeviceCandidate candidate{pool.pool, device};
    if (candidate.node_terms() <= 1) continue;
    return fmt::format("; device {} is passed over: its node selector has {} terms, claims hold 1",
                       candidate.text(), candidate.node_terms());
  }
  return "";
}

/// The first of these that may have been meant; "" when there is none.
std::string pools_text(const std::vector<DeviceNode>& nodes, const Tally& tally) {
  for (const DeviceNode& node : nodes) {
    for (const NodePool& pool : node.pools) {
      if (!tally.drivers.empty() && !tally.drivers.contains(pool.pool->driver())) continue;
      if (std::string text = pool_text(pool); !text.empty()) return text;
    }
  }
  return "";
}

/// Devices that so many users need for this request and those of the claim that ask alike.
std::int64_t needed_of(const api::ClaimSpec& spec, const api::DeviceAsk& ask, std::int64_t users) {
  std::int64_t count = 0;
  for (const api::DeviceRequest& request : spec.requests) {
    if (!request.exactly || request.exactly->class_name != ask.class_name) continue;
    if (request.exactly->selectors != ask.selectors) continue;
    if (request.exactly->admin_access != ask.admin_access) continue;
    count += std::min(request.exactly->count, kNeededMax);
  }
  // One of several alternatives stands for itself.
  return std::max(count, std::min(ask.count, kNeededMax)) * users;
}

std::string text_of(const api::DeviceAsk& ask, const Tally& tally, std::int64_t needed) {
  const std::string selectors = selectors_text(ask);
  std::string text = fmt::format("device class {}: {} free of {}{}{}", ask.class_name, tally.free(),
                                 tally.matching, selectors.empty() ? "" : " that match", selectors);
  if (tally.held > 0) text += fmt::format("; {} allocated", tally.held);
  if (tally.tainted > 0) text += fmt::format("; {} tainted", tally.tainted);
  if (tally.evicting > 0) {
    text +=
        fmt::format(" ({} NoExecute, which needs a toleration with that effect)", tally.evicting);
  }
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
};

Lack lack_of(const DeviceStage& stage, const std::vector<DeviceNode>& nodes, const Wanted& wanted) {
  const PreparedClaim like{.claim = wanted.claim, .requests = {}};
  Counter counter(stage, like, wanted.request);
  for (const DeviceNode& node : nodes) counter.look_at(node);
  const api::DeviceRequest& request = wanted.claim->spec.requests[wanted.request];
  const api::DeviceAsk& ask = request.exactly ? *request.exactly : request.first_available.front();
  const bool takes_all = ask.mode == api::AllocationMode::kAll;
  const api::ClaimSpec& spec = wanted.claim->spec;
  const std::int64_t needed = takes_all ? 1 : needed_of(spec, ask, wanted.users);
  const Tally& tally = counter.tally();
  Lack lack{
      .shortage = {.text = text_of(ask, tally, needed),
                   .is_hopeless = request.exactly && !tally.is_shared && tally.matching < needed},
      .margin = tally.free() - needed};
  std::string& text = lack.shortage.text;
  if (tally.matching == 0 && !tally.refusal.empty()) {
    text = tally.refusal;
  } else if (lack.margin < 0 && !tally.is_shared) {
    text += pools_text(nodes, tally);
  } else if (!takes_all || tally.free() == tally.matching) {
    text += conditions_text(spec, tally);
  }
  return lack;
}

/// Members that have a claim like this one each: all of the kind, unless they share it.
std::int64_t users_of(const DeviceKind& kind, std::size_t claim) {
  const auto count = std::ranges::count_if(kind.members, [claim](const DeviceMember& member) {
    return std::ranges::find(member.claims, claim) != member.claims.end();
  });
  return count > 1 ? 1 : static_cast<std::int64_t>(kind.members.size());
}

/// The devices of a node, made anew: the draft's are those of the attempt.
std::optional<DeviceNode> devices_of(const DeviceStage& stage, const cluster::NodeInfo& node) {
  auto devices = device_node({.name = node.name, .labels = node.labels}, stage.pools_of(node.name));
  if (!devices) return std::nullopt;
  return *std::move(devices);
}

std::vector<DeviceNode> nodes_with_pools(const Draft& draft, const DeviceStage& stage) {
  std::vector<DeviceNode> nodes;
  for (const cluster::NodeIndex index : draft.snapshot().by_name()) {
    auto devices = devices_of(stage, *draft.snapshot().node(index));
    if (devices && !devices->pools.empty()) nodes.push_back(*std::move(devices));
  }
  return nodes;
}

}  // namespace

Shortage shortage_of(const Draft& draft, const DeviceStage& stage, const api::ResourceClaim& claim,
                     const DeviceKind& kind) {
  const std::vector<DeviceNode> nodes = nodes_with_pools(draft, stage);
  const auto users = static_cast<std::int64_t>(kind.members.size());
  std::optional<Lack> worst;
  for (std::size_t i = 0; i < claim.spec.requests.size(); ++i) {
    Lack lack = lack_of(stage, nodes, {&claim, i, users});
    if (!worst || lack.margin < worst->margin) worst = std::move(lack);
  }
  return worst ? Shortage{.text = worst->shortage.text} : Shortage{};
}

Shortage shortage_of(const Draft& draft, const DeviceStage& stage,
                     const std::vector<cluster::GangClaim>& claims, const DeviceKind& kind) {
  const std::vector<DeviceNode> nodes = nodes_with_pools(draft, stage);
  std::optional<Lack> worst;
  for (const std::size_t index : kind.members.front().claims) {
    const cluster::GangClaim& claim = claims[index];
    if (claim.allocation) continue;
    for (std::size_t i = 0; i < claim.claim->spec.requests.size(); ++i) {
      Lack lack = lack_of(stage, nodes, {claim.claim.get(), i, users_of(kind, index)});
      if (!worst || lack.margin < worst->margin) worst = std::move(lack);
    }
  }
  return worst ? worst->shortage : Shortage{};
}

}  // namespace gang::engine
