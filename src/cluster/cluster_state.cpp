#include "gang/cluster/cluster_state.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "cluster/gang_claims.h"
#include "cluster/gang_value.h"
#include "cluster/kind_sync.h"
#include "cluster/known_objects.h"
#include "cluster/model.h"
#include "cluster/pod_writer.h"
#include "cluster/recount.h"

namespace gang::cluster {

/// Sends each delta to the table of its kind and gathers what changed.
class ClusterState::Impl {
 public:
  Impl(std::string scheduler_name, const DeviceFeatures& features)
      : model_(features), pods_(std::move(scheduler_name), model_) {}

  Change apply(const api::Delta& delta) {
    ChangeLog log;
    sync_.note(delta);
    switch (delta.type) {
      case api::DeltaType::kAdded:
      case api::DeltaType::kUpdated:
        std::visit([&](const auto& object) { upsert(delta.kind, object, log); }, delta.object);
        break;
      case api::DeltaType::kDeleted:
        std::visit([&](const auto& object) { remove(delta.kind, object, log); }, delta.object);
        break;
      case api::DeltaType::kListEnd:
      case api::DeltaType::kUnserved:
        sweep(delta.kind, log);
        break;
      case api::DeltaType::kListBegin:
      case api::DeltaType::kBookmark:
      case api::DeltaType::kForbidden:
        break;
    }
    model_.claims.note_hidden(log);
    Change change = log.finish();
    for (Rejection& rejection : change.rejections) rejection.listed = !sync_.synced(delta.kind);
    return change;
  }

  Model model_;
  PodWriter pods_;
  KindSync sync_;
  std::map<std::string, api::PriorityClass> priority_classes_;

 private:
  void upsert(api::Kind, const std::monostate&, ChangeLog&) {}
  void upsert(api::Kind kind, const api::Pod& pod, ChangeLog& log) {
    if (kind == api::Kind::kFinishedPod) {
      model_.gangs.upsert_finished(pod, sync_.number(kind), log);
    } else {
      pods_.upsert(pod, sync_.number(kind), log);
    }
  }
  void upsert(api::Kind kind, const api::Node& node, ChangeLog& log) {
    const bool changed = model_.nodes.upsert(node, sync_.number(kind));
    if (changed) note_labels(*model_.nodes.index_of(node.meta.key.name));
    log.nodes(changed);
  }
  void upsert(api::Kind kind, const api::PodGroup& group, ChangeLog& log) {
    model_.gangs.upsert_group(group, sync_.number(kind), log);
  }
  void upsert(api::Kind kind, const api::CompositePodGroup& group, ChangeLog& log) {
    const auto told = model_.composites.upsert(group.meta, sync_.number(kind));
    if (told != KnownObjects::Told::kNothing) model_.gangs.touch_children(group.meta.key, log);
  }
  void upsert(api::Kind kind, const api::PriorityClass& priority, ChangeLog&) {
    const auto told = known_classes_.upsert(priority.meta, sync_.number(kind));
    if (told != KnownObjects::Told::kNothing) {
      priority_classes_[priority.meta.key.name] = priority;
    }
  }
  /// No rule that is built reads Workloads, so nothing is kept.
  void upsert(api::Kind, const api::Workload&, ChangeLog&) {}
  void upsert(api::Kind kind, const api::Namespace& name_space, ChangeLog& log) {
    const auto told = known_namespaces_.upsert(name_space.meta, sync_.number(kind));
    if (told == KnownObjects::Told::kNothing) return;
    note_namespace(name_space.meta.key.name, name_space.meta.labels, log);
  }

  void upsert(api::Kind kind, const api::ResourceSlice& slice, ChangeLog& log) {
    model_.devices.upsert(slice, sync_.number(kind), log);
  }
  void upsert(api::Kind kind, const api::DeviceTaintRule& rule, ChangeLog& log) {
    model_.devices.upsert(rule, sync_.number(kind), log);
  }
  void upsert(api::Kind kind, const api::DeviceClass& device_class, ChangeLog& log) {
    model_.devices.upsert(device_class, sync_.number(kind), log);
  }
  void upsert(api::Kind kind, const api::ResourceClaim& claim, ChangeLog& log) {
    model_.claims.upsert(claim, sync_.number(kind), log);
  }
  void upsert(api::Kind kind, const api::ResourceClaimTemplate& form, ChangeLog& log) {
    model_.claims.upsert(form, sync_.number(kind), log);
  }

