#include "cluster/gang_table.h"

#include <algorithm>
#include <utility>

#include "cluster/known_objects.h"
#include "gang/base/check.h"

namespace gang::cluster {
namespace {

/// The count a state belongs to, or null for states that count for nothing.
std::int32_t* count_of(MemberCounts& counts, MemberState state) {
  switch (state) {
    case MemberState::kPending:
      return &counts.pending;
    case MemberState::kGated:
      return &counts.gated;
    case MemberState::kAssumed:
      return &counts.assumed;
    case MemberState::kBound:
      return &counts.bound;
    case MemberState::kDeleting:
    case MemberState::kTerminating:
    case MemberState::kForeignPending:
      return nullptr;
  }
  return nullptr;
}

void move_count(MemberCounts& counts, MemberState state, std::int32_t by) {
  if (std::int32_t* count = count_of(counts, state)) *count += by;
}

/// Whether two versions of a group differ in more than conditions and bookkeeping.
bool differs_in_meaning(const api::PodGroup& a, const api::PodGroup& b) {
  return a.meta.uid != b.meta.uid || a.spec != b.spec || a.claims != b.claims ||
         a.claim_statuses != b.claim_statuses || a.meta.unreadable != b.meta.unreadable ||
         a.meta.deletion_time != b.meta.deletion_time;
}

}  // namespace

const GangEntry* GangTable::find(std::uint64_t id) const {
  const auto place = entries_.find(id);
  return place == entries_.end() ? nullptr : &place->second;
}

std::optional<std::uint64_t> GangTable::find(const api::ObjectKey& pod_group) const {
  const auto place = by_group_.find(pod_group);
  if (place == by_group_.end() || !entries_.at(place->second).is_known()) return std::nullopt;
  return place->second;
}

std::uint64_t GangTable::intern(const api::ObjectKey& pod_group) {
  const auto [place, is_new] = by_group_.try_emplace(pod_group, ids_given_ + 1);
  if (is_new) {
    GangEntry& entry = entries_[++ids_given_];
    entry.kind = GangKind::kPodGroup;
    entry.key = pod_group;
  }
  return place->second;
}

void GangTable::drop_if_unnamed(std::uint64_t id) {
  const auto place = entries_.find(id);
  const GangEntry& entry = place->second;
  if (entry.is_known() || (entry.done && entry.done->names_gang())) return;
  if (entry.kind == GangKind::kPodGroup) by_group_.erase(entry.key);
  entries_.erase(place);
}

void GangTable::join(PodSlot pod, const api::ObjectKey& pod_group) {
  PodRecord& record = pods_.at(pod);
  CHECK(record.gang == 0);
  record.gang = pod_group.name.empty() ? ++ids_given_ : intern(pod_group);
  GangEntry& entry = entries_[record.gang];
  record.member_index = static_cast<std::uint32_t>(entry.members.size());
  entry.members.push_back(pod);
  move_count(entry.counts, record.state, 1);
}

void GangTable::leave(PodSlot pod) {
  PodRecord& record = pods_.at(pod);
  if (record.gang == 0) return;
  GangEntry& entry = entries_.at(record.gang);
  move_count(entry.counts, record.state, -1);
  const PodSlot last = entry.members.back();
  entry.members[record.member_index] = last;
  pods_.at(last).member_index = record.member_index;
  entry.members.pop_back();
  drop_if_unnamed(std::exchange(record.gang, 0));
}

void GangTable::set_state(PodSlot pod, MemberState state) {
  PodRecord& record = pods_.at(pod);
  const MemberState before = std::exchange(record.state, state);
  if (record.gang == 0) return;
  MemberCounts& counts = entries_.at(record.gang).counts;
  move_count(counts, before, -1);
  move_count(counts, state, 1);
}

void GangTable::adopt_uid(GangEntry& entry, const api::Uid& uid) {
  const bool replaces = !entry.last_uid.empty() && entry.last_uid != uid;
  entry.last_uid = uid;
  if (replaces && entry.done) entry.done->retire();
}

void GangTable::set_parent(std::uint64_t id, const std::string& before, const std::string& after) {
  if (before == after) return;
  const std::string& name_space = entries_.at(id).key.name_space;
  if (!before.empty()) {
    const auto place = children_.find({name_space, before});
    place->second.erase(id);
    if (place->second.empty()) children_.erase(place);
  }
  if (!after.empty()) children_[{name_space, after}].insert(id);
}

void GangTable::set_claims(std::uint64_t id, const api::PodGroup* before,
                           const api::PodGroup* after) {
  const auto list_of = [](const api::PodGroup* group) {
    return group == nullptr ? ClaimList{} : ClaimList{group->claims, group->claim_statuses};
  };
  const std::string& name_space = entries_.at(id).key.name_space;
  claim_users_.remove(name_space, list_of(before), id);
  claim_users_.add(name_space, list_of(after), id);
}

void GangTable::set_levels(const api::PodGroup* before, const api::PodGroup* after) {
  // In this order, so that a key that both name keeps its level.
  if (after != nullptr) topology_.use(after->spec.topology_keys);
  if (before != nullptr) topology_.unuse(before->spec.topology_keys);
}

void GangTable::upsert_group(const api::PodGroup& group, ListNumber list, ChangeLog& log) {
  const std::uint64_t id = intern(group.meta.key);
  GangEntry& entry = entries_.at(id);
  entry.list = list;
  const api::PodGroup* known = entry.group.get();
  if (known != nullptr && known->meta.uid == group.meta.uid &&
      !is_news(known->meta.resource_version.text, group.meta.resource_version)) {
    return;
  }
  if (known == nullptr || differs_in_meaning(*known, group)) {
    log.gang(id);
  } else {
    log.gang_status(id);
  }
  set_parent(id, known == nullptr ? std::string() : known->spec.parent_name,
             group.spec.parent_name);
  set_claims(id, known, &group);
  set_levels(known, &group);
  adopt_uid(entry, group.meta.uid);
  entry.group = std::make_unique<api::PodGroup>(group);
}

void GangTable::drop_group(std::uint64_t id, ChangeLog& log) {
  GangEntry& entry = entries_.at(id);
  set_parent(id, entry.group->spec.parent_name, {});
  set_claims(id, entry.group.get(), nullptr);
  set_levels(entry.group.get(), nullptr);
  entry.group.reset();
  log.gang(id);
  drop_if_unnamed(id);
}

void GangTable::remove_group(const api::ObjectMeta& meta, ChangeLog& log) {
  const auto place = by_group_.find(meta.key);
  if (place == by_group_.end()) return;
  const GangEntry& entry = entries_.at(place->second);
  if (entry.group && entry.group->meta.uid == meta.uid) drop_group(place->second, log);
}

void GangTable::sweep_groups(ListNumber list, ChangeLog& log) {
  std::vector<std::uint64_t> gone;
  for (const auto& [id, entry] : entries_) {
    if (entry.group && entry.list != list) gone.push_back(id);
  }
  for (const std::uint64_t id : gone) drop_group(id, log);
}

void GangTable::touch_children(const api::ObjectKey& composite, ChangeLog& log) const {
  const auto place = children_.find(composite);
  if (place == children_.end()) return;
  for (const std::uint64_t id : place->second) log.gang(id);
}

}  // namespace gang::cluster
