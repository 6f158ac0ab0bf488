#include "engine/device_shortage.h"

#include <fmt/format.h>
#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "engine/device_pool_text.h"
#include "engine/device_tally.h"
#include "gang/base/list_text.h"

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

/// A request of a claim that so many members have, each for itself. A value.
struct Wanted {
  const api::ResourceClaim* claim = nullptr;
  std::size_t request = 0;
  std::int64_t users = 1;
  std::string resource = {};  ///< "extended resource r of container c" that it stands for, or ""

  [[nodiscard]] const api::DeviceRequest& of() const { return claim->spec.requests[request]; }
};

/// A request with what it could have. `nearest`: the alternative that is told.
struct Counted {
  const Wanted& wanted;
  Counter counter;
  std::size_t nearest = 0;

  [[nodiscard]] const AskTally& told() const { return counter.asks()[nearest]; }
};

/// Devices free, or there at all: of one alternative, and of all.
struct Amount {
  std::int64_t (Tally::*of_one)() const;
  std::int64_t (Counter::*of_all)() const;
};
constexpr Amount kFree = {&Tally::free, &Counter::free};
constexpr Amount kAble = {&Tally::able, &Counter::able};

bool takes_all(const api::DeviceAsk& ask) {
  return ask.mode == api::AllocationMode::kAll;
}

/// Whether each user takes so many devices from the others.
bool is_counted(const api::DeviceAsk& ask) {
  return !takes_all(ask) && !ask.admin_access.value_or(false);
}

/// Devices that one user needs for an alternative, or for an exact request and those of the claim
/// that ask alike.
std::int64_t needed_by_one(const Wanted& wanted, const api::DeviceAsk& ask) {
  if (takes_all(ask)) return 1;
  std::int64_t count = 0;
  for (const api::DeviceRequest& request : wanted.claim->spec.requests) {
    if (!wanted.of().exactly || !request.exactly) continue;
    if (request.exactly->class_name != ask.class_name) continue;
    if (request.exactly->selectors != ask.selectors) continue;
    if (request.exactly->admin_access != ask.admin_access) continue;
    count += std::min(request.exactly->count, kNeededMax);
  }
  return std::max({count, std::min(ask.count, kNeededMax), std::int64_t{1}});
}

/// The same of all users. Those that look on may all look on the same devices.
std::int64_t needed_by_all(const Wanted& wanted, const api::DeviceAsk& ask) {
  const std::int64_t of_one = needed_by_one(wanted, ask);
  return is_counted(ask) ? of_one * wanted.users : of_one;
}

/// The alternative of which the largest part of what is needed is free, or else is there.
std::size_t nearest_of(const Wanted& wanted, const Counter& counter) {
  const std::vector<AskTally>& asks = counter.asks();
  const auto compare = [&](const AskTally& a, const AskTally& b, Amount amount) {
    return (a.fleet.*amount.of_one)() * needed_by_all(wanted, *b.ask) -
           (b.fleet.*amount.of_one)() * needed_by_all(wanted, *a.ask);
  };
  std::size_t nearest = 0;
  for (std::size_t i = 1; i < asks.size(); ++i) {
    const std::int64_t by_free = compare(asks[i], asks[nearest], kFree);
    if (by_free > 0 || (by_free == 0 && compare(asks[i], asks[nearest], kAble) > 0)) nearest = i;
  }
  return nearest;
}

/// As many devices of the alternative that is told as would serve those whom all alternatives serve
/// at most, each device counted for one of them.
std::int64_t reach_of(const Counted& counted, Amount amount) {
  const Wanted& wanted = counted.wanted;
  const std::int64_t of_told = needed_by_one(wanted, *counted.told().ask);
  std::int64_t reach = 0;
  std::int64_t least = kNeededMax;
  bool are_counted = true;
  for (const AskTally& one : counted.counter.asks()) {
    const std::int64_t count = (one.fleet.*amount.of_one)();
    const std::int64_t of_one = needed_by_one(wanted, *one.ask);
    const std::int64_t not_counted = count >= of_one ? wanted.users : 0;
    const std::int64_t served = is_counted(*one.ask) ? count / of_one : not_counted;
    reach += &one == &counted.told() ? count : served * of_told;
    least = std::min(least, of_one);
    are_counted &= is_counted(*one.ask);
  }
  if (!are_counted) return reach;
  return std::min(reach, (counted.counter.*amount.of_all)() * of_told / least);
}

std::string capacity_text(const api::QuantityMap& capacity) {
  std::vector<std::string> amounts;
  for (const auto& [name, amount] : capacity) amounts.push_back(name + " " + amount.text());
  return fmt::format("{}", fmt::join(amounts, " and "));
}