  void remove(api::Kind, const std::monostate&, ChangeLog&) {}
  void remove(api::Kind, const api::ResourceSlice& slice, ChangeLog& log) {
    model_.devices.remove(slice, log);
  }
  void remove(api::Kind, const api::DeviceTaintRule& rule, ChangeLog& log) {
    model_.devices.remove(rule, log);
  }
  void remove(api::Kind, const api::DeviceClass& device_class, ChangeLog& log) {
    model_.devices.remove(device_class, log);
  }
  void remove(api::Kind, const api::ResourceClaim& claim, ChangeLog& log) {
    model_.claims.remove(claim, log);
  }
  void remove(api::Kind, const api::ResourceClaimTemplate& form, ChangeLog& log) {
    model_.claims.remove(form, log);
  }
  void remove(api::Kind kind, const api::Pod& pod, ChangeLog& log) {
    if (kind == api::Kind::kFinishedPod) {
      model_.gangs.remove_finished(pod, log);
    } else {
      pods_.remove(pod.meta, log);
    }
  }
  void remove(api::Kind, const api::Node& node, ChangeLog& log) {
    const std::optional<NodeIndex> index = model_.nodes.index_of(node.meta.key.name);
    log.nodes(model_.nodes.remove(node.meta));
    if (index) note_labels(*index);
  }
  void remove(api::Kind, const api::PodGroup& group, ChangeLog& log) {
    model_.gangs.remove_group(group.meta, log);
  }
  void remove(api::Kind, const api::CompositePodGroup& group, ChangeLog& log) {
    if (model_.composites.remove(group.meta)) model_.gangs.touch_children(group.meta.key, log);
  }
  void remove(api::Kind, const api::PriorityClass& priority, ChangeLog&) {
    if (known_classes_.remove(priority.meta)) priority_classes_.erase(priority.meta.key.name);
  }
  void remove(api::Kind, const api::Workload&, ChangeLog&) {}
  void remove(api::Kind, const api::Namespace& name_space, ChangeLog& log) {
    if (!known_namespaces_.remove(name_space.meta)) return;
    note_namespace(name_space.meta.key.name, std::nullopt, log);
  }

  /// The terms of pods on a node hold under its labels, and it belongs to domains by them.
  void note_labels(NodeIndex node) {
    model_.terms.note_node(node, model_.nodes.columns().info(node));
    model_.topology.note_node(node, model_.nodes.columns());
  }
  void note_namespace(const std::string& name, std::optional<api::StringMap> labels,
                      ChangeLog& log) {
    const bool was_allowed = allows_admin_access(model_, name);
    if (model_.terms.note_namespace(name, std::move(labels))) pods_.rematch(log);
    if (allows_admin_access(model_, name) == was_allowed) return;
    for (const std::uint64_t gang : model_.claim_users.gangs_in(name)) log.gang(gang);
  }

  /// Takes away what the list that just ended, or the missing API, does not know.
  void sweep(api::Kind kind, ChangeLog& log) {
    const ListNumber list = sync_.number(kind);
    switch (kind) {
      case api::Kind::kPod:
        pods_.sweep(list, log);
        break;
      case api::Kind::kFinishedPod:
        model_.gangs.sweep_finished(list, log);
        break;
      case api::Kind::kNode:
        log.nodes(model_.nodes.sweep(list));
        model_.terms.note_nodes(model_.nodes.columns());
        model_.topology.note_nodes(model_.nodes.columns());
        break;
      case api::Kind::kPodGroup:
        model_.gangs.sweep_groups(list, log);
        break;
      case api::Kind::kCompositePodGroup:
        for (const auto& key : model_.composites.sweep(list)) model_.gangs.touch_children(key, log);
        break;
      case api::Kind::kPriorityClass:
        for (const auto& key : known_classes_.sweep(list)) priority_classes_.erase(key.name);
        break;
      case api::Kind::kNamespace:
        for (const auto& key : known_namespaces_.sweep(list)) {
          note_namespace(key.name, std::nullopt, log);
        }
        break;
      case api::Kind::kResourceSlice:
        model_.devices.sweep_slices(list, log);
        break;
      case api::Kind::kDeviceTaintRule:
        model_.devices.sweep_rules(list, log);
        break;
      case api::Kind::kDeviceClass:
        model_.devices.sweep_classes(list, log);
        break;
      case api::Kind::kResourceClaim:
        model_.claims.sweep(list, log);
        break;
      case api::Kind::kResourceClaimTemplate:
        model_.claims.sweep_templates(list, log);
        break;
      case api::Kind::kWorkload:
        break;
    }
  }

