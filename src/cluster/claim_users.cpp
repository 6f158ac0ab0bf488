#include "cluster/claim_users.h"

#include <algorithm>

namespace gang::cluster {

ClaimLink link_of(const api::ClaimEntry& entry,
                  const std::vector<api::ClaimEntryStatus>& statuses) {
  using Kind = ClaimLink::Kind;
  if (!entry.claim_name.empty()) return {Kind::kClaim, entry.claim_name};
  if (entry.template_name.empty()) return {Kind::kNoSource, {}};
  const auto status = std::ranges::find(statuses, entry.name, &api::ClaimEntryStatus::name);
  if (status == statuses.end()) return {Kind::kNotCreated, entry.template_name};
  if (status->claim_name.empty()) return {Kind::kNotNeeded, {}};
  return {Kind::kClaim, status->claim_name};
}

ClaimUsers::Index* ClaimUsers::index_of(ClaimLink::Kind kind) {
  switch (kind) {
    case ClaimLink::Kind::kClaim:
      return &claims_;
    case ClaimLink::Kind::kNotCreated:
      return &templates_;
    case ClaimLink::Kind::kNotNeeded:
    case ClaimLink::Kind::kNoSource:
      return nullptr;
  }
  return nullptr;
}

void ClaimUsers::add(const std::string& name_space, const ClaimList& list, std::uint64_t gang) {
  for (const api::ClaimEntry& entry : list.entries) {
    const ClaimLink link = link_of(entry, list.statuses);
    if (Index* index = index_of(link.kind)) ++(*index)[{name_space, link.name}][gang];
  }
}

void ClaimUsers::remove(const std::string& name_space, const ClaimList& list, std::uint64_t gang) {
  for (const api::ClaimEntry& entry : list.entries) {
    const ClaimLink link = link_of(entry, list.statuses);
    Index* index = index_of(link.kind);
    if (index == nullptr) continue;
    const auto gangs = index->find({name_space, link.name});
    const auto place = gangs->second.find(gang);
    if (--place->second == 0) gangs->second.erase(place);
    if (gangs->second.empty()) index->erase(gangs);
  }
}

std::set<std::uint64_t> ClaimUsers::gangs_in(const std::string& name_space) const {
  std::set<std::uint64_t> found;
  for (const auto& [claim, gangs] : claims_) {
    if (claim.name_space != name_space) continue;
    for (const auto& [gang, lists] : gangs) found.insert(gang);
  }
  return found;
}

const ClaimUsers::Gangs& ClaimUsers::gangs_of(const Index& index, const api::ObjectKey& key) {
  static const Gangs kNobody;
  const auto found = index.find(key);
  return found == index.end() ? kNobody : found->second;
}

}  // namespace gang::cluster
