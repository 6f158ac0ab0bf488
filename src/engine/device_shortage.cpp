#include "engine/device_shortage.h"

#include <fmt/format.h>
#include <algorithm>
#include <cstdint>
#include <optional>

#include "engine/device_pool_text.h"
#include "engine/device_tally.h"

namespace gang::engine {
namespace {

constexpr std::size_t kExpressionMax = 120;
/// Above this a count is told no more exactly; claims take 32 devices.
constexpr std::int64_t kNeededMax = 1'000'000;

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
  if (tally.costs_counters) {
    conditions.push_back(fmt::format("the counters that they share ({})", tally.counters));
  }
  if (tally.is_shared) {
    conditions.push_back("their capacity" +
                         (tally.capacity.empty() ? "" : " (" + tally.capacity + ")"));
  }
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
  if (tally.tainted > 0) text += fmt::format("; {} tainted ({}", tally.tainted, tally.taint);
  if (tally.evicting > 0) {
    text +=
        fmt::format("; {} NoExecute, which needs a toleration with that effect", tally.evicting);
  }
  if (tally.tainted > 0) text += ")";
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

/// Why one member does not find all that it asks for on one node. A value.
struct Apart {
  std::string text;          ///< "" where a node has all
  bool is_hopeless = false;  ///< no node has so many devices at all
};

/// Of a single request: ", of which n1 has most: 2 of 3"; no text where there is more than a number
/// to it.
Apart most_of_node(const DeviceStage& stage, const std::vector<SeenNode>& nodes,
                   const Wanted& wanted) {
  const api::DeviceRequest& request = wanted.claim->spec.requests[wanted.request];
  if (!request.exactly || request.exactly->mode == api::AllocationMode::kAll) return {};
  const std::int64_t needed = needed_of(wanted.claim->spec, *request.exactly, 1);
  const SeenNode* best = nullptr;
  std::int64_t most = -1;
  std::int64_t able = 0;
  for (const SeenNode& node : nodes) {
    Counter counter(stage, *wanted.claim, wanted.request);
    counter.look_at(node);
    if (counter.tally().is_shared) return {};
    able = std::max(able, counter.tally().able());
    if (counter.tally().free() <= most) continue;
    most = counter.tally().free();
    best = &node;
  }
  if (best == nullptr) return {};
  return {.text = fmt::format(", of which {} has most: {} of {}", best->devices.facts.name, most,
                              needed),
          .is_hopeless = able < needed};
}

/// The node that has most of what one member asks for, and what it lacks.
Apart apart_of(const DeviceStage& stage, const std::vector<SeenNode>& nodes,
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
    if (first == nullptr) return {};
    if (count <= most) continue;
    most = count;
    best = &node;
    lacking = first;
  }
  Apart apart = all.size() == 1 ? most_of_node(stage, nodes, all.front()) : Apart();
  const std::string name = lacking == nullptr ? "" : name_of(*lacking);
  if (all.size() > 1 && !name.empty()) {
    apart.text = fmt::format(", of which {} lacks {}", best->devices.facts.name, name);
  }
  apart.text = "; to be met as well: all that a pod claims on one node" + apart.text;
  return apart;
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
    const Apart apart = apart_of(stage, nodes, all);
    worst->shortage.text += apart.text.empty() ? *worst->conditions : apart.text;
    worst->shortage.is_hopeless |= apart.is_hopeless;
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
