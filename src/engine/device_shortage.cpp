#include "engine/device_shortage.h"

#include <fmt/format.h>
#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>
#include <set>
#include <utility>

#include "engine/device_holding.h"
#include "engine/device_pool_text.h"
#include "engine/device_tally.h"
#include "gang/base/list_text.h"

namespace gang::engine {
namespace {

constexpr std::size_t kExpressionMax = 120;

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

bool takes_all(const api::DeviceAsk& ask) {
  return ask.mode == api::AllocationMode::kAll;
}

std::string capacity_text(const api::QuantityMap& capacity) {
  std::vector<std::string> amounts;
  for (const auto& [name, amount] : capacity) amounts.push_back(name + " " + amount.text());
  return fmt::format("{}", fmt::join(amounts, " and "));
}

/// "; the others: r/big 0 free of 2" of the alternatives that are not told in full.
std::string others_text(const Counted& counted) {
  std::vector<std::string> others;
  for (const AskTally& one : counted.counter().asks()) {
    if (&one == &counted.told()) continue;
    others.push_back(fmt::format("{}/{} {} free of {}", counted.wanted().of().name, one.ask->name,
                                 one.fleet.free(), one.fleet.matching));
  }
  return others.empty() ? "" : "; the others: " + list_text(others);
}

/// What keeps devices from being free, in the order in which it is looked at.
std::string fates_text(const api::DeviceAsk& ask, const Tally& tally) {
  std::string text;
  const auto add = [&text](std::int64_t count, const std::string& what) {
    if (count > 0) text += fmt::format("; {} {}", count, what);
  };
  const std::string evicting =
      tally.evicting == 0 ? ""
                          : fmt::format("; {} NoExecute, which needs a toleration with that effect",
                                        tally.evicting);
  add(tally.unusable, "usable on no node");
  add(tally.small, "cannot give " + capacity_text(ask.capacity));
  add(tally.held, "allocated");
  add(tally.tainted, fmt::format("tainted ({}{})", tally.taint, evicting));
  add(tally.beyond, "out of reach of " + tally.holder);
  add(tally.closed, "on nodes that take no such pod");
  add(tally.avoided, "not made ready of late");
  add(tally.blocked, "with counters of unknown use: " + tally.blocker);
  add(tally.drained, fmt::format("short of counters ({})", tally.drain));
  add(tally.full, fmt::format("short of capacity ({})", tally.fill));
  return text;
}

std::string needed_text(const Counted& counted) {
  if (takes_all(*counted.told().ask)) return "; needed: all of a node";
  const std::int64_t shares = counted.shares();
  if (shares > counted.needed()) return fmt::format("; needed {} shares", shares);
  return fmt::format("; needed {}", counted.needed());
}

std::string text_of(const Counted& counted) {
  const api::DeviceAsk& ask = *counted.told().ask;
  const Tally& tally = counted.told().fleet;
  const std::string selectors = selectors_text(ask);
  return fmt::format("device class {}: {} free of {}{}{}", ask.class_name, tally.free(),
                     tally.matching, selectors.empty() ? "" : " that match", selectors) +
         fates_text(ask, tally) + needed_text(counted) + others_text(counted);
}

/// The claim and its request, or the extended resource that it stands for.
std::string name_of(const Wanted& wanted) {
  if (!wanted.resource.empty()) return wanted.resource;
  return fmt::format("claim {}, request {}", wanted.claim->meta.key.text(), wanted.of().name);
}

/// What the text is about, where the pods ask for more than one thing; "" of a single request.
std::string subject_of(const Counted& counted, bool is_one_of_many) {
  const Wanted& wanted = counted.wanted();
  const std::size_t count = wanted.of().first_available.size();
  const bool says_name = is_one_of_many || !wanted.resource.empty();
  std::string subject = says_name ? name_of(wanted) : "";
  if (count < 2) return subject;
  if (subject.empty()) subject = "request " + wanted.of().name;
  return fmt::format("{}/{}, the nearest of {} alternatives", subject, counted.told().ask->name,
                     count);
}

/// How far the free devices are from what is needed.
struct Lack {
  Shortage shortage;
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

Lack lack_of(const DeviceStage& stage, const std::vector<SeenNode>& nodes, const Counted& counted) {
  const AskTally& told = counted.told();
  const std::vector<AskTally>& asks = counted.counter().asks();
  Lack lack{.shortage = {.text = text_of(counted),
                         .lacking = counted.lacking(),
                         .margin = counted.margin()},
            .conditions = {}};
  const auto has_none = [](const AskTally& one) { return one.fleet.matching == 0; };
  if (!counted.counter().refusal().empty() && std::ranges::all_of(asks, has_none)) {
    lack.shortage.text = counted.counter().refusal();
    lack.is_refusal = true;
    return lack;
  }
  if (lack.shortage.margin < 0) {
    lack.shortage.text += pools_text(stage.inputs, views_of(nodes), asks);
  } else if (!takes_all(*told.ask) || told.fleet.free() == told.fleet.able()) {
    lack.conditions = conditions_text(counted.wanted().claim->spec, told.fleet);
  }
  return lack;
}

/// Of a single request: ", of which n1 has most: 2 of 3"; "" where there is more than a number to
/// it.
std::string most_of_node(const std::vector<SeenNode>& nodes, const Counted& counted) {
  const AskTally& told = counted.told();
  const bool has_others = counted.counter().asks().size() > 1;
  if (nodes.empty() || takes_all(*told.ask) || has_others) return "";
  const auto best = std::ranges::max_element(told.nodes, {}, &NodeTally::free);
  const SeenNode& node = nodes[static_cast<std::size_t>(best - told.nodes.begin())];
  return fmt::format(", of which {} has most: {} of {}", node.devices.facts.name, best->free,
                     counted.needed_by_one());
}

/// The node that has most of what one member asks for, and what that lacks.
std::string nearest_text(const std::vector<SeenNode>& nodes, const std::vector<Counted>& all) {
  const Wanted& wanted = all.front().wanted();
  const bool is_one_number = std::ranges::all_of(
      all, [&wanted](const Counted& one) { return ask_alike(wanted, one.wanted()); });
  if (all.size() == 1 || is_one_number) return most_of_node(nodes, all.front());
  std::size_t best = 0;
  const Wanted* lacking = nullptr;
  std::int64_t most = -1;
  for (std::size_t node = 0; node < nodes.size(); ++node) {
    std::int64_t count = 0;
    const Wanted* first = nullptr;
    for (const Counted& counted : all) {
      const bool has = counted.users_on(node, true) > 0;
      count += has ? 1 : 0;
      if (!has && first == nullptr) first = &counted.wanted();
    }
    if (count <= most) continue;
    most = count;
    best = node;
    lacking = first;
  }
  if (lacking == nullptr) return "";
  return fmt::format(", of which {} lacks {}", nodes[best].devices.facts.name, name_of(*lacking));
}

/// Why so many members do not find all that each of them asks for on one node; "" where nodes have
/// all of it.
std::string apart_text(const std::vector<SeenNode>& nodes, const std::vector<Counted>& all,
                       std::int64_t users) {
  const std::int64_t served = served_by(nodes, all, users, true);
  if (served >= users) return "";
  return "; to be met as well: all that a pod claims on one node" +
         (served == 0 ? nearest_text(nodes, all)
                      : fmt::format(", where devices serve {} of {} pods", served, users));
}

/// The scarcest of these.
const Lack* scarcest_of(const std::vector<Lack>& lacks) {
  const Lack* worst = nullptr;
  for (const Lack& lack : lacks) {
    if (worst == nullptr || is_scarcer(lack.shortage, worst->shortage)) worst = &lack;
  }
  return worst;
}

/// The scarcest of those that something keeps apart though there are enough; null without one.
const Lack* conditioned_of(const std::vector<Lack>& lacks) {
  const Lack* worst = nullptr;
  for (const Lack& lack : lacks) {
    if (lack.conditions.value_or("").empty()) continue;
    if (worst == nullptr || is_scarcer(lack.shortage, worst->shortage)) worst = &lack;
  }
  return worst;
}

/// What is told of requests, which are all that one member asks for.
Shortage scarcest(const DeviceStage& stage, const std::vector<SeenNode>& nodes,
                  const std::vector<Wanted>& all, std::int64_t users) {
  std::vector<Counted> counted;
  std::vector<Lack> lacks;
  counted.reserve(all.size());
  for (const Wanted& wanted : all) {
    lacks.push_back(lack_of(stage, nodes, counted.emplace_back(stage, nodes, wanted)));
  }
  const Lack* told = scarcest_of(lacks);
  std::string more;
  Lacking lacking = told->shortage.lacking;
  if (told->conditions) {
    more = apart_text(nodes, counted, users);
    const Lack* conditioned = more.empty() ? conditioned_of(lacks) : nullptr;
    if (conditioned != nullptr) told = conditioned;
    if (more.empty()) more = *told->conditions;
    const bool is_certain = std::ranges::all_of(all, &Wanted::is_certain);
    if (is_certain && served_by(nodes, counted, users, false) < users) lacking = Lacking::kOnFleet;
  }
  Shortage shortage = told->shortage;
  shortage.lacking = lacking;
  shortage.text += more;
  const std::size_t index = static_cast<std::size_t>(told - lacks.data());
  const std::string subject = told->is_refusal ? "" : subject_of(counted[index], all.size() > 1);
  if (!subject.empty()) shortage.text = subject + ": " + shortage.text;
  return shortage;
}

/// The devices of a node, made anew: the draft's are those of the attempt.
std::optional<DeviceNode> devices_of(const DeviceStage& stage, const cluster::NodeInfo& node) {
  auto devices = device_node_of(node, stage.pools_of(node.name));
  if (!devices) return std::nullopt;
  return *std::move(devices);
}

/// How members of the kind come to the node.
Access access_of(const Draft& draft, const Asking& asking, std::uint32_t rank) {
  const CapacityTable& table = draft.table(asking.kind.class_index);
  const cluster::NodeInfo& node = *draft.snapshot().node(draft.snapshot().by_name()[rank]);
  if (!holder_elsewhere(asking.claims, asking.kind, node).empty()) return Access::kBeyond;
  const bool refuses = (table.entry(rank).reasons & table.rules().facts_lines) != 0;
  return refuses ? Access::kClosed : Access::kOpen;
}

/// The devices of pools that none of the nodes sees.
SeenNode nowhere_of(const std::vector<const cluster::DevicePool*>& pools,
                    const std::vector<SeenNode>& nodes) {
  std::set<const cluster::PoolPart*> seen;
  for (const SeenNode& node : nodes) {
    for (const NodePool& pool : node.devices.pools)
      seen.insert(pool.parts.begin(), pool.parts.end());
  }
  static const api::StringMap kNoLabels;
  SeenNode nowhere{.devices = {.facts = {.name = "", .labels = kNoLabels}},
                   .access = Access::kNowhere};
  for (const cluster::DevicePool* pool : pools) {
    if (pool->state() != cluster::PoolState::kReady) continue;
    NodePool rest{.pool = pool, .problem = {}, .parts = {}};
    for (const cluster::PartPtr& part : pool->parts()) {
      if (!seen.contains(part.get())) rest.parts.push_back(part.get());
    }
    if (rest.parts.empty()) continue;
    std::ranges::copy(candidates_of(rest), std::back_inserter(nowhere.devices.candidates));
    nowhere.devices.pools.push_back(std::move(rest));
  }
  return nowhere;
}

std::vector<SeenNode> nodes_with_pools(const Draft& draft, const DeviceStage& stage,
                                       const Asking& asking) {
  const std::uint32_t node_count = draft.table(asking.kind.class_index).size();
  std::vector<SeenNode> nodes;
  for (const Access access : {Access::kOpen, Access::kBeyond, Access::kClosed}) {
    for (std::uint32_t rank = 0; rank < node_count; ++rank) {
      if (access_of(draft, asking, rank) != access) continue;
      const cluster::NodeInfo& node = *draft.snapshot().node(draft.snapshot().by_name()[rank]);
      auto devices = devices_of(stage, node);
      if (!devices || devices->pools.empty()) continue;
      nodes.push_back({.devices = *std::move(devices),
                       .access = access,
                       .holder = holder_elsewhere(asking.claims, asking.kind, node)});
    }
  }
  if (!stage.all_pools) return nodes;
  SeenNode nowhere = nowhere_of(stage.all_pools(), nodes);
  if (!nowhere.devices.candidates.empty()) nodes.push_back(std::move(nowhere));
  return nodes;
}

}  // namespace

bool is_scarcer(const Shortage& a, const Shortage& b) {
  const bool is_proved = a.lacking == Lacking::kOnFleet;
  if (is_proved != (b.lacking == Lacking::kOnFleet)) return is_proved;
  return a.margin < b.margin;
}

Shortage shortage_of(const Draft& draft, const DeviceStage& stage, const Asking& asking,
                     const std::vector<Asking>& others) {
  const std::vector<Wanted> all = wanted_of(asking, others);
  if (all.empty()) return {};
  return scarcest(stage, nodes_with_pools(draft, stage, asking), all, asking.users);
}

}  // namespace gang::engine