/// "; the others: r/big 0 free of 2" of the alternatives that are not told in full.
std::string others_text(const Counted& counted) {
  std::vector<std::string> others;
  for (const AskTally& one : counted.counter.asks()) {
    if (&one == &counted.told()) continue;
    others.push_back(fmt::format("{}/{} {} free of {}", counted.wanted.of().name, one.ask->name,
                                 one.fleet.free(), one.fleet.matching));
  }
  return others.empty() ? "" : "; the others: " + list_text(others);
}

std::string text_of(const Counted& counted) {
  const api::DeviceAsk& ask = *counted.told().ask;
  const Tally& tally = counted.told().fleet;
  const std::string selectors = selectors_text(ask);
  std::string text = fmt::format("device class {}: {} free of {}{}{}", ask.class_name, tally.free(),
                                 tally.matching, selectors.empty() ? "" : " that match", selectors);
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
  text += takes_all(ask) ? "; needed: all of a node"
                         : fmt::format("; needed {}", needed_by_all(counted.wanted, ask));
  return text + others_text(counted);
}

/// The claim and its request, or the extended resource that it stands for.
std::string name_of(const Wanted& wanted) {
  if (!wanted.resource.empty()) return wanted.resource;
  return fmt::format("claim {}, request {}", wanted.claim->meta.key.text(), wanted.of().name);
}

