#include "scheduler/idle_claims.h"

#include <fmt/format.h>
#include <algorithm>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>
#include <variant>

#include "gang/api/selector.h"
#include "gang/base/list_text.h"
#include "scheduler/inheritance.h"
#include "scheduler/round_claims.h"

namespace gang::scheduler {
namespace {

using cluster::Gang;
using cluster::GangClaim;
using cluster::Member;
using cluster::MemberState;
using Indexes = std::vector<std::size_t>;

/// How long a claim is reserved for nobody before it counts as left. Who allocates and reserves in
/// two writes is between them for less.
constexpr Duration kLeftAfter = std::chrono::seconds(5);

/// So many claims are tried one by one, each with a plan of its own.
constexpr std::size_t kTriedMax = 8;

/// Whether a pod of the gang has a node, or may be about to have one. Of a stale one the server has
/// said so, or that it is gone.
bool has_users(const GangRecord& record, const Gang& gang) {
  if (!record.stale.empty()) return true;
  return std::ranges::any_of(gang.members, [](const Member& member) {
    switch (member.state) {
      case MemberState::kPending:
      case MemberState::kGated:
      case MemberState::kDeleting:
        return false;
      case MemberState::kAssumed:
      case MemberState::kBound:
      case MemberState::kTerminating:
      case MemberState::kForeignPending:
        return true;
    }
    return true;
  });
}

bool is_of_open_round(const Core& core, const api::Uid& claim) {
  return std::ranges::any_of(core.inheritance.open, [&](const auto& entry) {
    const auto& claims = entry.second.intent.claims;
    return std::ranges::find(claims, claim, &api::IntentClaim::uid) != claims.end();
  });
}

bool is_groups_alone(const Gang& gang, const GangClaim& claim) {
  const auto& users = claim.claim->reserved_for;
  return claim.of_group && users.size() == 1 && users.front().uid == gang.uid;
}

/// Whether its devices serve nobody, and that is all that is wrong with it.
bool is_unready(const Core& core, const GangClaim& claim, TimePoint now) {
  return !claim.problem.empty() && claim.problem == unready_text(core.options, *claim.claim, now);
}

bool is_idle(const Core& core, const GangRecord& record, const Gang& gang, const GangClaim& claim,
             TimePoint now) {
  const bool is_held = claim.claim && claim.claim->allocation &&
                       (claim.problem.empty() || is_unready(core, claim, now));
  if (!is_held || is_of_open_round(core, claim.claim->meta.uid)) return false;
  if (claim.of_group && has_users(record, gang)) return false;
  return claim.claim->reserved_for.empty() || is_groups_alone(gang, claim);
}

/// The idle claims of the gang. The record keeps since when each is reserved for nobody.
Indexes idle_claims(const Core& core, GangRecord& record, const Gang& gang, TimePoint now) {
  Indexes idle;
  std::map<api::Uid, LeftClaim> left;
  for (std::size_t i = 0; i < gang.claims.size(); ++i) {
    if (!is_idle(core, record, gang, gang.claims[i], now)) continue;
    idle.push_back(i);
    const api::ObjectMeta& meta = gang.claims[i].claim->meta;
    const auto known = record.left_claims.find(meta.uid);
    const bool is_known =
        known != record.left_claims.end() && known->second.version == meta.resource_version;
    left[meta.uid] = is_known ? known->second : LeftClaim{meta.resource_version, now};
  }
  record.left_claims = std::move(left);
  return idle;
}

/// The plan of the gang if these claims held nothing.
std::optional<engine::Plan> plan_without(Core& core, const Gang& gang, const Indexes& claims) {
  Gang freed = gang;
  std::vector<std::shared_ptr<const api::ResourceClaim>> without;
  for (const std::size_t index : claims) {
    without.push_back(gang.claims[index].claim);
    freed.claims[index].allocation.reset();
    freed.claims[index].problem.clear();
  }
  auto decision = core.planner.plan(*core.state.snapshot_without(without), freed);
  auto* plan = std::get_if<engine::Plan>(&decision);
  return plan != nullptr ? std::optional(std::move(*plan)) : std::nullopt;
}

/// Whether the plan gives the claim what it holds already.
bool keeps(const engine::Plan& plan, const GangClaim& claim) {
  const auto write = std::ranges::find_if(plan.claims, [&](const engine::ClaimWrite& one) {
    return one.claim->meta.uid == claim.claim->meta.uid;
  });
  if (write == plan.claims.end() || !write->allocation) return true;
  const api::Allocation& held = *claim.claim->allocation;
  const auto is_same = [](const api::DeviceResult& a, const api::DeviceResult& b) {
    return std::tie(a.request, a.driver, a.pool, a.device) ==
           std::tie(b.request, b.driver, b.pool, b.device);
  };
  return held.node_selector == write->allocation->node_selector &&
         std::ranges::equal(held.results, write->allocation->results, is_same);
}

bool is_usable(const GangClaim& claim, const cluster::NodeInfo& node) {
  if (!claim.allocation || !claim.allocation->node_selector) return true;
  return api::matches(*claim.allocation->node_selector, {.name = node.name, .labels = node.labels});
}

/// Nodes that the claim alone closes to the first pod that names it.
std::int64_t nodes_closed_by(Core& core, const Gang& gang, std::size_t claim) {
  const auto member = std::ranges::find_if(gang.members, [&](const Member& one) {
    return std::ranges::find(one.claims, static_cast<std::int32_t>(claim)) != one.claims.end();
  });
  if (member == gang.members.end()) return 0;
  const auto snapshot = core.state.snapshot();
  return std::ranges::count_if(snapshot->by_name(), [&](cluster::NodeIndex index) {
    const cluster::NodeInfo& node = *snapshot->node(index);
    return std::ranges::all_of(member->claims, [&](std::int32_t one) {
      const auto at = static_cast<std::size_t>(one);
      return (at == claim) != is_usable(gang.claims[at], node);
    });
  });
}

/// Those that may stay first.
Indexes by_use(Core& core, const Gang& gang, const Indexes& claims) {
  std::vector<std::pair<std::int64_t, std::size_t>> counted;
  for (const std::size_t index : claims) {
    counted.emplace_back(nodes_closed_by(core, gang, index), index);
  }
  std::ranges::sort(counted, [&](const auto& a, const auto& b) {
    return std::tie(a.first, gang.claims[b.second].key) <
           std::tie(b.first, gang.claims[a.second].key);
  });
  Indexes ordered;
  for (const auto& [count, index] : counted) ordered.push_back(index);
  return ordered;
}

/// Without those to which the plan gives what they hold already.
Indexes moved_by(Core& core, const Gang& gang, const Indexes& claims, const engine::Plan& plan) {
  Indexes moved = claims;
  std::erase_if(moved, [&](std::size_t index) { return keeps(plan, gang.claims[index]); });
  return plan_without(core, gang, moved) ? moved : claims;
}

/// Of these, with which the gang can be placed, as few as suffice.
Indexes reduced(Core& core, const Gang& gang, Indexes claims, const engine::Plan& plan) {
  if (claims.size() > kTriedMax) claims = moved_by(core, gang, claims, plan);
  if (claims.size() > kTriedMax) return claims;
  for (const std::size_t index : by_use(core, gang, claims)) {
    Indexes fewer = claims;
    std::erase(fewer, index);
    if (!fewer.empty() && plan_without(core, gang, fewer)) claims = std::move(fewer);
  }
  return claims;
}

}  // namespace

IdleClaims find_idle_claims(Core& core, GangRecord& record, const Gang& gang, TimePoint now) {
  Indexes idle = idle_claims(core, record, gang, now);
  if (idle.empty()) return {};
  if (const auto plan = plan_without(core, gang, idle)) {
    idle = reduced(core, gang, std::move(idle), *plan);
  } else {
    // What serves nobody goes in any case: then the gang waits as one that asks for devices.
    std::erase_if(idle, [&](std::size_t i) { return gang.claims[i].problem.empty(); });
  }
  IdleClaims found{.claims = std::move(idle), .due = now};
  for (const std::size_t index : found.claims) {
    const api::ResourceClaim& claim = *gang.claims[index].claim;
    if (!claim.reserved_for.empty()) continue;
    found.due = std::max(found.due, record.left_claims.at(claim.meta.uid).since + kLeftAfter);
  }
  return found;
}

void give_back_idle(Core& core, GangRecord& record, const Gang& gang, const IdleClaims& idle,
                    Turn& turn) {
  api::StoredIntent found = blank_intent(gang, core.options.epoch);
  bool is_reserved = false;
  for (const std::size_t index : idle.claims) {
    const api::ResourceClaim& claim = *gang.claims[index].claim;
    api::IntentClaim& one = found.intent.claims.emplace_back();
    one = {.claim = claim.meta.key, .uid = claim.meta.uid, .allocates = true};
    if (claim.reserved_for.empty()) one.left_at = claim.meta.resource_version;
    is_reserved |= !claim.reserved_for.empty();
  }
  // What is reserved for the group may be of a round of before that binds its pods yet.
  for (const Member& member : gang.members) {
    if (!is_reserved || member.state != MemberState::kPending) continue;
    found.intent.members.push_back({.pod = member.key, .uid = member.uid});
  }
  fence_spaced(core, record, std::move(found), turn);
}

std::string text_of(const Gang& gang, const IdleClaims& idle) {
  std::vector<std::string> claims;
  for (const std::size_t index : idle.claims) claims.push_back(gang.claims[index].key.text());
  return "; deallocating claim " + list_text(claims);
}

}  // namespace gang::scheduler
