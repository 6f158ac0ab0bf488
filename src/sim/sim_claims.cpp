// The requests of SimCluster on claims, and on the ConfigMaps that hold intents.
#include <algorithm>
#include <utility>

#include "gang/sim/sim_cluster.h"
#include "sim/answers.h"
#include "sim/claim_rules.h"

namespace gang::sim {

namespace {

/// What a write of a status says of it: "n1/gpu-0 for a-0", "for a-0 a-1", "free".
std::string status_text(const api::ClaimStatusPatch& patch) {
  using Part = api::ClaimStatusPatch::Part;
  if (patch.allocation_part == Part::kClear) return "free";
  std::string text;
  if (patch.allocation_part == Part::kSet) text = devices_text(patch.allocation) + " ";
  return text + "for " +
         (patch.reserved_for.empty() ? "nobody" : consumers_text(patch.reserved_for));
}

/// Why the ConfigMap is not the one that the request means, if it is not.
std::optional<kube::Answer> precondition(const SimCluster::Objects<api::ConfigMap>& maps,
                                         const api::ObjectMeta& meant) {
  const auto at = maps.find(meant.key);
  if (at == maps.end()) return not_found("configmap " + meant.key.text());
  const api::ObjectMeta& meta = at->second.meta;
  const bool is_same = meant.uid == meta.uid && meant.resource_version == meta.resource_version;
  if (!is_same) return conflict("precondition failed");
  return std::nullopt;
}

}  // namespace

bool SimCluster::allows_admin_access(const std::string& name_space) const {
  const auto* known = find<api::Namespace>({"", name_space});
  if (known == nullptr) return false;
  const std::string* label = api::find(known->meta.labels, api::kAdminAccess);
  return label != nullptr && *label == "true";
}

// --- claims -------------------------------------------------------------------------------------

void SimCluster::write_claim(const api::ObjectKey& claim, const WriteRecord& write,
                             ExecuteOnClaim execute, kube::ClaimDone done) {
  const auto run = [this, claim, write,
                    execute = std::move(execute)](std::optional<api::ResourceClaim>& after) {
    const auto execute_alone = [execute] {
      std::optional<api::ResourceClaim> unread;
      return execute(unread);
    };
    std::optional<kube::Answer> fault = faulty(FaultTarget::kClaim, claim, write, execute_alone);
    return fault ? *std::move(fault) : execute(after);
  };
  enqueue<api::ResourceClaim>(RequestKind::kWrite, run, std::move(done));
}

void SimCluster::create_claim(const api::NewClaim& claim, kube::ClaimDone done) {
  const WriteRecord write{"create claim", claim.claim.text(), "for " + claim.pod};
  write_claim(
      claim.claim, write,
      [this, claim, write](auto& after) {
        const kube::Answer end = create_claim_now(claim, after);
        record(write.verb, write.object, write.detail, end.http_status);
        return end;
      },
      std::move(done));
}

kube::Answer SimCluster::create_claim_now(const api::NewClaim& wanted,
                                          std::optional<api::ResourceClaim>& after) {
  if (find<api::ResourceClaim>(wanted.claim) != nullptr) {
    kube::Answer end = conflict("resourceclaims \"" + wanted.claim.name + "\" already exists");
    end.reason = "AlreadyExists";
    return end;
  }
  api::ResourceClaim claim{.meta = {.key = wanted.claim}};
  claim.meta.annotations = {{std::string(api::kExtendedClaim), "true"}};
  claim.meta.controller = api::ControllerRef{"Pod", wanted.pod, wanted.pod_uid};
  claim.spec.requests = wanted.requests;
  put(std::move(claim));
  after = *find<api::ResourceClaim>(wanted.claim);
  return accepted(201);
}

void SimCluster::delete_claim(const api::ClaimDelete& request, kube::Done done) {
  const WriteRecord write{"delete claim", request.claim.text()};
  write_claim(
      request.claim, write,
      [this, request, write](auto&) {
        const kube::Answer end = delete_claim_now(request);
        record(write.verb, write.object, write.detail, end.http_status);
        return end;
      },
      [done = std::move(done)](const kube::Answer& end, std::optional<api::ResourceClaim>) {
        done(end);
      });
}

kube::Answer SimCluster::delete_claim_now(const api::ClaimDelete& request) {
  const auto* known = find<api::ResourceClaim>(request.claim);
  if (known == nullptr) return not_found("resourceclaim " + request.claim.text());
  if (known->meta.uid != request.uid) return conflict("precondition failed");
  ObjectStore::delete_claim(request.claim);
  return accepted(200);
}

void SimCluster::patch_claim(const api::ClaimPatch& patch, kube::ClaimDone done) {
  const WriteRecord write{"patch claim", patch.claim.text(),
                          !patch.fence.empty()       ? "fence"
                          : patch.finalizers.empty() ? "no finalizer"
                                                     : "finalizer"};
  write_claim(
      patch.claim, write,
      [this, patch, write](auto& after) { return patch_claim_now(patch, write, after); },
      std::move(done));
}

kube::Answer SimCluster::patch_claim_now(const api::ClaimPatch& patch, const WriteRecord& write,
                                         std::optional<api::ResourceClaim>& after) {
  const auto* known = find<api::ResourceClaim>(patch.claim);
  const kube::Answer end = refusal(known, patch).value_or(accepted(200));
  const bool changes = end.ok() && (known->finalizers != patch.finalizers || !patch.fence.empty());
  if (changes || !end.ok()) record(write.verb, write.object, write.detail, end.http_status);
  if (!end.ok()) return end;
  after = *known;
  if (!changes) return end;
  after->finalizers = patch.finalizers;
  if (!patch.fence.empty()) {
    api::StringMap& annotations = after->meta.annotations;
    std::erase_if(annotations, [](const auto& one) { return one.first == api::kClaimFence; });
    annotations.emplace_back(api::kClaimFence, patch.fence);
    std::ranges::sort(annotations);
  }
  put(*after);
  if (const auto* stored = find<api::ResourceClaim>(patch.claim)) after = *stored;
  return end;
}

void SimCluster::patch_claim_status(const api::ClaimStatusPatch& patch, kube::ClaimDone done) {
  const WriteRecord write{"patch claim status", patch.claim.text(), status_text(patch)};
  write_claim(
      patch.claim, write,
      [this, patch, write](auto& after) { return patch_claim_status_now(patch, write, after); },
      std::move(done));
}

kube::Answer SimCluster::patch_claim_status_now(const api::ClaimStatusPatch& patch,
                                                const WriteRecord& write,
                                                std::optional<api::ResourceClaim>& after) {
  const auto* known = find<api::ResourceClaim>(patch.claim);
  const bool admin_access = allows_admin_access(patch.claim.name_space);
  const kube::Answer end = refusal(known, patch, admin_access).value_or(accepted(200));
  if (!end.ok()) {
    record(write.verb, write.object, write.detail, end.http_status);
    return end;
  }
  after = *known;
  apply(*after, patch);
  if (*after == *known) return end;
  record(write.verb, write.object, write.detail, end.http_status);
  put(*after);
  after = *find<api::ResourceClaim>(patch.claim);
  return end;
}

void SimCluster::read_claim(const api::ObjectKey& key, kube::ClaimDone done) {
  enqueue<api::ResourceClaim>(
      RequestKind::kOther,
      [this, key](std::optional<api::ResourceClaim>& after) {
        const auto* known = find<api::ResourceClaim>(key);
        if (known == nullptr) return not_found("resourceclaim " + key.text());
        after = *known;
        return accepted(200);
      },
      std::move(done));
}

// --- ConfigMaps ---------------------------------------------------------------------------------

void SimCluster::write_map(const api::ObjectKey& map, const WriteRecord& write,
                           ExecuteOnMap execute, kube::ConfigMapDone done) {
  const auto run = [this, map, write,
                    execute = std::move(execute)](std::optional<api::ConfigMap>& after) {
    const auto execute_recorded = [this, write, execute](std::optional<api::ConfigMap>& result) {
      const kube::Answer end = execute(result);
      record(write.verb, write.object, write.detail, end.http_status);
      return end;
    };
    const auto execute_alone = [execute_recorded] {
      std::optional<api::ConfigMap> unread;
      return execute_recorded(unread);
    };
    std::optional<kube::Answer> fault = faulty(FaultTarget::kConfigMap, map, write, execute_alone);
    return fault ? *std::move(fault) : execute_recorded(after);
  };
  enqueue<api::ConfigMap>(RequestKind::kWrite, run, std::move(done));
}

void SimCluster::create_config_map(const api::ConfigMap& map, kube::ConfigMapDone done) {
  const auto create = [this, map](std::optional<api::ConfigMap>& after) {
    if (config_maps_.contains(map.meta.key)) {
      kube::Answer end = conflict("configmaps \"" + map.meta.key.name + "\" already exists");
      end.reason = "AlreadyExists";
      return end;
    }
    after = map;
    after->meta.uid = {};
    stamp(after->meta);
    config_maps_[map.meta.key] = *after;
    return accepted(201);
  };
  write_map(map.meta.key, {"create configmap", map.meta.key.text()}, create, std::move(done));
}

void SimCluster::update_config_map(const api::ConfigMap& map, kube::ConfigMapDone done) {
  const auto update = [this, map](std::optional<api::ConfigMap>& after) {
    if (std::optional<kube::Answer> no = precondition(config_maps_, map.meta)) return *no;
    api::ConfigMap& stored = config_maps_.at(map.meta.key);
    if (stored.data != map.data || stored.meta.labels != map.meta.labels) {
      stored.data = map.data;
      stored.meta.labels = map.meta.labels;
      stamp(stored.meta);
    }
    after = stored;
    return accepted(200);
  };
  write_map(map.meta.key, {"update configmap", map.meta.key.text()}, update, std::move(done));
}

void SimCluster::read_config_map(const api::ObjectKey& key, kube::ConfigMapDone done) {
  enqueue<api::ConfigMap>(
      RequestKind::kOther,
      [this, key](std::optional<api::ConfigMap>& after) {
        const auto at = config_maps_.find(key);
        if (at == config_maps_.end()) return not_found("configmap " + key.text());
        after = at->second;
        return accepted(200);
      },
      std::move(done));
}

void SimCluster::delete_config_map(const kube::ConfigMapDelete& request, kube::Done done) {
  const auto erase = [this, request](std::optional<api::ConfigMap>&) {
    const api::ObjectMeta meant{
        .key = request.map, .uid = request.uid, .resource_version = request.resource_version};
    if (std::optional<kube::Answer> no = precondition(config_maps_, meant)) return *no;
    config_maps_.erase(request.map);
    return accepted(200);
  };
  write_map(request.map, {"delete configmap", request.map.text()}, erase,
            [done = std::move(done)](const kube::Answer& end, std::optional<api::ConfigMap>) {
              done(end);
            });
}

void SimCluster::list_config_maps(const std::string& name_space, const std::string& label,
                                  kube::ConfigMapsDone done) {
  const auto list = [this, name_space, label, done = std::move(done)]() -> std::function<void()> {
    std::vector<api::ConfigMap> listed;
    for (const auto& [key, map] : config_maps_) {
      const bool is_labelled = std::ranges::any_of(map.meta.labels, [&label](const auto& one) {
        return one.first + "=" + one.second == label;
      });
      if (key.name_space == name_space && is_labelled) listed.push_back(map);
    }
    return [done, listed = std::move(listed)] { done(accepted(200), listed); };
  };
  requests_.push_back({RequestKind::kOther, list});
}

}  // namespace gang::sim
