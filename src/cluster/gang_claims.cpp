#include "cluster/gang_claims.h"

#include <algorithm>

namespace gang::cluster {
namespace {

std::string quoted(const api::ObjectKey& key) {
  return '"' + key.text() + '"';
}

/// Others have a kind of that name too.
bool is_owned_by_group(const api::ResourceClaim& claim, const std::string& group) {
  const std::optional<api::ControllerRef>& owner = claim.meta.controller;
  return owner && owner->api_group == "scheduling.k8s.io" && owner->kind == "PodGroup" &&
         !group.empty() && owner->name == group;
}

/// Why an existing claim cannot be used by anybody, or nothing.
std::string problem_of(const api::ResourceClaim& claim) {
  const api::ObjectMeta& meta = claim.meta;
  if (!meta.unreadable.empty()) return "ResourceClaim " + meta.key.text() + ": " + meta.unreadable;
  if (meta.deletion_time) return "resourceclaim \"" + meta.key.name + "\" is being deleted";
  return {};
}

}  // namespace

bool allows_admin_access(const Model& model, const std::string& name_space) {
  const api::StringMap* labels = model.terms.labels_of_namespace(name_space);
  const std::string* label = labels == nullptr ? nullptr : api::find(*labels, api::kAdminAccess);
  return label != nullptr && *label == "true";
}

void GangClaims::add_group() {
  if (!gang_.group) return;
  const api::PodGroup& group = *gang_.group;
  const Mention mention{"PodGroup " + quoted(gang_.key), gang_.key.name_space, true};
  for (const api::ClaimEntry& entry : group.claims) {
    const ClaimLink link = link_of(entry, group.claim_statuses);
    if (link.kind == ClaimLink::Kind::kNotNeeded) continue;
    std::string ownership;
    if (link.kind == ClaimLink::Kind::kClaim && entry.claim_name.empty()) {
      const auto claim = model_.claims.find({mention.name_space, link.name});
      if (claim != nullptr && !is_owned_by_group(*claim, gang_.key.name)) {
        ownership = "ResourceClaim " + claim->meta.key.text() + " was not created for PodGroup " +
                    gang_.key.text() + " (PodGroup is not owner)";
      }
    }
    (void)add(entry, link, mention, ownership);
  }
}

std::vector<std::int32_t> GangClaims::add_pod(PodSlot pod) {
  std::vector<std::int32_t> indexes;
  const PodRecord& record = model_.pods.at(pod);
  if (record.pending == nullptr || record.pending->claims == nullptr) return indexes;
  const ClaimList& list = *record.pending->claims;
  const api::ObjectKey key = model_.pods.key(pod);
  for (const api::ClaimEntry& entry : list.entries) {
    const ClaimLink link = link_of(entry, list.statuses);
    if (link.kind == ClaimLink::Kind::kNotNeeded) continue;
    const Mention mention{"pod " + quoted(key), key.name_space, is_of_group(entry)};
    std::string ownership;
    if (link.kind == ClaimLink::Kind::kClaim && entry.claim_name.empty()) {
      ownership = ownership_of({key.name_space, link.name}, pod);
    }
    const std::int32_t index = add(entry, link, mention, ownership);
    if (std::ranges::find(indexes, index) == indexes.end()) indexes.push_back(index);
  }
  return indexes;
}

std::int32_t GangClaims::add(const api::ClaimEntry& entry, const ClaimLink& link,
                             const Mention& mention, const std::string& ownership) {
  GangClaim claim;
  if (link.kind == ClaimLink::Kind::kClaim) {
    claim = resolve({mention.name_space, link.name});
    if (claim.problem.empty()) claim.problem = ownership;
  } else {
    claim.key.name_space = mention.name_space;
    claim.problem = missing_text(entry, link, mention);
  }
  claim.of_group = mention.of_group;
  return index_of(std::move(claim));
}

std::int32_t GangClaims::index_of(GangClaim claim) {
  const auto next = static_cast<std::int32_t>(gang_.claims.size());
  const auto [place, is_new] = indexes_.try_emplace({claim.key, claim.problem}, next);
  if (is_new) gang_.claims.push_back(std::move(claim));
  return place->second;
}

GangClaim GangClaims::resolve(const api::ObjectKey& key) const {
  GangClaim claim{.key = key, .claim = model_.claims.find(key)};
  if (claim.claim == nullptr) {
    claim.problem = "could not find ResourceClaim " + quoted(key);
    return claim;
  }
  claim.problem = problem_of(*claim.claim);
  claim.allocation = shown_allocation(claim.claim);
  if (claim.allocation != nullptr) return claim;
  claim.allocation = model_.claims.assumed(claim.claim->meta.uid);
  claim.is_assumed = claim.allocation != nullptr;
  const bool is_open = claim.allocation == nullptr && claim.problem.empty();
  if (is_open) claim.problem = label_problem(*claim.claim);
  return claim;
}

/// Devices that are given already are not refused any more.
std::string GangClaims::label_problem(const api::ResourceClaim& claim) const {
  if (!asks_for_admin_access(claim.spec)) return {};
  return label_problem("ResourceClaim " + claim.meta.key.text(), claim.meta.key.name_space);
}

/// What asks for admin access and may not in that namespace; "" where it may.
std::string GangClaims::label_problem(const std::string& who, const std::string& name_space) const {
  const bool may_ask =
      !model_.devices.features().admin_access || allows_admin_access(model_, name_space);
  if (may_ask) return {};
  return who + " asks for admin access, and namespace " + name_space + " lacks the label " +
         std::string(api::kAdminAccess) + ": \"true\"";
}

std::string GangClaims::missing_text(const api::ClaimEntry& entry, const ClaimLink& link,
                                     const Mention& mention) const {
  if (link.kind == ClaimLink::Kind::kNoSource) {
    return mention.who + ": claim " + entry.name + ": none of the supported fields are set";
  }
  const std::string text = mention.who + ": ResourceClaim not created yet";
  const api::ObjectKey form{mention.name_space, link.name};
  const std::string from = "ResourceClaimTemplate " + quoted(form);
  if (!model_.claims.has_template(form)) return text + ", " + from + " does not exist";
  if (!model_.claims.is_for_admins(form)) return text;
  // The API server refuses to make it, and tells nobody but its controller.
  const std::string problem = label_problem(from, mention.name_space);
  return problem.empty() ? text : text + ", " + problem;
}

bool GangClaims::is_of_group(const api::ClaimEntry& entry) const {
  return gang_.group && std::ranges::find(gang_.group->claims, entry) != gang_.group->claims.end();
}

/// What is wrong with the owner of a claim that was made from a template for the pod.
std::string GangClaims::ownership_of(const api::ObjectKey& key, PodSlot pod) const {
  const auto claim = model_.claims.find(key);
  if (claim == nullptr) return {};
  const auto& controller = claim->meta.controller;
  if (controller && controller->uid.text == model_.pods.at(pod).text.uid()) return {};
  const std::string text = "ResourceClaim " + key.text() + " was not created for Pod " +
                           model_.pods.key(pod).text() + " (";
  if (gang_.kind == GangKind::kLonePod) return text + "Pod is not owner)";
  if (is_owned_by_group(*claim, gang_.key.name)) return {};
  return text + "neither Pod nor PodGroup " + gang_.key.name + " is the owner)";
}

}  // namespace gang::cluster
