#include "engine/device_planning.h"

#include <fmt/format.h>
#include <algorithm>
#include <optional>
#include <utility>

#include "engine/device_emptied.h"
#include "engine/device_held.h"
#include "engine/device_holding.h"

namespace gang::engine {
namespace {

using cluster::Gang;
using cluster::GangClaim;
using cluster::Member;

const GangClaim* first_unusable(const Gang& gang, const Member& member) {
  for (const std::int32_t index : member.claims) {
    const GangClaim& claim = gang.claims[static_cast<std::size_t>(index)];
    if (!claim.problem.empty() || claim.claim == nullptr) return &claim;
  }
  return nullptr;
}

/// Devices that a member of the class needs where its node offers none of the resources.
std::int64_t extended_count_of(ExtendedClaims& extended, std::uint32_t class_index) {
  if (!extended.is_needed(class_index)) return 0;
  std::int64_t count = 0;
  for (const auto& request : extended.whole_claim_of(class_index).claim.spec.requests) {
    count += request.exactly->count;
  }
  return count;
}

/// Whether the claim gets a consumer more with the member.
bool joins(const GangClaim& claim, const Member& member) {
  if (claim.of_group || claim.claim == nullptr) return false;
  return std::ranges::none_of(claim.claim->reserved_for,
                              [&](const api::ClaimConsumer& one) { return one.uid == member.uid; });
}

std::vector<DeviceMember> members_of(const Gang& gang, ExtendedClaims& extended) {
  std::vector<DeviceMember> members;
  members.reserve(gang.members.size());
  for (std::size_t i = 0; i < gang.members.size(); ++i) {
    const Member& member = gang.members[i];
    if (member.class_index < 0) continue;
    DeviceMember made{.index = i, .class_index = static_cast<std::uint32_t>(member.class_index)};
    made.claims.reserve(member.claims.size());
    for (const std::int32_t index : member.claims) {
      const auto claim = static_cast<std::size_t>(index);
      made.claims.push_back(claim);
      if (joins(gang.claims[claim], member)) made.joins.push_back(claim);
    }
    made.extended_count = extended_count_of(extended, made.class_index);
    members.push_back(std::move(made));
  }
  return members;
}

api::ClaimConsumer consumer_of(const Gang& gang, const GangClaim& claim, const Member& member) {
  if (claim.of_group) {
    return {.api_group = "scheduling.k8s.io",
            .resource = "podgroups",
            .name = gang.key.name,
            .uid = gang.uid};
  }
  return {.api_group = "", .resource = "pods", .name = member.key.name, .uid = member.uid};
}

/// What the round writes for the picked members.
std::vector<ClaimWrite> writes_of(const Gang& gang, const std::vector<DevicePick>& picks,
                                  DeviceDraft& devices) {
  std::vector<ClaimWrite> writes(gang.claims.size());
  for (const DevicePick& pick : picks) {
    const Member& member = gang.members[pick.member->index];
    for (const std::size_t index : pick.member->claims) {
      const GangClaim& claim = gang.claims[index];
      ClaimWrite& write = writes[index];
      if (write.claim == nullptr) {
        write.claim = claim.claim;
        write.allocation = devices.take_decided(index);
      }
      api::ClaimConsumer consumer = consumer_of(gang, claim, member);
      if (!api::has_consumer(write.consumers, consumer))
        write.consumers.push_back(std::move(consumer));
    }
  }
  std::erase_if(writes, [](const ClaimWrite& write) { return write.claim == nullptr; });
  return writes;
}

/// The claims that the round makes for the picked members.
std::vector<ClaimCreation> creations_of(const Gang& gang, const DevicePlanning& planning,
                                        const DeviceDraft& devices, ExtendedClaims& extended) {
  std::vector<ClaimCreation> creations;
  for (const DevicePick& pick : planning.picks) {
    const api::Allocation* allocation = devices.decided_extended(pick.member->index);
    if (allocation == nullptr) continue;
    const Member& member = gang.members[pick.member->index];
    const ExtendedClaim& claim = *extended.claim_of(pick.member->class_index, pick.rank);
    creations.push_back({.pod = member.key,
                         .pod_uid = member.uid,
                         .generate_name = member.key.name + "-extended-resources-",
                         .requests = claim.claim.spec.requests,
                         .allocation = *allocation,
                         .mappings = claim.mappings});
  }
  return creations;
}

/// Names a claim that has not room for as many consumers as must be placed; "" when there is none.
std::string overfull(const Gang& gang, const std::vector<DeviceMember>& members) {
  std::vector<std::size_t> joining(gang.claims.size(), 0);
  for (const DeviceMember& member : members) {
    for (const std::size_t claim : member.joins) ++joining[claim];
  }
  const auto need = static_cast<std::size_t>(std::max(1, gang.need()));
  for (std::size_t i = 0; i < joining.size(); ++i) {
    if (joining[i] == 0) continue;
    const std::size_t there = gang.claims[i].claim->reserved_for.size();
    const std::size_t room = kConsumersMax - std::min(there, kConsumersMax);
    if (members.size() - joining[i] + std::min(joining[i], room) >= need) continue;
    return fmt::format(
        "claim {}: {} pods would use it, the API server takes {}; name it in spec.resourceClaims "
        "of the PodGroup, which counts once",
        gang.claims[i].claim->meta.key.text(), there + joining[i], kConsumersMax);
  }
  return "";
}

AvoidedDevices avoided_of(const Gang& gang, const cluster::DeviceView& view) {
  AvoidedDevices avoided;
  for (const api::DeviceName& name : gang.avoided_devices) {
    const cluster::DevicePool* pool = view.find(name.driver, name.pool);
    const cluster::PoolDevice* device = pool == nullptr ? nullptr : find_device(*pool, name.device);
    if (device == nullptr) continue;
    avoided.devices.insert(device->id);
    avoided.pools.insert(pool);
  }
  return avoided;
}

std::vector<const cluster::DevicePool*> pools_of(const cluster::DeviceView& view) {
  std::vector<const cluster::DevicePool*> pools;
  for (const cluster::PoolIndex index : view.by_name()) pools.push_back(&view.pool(index));
  return pools;
}

/// How many pending members name each claim.
std::vector<std::int64_t> users_of_claims(const Gang& gang) {
  std::vector<std::int64_t> users(gang.claims.size(), 0);
  for (const Member& member : gang.members) {
    if (member.class_index < 0) continue;
    for (const std::int32_t index : member.claims) ++users[static_cast<std::size_t>(index)];
  }
  return users;
}

/// Devices that the claims of one member ask for, at least.
struct DevicesAsked {
  std::int32_t own = 0;     ///< by claims that no other member names
  std::int32_t shared = 0;  ///< by the others
};

DevicesAsked asked_by(const Gang& gang, const Member& member,
                      const std::vector<std::int64_t>& users) {
  constexpr std::int64_t kMost = 1'000'000;
  DevicesAsked asked;
  for (const std::int32_t number : member.claims) {
    const auto index = static_cast<std::size_t>(number);
    const GangClaim& claim = gang.claims[index];
    if (claim.claim == nullptr || claim.allocation) continue;
    std::int32_t& count = claim.of_group || users[index] > 1 ? asked.shared : asked.own;
    count = static_cast<std::int32_t>(std::min(count + least_of(claim.claim->spec), kMost));
  }
  return asked;
}

/// Members of the kind that so many members cannot do without; none where the others may be enough.
std::int64_t users_of(const std::vector<DeviceKind>& kinds, std::size_t kind, std::int32_t need) {
  std::int64_t users = need;
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    if (i != kind) users -= static_cast<std::int64_t>(kinds[i].members.size());
  }
  return std::max<std::int64_t>(0, users);
}

std::size_t first_left_over(const std::vector<DeviceKind>& kinds, const DeviceGangSearch& search) {
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    if (search.placed_count(i) < static_cast<std::int32_t>(kinds[i].members.size())) return i;
  }
  return 0;
}

