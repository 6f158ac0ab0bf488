#include "cluster/pod_writer.h"

#include <algorithm>
#include <utility>

#include "gang/base/check.h"

namespace gang::cluster {
namespace {

constexpr std::string_view kPodScheduled = "PodScheduled";
constexpr std::string_view kPodResizePending = "PodResizePending";

/// kStatus, or kSpec where nothing in the pod makes them differ: it costs a third.
api::RequestBasis basis_on_node(const api::Pod& pod) {
  const bool has_status =
      std::any_of(pod.containers.begin(), pod.containers.end(),
                  [](const api::Container& c) { return c.allocated || c.actuated; });
  const bool may_differ = has_status || pod.pod_level ||
                          api::find_condition(pod.conditions, kPodResizePending) != nullptr;
  return may_differ ? api::RequestBasis::kStatus : api::RequestBasis::kSpec;
}

/// Makes `id` hold `value` instead of what it holds.
template <class P, class T>
void hold_instead(P& pool, std::uint32_t& id, const T& value) {
  if (pool.at(id) == value) return;
  const std::uint32_t before = std::exchange(id, pool.acquire(value));
  pool.release(before);
}

}  // namespace

bool PodWriter::is_kept(const api::Pod& pod) const {
  if (pod.is_terminal()) return false;
  return !pod.node_name.empty() || is_own(pod) || !pod.pod_group_name.empty();
}

MemberState PodWriter::state_of(const api::Pod& pod) const {
  if (!pod.node_name.empty()) {
    return pod.is_terminating() ? MemberState::kTerminating : MemberState::kBound;
  }
  if (!is_own(pod)) return MemberState::kForeignPending;
  if (pod.is_terminating()) return MemberState::kDeleting;
  return pod.scheduling_gates.empty() ? MemberState::kPending : MemberState::kGated;
}

PodWriter::Meaning PodWriter::meaning_of(PodSlot slot) const {
  const PodRecord& record = model_.pods.at(slot);
  return {record.state,         record.gang,
          record.node,          record.profile,
          record.stamp,         record.pending ? record.pending->pod_class : std::nullopt,
          record.has_controller};
}

void PodWriter::upsert(const api::Pod& pod, ListNumber list, ChangeLog& log) {
  PodTable& pods = model_.pods;
  PodSlot slot = pods.find(pod.meta.key);
  if (slot != PodTable::kNone && pods.at(slot).text.uid() != pod.meta.uid.text) {
    erase(slot, log);
    slot = PodTable::kNone;
  }
  if (slot != PodTable::kNone) {
    pods.at(slot).list = list;
    if (!is_news(pods.at(slot).text.version(), pod.meta.resource_version)) return;
  }
  if (!is_kept(pod)) {
    if (slot != PodTable::kNone) erase(slot, log);
    return;
  }
  if (slot == PodTable::kNone) {
    slot = pods.insert(pod.meta);
    pods.at(slot).list = list;
  } else {
    pods.at(slot).text.set_version(pod.meta.resource_version.text);
  }
  write(slot, pod, log);
}

void PodWriter::write(PodSlot slot, const api::Pod& pod, ChangeLog& log) {
  PodRecord& record = model_.pods.at(slot);
  const Meaning before = meaning_of(slot);
  MemberState state = state_of(pod);
  record.state_unassumed = state;
  const bool is_own_waiting = state != MemberState::kForeignPending && pod.node_name.empty();
  if (is_own_waiting && record.state == MemberState::kAssumed) state = MemberState::kAssumed;

  write_facts(slot, pod);
  const std::string node_name =
      state == MemberState::kAssumed ? model_.nodes.name(NodeIndex{record.node}) : pod.node_name;
  book(slot, node_name, acquire_footprint(slot, pod), log);
  set_state(slot, state);
  leave_claims(slot);
  write_pending_part(slot, pod);
  const bool has_other_claims = write_claims(slot, pod);
  write_membership(slot, pod, log);
  join_claims(slot);
  if (!pod.node_name.empty()) {
    set_problem(slot, pod.meta.unreadable, log);
    const NodeIndex node{record.node};
    const NodeInfo* facts = model_.nodes.columns().info(node);
    if (model_.terms.place(slot, node, facts, pod.anti_affinity)) rematch(log);
  }

  if (record.gang == 0) return;
  if (has_other_claims || before != meaning_of(slot)) {
    log.gang(record.gang);
  } else if (record.is_own_unassigned()) {
    log.gang_status(record.gang);
  }
}

void PodWriter::write_facts(PodSlot slot, const api::Pod& pod) {
  PodTable& pods = model_.pods;
  PodRecord& record = pods.at(slot);
  record.creation_time = pod.meta.creation_time;
  record.generation = pod.meta.generation;
  record.has_controller = pod.meta.controller.has_value();
  hold_instead(
      pods.profiles, record.profile,
      PodProfile{pod.scheduler_name, pod.preemption_policy, pod.priority_class_name, pod.priority});
  const std::string* stamp = api::find(pod.meta.annotations, api::kRoundAnnotation);
  hold_instead(pods.stamps, record.stamp, stamp == nullptr ? std::string() : *stamp);
}

void PodWriter::write_pending_part(PodSlot slot, const api::Pod& pod) {
  PodRecord& record = model_.pods.at(slot);
  std::optional<ClassTable::Handle> pod_class;
  if (record.is_own_unassigned()) pod_class = model_.classes.acquire(pod, model_.resources);
  if (record.pending && record.pending->pod_class) {
    model_.classes.release(*record.pending->pod_class);
  }
  if (record.is_assigned()) {
    record.pending.reset();
    return;
  }
  if (!record.pending) record.pending = std::make_unique<PendingPart>();
  record.pending->pod_class = pod_class;
  record.pending->nominated_node_name = pod.nominated_node_name;
  if (pod_class) record.pending->labels = pod.meta.labels;
  const api::Condition* condition = api::find_condition(pod.conditions, kPodScheduled);
  record.pending->pod_scheduled.reset();
  if (condition != nullptr && record.is_own_unassigned()) {
    record.pending->pod_scheduled = std::make_unique<api::Condition>(*condition);
  }
}

bool PodWriter::write_claims(PodSlot slot, const api::Pod& pod) {
  const PodRecord& record = model_.pods.at(slot);
  if (!record.pending) return false;
  std::unique_ptr<ClaimList>& known = record.pending->claims;
  const bool has_claims = record.is_own_unassigned() && !pod.claims.empty();
  if (!has_claims) return std::exchange(known, nullptr) != nullptr;
  ClaimList list{pod.claims, pod.claim_statuses};
  if (known && *known == list) return false;
  known = std::make_unique<ClaimList>(std::move(list));
  return true;
}

void PodWriter::join_claims(PodSlot slot) {
  const PodRecord& record = model_.pods.at(slot);
  if (record.gang == 0 || !record.pending || !record.pending->claims) return;
  const std::string& name_space = model_.pods.name_spaces.at(record.name_space);
  model_.claim_users.add(name_space, *record.pending->claims, record.gang);
}

void PodWriter::leave_claims(PodSlot slot) {
  const PodRecord& record = model_.pods.at(slot);
  if (record.gang == 0 || !record.pending || !record.pending->claims) return;
  const std::string& name_space = model_.pods.name_spaces.at(record.name_space);
  model_.claim_users.remove(name_space, *record.pending->claims, record.gang);
}

void PodWriter::count(const PodRecord& record, int by) {
  if (record.is_assigned()) model_.bound_pods += static_cast<std::size_t>(by);
  if (record.is_own_unassigned()) model_.pending_pods += static_cast<std::size_t>(by);
}

void PodWriter::set_state(PodSlot slot, MemberState state) {
  const PodRecord& record = model_.pods.at(slot);
  const bool was_indexed = record.is_own_unassigned();
  count(record, -1);
  model_.gangs.set_state(slot, state);
  count(record, 1);
  if (was_indexed && !record.is_own_unassigned()) model_.pods.unindex_uid(slot);
  if (!was_indexed && record.is_own_unassigned()) model_.pods.index_uid(slot);
}

void PodWriter::write_membership(PodSlot slot, const api::Pod& pod, ChangeLog& log) {
  const PodRecord& record = model_.pods.at(slot);
  const bool wants_gang = !pod.pod_group_name.empty() || record.is_own_unassigned();
  if (record.gang != 0) {
    const GangEntry& entry = *model_.gangs.find(record.gang);
    const bool stays = entry.key.name == pod.pod_group_name && wants_gang;
    if (stays) return;
    log.gang(record.gang);
    model_.gangs.leave(slot);
  }
  if (wants_gang) model_.gangs.join(slot, {pod.meta.key.name_space, pod.pod_group_name});
}

std::uint32_t PodWriter::acquire_footprint(PodSlot slot, const api::Pod& pod) {
  Pool<Footprint, FootprintHash>& pool = model_.pods.footprints;
  if (pod.node_name.empty() && !is_own(pod)) return pool.acquire(Footprint{});
  const api::RequestBasis basis = basis_on_node(pod);
  model_.resources.amounts_of(pod, basis, scratch_.requests);
  scratch_.nonzero = api::nonzero_requests(pod, basis);
  scratch_.host_ports = pod.host_ports;
  const std::uint32_t known = model_.pods.at(slot).footprint;
  return pool.at(known) == scratch_ ? pool.hold(known) : pool.acquire(scratch_);
}

void PodWriter::book(PodSlot slot, const std::string& node_name, std::uint32_t footprint,
                     ChangeLog& log) {
  PodRecord& record = model_.pods.at(slot);
  NodeTable& nodes = model_.nodes;
  Pool<Footprint, FootprintHash>& pool = model_.pods.footprints;
  const std::uint32_t old_node = record.node;
  const std::uint32_t old_footprint = std::exchange(record.footprint, footprint);
  const bool was_booked = old_node != FlatIndex::kNone;
  const bool same_node =
      was_booked ? nodes.name(NodeIndex{old_node}) == node_name : node_name.empty();
  if (!same_node || (was_booked && old_footprint != footprint)) {
    if (!same_node) set_problem(slot, {}, log);
    record.node = FlatIndex::kNone;
    if (!node_name.empty()) {
      record.node = nodes.book(node_name, pool.at(footprint)).value;
      log.nodes(nodes.exists(NodeIndex{record.node}));
    }
    if (was_booked) unbook(NodeIndex{old_node}, old_footprint, log);
  }
  pool.release(old_footprint);
}

void PodWriter::unbook(NodeIndex node, std::uint32_t footprint, ChangeLog& log) {
  log.nodes(model_.nodes.exists(node));
  const bool exact = model_.nodes.unbook(node, model_.pods.footprints.at(footprint));
  if (!exact) recount(node);
}

void PodWriter::recount(NodeIndex node) {
  model_.nodes.recount_begin(node);
  for (PodSlot slot = 0; slot < model_.pods.slot_count(); ++slot) {
    if (model_.pods.exists(slot) && model_.pods.at(slot).node == node.value) {
      model_.nodes.recount_add(node, model_.pods.footprint(slot));
    }
  }
}

void PodWriter::set_problem(PodSlot slot, const std::string& problem, ChangeLog& log) {
  const NodeIndex node{model_.pods.at(slot).node};
  if (node.value == FlatIndex::kNone || (problem.empty() && !problems_.contains(node))) return;
  std::map<PodSlot, std::string>& on_node = problems_[node];
  if (problem.empty()) {
    on_node.erase(slot);
  } else {
    on_node[slot] = "pod " + model_.pods.key(slot).text() + ": " + problem;
  }
  std::string shown;
  for (const auto& [pod, text] : on_node) {
    if (shown.empty() || text < shown) shown = text;
  }
  if (on_node.empty()) problems_.erase(node);
  log.nodes(model_.nodes.set_unreadable_pod(node, shown));
}

void PodWriter::rematch(ChangeLog& log) {
  for (const PodSlot slot : model_.pods.unassigned()) {
    PodRecord& record = model_.pods.at(slot);
    const ClassTable::Handle before = *record.pending->pod_class;
    const std::string& name_space = model_.pods.name_spaces.at(record.name_space);
    record.pending->pod_class =
        model_.classes.acquire_again(before, name_space, record.pending->labels);
    if (record.pending->pod_class != before && record.gang != 0) log.gang(record.gang);
    model_.classes.release(before);
  }
}

void PodWriter::erase(PodSlot slot, ChangeLog& log) {
  PodRecord& record = model_.pods.at(slot);
  model_.terms.take_away(slot);
  if (record.gang != 0) log.gang(record.gang);
  leave_claims(slot);
  model_.gangs.leave(slot);
  set_problem(slot, {}, log);
  book(slot, {}, model_.pods.footprints.acquire(Footprint{}), log);
  if (record.pending && record.pending->pod_class) {
    model_.classes.release(*record.pending->pod_class);
  }
  if (record.is_own_unassigned()) model_.pods.unindex_uid(slot);
  count(record, -1);
  model_.pods.erase(slot);
}

void PodWriter::remove(const api::ObjectMeta& meta, ChangeLog& log) {
  const PodSlot slot = model_.pods.find(meta.key);
  if (slot == PodTable::kNone) return;
  // A late notice of an earlier pod of that name must not take the new one away.
  if (!meta.uid.empty() && model_.pods.at(slot).text.uid() != meta.uid.text) return;
  erase(slot, log);
}

void PodWriter::sweep(ListNumber list, ChangeLog& log) {
  for (PodSlot slot = 0; slot < model_.pods.slot_count(); ++slot) {
    if (model_.pods.exists(slot) && model_.pods.at(slot).list != list) erase(slot, log);
  }
}

void PodWriter::assume(const AssumedPod& pod) {
  const PodSlot slot = model_.pods.find_unassigned(pod.uid.text);
  CHECK(slot != PodTable::kNone);
  PodRecord& record = model_.pods.at(slot);
  CHECK(record.state != MemberState::kAssumed);
  model_.nodes.book(pod.node, model_.pods.footprint(slot));
  record.node = pod.node.value;
  set_state(slot, MemberState::kAssumed);
}

void PodWriter::forget(const api::Uid& uid) {
  const PodSlot slot = model_.pods.find_unassigned(uid.text);
  if (slot == PodTable::kNone) return;
  PodRecord& record = model_.pods.at(slot);
  if (record.state != MemberState::kAssumed) return;
  ChangeLog ignored;
  unbook(NodeIndex{std::exchange(record.node, FlatIndex::kNone)}, record.footprint, ignored);
  set_state(slot, record.state_unassumed);
}

}  // namespace gang::cluster