  KnownObjects known_classes_;
  KnownObjects known_namespaces_;
};

ClusterState::ClusterState(std::string scheduler_name, const DeviceFeatures& features)
    : impl_(std::make_unique<Impl>(std::move(scheduler_name), features)) {}
ClusterState::~ClusterState() = default;

Change ClusterState::apply(const api::Delta& delta) {
  return impl_->apply(delta);
}

bool ClusterState::synced() const {
  return impl_->sync_.synced();
}
bool ClusterState::synced(api::Kind kind) const {
  return impl_->sync_.synced(kind);
}
bool ClusterState::served(api::Kind kind) const {
  return impl_->sync_.served(kind);
}

std::shared_ptr<const Snapshot> ClusterState::snapshot() {
  Model& model = impl_->model_;
  return model.nodes.snapshot(model.terms, model.topology,
                              {model.devices.view(), model.mix.latest()});
}

std::shared_ptr<const Snapshot> ClusterState::snapshot_without(
    const std::vector<std::shared_ptr<const api::ResourceClaim>>& claims) {
  Model& model = impl_->model_;
  ChangeLog ignored;
  const auto each = [&](auto what) {
    for (const auto& claim : claims) {
      if (claim->allocation) (model.devices.*what)({claim->meta.key, *claim->allocation}, ignored);
    }
  };
  each(&DeviceTable::give_back);
  auto without = snapshot();
  each(&DeviceTable::take);
  return without;
}

std::optional<Gang> ClusterState::gang(GangId id) const {
  return gang_value(impl_->model_, id.value);
}

std::optional<Gang> ClusterState::gang_outline(GangId id) const {
  return cluster::gang_outline(impl_->model_, id.value);
}

std::vector<GangId> ClusterState::gangs() const {
  std::vector<GangId> result;
  for (const auto& [id, entry] : impl_->model_.gangs.entries()) {
    if (!entry.members.empty()) result.push_back(GangId{id});
  }
  std::sort(result.begin(), result.end());
  return result;
}

std::optional<GangId> ClusterState::find_gang(const api::ObjectKey& pod_group) const {
  const std::optional<std::uint64_t> id = impl_->model_.gangs.find(pod_group);
  return id ? std::optional(GangId{*id}) : std::nullopt;
}

std::optional<GangId> ClusterState::find_gang(const api::Uid& pod) const {
  const PodSlot slot = impl_->model_.pods.find_unassigned(pod.text);
  if (slot == PodTable::kNone) return std::nullopt;
  return GangId{impl_->model_.pods.at(slot).gang};
}

void ClusterState::note_requests(const Gang& gang) {
  impl_->model_.mix.note(gang);
}

void ClusterState::assume(const std::vector<AssumedPod>& pods) {
  for (const AssumedPod& pod : pods) impl_->pods_.assume(pod);
}

void ClusterState::forget(const api::Uid& pod) {
  impl_->pods_.forget(pod);
}

void ClusterState::assume_allocation(const api::Uid& claim, api::Allocation allocation) {
  impl_->model_.claims.assume(claim, std::move(allocation));
}

void ClusterState::forget_allocation(const api::Uid& claim) {
  impl_->model_.claims.forget(claim);
}

void ClusterState::assume_new_claim(const api::ObjectKey& claim, const api::Uid& pod,
                                    api::Allocation allocation) {
  impl_->model_.claims.assume_new(claim, pod, std::move(allocation));
}

void ClusterState::forget_new_claim(const api::ObjectKey& claim) {
  impl_->model_.claims.forget_new(claim);
}

std::vector<std::shared_ptr<const api::ResourceClaim>> ClusterState::extended_claims(
    const api::Uid& pod) const {
  return impl_->model_.claims.extended_claims(pod);
}

StateCounts ClusterState::counts() const {
  const Model& model = impl_->model_;
  StateCounts counts;
  counts.nodes = model.nodes.node_count();
  counts.bound_pods = model.bound_pods;
  counts.pending_pods = model.pending_pods;
  for (const auto& [id, entry] : model.gangs.entries()) counts.gangs += entry.is_known() ? 1 : 0;
  counts.classes = model.classes.size();
  return counts;
}

std::shared_ptr<const api::ResourceClaim> ClusterState::claim(const api::ObjectKey& key) const {
  return impl_->model_.claims.find(key);
}

std::optional<bool> ClusterState::shows(const api::DeviceName& device) {
  return impl_->model_.devices.shows(device);
}

std::optional<api::PriorityClass> ClusterState::priority_class(const std::string& name) const {
  const auto place = impl_->priority_classes_.find(name);
  if (place == impl_->priority_classes_.end()) return std::nullopt;
  return place->second;
}

std::string ClusterState::recompute() const {
  const Model& model = impl_->model_;
  const std::string difference = recount_difference(model);
  if (!difference.empty()) return difference;
  return model.devices.usage_difference(model.claims.allocations());
}

}  // namespace gang::cluster