bool holds_devices(const Gang& gang, const Member& member) {
  return std::ranges::any_of(member.claims, [&gang](std::int32_t claim) {
    return gang.claims[static_cast<std::size_t>(claim)].allocation != nullptr;
  });
}

/// What a refusal is explained from. All outlive it.
struct Refused {
  const Gang& gang;
  const Draft& draft;
  const DeviceStage& stage;
  const DeviceDraft& devices;
  const DeviceGangSearch& search;
  ExtendedClaims& extended;
  const std::vector<DeviceKind>& kinds;
  std::int64_t steps_left = 0;  ///< for further proofs
};

bool has_allocated(const std::vector<GangClaim>& claims, const DeviceKind& kind) {
  return std::ranges::any_of(kind.members.front().claims, [&claims](std::size_t index) {
    return claims[index].allocation != nullptr;
  });
}

/// Whether no node would serve a member of the kind although nobody held devices.
bool serves_nobody(Refused& refused, std::size_t index) {
  const DeviceKind& kind = refused.kinds[index];
  if (refused.search.placed_count(index) > 0 || has_allocated(refused.gang.claims, kind)) {
    return false;
  }
  const Emptied emptied =
      try_emptied(refused.draft, refused.stage,
                  {.claims = refused.gang.claims, .kind = kind, .extended = refused.extended},
                  refused.steps_left);
  refused.steps_left -= emptied.steps;
  return emptied.serves_nobody;
}

