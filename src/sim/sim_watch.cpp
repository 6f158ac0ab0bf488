// The watch side of SimCluster: what a daemon's informers are told, and what drops and relists do.
#include <utility>

#include "gang/sim/sim_cluster.h"

namespace gang::sim {

void SimCluster::tell(api::DeltaType type, api::Kind kind, api::Object object) {
  if (unserved_.contains(kind)) return;
  api::Delta delta{type, kind, {std::to_string(revision_)}, std::move(object)};
  if (dropped_.contains(kind)) {
    held_[kind].push_back(std::move(delta));
  } else {
    deltas_.push_back(std::move(delta));
  }
}

// The pod watch hides terminal pods: finishing looks like a deletion there, and as an addition to
// the watch on finished pods.
void SimCluster::tell_pod(const api::Pod* before, const api::Pod& after) {
  const bool was_shown = before != nullptr && !before->is_terminal();
  if (!after.is_terminal()) {
    tell(was_shown ? api::DeltaType::kUpdated : api::DeltaType::kAdded, api::Kind::kPod, after);
    return;
  }
  if (was_shown) {
    api::Pod gone = *before;
    gone.meta.resource_version = after.meta.resource_version;
    tell(api::DeltaType::kDeleted, api::Kind::kPod, std::move(gone));
  }
  const bool is_ours = after.scheduler_name == scheduler_name_;
  if (is_ours) tell(api::DeltaType::kAdded, api::Kind::kFinishedPod, after);
}

void SimCluster::append_list(api::Kind kind, std::vector<api::Delta>& out) {
  const api::ResourceVersion version{std::to_string(revision_)};
  if (unserved_.contains(kind)) {
    out.push_back({api::DeltaType::kUnserved, kind, version, {}});
    return;
  }
  out.push_back({api::DeltaType::kListBegin, kind, version, {}});
  const auto add = [&](const auto& object) {
    out.push_back({api::DeltaType::kAdded, kind, object.meta.resource_version, object});
  };
  for (const auto& [key, pod] : pods_) {
    const bool ours = pod.scheduler_name == scheduler_name_;
    if (kind == api::Kind::kPod && !pod.is_terminal()) add(pod);
    if (kind == api::Kind::kFinishedPod && pod.is_terminal() && ours) add(pod);
  }
  if (kind == api::Kind::kNode) {
    for (const auto& [key, node] : nodes_) add(node);
  }
  if (kind == api::Kind::kPodGroup) {
    for (const auto& [key, group] : groups_) add(group);
  }
  if (kind == api::Kind::kCompositePodGroup) {
    for (const auto& [key, group] : composites_) add(group);
  }
  if (kind == api::Kind::kPriorityClass) {
    for (const auto& [key, priority_class] : priority_classes_) add(priority_class);
  }
  out.push_back({api::DeltaType::kListEnd, kind, version, {}});
}

std::vector<api::Delta> SimCluster::list_all(const std::string& scheduler_name) {
  scheduler_name_ = scheduler_name;
  deltas_.clear();
  held_.clear();
  dropped_.clear();
  std::vector<api::Delta> out;
  for (int kind = 0; kind < api::kKindCount; ++kind) {
    append_list(static_cast<api::Kind>(kind), out);
  }
  return out;
}

std::vector<api::Delta> SimCluster::take_deltas() {
  std::vector<api::Delta> out(std::make_move_iterator(deltas_.begin()),
                              std::make_move_iterator(deltas_.end()));
  deltas_.clear();
  return out;
}

bool SimCluster::has_deltas() const {
  return !deltas_.empty();
}

void SimCluster::drop_watch(api::Kind kind) {
  dropped_.insert(kind);
}

void SimCluster::restore_watch(api::Kind kind, bool expired) {
  dropped_.erase(kind);
  std::vector<api::Delta> held = std::move(held_[kind]);
  held_.erase(kind);
  if (expired) {
    held.clear();
    append_list(kind, held);
  }
  for (api::Delta& delta : held) deltas_.push_back(std::move(delta));
}

void SimCluster::set_served(api::Kind kind, bool served) {
  if (served) {
    unserved_.erase(kind);
  } else {
    unserved_.insert(kind);
  }
  std::vector<api::Delta> told;
  append_list(kind, told);
  for (api::Delta& delta : told) deltas_.push_back(std::move(delta));
}

}  // namespace gang::sim
