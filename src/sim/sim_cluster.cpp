#include "gang/sim/sim_cluster.h"

#include <algorithm>
#include <utility>

#include "gang/base/check.h"
#include "sim/answers.h"
#include "sim/conditions.h"

namespace gang::sim {

namespace {

constexpr Duration kLateAfter = std::chrono::seconds(10);

void merge(api::StringMap& map, const api::StringMap& more) {
  for (const auto& [key, value] : more) {
    const auto same = [&name = key](const auto& entry) { return entry.first == name; };
    const auto at = std::find_if(map.begin(), map.end(), same);
    if (at == map.end()) {
      map.emplace_back(key, value);
    } else {
      at->second = value;
    }
  }
  std::sort(map.begin(), map.end());
}

/// The labels of a node that admission copies to the pods bound there.
api::StringMap topology_labels(const api::Node* node) {
  api::StringMap copied;
  if (node == nullptr) return copied;
  for (const auto& label : node->meta.labels) {
    const bool is_copied = label.first == "topology.kubernetes.io/zone" ||
                           label.first == "topology.kubernetes.io/region";
    if (is_copied) copied.push_back(label);
  }
  return copied;
}

/// A status of a claim is refused by a field error, everything else as a whole.
kube::Answer forbidden(const std::string& verb) {
  if (verb == "patch claim status") {
    return invalid(
        "status.allocation: Forbidden: changing status.allocation or status.reservedFor requires "
        "resource=\"resourceclaims/binding\", verb=\"patch\" permission");
  }
  const std::string what = verb == "bind"             ? "pods/binding"
                           : verb.ends_with(" claim") ? "resourceclaims"
                                                      : "configmaps";
  return answer(kube::Outcome::kForbidden, 403, what + " is forbidden");
}

std::string detail_of(const api::PodStatusPatch& patch) {
  if (patch.condition) return patch.condition->type + " " + patch.condition->message;
  if (!patch.extended_claim) return "nomination";
  std::string text = "extended claim " + patch.extended_claim->claim_name;
  for (const api::ExtendedRequestMapping& one : patch.extended_claim->mappings) {
    text += " " + one.container_name + "/" + one.resource_name + "=" + one.request_name;
  }
  return text;
}

/// Why the server does not carry the Binding out, if it does not.
std::optional<kube::Answer> refusal(const api::Pod* pod, const api::Binding& binding) {
  if (pod == nullptr) return not_found("pod " + binding.pod.text());
  const bool same_version =
      binding.resource_version.empty() || binding.resource_version == pod->meta.resource_version;
  if (binding.uid != pod->meta.uid || !same_version) return conflict("precondition failed");
  if (pod->is_terminating()) return conflict("pod is being deleted");
  if (!pod->node_name.empty()) return conflict("pod is already assigned");
  if (!pod->scheduling_gates.empty()) return conflict("pod has scheduling gates");
  return std::nullopt;
}

}  // namespace

void SimCluster::record(std::string verb, std::string object, std::string detail, int status) {
  writes_.push_back({std::move(verb), std::move(object), std::move(detail), status});
}

void SimCluster::enqueue(RequestKind kind, Execute execute, kube::Done done) {
  requests_.push_back(
      {kind, [execute = std::move(execute), done = std::move(done)]() -> std::function<void()> {
         const kube::Answer end = execute();
         return [done, end] { done(end); };
       }});
}

template <class Object>
void SimCluster::enqueue(RequestKind kind,
                         std::function<kube::Answer(std::optional<Object>&)> execute,
                         std::function<void(const kube::Answer&, std::optional<Object>)> done) {
  requests_.push_back(
      {kind, [execute = std::move(execute), done = std::move(done)]() -> std::function<void()> {
         std::optional<Object> after;
         const kube::Answer end = execute(after);
         return [done, end, after = std::move(after)] { done(end, after); };
       }});
}
template void SimCluster::enqueue<api::ResourceClaim>(RequestKind, ExecuteOnClaim, kube::ClaimDone);
template void SimCluster::enqueue<api::ConfigMap>(RequestKind, ExecuteOnMap, kube::ConfigMapDone);

void SimCluster::execute_next() {
  CHECK(!requests_.empty());
  const Request request = std::move(requests_.front());
  requests_.pop_front();
  request.execute()();
}

void SimCluster::execute_next_unanswered() {
  CHECK(!requests_.empty());
  const Request request = std::move(requests_.front());
  requests_.pop_front();
  request.execute();
}

std::optional<TimePoint> SimCluster::next_due() const {
  const std::optional<TimePoint> termination = next_termination();
  if (late_.empty()) return termination;
  return std::min(late_.begin()->first, termination.value_or(TimePoint::max()));
}

void SimCluster::run_due() {
  end_terminations();
  while (!late_.empty() && late_.begin()->first <= now()) {
    const Execute execute = std::move(late_.begin()->second);
    late_.erase(late_.begin());
    execute();
  }
}

void SimCluster::arm_fault(FaultTarget target, const api::ObjectKey& object,
                           const ArmedFault& fault) {
  faults_[{target, object}] = fault;
}

std::optional<kube::Answer> SimCluster::faulty(FaultTarget target, const api::ObjectKey& object,
                                               const WriteRecord& write, const Execute& execute) {
  const auto armed = faults_.find({target, object});
  if (armed == faults_.end() || armed->second.count == 0) return std::nullopt;
  if (armed->second.skip > 0) {
    --armed->second.skip;
    return std::nullopt;
  }
  --armed->second.count;
  const auto refused = [&](kube::Answer end) {
    record(write.verb, write.object, write.detail, end.http_status);
    return end;
  };
  switch (armed->second.fault) {
    case RequestFault::kConflict:
      return refused(conflict("the object has been modified"));
    case RequestFault::kServerError:
      return refused(answer(kube::Outcome::kUnknown, 500, "internal error"));
    case RequestFault::kLostNotExecuted:
      record(write.verb, write.object, write.detail + " (not executed)", 0);
      return lost();
    case RequestFault::kLostExecuted:
      execute();
      return lost();
    case RequestFault::kLate:
      record(write.verb, write.object, write.detail + " (late)", 0);
      late_.emplace(now() + kLateAfter, execute);
      return lost();
    case RequestFault::kThrottled: {
      kube::Answer throttled = answer(kube::Outcome::kThrottled, 429, "too many requests");
      throttled.retry_after = std::chrono::seconds(1);
      return refused(std::move(throttled));
    }
    case RequestFault::kForbidden:
      return refused(forbidden(write.verb));
  }
  return std::nullopt;
}

void SimCluster::bind(const api::Binding& binding, kube::Done done) {
  enqueue(
      RequestKind::kBinding, [this, binding] { return bind_now(binding); }, std::move(done));
}

kube::Answer SimCluster::bind_now(const api::Binding& binding) {
  const WriteRecord write{"bind", binding.pod.text(), binding.node_name};
  const auto execute = [this, binding] { return bind_checked(binding); };
  std::optional<kube::Answer> fault = faulty(FaultTarget::kBinding, binding.pod, write, execute);
  return fault ? *std::move(fault) : execute();
}

void SimCluster::try_bind(const api::Binding& binding, kube::Done done) {
  enqueue(
      RequestKind::kOther,
      [this, binding] { return refusal(pod(binding.pod), binding).value_or(accepted(201)); },
      std::move(done));
}

kube::Answer SimCluster::bind_checked(const api::Binding& binding) {
  const kube::Answer end = refusal(pod(binding.pod), binding).value_or(accepted(201));
  record("bind", binding.pod.text(), binding.node_name, end.http_status);
  if (!end.ok()) return end;
  api::Pod pod = *this->pod(binding.pod);
  pod.node_name = binding.node_name;
  pod.nominated_node_name.clear();
  pod.phase = api::PodPhase::kRunning;
  merge(pod.meta.annotations, binding.annotations);
  merge(pod.meta.labels, topology_labels(node(binding.node_name)));
  merge(pod.conditions, {"PodScheduled", api::ConditionStatus::kTrue, "", "", now(), 0});
  put(std::move(pod));
  return end;
}

void SimCluster::patch_pod_status(const api::PodStatusPatch& patch, kube::Done done) {
  enqueue(
      RequestKind::kWrite, [this, patch] { return patch_pod_now(patch); }, std::move(done));
}

kube::Answer SimCluster::patch_pod_now(const api::PodStatusPatch& patch) {
  const WriteRecord write{"patch pod", patch.pod.text(), detail_of(patch)};
  const auto execute = [this, patch] { return patch_pod_checked(patch); };
  std::optional<kube::Answer> fault = faulty(FaultTarget::kPodStatus, patch.pod, write, execute);
  return fault ? *std::move(fault) : execute();
}

kube::Answer SimCluster::patch_pod_checked(const api::PodStatusPatch& patch) {
  const api::Pod* known = this->pod(patch.pod);
  if (known == nullptr) return not_found("pod " + patch.pod.text());
  api::Pod pod = *known;
  if (patch.uid != pod.meta.uid) {
    return answer(kube::Outcome::kInvalid, kInvalidStatus, "metadata.uid: field is immutable");
  }
  if (!patch.resource_version.empty() && patch.resource_version != pod.meta.resource_version) {
    record("patch pod", patch.pod.text(), "", kConflictStatus);
    return conflict("the object has been modified");
  }
  const bool names_none = patch.extended_claim && (patch.extended_claim->claim_name.empty() ||
                                                   patch.extended_claim->mappings.empty());
  if (names_none) {
    return invalid("status.extendedResourceClaimStatus: Required value: a name and a mapping");
  }
  if (patch.condition) merge(pod.conditions, *patch.condition);
  if (patch.nominated_node_name) pod.nominated_node_name = *patch.nominated_node_name;
  if (patch.extended_claim) pod.extended_claim = *patch.extended_claim;
  if (pod == *known) return accepted(200);
  record("patch pod", patch.pod.text(), detail_of(patch), 200);
  put(std::move(pod));
  return accepted(200);
}

void SimCluster::patch_pod_group_status(const api::PodGroupStatusPatch& patch, kube::Done done) {
  enqueue(
      RequestKind::kWrite, [this, patch] { return patch_group_now(patch); }, std::move(done));
}

kube::Answer SimCluster::patch_group_now(const api::PodGroupStatusPatch& patch) {
  const api::PodGroup* known = pod_group(patch.group);
  if (!is_served(api::Kind::kPodGroup) || known == nullptr) {
    return not_found("podgroup " + patch.group.text());
  }
  if (patch.uid != known->meta.uid) {
    return answer(kube::Outcome::kInvalid, kInvalidStatus, "metadata.uid: field is immutable");
  }
  api::PodGroup group = *known;
  std::string detail;
  for (const api::Condition& condition : patch.conditions) {
    merge(group.conditions, condition);
    if (!detail.empty()) detail += ", ";
    detail += condition.type + "=" + std::string(api::status_text(condition.status));
  }
  if (group == *known) return accepted(200);
  record("patch group", patch.group.text(), detail, 200);
  put(std::move(group));
  return accepted(200);
}

void SimCluster::delete_pod(const kube::PodDelete& request, kube::Done done) {
  enqueue(
      RequestKind::kWrite, [this, request] { return delete_pod_now(request); }, std::move(done));
}

kube::Answer SimCluster::delete_pod_now(const kube::PodDelete& request) {
  const api::Pod* known = pod(request.pod);
  if (known == nullptr) return not_found("pod " + request.pod.text());
  const api::ObjectMeta& meta = known->meta;
  const bool same_version =
      request.resource_version.empty() || request.resource_version == meta.resource_version;
  if (request.uid != meta.uid || !same_version) return conflict("precondition failed");
  record("delete pod", request.pod.text(), "", 200);
  delete_gracefully(request.pod, std::chrono::seconds(1));
  return accepted(200);
}

void SimCluster::create_event(const api::Event& event, kube::Done done) {
  enqueue(
      RequestKind::kOther,
      [this, event] {
        const bool is_there = std::ranges::any_of(events_, [&](const api::Event& known) {
          return known.name == event.name &&
                 known.regarding.key.name_space == event.regarding.key.name_space;
        });
        if (is_there) return conflict("events \"" + event.name + "\" already exists");
        events_.push_back(event);
        return accepted(201);
      },
      std::move(done));
}

void SimCluster::get_pod(const api::ObjectKey& key, kube::PodDone done) {
  enqueue<api::Pod>(
      RequestKind::kOther,
      [this, key](std::optional<api::Pod>& found) {
        if (!contains(api::Kind::kPod, key)) return not_found("pod " + key.text());
        found = *pod(key);
        return accepted(200);
      },
      std::move(done));
}

void SimCluster::get_pod_group(const api::ObjectKey& key, kube::PodGroupDone done) {
  enqueue<api::PodGroup>(
      RequestKind::kOther,
      [this, key](std::optional<api::PodGroup>& found) {
        if (!contains(api::Kind::kPodGroup, key)) return not_found("podgroup " + key.text());
        found = *pod_group(key);
        return accepted(200);
      },
      std::move(done));
}

}  // namespace gang::sim
