#include "cluster/claim_table.h"

#include <optional>
#include <utility>

#include "gang/base/check.h"

namespace gang::cluster {
namespace {

using ClaimPtr = std::shared_ptr<const api::ResourceClaim>;
using AllocationPtr = std::shared_ptr<const api::Allocation>;

/// Whether both take the same of the same devices.
bool takes_the_same(const AllocationPtr& a, const AllocationPtr& b) {
  if (a == nullptr || b == nullptr) return a == b;
  return a->results == b->results;
}

/// Whether two versions differ for those who want to use the claim; consumers and what drivers say
/// of devices do not count until no consumer is left, or none more can join.
bool differs_in_meaning(const api::ResourceClaim& a, const api::ResourceClaim& b) {
  constexpr std::size_t kConsumersMax = 256;
  return a.meta.uid != b.meta.uid || a.meta.deletion_time != b.meta.deletion_time ||
         a.meta.unreadable != b.meta.unreadable || a.meta.controller != b.meta.controller ||
         a.spec != b.spec || a.allocation != b.allocation ||
         a.reserved_for.empty() != b.reserved_for.empty() ||
         (a.reserved_for.size() < kConsumersMax) != (b.reserved_for.size() < kConsumersMax);
}

/// The pod for whose extended resources the claim was made; empty: for none.
api::Uid owner_of_extended(const api::ResourceClaim& claim) {
  const std::string* mark = api::find(claim.meta.annotations, api::kExtendedClaim);
  const std::optional<api::ControllerRef>& owner = claim.meta.controller;
  const bool is_extended = mark != nullptr && *mark == "true" && owner && owner->kind == "Pod";
  return is_extended ? owner->uid : api::Uid();
}

}  // namespace

AllocationPtr shown_allocation(const ClaimPtr& claim) {
  if (claim == nullptr || !claim->allocation) return nullptr;
  return AllocationPtr(claim, &*claim->allocation);
}

void ClaimTable::upsert(const api::ResourceClaim& claim, ListNumber list, ChangeLog& log) {
  replace(claims_.upsert(claim, list), log);
}

void ClaimTable::remove(const api::ResourceClaim& claim, ChangeLog& log) {
  replace({claims_.remove(claim.meta), nullptr}, log);
}

void ClaimTable::sweep(ListNumber list, ChangeLog& log) {
  for (const ClaimPtr& gone : claims_.sweep(list)) replace({gone, nullptr}, log);
}

void ClaimTable::replace(const Replaced<api::ResourceClaim>& claim, ChangeLog& log) {
  const auto& [before, after] = claim;
  if (before == after) return;
  note_owner(claim);
  if (after) meet_expected(*after);
  recount(claim, log);
  if (before) unallocated_.erase(before->meta.uid);
  if (after && !after->allocation) unallocated_[after->meta.uid] = after->meta.key;
  note_troubles(claim, log);
  tell_users(claim, log);
}

/// Who is told is who came second. What is only assumed of a claim is told of when it is shown.
void ClaimTable::note_troubles(const Replaced<api::ResourceClaim>& claim, ChangeLog& log) const {
  const AllocationPtr held = shown_allocation(claim.after);
  if (held == nullptr || takes_the_same(shown_allocation(claim.before), held)) return;
  for (const api::DeviceResult& result : held->results) {
    if (result.admin_access) continue;
    note_other_holders(claim.after, result, log);
    if (!devices_.is_hidden(result)) continue;
    log.device_trouble(
        LostDevice{.device = {result.driver, result.pool, result.device}, .claim = claim.after});
  }
}

void ClaimTable::note_other_holders(const ClaimPtr& claim, const api::DeviceResult& result,
                                    ChangeLog& log) const {
  ClaimPtr last;
  for (const api::ObjectKey& key : devices_.holders_of(result)) {
    ClaimPtr other = claims_.find(key);
    if (other == claim || other == last || !excludes(other, result)) continue;
    log.device_trouble(api::DoubleBooking{
        .device = {result.driver, result.pool, result.device}, .claim = claim, .other = other});
    last = std::move(other);
  }
}

void ClaimTable::note_hidden(ChangeLog& log) const {
  for (const auto& [device, key] : log.hidden()) {
    ClaimPtr claim = claims_.find(key);
    if (shown_allocation(claim) == nullptr) continue;
    log.device_trouble(LostDevice{.device = device, .claim = std::move(claim)});
  }
}

/// Whether the claim, as it is shown, holds what nobody can hold beside the result.
bool ClaimTable::excludes(const ClaimPtr& claim, const api::DeviceResult& result) const {
  if (claim == nullptr || !claim->allocation) return false;
  const bool may_share = devices_.features().consumable_capacity && result.share_id;
  return std::ranges::any_of(claim->allocation->results, [&](const api::DeviceResult& one) {
    const bool is_same = one.device == result.device && one.pool == result.pool &&
                         one.driver == result.driver && !one.admin_access;
    return is_same && (!may_share || !one.share_id);
  });
}

/// A claim that was made as expected takes over what was assumed of it.
void ClaimTable::meet_expected(const api::ResourceClaim& claim) {
  const auto place = expected_.find(claim.meta.key);
  if (place == expected_.end() || owner_of_extended(claim) != place->second.pod) return;
  AllocationPtr allocation = std::move(place->second.allocation);
  expected_.erase(place);
  if (!claim.allocation) {
    assumed_.emplace(claim.meta.uid, std::move(allocation));
    return;
  }
  ChangeLog ignored;
  devices_.give_back({claim.meta.key, *allocation}, ignored);
}

void ClaimTable::note_owner(const Replaced<api::ResourceClaim>& claim) {
  const auto& [before, after] = claim;
  if (const api::Uid pod = before ? owner_of_extended(*before) : api::Uid(); !pod.empty()) {
    const auto place = extended_.find(pod);
    place->second.erase(before->meta.key);
    if (place->second.empty()) extended_.erase(place);
  }
  if (const api::Uid pod = after ? owner_of_extended(*after) : api::Uid(); !pod.empty()) {
    extended_[pod].insert(after->meta.key);
  }
}

std::vector<ClaimPtr> ClaimTable::extended_claims(const api::Uid& pod) const {
  std::vector<ClaimPtr> claims;
  const auto place = extended_.find(pod);
  if (place == extended_.end()) return claims;
  for (const api::ObjectKey& key : place->second) claims.push_back(claims_.find(key));
  return claims;
}

/// Moves the devices from what was counted of the claim to what is to be counted.
void ClaimTable::recount(const Replaced<api::ResourceClaim>& claim, ChangeLog& log) {
  AllocationPtr counted = shown_allocation(claim.before);
  AllocationPtr wanted = shown_allocation(claim.after);
  const auto assumption = claim.before ? assumed_.find(claim.before->meta.uid) : assumed_.end();
  if (assumption != assumed_.end()) {
    const bool is_same_claim = claim.after && claim.after->meta.uid == claim.before->meta.uid;
    if (is_same_claim && wanted == nullptr) return;
    counted = std::move(assumption->second);
    assumed_.erase(assumption);
  }
  if (takes_the_same(counted, wanted)) return;
  const api::ObjectKey& key = (claim.before ? claim.before : claim.after)->meta.key;
  if (counted) devices_.give_back({key, *counted}, log);
  if (wanted) devices_.take({key, *wanted}, log);
}

void ClaimTable::tell_users(const Replaced<api::ResourceClaim>& claim, ChangeLog& log) const {
  const auto& [before, after] = claim;
  const bool is_real = !before || !after || differs_in_meaning(*before, *after);
  for (const auto& [gang, lists] : users_.of_claim((after ? after : before)->meta.key)) {
    if (is_real) {
      log.gang(gang);
    } else {
      log.gang_status(gang);
    }
  }
}

// --- templates ----------------------------------------------------------------------------------

void ClaimTable::upsert(const api::ResourceClaimTemplate& form, ListNumber list, ChangeLog& log) {
  const auto told = templates_.upsert(form.meta, list);
  if (told != KnownObjects::Told::kNew) return;
  admin_templates_.erase(form.meta.key);
  if (api::asks_for_admin_access(form.spec)) admin_templates_.insert(form.meta.key);
  tell_template_users(form.meta.key, log);
}

void ClaimTable::remove(const api::ResourceClaimTemplate& form, ChangeLog& log) {
  if (!templates_.remove(form.meta)) return;
  admin_templates_.erase(form.meta.key);
  tell_template_users(form.meta.key, log);
}

void ClaimTable::sweep_templates(ListNumber list, ChangeLog& log) {
  for (const api::ObjectKey& gone : templates_.sweep(list)) {
    admin_templates_.erase(gone);
    tell_template_users(gone, log);
  }
}

void ClaimTable::tell_template_users(const api::ObjectKey& form, ChangeLog& log) const {
  for (const auto& [gang, lists] : users_.of_template(form)) log.gang(gang);
}

// --- assumptions --------------------------------------------------------------------------------

void ClaimTable::assume(const api::Uid& claim, api::Allocation allocation) {
  const auto shown = unallocated_.find(claim);
  CHECK(shown != unallocated_.end());
  const auto [place, is_new] =
      assumed_.try_emplace(claim, std::make_shared<const api::Allocation>(std::move(allocation)));
  CHECK(is_new);
  ChangeLog ignored;
  devices_.take({shown->second, *place->second}, ignored);
}

void ClaimTable::forget(const api::Uid& claim) {
  const auto place = assumed_.find(claim);
  if (place == assumed_.end()) return;
  ChangeLog ignored;
  devices_.give_back({unallocated_.at(claim), *place->second}, ignored);
  assumed_.erase(place);
}

void ClaimTable::assume_new(const api::ObjectKey& claim, const api::Uid& pod,
                            api::Allocation allocation) {
  const auto [place, is_new] = expected_.try_emplace(
      claim, Expected{pod, std::make_shared<const api::Allocation>(std::move(allocation))});
  CHECK(is_new);
  ChangeLog ignored;
  devices_.take({claim, *place->second.allocation}, ignored);
  if (const ClaimPtr known = claims_.find(claim)) meet_expected(*known);
}

void ClaimTable::forget_new(const api::ObjectKey& claim) {
  const auto place = expected_.find(claim);
  if (place == expected_.end()) {
    if (const ClaimPtr known = claims_.find(claim)) forget(known->meta.uid);
    return;
  }
  ChangeLog ignored;
  devices_.give_back({claim, *place->second.allocation}, ignored);
  expected_.erase(place);
}

AllocationPtr ClaimTable::assumed(const api::Uid& claim) const {
  const auto place = assumed_.find(claim);
  return place == assumed_.end() ? nullptr : place->second;
}

std::vector<AllocationPtr> ClaimTable::allocations() const {
  std::vector<AllocationPtr> all;
  for (const auto& [key, claim] : claims_.all()) {
    if (AllocationPtr shown = shown_allocation(claim)) all.push_back(std::move(shown));
  }
  for (const auto& [uid, allocation] : assumed_) all.push_back(allocation);
  for (const auto& [key, expected] : expected_) all.push_back(expected.allocation);
  return all;
}

}  // namespace gang::cluster
