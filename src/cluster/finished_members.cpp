// The part of GangTable that counts members which succeeded and notes those that a kubelet refused.
// An error here is towards waiting: pods of an earlier PodGroup never count for its successor, and
// a count outlives its pod.
#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "cluster/gang_table.h"

namespace gang::cluster {
namespace {

/// Words of status.reason with which a kubelet refuses a pod, besides OutOf<resource>. Evicted is
/// none of them: a pod that ran has it as well. Source: the scheduling contract 12.2.
constexpr std::array<std::string_view, 14> kRefusals = {"UnexpectedAdmissionError",
                                                        "TopologyAffinityError",
                                                        "SMTAlignmentError",
                                                        "NodeAffinity",
                                                        "NodeName",
                                                        "NodePorts",
                                                        "TaintToleration",
                                                        "NodeShutdown",
                                                        "PodOSSelectorNodeLabelDoesNotMatch",
                                                        "PodOSNotSupported",
                                                        "SupplementalGroupsPolicyNotSupported",
                                                        "PodFeatureUnsupported",
                                                        "AppArmor",
                                                        "SysctlForbidden"};

bool is_refused(const api::Pod& pod) {
  if (pod.phase != api::PodPhase::kFailed || pod.node_name.empty()) return false;
  const std::string_view reason = pod.status_reason;
  return reason.starts_with("OutOf") || std::ranges::find(kRefusals, reason) != kRefusals.end();
}

}  // namespace

void GangTable::upsert_finished(const api::Pod& pod, ListNumber list, ChangeLog& log) {
  const bool counts = pod.phase == api::PodPhase::kSucceeded && !pod.is_terminating();
  if (pod.pod_group_name.empty()) return;
  const std::uint64_t id = intern({pod.meta.key.name_space, pod.pod_group_name});
  GangEntry& entry = entries_.at(id);
  if (!entry.done) entry.done = std::make_unique<DoneMembers>();
  DoneMembers& done = *entry.done;
  const std::string& uid = pod.meta.uid.text;
  if (is_refused(pod)) {
    const bool is_new = done.refused.insert_or_assign(uid, list).second;
    if (is_new) {
      log.rejection({GangId{id}, pod.node_name, pod.meta.creation_time});
      log.gang(id);
    }
  } else if (const auto retired = done.retired.find(uid); retired != done.retired.end()) {
    retired->second = list;
  } else if (const auto known = done.counted.find(uid); known != done.counted.end()) {
    known->second = list;
  } else if (counts) {
    done.counted.emplace(uid, list);
    log.gang(id);
  }
  drop_if_unnamed(id);
}

void GangTable::remove_finished(const api::Pod& pod, ChangeLog& log) {
  const auto place = by_group_.find({pod.meta.key.name_space, pod.pod_group_name});
  if (place == by_group_.end()) return;
  GangEntry& entry = entries_.at(place->second);
  if (!entry.done) return;
  entry.done->retired.erase(pod.meta.uid.text);
  if (entry.done->refused.erase(pod.meta.uid.text) > 0) {
    drop_if_unnamed(place->second);
    return;
  }
  // While the PodGroup is there the count stays: the member has done its work.
  if (entry.group || entry.done->counted.erase(pod.meta.uid.text) == 0) return;
  log.gang(place->second);
  drop_if_unnamed(place->second);
}

void GangTable::sweep_finished(ListNumber list, ChangeLog& log) {
  const auto is_gone = [list](const auto& told) { return told.second != list; };
  std::vector<std::uint64_t> touched;
  for (auto& [id, entry] : entries_) {
    if (!entry.done) continue;
    std::erase_if(entry.done->retired, is_gone);
    std::size_t gone = std::erase_if(entry.done->refused, is_gone);
    if (!entry.group) gone += std::erase_if(entry.done->counted, is_gone);
    if (gone > 0) touched.push_back(id);
  }
  for (const std::uint64_t id : touched) {
    log.gang(id);
    drop_if_unnamed(id);
  }
}

}  // namespace gang::cluster
