#include "gang/sim/claim_controller.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "gang/base/check.h"

namespace gang::sim {

namespace {

/// One change leads to a few others at most: a reservation goes, then the devices, then the claim.
constexpr int kLooksMax = 100;
constexpr const char* kScheduling = "scheduling.k8s.io";
constexpr std::size_t kConsumersMax = 256;
/// How long the cache of what it wrote keeps a claim.
constexpr Duration kCachedFor = std::chrono::hours(1);

/// Whether the claim is reserved for the pod, or for its group.
bool is_reserved(const api::ResourceClaim& claim, const api::Pod& pod) {
  return std::ranges::any_of(claim.reserved_for, [&](const api::ClaimConsumer& consumer) {
    const bool is_group = consumer.resource == "podgroups" && consumer.name == pod.pod_group_name;
    return is_group || consumer.uid == pod.meta.uid;
  });
}

const std::string* claim_name(const api::Pod& pod, const api::ClaimEntry& entry) {
  if (!entry.claim_name.empty()) return &entry.claim_name;
  const auto at = std::ranges::find(pod.claim_statuses, entry.name, &api::ClaimEntryStatus::name);
  return at == pod.claim_statuses.end() ? nullptr : &at->claim_name;
}

}  // namespace

std::optional<TimePoint> ClaimController::next() {
  const bool has_work = !cluster_.all<api::ResourceClaim>().empty() ||
                        !cluster_.all<api::ResourceClaimTemplate>().empty();
  if (!delay_ || !has_work) return std::nullopt;
  if (!due_ && cluster_.revision() != seen_) due_ = clock_.now() + *delay_;
  return due_;
}

bool ClaimController::run() {
  const std::optional<TimePoint> due = next();
  if (!due || *due > clock_.now()) return false;
  due_.reset();
  const std::int64_t before = cluster_.revision();
  for (int count = 0; seen_ != cluster_.revision(); ++count) {
    CHECK(count < kLooksMax);
    seen_ = cluster_.revision();
    look();
  }
  return seen_ != before;
}

void ClaimController::look() {
  for (const api::ObjectKey& key : cluster_.keys(api::Kind::kResourceClaim)) {
    look_at(*cluster_.find<api::ResourceClaim>(key));
  }
  for (const api::ObjectKey& key : cluster_.keys(api::Kind::kPodGroup)) {
    serve(*cluster_.pod_group(key));
  }
  for (const api::ObjectKey& key : cluster_.keys(api::Kind::kPod)) serve(*cluster_.pod(key));
}

// --- claims -------------------------------------------------------------------------------------

void ClaimController::look_at(api::ResourceClaim claim) {
  const api::ObjectKey key = claim.meta.key;
  const std::size_t dropped = std::erase_if(
      claim.reserved_for,
      [&](const api::ClaimConsumer& consumer) { return is_stale(key.name_space, consumer); });
  const auto finalizer = std::ranges::find(claim.finalizers, std::string(api::kClaimFinalizer));
  const bool is_ours = finalizer != claim.finalizers.end();
  const bool is_left = dropped > 0 || claim.meta.deletion_time;
  const bool ends = is_ours && is_left && claim.reserved_for.empty();
  if (dropped > 0 || (ends && claim.allocation)) {
    if (ends) claim.allocation.reset();
    if (ends) claim.devices.clear();
    cluster_.put(claim);
  }
  if (ends) {
    claim.finalizers.erase(finalizer);
    cluster_.put(claim);
  }
  const bool goes = claim.reserved_for.empty() && !claim.meta.deletion_time;
  if (goes && has_lost_owner(claim)) cluster_.delete_claim(key);
}

bool ClaimController::is_stale(const std::string& name_space,
                               const api::ClaimConsumer& consumer) const {
  const api::ObjectKey key{name_space, consumer.name};
  if (consumer.resource == "pods" && consumer.api_group.empty()) {
    const api::Pod* pod = cluster_.pod(key);
    if (pod == nullptr || pod->meta.uid != consumer.uid || pod->is_terminal()) return true;
    return pod->is_terminating() && pod->node_name.empty();
  }
  if (consumer.resource == "podgroups" && consumer.api_group == kScheduling) {
    const api::PodGroup* group = cluster_.pod_group(key);
    return group == nullptr || group->meta.uid != consumer.uid;
  }
  return false;
}

bool ClaimController::has_lost_owner(const api::ResourceClaim& claim) const {
  const std::optional<api::ControllerRef>& owner = claim.meta.controller;
  if (!owner) return false;
  const api::ObjectKey key{claim.meta.key.name_space, owner->name};
  if (owner->kind == "Pod") {
    const api::Pod* pod = cluster_.pod(key);
    return pod == nullptr || pod->meta.uid != owner->uid || pod->is_terminal();
  }
  if (owner->kind != "PodGroup" || owner->api_group != kScheduling) return false;
  const api::PodGroup* group = cluster_.pod_group(key);
  return group == nullptr || group->meta.uid != owner->uid;
}

// --- pods and groups ----------------------------------------------------------------------------

void ClaimController::serve(api::PodGroup group) {
  std::vector<api::ClaimEntryStatus> statuses = statuses_of(group);
  if (statuses == group.claim_statuses) return;
  group.claim_statuses = std::move(statuses);
  cluster_.put(std::move(group));
}

void ClaimController::serve(api::Pod pod) {
  if (pod.claims.empty() || pod.is_terminal() || pod.is_terminating()) return;
  std::vector<api::ClaimEntryStatus> statuses = statuses_of(pod);
  if (statuses != pod.claim_statuses) {
    pod.claim_statuses = std::move(statuses);
    cluster_.put(pod);
  }
  if (!pod.node_name.empty()) reserve_for(pod);
}

void ClaimController::reserve_for(const api::Pod& pod) {
  for (const api::ClaimEntry& entry : pod.claims) {
    const std::string* name = claim_name(pod, entry);
    if (name == nullptr) continue;
    const auto* known = cluster_.find<api::ResourceClaim>({pod.meta.key.name_space, *name});
    if (known == nullptr || !known->allocation || known->meta.deletion_time) continue;
    if (is_reserved(*known, pod) || known->reserved_for.size() >= kConsumersMax) continue;
    api::ResourceClaim claim = *known;
    claim.reserved_for.push_back({"", "pods", pod.meta.key.name, pod.meta.uid});
    cluster_.put(std::move(claim));
  }
}

std::vector<api::ClaimEntryStatus> ClaimController::statuses_of(const api::PodGroup& group) {
  std::vector<api::ClaimEntryStatus> statuses;
  for (const api::ClaimEntry& entry : group.claims) {
    if (entry.template_name.empty()) continue;
    std::string claim = claim_of(group.meta, "PodGroup", entry, group.claim_statuses);
    if (!claim.empty()) statuses.push_back({entry.name, std::move(claim)});
  }
  std::ranges::sort(statuses, {}, &api::ClaimEntryStatus::name);
  return statuses;
}

std::vector<api::ClaimEntryStatus> ClaimController::statuses_of(const api::Pod& pod) {
  const api::PodGroup* group = cluster_.pod_group({pod.meta.key.name_space, pod.pod_group_name});
  std::vector<api::ClaimEntryStatus> statuses;
  for (const api::ClaimEntry& entry : pod.claims) {
    if (entry.template_name.empty()) continue;
    const bool is_of_group =
        group != nullptr && std::ranges::find(group->claims, entry) != group->claims.end();
    std::string claim = is_of_group
                            ? claim_of(group->meta, "PodGroup", entry, group->claim_statuses)
                            : claim_of(pod.meta, "Pod", entry, pod.claim_statuses);
    if (!claim.empty()) statuses.push_back({entry.name, std::move(claim)});
  }
  std::ranges::sort(statuses, {}, &api::ClaimEntryStatus::name);
  return statuses;
}

bool ClaimController::takes_for_there(const api::ObjectKey& claim) const {
  const auto made = made_.find(claim);
  return made != made_.end() && clock_.now() < made->second + kCachedFor;
}

std::string ClaimController::claim_of(const api::ObjectMeta& owner, const char* kind,
                                      const api::ClaimEntry& entry,
                                      const std::vector<api::ClaimEntryStatus>& told) {
  const api::ObjectKey key{owner.key.name_space, owner.key.name + "-" + entry.name};
  if (const auto* known = cluster_.find<api::ResourceClaim>(key)) {
    const bool is_its = known->meta.controller && known->meta.controller->uid == owner.uid;
    return is_its ? key.name : "";
  }
  const bool is_told = std::ranges::any_of(
      told, [&](const api::ClaimEntryStatus& one) { return one.claim_name == key.name; });
  if (is_told && takes_for_there(key)) return key.name;
  const auto* form =
      cluster_.find<api::ResourceClaimTemplate>({key.name_space, entry.template_name});
  if (form == nullptr) return "";
  // The API server does not take it.
  if (api::asks_for_admin_access(form->spec) && !cluster_.allows_admin_access(key.name_space))
    return "";
  api::ResourceClaim claim{.meta = {.key = key}, .spec = form->spec};
  claim.meta.controller = api::ControllerRef{kind, owner.key.name, owner.uid};
  if (std::string_view(kind) != "Pod") claim.meta.controller->api_group = kScheduling;
  claim.meta.annotations = {{std::string(api::kPodClaimName), entry.name}};
  cluster_.put(std::move(claim));
  made_[key] = clock_.now();
  return key.name;
}

}  // namespace gang::sim