/// Whether devices alone can serve the extended resources of the class.
bool is_extended_everywhere(Refused& refused, std::uint32_t class_index) {
  const ExtendedClaim* whole = &refused.extended.whole_claim_of(class_index);
  for (std::uint32_t rank = 0; rank < refused.draft.table(class_index).size(); ++rank) {
    if (refused.extended.claim_of(class_index, rank) != whole) return false;
  }
  return true;
}

Asking asking_of(Refused& refused, std::size_t index, std::int64_t users) {
  const DeviceKind& kind = refused.kinds[index];
  Asking asking{.claims = refused.gang.claims, .kind = kind, .users = users};
  if (refused.extended.is_needed(kind.class_index)) {
    asking.extended = &refused.extended.whole_claim_of(kind.class_index);
    asking.is_extended_everywhere = is_extended_everywhere(refused, kind.class_index);
  }
  return asking;
}

/// The other kinds that need devices.
std::vector<Asking> kinds_beside(Refused& refused, std::size_t index) {
  std::vector<Asking> others;
  for (std::size_t i = 0; i < refused.kinds.size(); ++i) {
    const std::int64_t users = users_of(refused.kinds, i, refused.gang.need());
    if (i != index && users > 0) others.push_back(asking_of(refused, i, users));
  }
  return others;
}

Shortage shortage_of_kind(Refused& refused, std::size_t index) {
  const DeviceKind& kind = refused.kinds[index];
  std::string holding = holding_text(refused.draft, refused.devices, refused.gang.claims, kind);
  if (!holding.empty()) return {.text = std::move(holding)};
  const std::int64_t needed = users_of(refused.kinds, index, refused.gang.need());
  const std::int64_t users = std::max<std::int64_t>(1, needed);  // of one is told in any case
  Shortage shortage =
      shortage_of(refused.draft, refused.stage, asking_of(refused, index, users), {});
  if (needed == 0) {
    shortage.lacking = Lacking::kUnknown;
  } else if (shortage.lacking != Lacking::kOnFleet && serves_nobody(refused, index)) {
    shortage.lacking = Lacking::kOnFleet;
  }
  return shortage;
}

/// What the needs of the whole gang prove where those of a kind that fits somewhere prove less.
Shortage with_others(Refused& refused, std::size_t index, Shortage alone) {
  const DeviceKind& kind = refused.kinds[index];
  const std::int64_t users = users_of(refused.kinds, index, refused.gang.need());
  const bool is_proved = alone.lacking == Lacking::kOnFleet;
  if (is_proved || users == 0 || refused.search.fits_nowhere(index)) return alone;
  if (!holding_text(refused.draft, refused.devices, refused.gang.claims, kind).empty()) {
    return alone;
  }
  Shortage together = shortage_of(refused.draft, refused.stage, asking_of(refused, index, users),
                                  kinds_beside(refused, index));
  return together.lacking > alone.lacking ? together : alone;
}

/// Kinds of which one is told: those that fit nowhere, where the search did not get so far those of
/// which nobody is placed, or else the one that is left over.
std::vector<std::size_t> kinds_to_explain(const DevicePlanning& result,
                                          const DeviceGangSearch& search) {
  std::vector<std::size_t> misfits;
  std::vector<std::size_t> unplaced;
  for (std::size_t i = 0; i < result.kinds.size(); ++i) {
    if (search.fits_nowhere(i)) misfits.push_back(i);
    if (search.placed_count(i) == 0) unplaced.push_back(i);
  }
  if (!misfits.empty()) return misfits;
  const bool is_limited = result.end.end == SearchEnd::kLimit;
  if (is_limited && !unplaced.empty()) return unplaced;
  return {result.left_over};
}

/// Says which kind lacks what: one that never fits, or else the scarcest; of equals the first.
void explain_misfits(Refused& refused, DevicePlanning& result) {
  constexpr std::size_t kExplainedMax = 4;
  std::vector<std::size_t> kinds = kinds_to_explain(result, refused.search);
  const bool have_misfits = refused.search.fits_nowhere(kinds.front());
  if (have_misfits) result.misfit_count = kinds.size();
  kinds.resize(std::min(kinds.size(), kExplainedMax));
  std::optional<Shortage> told;
  for (const std::size_t kind : kinds) {
    Shortage shortage = shortage_of_kind(refused, kind);
    if (have_misfits) result.misfits.push_back({kind, shortage.text});
    if (told && !is_scarcer(shortage, *told)) continue;
    result.left_over = kind;
    told = std::move(shortage);
  }
  told = with_others(refused, result.left_over, *std::move(told));
  result.shortage = std::move(told->text);
  result.lacking = told->lacking;
}

}  // namespace

