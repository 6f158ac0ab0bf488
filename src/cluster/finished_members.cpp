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

ListNumber* DoneMembers::list_of(const std::string& uid) {
  if (const auto found = retired.find(uid); found != retired.end()) return &found->second;
  if (const auto found = counted.find(uid); found != counted.end()) return &found->second;
  const auto found = failed_order.find(uid);
  return found == failed_order.end() ? nullptr : &failed.at(found->second).list;
}

const Failure& DoneMembers::add_failed(const api::Pod& pod, ListNumber list) {
  const std::uint64_t order = ++failed_ever;
  failed_order.emplace(pod.meta.uid.text, order);
  const Failed member{
      .failure = {.pod = pod.meta.key, .node_name = pod.node_name, .reason = pod.status_reason},
      .uid = pod.meta.uid.text,
      .list = list};
  return failed.emplace(order, member).first->second.failure;
}

bool DoneMembers::erase_failed(const std::string& uid) {
  const auto found = failed_order.find(uid);
  if (found == failed_order.end()) return false;
  failed.erase(found->second);
  failed_order.erase(found);
  return true;
}

std::size_t DoneMembers::sweep_failed(ListNumber list) {
  std::vector<std::string> gone;
  for (const auto& [order, member] : failed) {
    if (member.list != list) gone.push_back(member.uid);
  }
  for (const std::string& uid : gone) erase_failed(uid);
  return gone.size();
}

void DoneMembers::retire() {
  retired.merge(counted);
  counted.clear();
  for (const auto& [order, member] : failed) retired.emplace(member.uid, member.list);
  failed.clear();
  failed_order.clear();
}

void GangTable::upsert_finished(const api::Pod& pod, ListNumber list, ChangeLog& log) {
  if (pod.pod_group_name.empty()) return;
  const std::uint64_t id = intern({pod.meta.key.name_space, pod.pod_group_name});
  GangEntry& entry = entries_.at(id);
  if (!entry.done) entry.done = std::make_unique<DoneMembers>();
  DoneMembers& done = *entry.done;
  if (ListNumber* known = done.list_of(pod.meta.uid.text)) {
    *known = list;
  } else if (pod.phase == api::PodPhase::kFailed) {
    const Failure& failure = done.add_failed(pod, list);
    if (is_refused(pod)) log.rejection({GangId{id}, failure, pod.meta.creation_time});
    log.gang(id);
  } else if (pod.phase == api::PodPhase::kSucceeded && !pod.is_terminating()) {
    done.counted.emplace(pod.meta.uid.text, list);
    log.gang(id);
  }
  drop_if_unnamed(id);
}

void GangTable::remove_finished(const api::Pod& pod, ChangeLog& log) {
  const auto place = by_group_.find({pod.meta.key.name_space, pod.pod_group_name});
  if (place == by_group_.end()) return;
  GangEntry& entry = entries_.at(place->second);
  if (!entry.done) return;
  const std::string& uid = pod.meta.uid.text;
  entry.done->retired.erase(uid);
  bool is_news = entry.done->erase_failed(uid);
  // While the PodGroup is there the count stays: the member has done its work.
  if (!entry.group) is_news |= entry.done->counted.erase(uid) > 0;
  if (!is_news) return;
  log.gang(place->second);
  drop_if_unnamed(place->second);
}

void GangTable::sweep_finished(ListNumber list, ChangeLog& log) {
  const auto is_gone = [list](const auto& told) { return told.second != list; };
  std::vector<std::uint64_t> touched;
  for (auto& [id, entry] : entries_) {
    if (!entry.done) continue;
    std::erase_if(entry.done->retired, is_gone);
    std::size_t gone = entry.done->sweep_failed(list);
    if (!entry.group) gone += std::erase_if(entry.done->counted, is_gone);
    if (gone > 0) touched.push_back(id);
  }
  for (const std::uint64_t id : touched) {
    log.gang(id);
    drop_if_unnamed(id);
  }
}

}  // namespace gang::cluster
