#include "gang/sim/sim_cluster.h"

#include <algorithm>
#include <utility>

#include "gang/base/check.h"
#include "sim/conditions.h"

namespace gang::sim {

namespace {

constexpr int kConflictStatus = 409;
constexpr int kNotFoundStatus = 404;
constexpr int kInvalidStatus = 422;

kube::Answer answer(kube::Outcome outcome, int status, std::string message = "") {
  return kube::Answer{outcome, status, std::move(message)};
}

kube::Answer accepted(int status) {
  return answer(kube::Outcome::kOk, status);
}

kube::Answer not_found(const std::string& what) {
  return answer(kube::Outcome::kNotFound, kNotFoundStatus, what + " not found");
}

kube::Answer conflict(std::string message) {
  return answer(kube::Outcome::kConflict, kConflictStatus, std::move(message));
}

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

kube::Answer lost() {
  return answer(kube::Outcome::kUnknown, 0, "request timed out");
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

void SimCluster::enqueue(bool is_bind, std::function<kube::Answer()> execute, kube::Done done) {
  requests_.push_back(
      {is_bind, [execute = std::move(execute), done = std::move(done)]() -> std::function<void()> {
         const kube::Answer end = execute();
         return [done, end] { done(end); };
       }});
}

bool SimCluster::next_is_bind() const {
  return !requests_.empty() && requests_.front().is_bind;
}

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

void SimCluster::fail_bind(const api::ObjectKey& pod, BindFault fault, int count) {
  faults_[pod] = ArmedFault{fault, count};
}

void SimCluster::bind(const api::Binding& binding, kube::Done done) {
  enqueue(
      true, [this, binding] { return bind_now(binding); }, std::move(done));
}

kube::Answer SimCluster::bind_now(const api::Binding& binding) {
  const auto armed = faults_.find(binding.pod);
  if (armed == faults_.end() || armed->second.count == 0) return bind_checked(binding);
  --armed->second.count;
  switch (armed->second.fault) {
    case BindFault::kConflict:
      record("bind", binding.pod.text(), binding.node_name, kConflictStatus);
      return conflict("the object has been modified");
    case BindFault::kServerError:
      record("bind", binding.pod.text(), binding.node_name, 500);
      return answer(kube::Outcome::kUnknown, 500, "internal error");
    case BindFault::kLostNotExecuted:
      record("bind", binding.pod.text(), binding.node_name + " (not executed)", 0);
      return lost();
    case BindFault::kLostExecuted:
      bind_checked(binding);
      return lost();
    case BindFault::kThrottled: {
      record("bind", binding.pod.text(), binding.node_name, 429);
      kube::Answer throttled = answer(kube::Outcome::kThrottled, 429, "too many requests");
      throttled.retry_after = std::chrono::seconds(1);
      return throttled;
    }
    case BindFault::kForbidden:
      record("bind", binding.pod.text(), binding.node_name, 403);
      return answer(kube::Outcome::kForbidden, 403, "pods/binding is forbidden");
  }
  return lost();
}

void SimCluster::try_bind(const api::Binding& binding, kube::Done done) {
  enqueue(
      false, [this, binding] { return refusal(pod(binding.pod), binding).value_or(accepted(201)); },
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
      false, [this, patch] { return patch_pod_now(patch); }, std::move(done));
}

kube::Answer SimCluster::patch_pod_now(const api::PodStatusPatch& patch) {
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
  if (patch.condition) merge(pod.conditions, *patch.condition);
  if (patch.nominated_node_name) pod.nominated_node_name = *patch.nominated_node_name;
  if (pod == *known) return accepted(200);
  record("patch pod", patch.pod.text(),
         patch.condition ? patch.condition->type + " " + patch.condition->message : "nomination",
         200);
  put(std::move(pod));
  return accepted(200);
}

void SimCluster::patch_pod_group_status(const api::PodGroupStatusPatch& patch, kube::Done done) {
  enqueue(
      false, [this, patch] { return patch_group_now(patch); }, std::move(done));
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
      false, [this, request] { return delete_pod_now(request); }, std::move(done));
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
      false,
      [this, event] {
        events_.push_back(event);
        return accepted(201);
      },
      std::move(done));
}

void SimCluster::get_pod(const api::ObjectKey& key, kube::PodDone done) {
  requests_.push_back({false, [this, key, done = std::move(done)]() -> std::function<void()> {
                         const api::Pod* found = pod(key);
                         if (found == nullptr) {
                           const kube::Answer end = not_found("pod " + key.text());
                           return [done, end] { done(end, std::nullopt); };
                         }
                         return [done, copy = *found] { done(accepted(200), copy); };
                       }});
}

void SimCluster::get_pod_group(const api::ObjectKey& key, kube::PodGroupDone done) {
  requests_.push_back({false, [this, key, done = std::move(done)]() -> std::function<void()> {
                         const api::PodGroup* found = pod_group(key);
                         if (found == nullptr) {
                           const kube::Answer end = not_found("podgroup " + key.text());
                           return [done, end] { done(end, std::nullopt); };
                         }
                         return [done, copy = *found] { done(accepted(200), copy); };
                       }});
}

}  // namespace gang::sim