bool uses_claims(const Gang& gang) {
  return std::ranges::any_of(gang.members, [](const Member& member) {
    return member.class_index >= 0 && !member.claims.empty();
  });
}

bool has_unready(const Gang& gang) {
  return std::ranges::any_of(gang.members, [&gang](const Member& member) {
    return member.class_index >= 0 && first_unusable(gang, member) != nullptr;
  });
}

std::string leave_out_unready(Gang& gang) {
  std::string why;
  std::erase_if(gang.members, [&](const Member& member) {
    if (member.class_index < 0) return false;
    const GangClaim* claim = first_unusable(gang, member);
    if (claim == nullptr) return false;
    if (why.empty()) {
      const std::string problem =
          claim->problem.empty() ? "the claim does not exist" : claim->problem;
      const bool names_pod = problem.starts_with("pod ");
      why = names_pod ? problem : fmt::format("pod {}: {}", member.key.text(), problem);
    }
    --gang.counts.pending;
    return true;
  });
  return why;
}

void ask_devices(const Gang& gang, std::vector<ClassDemand>& classes) {
  const std::vector<std::int64_t> users = users_of_claims(gang);
  std::vector<bool> is_known(classes.size(), false);
  for (const Member& member : gang.members) {
    if (member.class_index < 0) continue;
    const auto index = static_cast<std::size_t>(member.class_index);
    const DevicesAsked asked = asked_by(gang, member, users);
    ClassDemand& demand = classes[index];
    demand.devices_asked = is_known[index] ? std::min(demand.devices_asked, asked.own) : asked.own;
    demand.holds_devices |= holds_devices(gang, member);
    cluster::DeviceWish wish = cluster::wish_of(gang, member);
    if (!is_known[index]) {
      demand.wish = std::move(wish);
    } else if (demand.wish != wish) {
      demand.wish = {.count = 0, .capacity = {}, .is_plain = false};
    }
    demand.devices_shared =
        is_known[index] ? std::min(demand.devices_shared, asked.shared) : asked.shared;
    is_known[index] = true;
  }
}

DevicePlanning plan_devices(Draft& draft, DeviceCache& cache, const Gang& gang,
                            DeviceSpending spending) {
  SelectorBudget& budget = spending.selectors;
  DeviceInputs inputs = cache.inputs(budget);
  inputs.avoided = avoided_of(gang, cache.view());
  ExtendedClaims extended(draft);
  DeviceStage stage{
      .inputs = inputs,
      .usage = cache.view().usage(),
      .pools_of = [&cache](const std::string& node) { return cache.view().pools_of(node); },
      .extended_on = [&extended](const std::string& node) { return extended.claims_on(node); },
      .counts = &cache.counts()};
  // Only of the whole cluster an index is kept from call to call, and known who can use a pool.
  if (!draft.snapshot().is_part()) {
    stage.all_pools = [&cache] { return pools_of(cache.view()); };
    stage.index_of = [&](CapacityTable& table, bool by_room) -> const NodeIndex& {
      return cache.index_of(draft.snapshot(), table, by_room);
    };
  }
  DevicePlanning result;
  std::vector<DeviceMember> members = members_of(gang, extended);
  std::string problem = overfull(gang, members);
  result.kinds = device_kinds(std::move(members), gang.claims);
  if (!problem.empty()) {
    result.end = {.end = SearchEnd::kImpossible, .fatal = std::move(problem)};
    return result;
  }
  DeviceDraft devices(stage, gang.claims, spending.steps_max);
  DeviceGangSearch search(draft, devices, extended, result.kinds);
  result.end = search.run(std::max(1, gang.need()));
  result.steps = spending.steps_max - devices.steps_left();
  result.picks = search.picks();
  result.left_over = first_left_over(result.kinds, search);
  if (result.end.end == SearchEnd::kPlaced) {
    result.claims = writes_of(gang, result.picks, devices);
    result.new_claims = creations_of(gang, result, devices, extended);
    return result;
  }
  if (budget.is_spent()) {
    result.end = {.end = SearchEnd::kLimit, .fatal = budget.text()};
    return result;
  }
  Refused refused{.gang = gang,
                  .draft = draft,
                  .stage = stage,
                  .devices = devices,
                  .search = search,
                  .extended = extended,
                  .kinds = result.kinds,
                  .steps_left = devices.steps_left()};
  explain_misfits(refused, result);
  result.steps = spending.steps_max - refused.steps_left;
  if (budget.is_spent()) {
    result.shortage = budget.text();
    result.lacking = Lacking::kUnknown;
  }
  // What the numbers prove needs no search.
  if (result.lacking != Lacking::kUnknown) result.end.end = SearchEnd::kImpossible;
  return result;
}

}  // namespace gang::engine