/// What the text is about, where the pods ask for more than one thing; "" of a single request.
std::string subject_of(const Counted& counted, bool is_one_of_many) {
  const Wanted& wanted = counted.wanted;
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

Counted counted_of(const DeviceStage& stage, const std::vector<SeenNode>& nodes,
                   const Wanted& wanted) {
  Counted counted{.wanted = wanted, .counter = {stage, *wanted.claim, wanted.request}};
  for (const SeenNode& node : nodes) counted.counter.look_at(node);
  // What is wrong with the claim itself shows without devices.
  const api::StringMap no_labels;
  if (nodes.empty()) {
    counted.counter.look_at({.devices = {.facts = {.name = "", .labels = no_labels}}});
  }
  counted.nearest = nearest_of(wanted, counted.counter);
  return counted;
}

/// Nothing of an extended resource: a device plugin may serve it where no device does.
Lacking lacking_of(const Counted& counted) {
  const auto is_shared = [](const AskTally& one) { return one.fleet.is_shared; };
  const bool proves =
      counted.wanted.resource.empty() && std::ranges::none_of(counted.counter.asks(), is_shared);
  const std::int64_t needed = needed_by_all(counted.wanted, *counted.told().ask);
  if (!proves || reach_of(counted, kFree) >= needed) return Lacking::kUnknown;
  return reach_of(counted, kAble) < needed ? Lacking::kOnFleet : Lacking::kNow;
}

Lack lack_of(const DeviceStage& stage, const std::vector<SeenNode>& nodes, const Counted& counted) {
  const AskTally& told = counted.told();
  const std::vector<AskTally>& asks = counted.counter.asks();
  const std::int64_t needed = needed_by_all(counted.wanted, *told.ask);
  Lack lack{.shortage = {.text = text_of(counted),
                         .lacking = lacking_of(counted),
                         .margin = reach_of(counted, kFree) - needed},
            .conditions = {}};
  const auto has_none = [](const AskTally& one) { return one.fleet.matching == 0; };
  if (!counted.counter.refusal().empty() && std::ranges::all_of(asks, has_none)) {
    lack.shortage.text = counted.counter.refusal();
    lack.is_refusal = true;
    return lack;
  }
  if (lack.shortage.margin < 0 && !told.fleet.is_shared) {
    lack.shortage.text += pools_text(stage.inputs, views_of(nodes), asks);
  } else if (!takes_all(*told.ask) || told.fleet.free() == told.fleet.able()) {
    lack.conditions = conditions_text(counted.wanted.claim->spec, told.fleet);
  }
  return lack;
}

/// Whether the node has so many free devices as one alternative asks for.
bool has_free(const Counted& counted, std::size_t node) {
  return std::ranges::any_of(counted.counter.asks(), [&](const AskTally& one) {
    const NodeTally& here = one.nodes[node];
    // Who looks on takes nothing away, and several shares may be of one device.
    if (one.ask->admin_access.value_or(false) || here.is_shared) return here.able > 0;
    if (takes_all(*one.ask)) return here.able > 0 && here.free == here.able;
    return here.free >= needed_by_one(counted.wanted, *one.ask);
  });
}

/// Of a single request: ", of which n1 has most: 2 of 3"; "" where there is more than a number to
/// it.
std::string most_of_node(const std::vector<SeenNode>& nodes, const Counted& counted) {
  const AskTally& told = counted.told();
  const bool has_others = counted.counter.asks().size() > 1;
  if (nodes.empty() || takes_all(*told.ask) || has_others) return "";
  if (std::ranges::any_of(told.nodes, &NodeTally::is_shared)) return "";
  const auto best = std::ranges::max_element(told.nodes, {}, &NodeTally::free);
  const SeenNode& node = nodes[static_cast<std::size_t>(best - told.nodes.begin())];
  return fmt::format(", of which {} has most: {} of {}", node.devices.facts.name, best->free,
                     needed_by_one(counted.wanted, *told.ask));
}

/// Why one member does not find all that it asks for on one node: the node that has most of it, and
/// what that lacks. "" where a node has all.
std::string apart_text(const std::vector<SeenNode>& nodes, const std::vector<Counted>& all) {
  std::size_t best = 0;
  const Wanted* lacking = nullptr;
  std::int64_t most = -1;
  for (std::size_t node = 0; node < nodes.size(); ++node) {
    std::int64_t count = 0;
    const Wanted* first = nullptr;
    for (const Counted& counted : all) {
      const bool has = has_free(counted, node);
      count += has ? 1 : 0;
      if (!has && first == nullptr) first = &counted.wanted;
    }
    if (first == nullptr) return "";
    if (count <= most) continue;
    most = count;
    best = node;
    lacking = first;
  }
  std::string text = all.size() == 1 ? most_of_node(nodes, all.front()) : "";
  if (all.size() > 1 && lacking != nullptr) {
    text = fmt::format(", of which {} lacks {}", nodes[best].devices.facts.name, name_of(*lacking));
  }
  return "; to be met as well: all that a pod claims on one node" + text;
}

/// The scarcest of these, which are all that one member asks for.
Shortage scarcest(const DeviceStage& stage, const std::vector<SeenNode>& nodes,
                  const std::vector<Wanted>& all) {
  std::vector<Counted> counted;
  counted.reserve(all.size());
  for (const Wanted& wanted : all) counted.push_back(counted_of(stage, nodes, wanted));
  std::optional<Lack> worst;
  const Counted* of = nullptr;
  for (const Counted& one : counted) {
    Lack lack = lack_of(stage, nodes, one);
    if (worst && !is_scarcer(lack.shortage, worst->shortage)) continue;
    worst = std::move(lack);
    of = &one;
  }
  if (!worst) return {};
  if (worst->conditions) {
    const std::string apart = apart_text(nodes, counted);
    worst->shortage.text += apart.empty() ? *worst->conditions : apart;
  }
  const std::string subject = worst->is_refusal ? "" : subject_of(*of, all.size() > 1);
  if (!subject.empty()) worst->shortage.text = subject + ": " + worst->shortage.text;
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

/// "extended resource r of container c" that the request serves first.
std::string resource_of(const ExtendedClaim& extended, const std::string& request) {
  for (const api::ExtendedRequestMapping& one : extended.mappings) {
    if (one.request_name != request) continue;
    return fmt::format("extended resource {} of container {}", one.resource_name,
                       one.container_name);
  }
  return "extended resources";
}

std::vector<Wanted> wanted_of(const Asking& asking) {
  std::vector<Wanted> all;
  for (const std::size_t index : asking.kind.members.front().claims) {
    const cluster::GangClaim& claim = asking.claims[index];
    if (claim.allocation) continue;
    for (std::size_t i = 0; i < claim.claim->spec.requests.size(); ++i) {
      all.push_back({claim.claim.get(), i, users_of(asking.kind, index, asking.users)});
    }
  }
  if (asking.extended == nullptr) return all;
  const api::ResourceClaim& claim = asking.extended->claim;
  for (std::size_t i = 0; i < claim.spec.requests.size(); ++i) {
    all.push_back({.claim = &claim,
                   .request = i,
                   .users = asking.users,
                   .resource = resource_of(*asking.extended, claim.spec.requests[i].name)});
  }
  return all;
}

}  // namespace

bool is_scarcer(const Shortage& a, const Shortage& b) {
  const bool is_proved = a.lacking == Lacking::kOnFleet;
  if (is_proved != (b.lacking == Lacking::kOnFleet)) return is_proved;
  return a.margin < b.margin;
}

Shortage shortage_of(const Draft& draft, const DeviceStage& stage, const Asking& asking) {
  const std::vector<Wanted> all = wanted_of(asking);
  if (all.empty()) return {};
  return scarcest(stage, nodes_with_pools(draft, stage, asking.kind.class_index), all);
}

}  // namespace gang::engine
