#include "cluster/pod_table.h"

#include <algorithm>
#include <utility>

namespace gang::cluster {

std::uint32_t PodProfileHash::operator()(const PodProfile& profile) const {
  return HashFold()
      .add(profile.scheduler_name)
      .add(profile.preemption_policy)
      .add(profile.priority_class_name)
      .add(static_cast<std::uint64_t>(profile.priority))
      .value();
}

std::uint32_t PodTable::key_hash(std::uint32_t name_space, std::string_view name) {
  return HashFold().add(std::uint64_t{name_space}).add(name).value();
}

std::uint32_t PodTable::uid_hash(std::string_view uid) {
  return HashFold().add(uid).value();
}

PodSlot PodTable::find(const api::ObjectKey& key) const {
  const std::uint32_t name_space = name_spaces.find(key.name_space);
  if (name_space == FlatIndex::kNone) return kNone;
  return by_key_.find(key_hash(name_space, key.name), [&](PodSlot pod) {
    const PodRecord& record = records_[pod];
    return record.name_space == name_space && record.text.name() == key.name;
  });
}

PodSlot PodTable::find_unassigned(std::string_view uid) const {
  return by_uid_.find(uid_hash(uid), [&](PodSlot pod) { return records_[pod].text.uid() == uid; });
}

std::vector<PodSlot> PodTable::unassigned() const {
  std::vector<PodSlot> pods;
  by_uid_.append_ids(pods);
  std::sort(pods.begin(), pods.end());
  return pods;
}

PodSlot PodTable::insert(const api::ObjectMeta& meta) {
  PodSlot pod = slot_count();
  if (unused_.empty()) {
    records_.emplace_back();
  } else {
    pod = unused_.back();
    unused_.pop_back();
  }
  PodRecord& record = records_[pod];
  record.text = PackedText(meta.key.name, meta.uid.text, meta.resource_version.text);
  record.name_space = name_spaces.acquire(meta.key.name_space);
  record.footprint = footprints.acquire(Footprint{});
  record.profile = profiles.acquire(PodProfile{});
  record.stamp = stamps.acquire(std::string());
  by_key_.insert(key_hash(record.name_space, record.text.name()), pod);
  return pod;
}

void PodTable::erase(PodSlot pod) {
  PodRecord& record = records_[pod];
  by_key_.erase(key_hash(record.name_space, record.text.name()), pod);
  name_spaces.release(record.name_space);
  footprints.release(record.footprint);
  profiles.release(record.profile);
  stamps.release(record.stamp);
  record = PodRecord{};
  unused_.push_back(pod);
}

void PodTable::index_uid(PodSlot pod) {
  by_uid_.insert(uid_hash(records_[pod].text.uid()), pod);
}

void PodTable::unindex_uid(PodSlot pod) {
  by_uid_.erase(uid_hash(records_[pod].text.uid()), pod);
}

api::ObjectKey PodTable::key(PodSlot pod) const {
  const PodRecord& record = records_[pod];
  return {name_spaces.at(record.name_space), std::string(record.text.name())};
}

}  // namespace gang::cluster
