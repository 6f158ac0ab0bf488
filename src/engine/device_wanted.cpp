#include "engine/device_wanted.h"

#include <fmt/format.h>
#include <algorithm>
#include <optional>
#include <set>
#include <utility>

namespace gang::engine {
namespace {

/// Above this a count is told no more exactly; claims take 32 devices.
constexpr std::int64_t kNeededMax = 1'000'000;

std::int64_t count_of(const api::DeviceAsk& ask) {
  return std::clamp(ask.count, std::int64_t{1}, kNeededMax);
}

bool takes_all(const api::DeviceAsk& ask) {
  return ask.mode == api::AllocationMode::kAll;
}

/// Whether each user takes its devices from the others.
bool is_exclusive(const AskTally& one) {
  return !takes_all(*one.ask) && !one.ask->admin_access.value_or(false) && !one.fleet.is_shared;
}

/// How many of so many members have a claim like this one each: all, unless they share it.
std::int64_t users_of(const DeviceKind& kind, std::size_t claim, std::int64_t users) {
  const auto count = std::ranges::count_if(kind.members, [claim](const DeviceMember& member) {
    return std::ranges::find(member.claims, claim) != member.claims.end();
  });
  return count > 1 ? 1 : users;
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

std::vector<Wanted> requests_of(const Asking& asking) {
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
                   .resource = resource_of(*asking.extended, claim.spec.requests[i].name),
                   .is_certain = asking.is_extended_everywhere});
  }
  return all;
}

/// Adds the devices that `other` wants to those that ask like it.
void add_own(const Wanted& other, Wanted& wanted) {
  const bool may_be_none = wanted.is_certain && !other.is_certain;
  if (may_be_none || !ask_alike(wanted, other)) return;
  const std::int64_t count = count_of(*other.of().exactly);
  if (other.users == wanted.users) wanted.of_one += count;
  wanted.of_kind += count * other.users;
}

/// The same of what another kind wants.
void add_beside(const Wanted& other, std::vector<Wanted>& all) {
  if (!other.is_certain) return;
  for (Wanted& wanted : all) {
    if (ask_alike(wanted, other)) wanted.of_gang += count_of(*other.of().exactly) * other.users;
  }
}

}  // namespace

bool ask_alike(const Wanted& a, const Wanted& b) {
  const std::optional<api::DeviceAsk>& one = a.of().exactly;
  const std::optional<api::DeviceAsk>& other = b.of().exactly;
  return one && other && !takes_all(*one) && !takes_all(*other) &&
         one->class_name == other->class_name && one->selectors == other->selectors &&
         one->admin_access == other->admin_access;
}

std::vector<Wanted> wanted_of(const Asking& asking, const std::vector<Asking>& others) {
  std::vector<Wanted> all = requests_of(asking);
  std::set<const api::ResourceClaim*> seen;
  for (Wanted& wanted : all) {
    seen.insert(wanted.claim);
    for (const Wanted& other : all) add_own(other, wanted);
    wanted.of_gang = wanted.of_kind;
  }
  for (const Asking& kind : others) {
    const std::vector<Wanted> beside = requests_of(kind);
    for (const Wanted& other : beside) {
      // A claim that kinds share is needed once.
      if (!seen.contains(other.claim)) add_beside(other, all);
    }
    for (const Wanted& other : beside) seen.insert(other.claim);
  }
  return all;
}

Counted::Counted(const DeviceStage& stage, const std::vector<SeenNode>& nodes, const Wanted& wanted)
    : wanted_(wanted), counter_(stage, *wanted.claim, wanted.request) {
  for (const SeenNode& node : nodes) counter_.look_at(node);
  // What is wrong with the claim itself shows without devices.
  const api::StringMap no_labels;
  if (nodes.empty()) counter_.look_at({.devices = {.facts = {.name = "", .labels = no_labels}}});
  nearest_ = find_nearest();
}

std::int64_t Counted::needed_by_one(const AskTally& one) const {
  if (takes_all(*one.ask)) return 1;
  const bool adds_up = is_exclusive(one) && wanted_.of().exactly;
  return adds_up ? wanted_.of_one : count_of(*one.ask);
}

