#include "binder/fake_claims.h"

#include <algorithm>
#include <utility>

namespace gang::test {
namespace {

using kube::Answer;
using kube::Outcome;

Answer ok() {
  return {.outcome = Outcome::kOk, .http_status = 200};
}

Answer conflict() {
  return {.outcome = Outcome::kConflict, .http_status = 409, .message = "modified"};
}

Answer not_found() {
  return {.outcome = Outcome::kNotFound, .http_status = 404, .message = "not found"};
}

std::string names_of(const std::vector<api::ClaimConsumer>& consumers) {
  std::string text = ":";
  for (const api::ClaimConsumer& consumer : consumers) text += " " + consumer.name;
  return text;
}

}  // namespace

void FakeClaims::put(api::ResourceClaim claim) {
  claim.meta.resource_version.text = next_version();
  claims_[claim.meta.key.name] = std::move(claim);
}

void FakeClaims::change(const std::string& name,
                        const std::function<void(api::ResourceClaim&)>& change) {
  change(claims_.at(name));
  claims_.at(name).meta.resource_version.text = next_version();
}

void FakeClaims::run_late() {
  for (const Execute& execute : std::exchange(late_, {})) static_cast<void>(execute());
}

Answer FakeClaims::handle(const std::string& verb, const std::string& text,
                          const Execute& execute) {
  requests_.push_back(text);
  auto& faults = faults_[verb];
  std::optional<Fault> met;
  if (!faults.empty()) {
    met = faults.front();
    faults.pop_front();
  } else if (judge_) {
    met = judge_(text);
  }
  if (!met) return execute();
  const Fault fault = *met;
  if (fault == Fault::kLost) static_cast<void>(execute());
  if (fault == Fault::kLate) late_.push_back(execute);
  switch (fault) {
    case Fault::kLost:
    case Fault::kLostNotDone:
    case Fault::kLate:
      return {.outcome = Outcome::kUnknown, .message = "timed out"};
    case Fault::kNotSent:
      return {.outcome = Outcome::kNotSent, .message = "connection refused"};
    case Fault::kForbidden:
      return {.outcome = Outcome::kForbidden, .http_status = 403, .message = "no right"};
    case Fault::kLacksBinding:
      return {.outcome = Outcome::kInvalid,
              .http_status = 422,
              .message =
                  "status.allocation: Forbidden: requires "
                  "resource=\"resourceclaims/binding\", verb=\"patch\" permission"};
    case Fault::kFails:
      return {.outcome = Outcome::kUnknown, .http_status = 500, .message = "internal error"};
  }
  return execute();
}

Answer FakeClaims::check(const api::ObjectKey& key, const api::Uid& uid,
                         const api::ResourceVersion& version) const {
  const auto found = claims_.find(key.name);
  if (found == claims_.end()) return not_found();
  const api::ObjectMeta& meta = found->second.meta;
  return meta.uid == uid && meta.resource_version == version ? ok() : conflict();
}

void FakeClaims::answer_with_claim(const Answer& answer, const std::string& name,
                                   const kube::ClaimDone& done) const {
  const auto found = claims_.find(name);
  const bool has_body = answer.ok() && found != claims_.end();
  done(answer, has_body ? std::optional(found->second) : std::nullopt);
}

void FakeClaims::answer_with_map(const Answer& answer, const std::string& name,
                                 const kube::ConfigMapDone& done) const {
  const auto found = maps_.find(name);
  const bool has_body = answer.ok() && found != maps_.end();
  done(answer, has_body ? std::optional(found->second) : std::nullopt);
}

void FakeClaims::create_claim(const api::NewClaim& wanted, kube::ClaimDone done) {
  const std::string& name = wanted.claim.name;
  const Answer end = handle("make", "make " + name, [this, wanted] {
    if (claims_.contains(wanted.claim.name)) return conflict();
    api::ResourceClaim claim;
    claim.meta.key = wanted.claim;
    claim.meta.uid = {"uid-" + wanted.claim.name + "-" + next_version()};
    claim.meta.annotations = {{std::string(api::kExtendedClaim), "true"}};
    claim.meta.controller = api::ControllerRef{"Pod", wanted.pod, wanted.pod_uid};
    claim.spec.requests = wanted.requests;
    put(std::move(claim));
    return ok();
  });
  answer_with_claim(end, name, done);
}

void FakeClaims::delete_claim(const api::ClaimDelete& request, kube::Done done) {
  done(handle("remove", "remove " + request.claim.name, [this, request] {
    const auto known = claims_.find(request.claim.name);
    if (known == claims_.end()) return not_found();
    if (known->second.meta.uid != request.uid) return conflict();
    claims_.erase(known);
    return ok();
  }));
}

void FakeClaims::patch_claim(const api::ClaimPatch& patch, kube::ClaimDone done) {
  const char* what = !patch.fence.empty()       ? "fence "
                     : patch.finalizers.empty() ? "no finalizer "
                                                : "finalizer ";
  const std::string text = what + patch.claim.name;
  const Answer end = handle("finalizer", text, [this, patch] {
    Answer checked = check(patch.claim, patch.uid, patch.resource_version);
    if (!checked.ok()) return checked;
    change(patch.claim.name, [&](api::ResourceClaim& claim) {
      claim.finalizers = patch.finalizers;
      if (patch.fence.empty()) return;
      claim.meta.annotations = {{std::string(api::kClaimFence), patch.fence}};
    });
    return checked;
  });
  answer_with_claim(end, patch.claim.name, done);
}

void FakeClaims::patch_claim_status(const api::ClaimStatusPatch& patch, kube::ClaimDone done) {
  using Part = api::ClaimStatusPatch::Part;
  const char* verb = patch.allocation_part == Part::kSet     ? "set "
                     : patch.allocation_part == Part::kClear ? "clear "
                                                             : "keep ";
  const Answer end = handle("status", verb + patch.claim.name + names_of(patch.reserved_for),
                            [this, patch] { return set_status(patch); });
  answer_with_claim(end, patch.claim.name, done);
}

Answer FakeClaims::set_status(const api::ClaimStatusPatch& patch) {
  using Part = api::ClaimStatusPatch::Part;
  Answer checked = check(patch.claim, patch.uid, patch.resource_version);
  if (!checked.ok()) return checked;
  const bool has_devices = claims_.at(patch.claim.name).allocation.has_value();
  const bool is_edit = has_devices && patch.allocation_part == Part::kSet;
  const bool is_reserved_unallocated =
      !has_devices && patch.allocation_part == Part::kKeep && !patch.reserved_for.empty();
  if (is_edit || is_reserved_unallocated) {
    return {.outcome = Outcome::kInvalid, .http_status = 422, .message = "immutable"};
  }
  change(patch.claim.name, [&](api::ResourceClaim& claim) {
    claim.reserved_for = patch.reserved_for;
    if (patch.allocation_part == Part::kSet) claim.allocation = patch.allocation;
    if (patch.allocation_part == Part::kClear) claim.allocation.reset();
  });
  return checked;
}

void FakeClaims::read_claim(const api::ObjectKey& claim, kube::ClaimDone done) {
  const Answer end = handle("read", "read " + claim.name, [this, claim] {
    return claims_.contains(claim.name) ? ok() : not_found();
  });
  answer_with_claim(end, claim.name, done);
}

Answer FakeClaims::store(const api::ConfigMap& map, bool is_new) {
  const auto known = maps_.find(map.meta.key.name);
  if (is_new && known != maps_.end()) return conflict();
  if (!is_new && known == maps_.end()) return not_found();
  if (!is_new && known->second.meta.resource_version != map.meta.resource_version) {
    return conflict();
  }
  api::ConfigMap stored = map;
  stored.meta.uid.text = is_new ? "map-" + std::to_string(version_) : known->second.meta.uid.text;
  stored.meta.resource_version.text = next_version();
  maps_[map.meta.key.name] = std::move(stored);
  return ok();
}

void FakeClaims::create_config_map(const api::ConfigMap& map, kube::ConfigMapDone done) {
  const Answer end = handle("create", "create " + map.meta.key.name,
                            [this, map] { return store(map, /*is_new=*/true); });
  answer_with_map(end, map.meta.key.name, done);
}

void FakeClaims::update_config_map(const api::ConfigMap& map, kube::ConfigMapDone done) {
  const Answer end = handle("update", "update " + map.meta.key.name,
                            [this, map] { return store(map, /*is_new=*/false); });
  answer_with_map(end, map.meta.key.name, done);
}

void FakeClaims::read_config_map(const api::ObjectKey& map, kube::ConfigMapDone done) {
  const Answer end = handle("read", "read " + map.name,
                            [this, map] { return maps_.contains(map.name) ? ok() : not_found(); });
  answer_with_map(end, map.name, done);
}

void FakeClaims::list_config_maps(const std::string& name_space, const std::string& label,
                                  kube::ConfigMapsDone done) {
  const Answer end = handle("list", "list " + label, [] { return ok(); });
  std::vector<api::ConfigMap> listed;
  for (const auto& [name, map] : maps_) {
    const bool is_asked_for = map.meta.key.name_space == name_space &&
                              std::ranges::any_of(map.meta.labels, [&label](const auto& one) {
                                return one.first + "=" + one.second == label;
                              });
    if (end.ok() && is_asked_for) listed.push_back(map);
  }
  done(end, listed);
}

void FakeClaims::delete_config_map(const kube::ConfigMapDelete& request, kube::Done done) {
  done(handle("delete", "delete " + request.map.name, [this, request] {
    const auto known = maps_.find(request.map.name);
    if (known == maps_.end()) return not_found();
    const api::ObjectMeta& meta = known->second.meta;
    if (meta.uid != request.uid || meta.resource_version != request.resource_version) {
      return conflict();
    }
    maps_.erase(known);
    return ok();
  }));
}

}  // namespace gang::test
