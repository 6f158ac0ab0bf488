#include "cluster/gang_value.h"

#include <algorithm>
#include <unordered_map>
#include <utility>
#include <vector>

#include "cluster/gang_claims.h"

namespace gang::cluster {
namespace {

/// Fills what a lone pod says of its gang of one.
void outline_lone_pod(const Model& model, PodSlot pod, Gang& gang) {
  const PodRecord& record = model.pods.at(pod);
  gang.kind = GangKind::kLonePod;
  gang.key = model.pods.key(pod);
  gang.uid.text = record.text.uid();
  gang.creation_time = record.creation_time;
  gang.priority = model.pods.profiles.at(record.profile).priority;
}

void outline_done(const DoneMembers& done, Gang& gang) {
  gang.counts.done = static_cast<std::int32_t>(done.counted.size());
  gang.failed_count = static_cast<std::int32_t>(done.failed.size());
  if (!done.failed.empty()) gang.failure = done.failed.rbegin()->second.failure;
}

void outline_group(const Model& model, const GangEntry& entry, Gang& gang) {
  gang.kind = GangKind::kPodGroup;
  gang.key = entry.key;
  if (entry.done) outline_done(*entry.done, gang);
  if (!entry.group) return;
  const api::PodGroup& group = *entry.group;
  gang.group = group;
  gang.uid = group.meta.uid;
  gang.creation_time = group.meta.creation_time;
  gang.priority = group.spec.priority;
  gang.min_count = group.spec.policy == api::GroupPolicy::kGang ? group.spec.min_count : 1;
  gang.parent_missing = !group.spec.parent_name.empty() &&
                        !model.composites.contains({entry.key.name_space, group.spec.parent_name});
}

Member member_of(const Model& model, PodSlot pod) {
  const PodTable& pods = model.pods;
  const PodRecord& record = pods.at(pod);
  const PodProfile& profile = pods.profiles.at(record.profile);
  Member member;
  member.key = pods.key(pod);
  member.uid.text = record.text.uid();
  member.resource_version.text = record.text.version();
  member.generation = record.generation;
  member.creation_time = record.creation_time;
  member.state = record.state;
  if (record.node != FlatIndex::kNone) member.node_name = model.nodes.name(NodeIndex{record.node});
  if (record.is_assigned()) member.stamp = pods.stamps.at(record.stamp);
  member.has_controller = record.has_controller;
  member.priority = profile.priority;
  member.priority_class_name = profile.priority_class_name;
  member.scheduler_name = profile.scheduler_name;
  member.preemption_policy = profile.preemption_policy;
  if (record.pending) {
    member.nominated_node_name = record.pending->nominated_node_name;
    if (record.pending->pod_scheduled) member.pod_scheduled = *record.pending->pod_scheduled;
  }
  return member;
}

std::vector<PodSlot> in_order(const Model& model, std::vector<PodSlot> members) {
  const auto before = [&](PodSlot a, PodSlot b) {
    const PodRecord& left = model.pods.at(a);
    const PodRecord& right = model.pods.at(b);
    if (left.creation_time != right.creation_time) return left.creation_time < right.creation_time;
    return left.text.name() < right.text.name();
  };
  if (!std::is_sorted(members.begin(), members.end(), before)) {
    std::sort(members.begin(), members.end(), before);
  }
  return members;
}

/// Gives each class of pending members its index, by first member.
class ClassIndexes {
 public:
  ClassIndexes(const ClassTable& table, Gang& gang) : table_(table), gang_(gang) {}

  std::int32_t index_of(ClassTable::Handle handle) {
    const auto next = static_cast<std::int32_t>(gang_.classes.size());
    const auto [place, is_new] = indexes_.try_emplace(handle, next);
    if (is_new) gang_.classes.push_back(table_.at(handle));
    return place->second;
  }

 private:
  const ClassTable& table_;
  Gang& gang_;
  std::unordered_map<ClassTable::Handle, std::int32_t> indexes_;
};

}  // namespace

std::optional<Gang> gang_outline(const Model& model, std::uint64_t id) {
  const GangEntry* entry = model.gangs.find(id);
  if (entry == nullptr || !entry->is_known()) return std::nullopt;
  Gang gang;
  gang.id = GangId{id};
  gang.counts = entry->counts;
  if (entry->kind == GangKind::kLonePod) {
    outline_lone_pod(model, entry->members.front(), gang);
  } else {
    outline_group(model, *entry, gang);
  }
  gang.minimum = gang.min_count;
  return gang;
}

std::optional<Gang> gang_value(const Model& model, std::uint64_t id) {
  std::optional<Gang> gang = gang_outline(model, id);
  if (!gang) return gang;
  ClassIndexes indexes(model.classes, *gang);
  GangClaims claims(model, *gang);
  claims.add_group();
  const std::vector<PodSlot> members = in_order(model, model.gangs.find(id)->members);
  gang->members.reserve(members.size());
  for (const PodSlot pod : members) {
    Member& member = gang->members.emplace_back(member_of(model, pod));
    if (member.state == MemberState::kPending) {
      member.class_index = indexes.index_of(*model.pods.at(pod).pending->pod_class);
      member.claims = claims.add_pod(pod);
    }
  }
  return gang;
}

}  // namespace gang::cluster