std::int64_t Counted::needed_by_kind(const AskTally& one) const {
  if (!is_exclusive(one)) return needed_by_one(one);
  return wanted_.of().exactly ? wanted_.of_kind : needed_by_one(one) * wanted_.users;
}

std::int64_t Counted::needed_by_gang() const {
  const bool adds_up = is_exclusive(told()) && wanted_.of().exactly;
  return adds_up ? wanted_.of_gang : needed_by_kind(told());
}

std::size_t Counted::find_nearest() const {
  const std::vector<AskTally>& asks = counter_.asks();
  const auto compare = [&](const AskTally& a, const AskTally& b, Amount amount) {
    return (a.fleet.*amount.of_one)() * needed_by_kind(b) -
           (b.fleet.*amount.of_one)() * needed_by_kind(a);
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
std::int64_t Counted::reach(Amount amount) const {
  const std::int64_t of_told = needed_by_one(told());
  std::int64_t reach = 0;
  std::int64_t least = kNeededMax;
  bool are_exclusive = true;
  for (const AskTally& one : counter_.asks()) {
    const std::int64_t count = (one.fleet.*amount.of_one)();
    const std::int64_t of_one = needed_by_one(one);
    const std::int64_t not_exclusive = count >= of_one ? wanted_.users : 0;
    const std::int64_t served = is_exclusive(one) ? count / of_one : not_exclusive;
    reach += &one == &told() ? count : served * of_told;
    least = std::min(least, of_one);
    are_exclusive &= is_exclusive(one);
  }
  if (!are_exclusive) return reach;
  return std::min(reach, (counter_.*amount.of_all)() * of_told / least);
}

std::int64_t Counted::needed() const {
  const std::int64_t of_kind = needed_by_kind(told());
  const std::int64_t able = reach(kAble);
  const bool is_kind = able < of_kind || (able >= needed_by_gang() && reach(kFree) < of_kind);
  return is_kind ? of_kind : needed_by_gang();
}

std::int64_t Counted::shares() const {
  const bool is_share = told().fleet.is_shared && !takes_all(*told().ask) &&
                        !told().ask->admin_access.value_or(false);
  if (!is_share) return 0;
  return wanted_.of().exactly ? wanted_.of_kind : count_of(*told().ask) * wanted_.users;
}

std::int64_t Counted::margin() const {
  return reach(kFree) - needed();
}

/// Nothing of an extended resource that some node offers itself.
Lacking Counted::lacking() const {
  if (!wanted_.is_certain || margin() >= 0) return Lacking::kUnknown;
  return reach(kAble) < needed() ? Lacking::kOnFleet : Lacking::kNow;
}

std::int64_t Counted::users_on(std::size_t node, bool by_free) const {
  std::int64_t users = 0;
  for (const AskTally& one : counter_.asks()) {
    const NodeTally& here = one.nodes[node];
    const std::int64_t count = by_free ? here.free : here.able;
    const std::int64_t of_one = needed_by_one(one);
    if (is_exclusive(one)) {
      users += count / of_one;
      continue;
    }
    const bool looks_on = one.ask->admin_access.value_or(false);
    const bool has_all = !takes_all(*one.ask) || looks_on || !by_free || here.free == here.able;
    const bool is_alone = takes_all(*one.ask) && !looks_on && !one.fleet.is_shared;
    if (count >= of_one && has_all) users += is_alone ? 1 : wanted_.users;
  }
  return users;
}

std::int64_t served_by(const std::vector<SeenNode>& nodes, const std::vector<Counted>& all,
                       std::int64_t users, bool by_free) {
  std::int64_t served = 0;
  for (std::size_t node = 0; node < nodes.size(); ++node) {
    std::int64_t here = users;
    for (const Counted& counted : all) {
      const std::int64_t count = counted.users_on(node, by_free);
      // One claim is enough for all who share it.
      const bool serves_all = counted.wanted().users < users && count > 0;
      if (!serves_all) here = std::min(here, count);
    }
    served += here;
  }
  return served;
}

}  // namespace gang::engine
