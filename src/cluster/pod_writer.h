// PodWriter: what a pod's appearance, change, end or assumption does to the model.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cluster/model.h"
#include "gang/api/pod.h"
#include "gang/cluster/cluster_state.h"

namespace gang::cluster {

/// Owned by the state, one for its model; the only writer of pods. Always: see Model. Events are
/// idempotent and may come in any order. Does not decide which pods to assume.
class PodWriter {
 public:
  PodWriter(std::string scheduler_name, Model& model)
      : scheduler_name_(std::move(scheduler_name)), model_(model) {}

  void upsert(const api::Pod& pod, ListNumber list, ChangeLog& log);
  void remove(const api::ObjectMeta& meta, ChangeLog& log);
  /// Removes pods that were not told in that list.
  void sweep(ListNumber list, ChangeLog& log);

  /// Sorts pending pods into classes again, since terms or namespaces have changed.
  /// O(own pending pods).
  void rematch(ChangeLog& log);

  /// REQUIRES: known, ours, unassigned and not assumed. Pods with anti-affinity of their own are
  /// never assumed: no plan places them.
  void assume(const AssumedPod& pod);
  void forget(const api::Uid& uid);

 private:
  /// What of a pod its gang cares about; equal values are no news.
  struct Meaning {
    MemberState state;
    std::uint64_t gang;
    std::uint32_t node;
    std::uint32_t profile;
    std::uint32_t stamp;
    std::optional<ClassTable::Handle> pod_class;
    bool has_controller;
    friend bool operator==(const Meaning&, const Meaning&) = default;
  };

  [[nodiscard]] bool is_own(const api::Pod& pod) const {
    return pod.scheduler_name == scheduler_name_;
  }
  [[nodiscard]] bool is_kept(const api::Pod& pod) const;
  [[nodiscard]] MemberState state_of(const api::Pod& pod) const;
  [[nodiscard]] Meaning meaning_of(PodSlot slot) const;

  void write(PodSlot slot, const api::Pod& pod, ChangeLog& log);
  void write_facts(PodSlot slot, const api::Pod& pod);
  void write_pending_part(PodSlot slot, const api::Pod& pod);
  /// True when the claims are others than before, or lead elsewhere.
  bool write_claims(PodSlot slot, const api::Pod& pod);
  /// Makes the gang of a pod one of its claims' users, or takes that back; by the pod's list.
  void join_claims(PodSlot slot);
  void leave_claims(PodSlot slot);
  void set_state(PodSlot slot, MemberState state);
  void count(const PodRecord& record, int by);
  void write_membership(PodSlot slot, const api::Pod& pod, ChangeLog& log);
  [[nodiscard]] std::uint32_t acquire_footprint(PodSlot slot, const api::Pod& pod);
  /// Moves the pod's booking to `node_name` (empty = none) and the footprint, whose hold it takes.
  void book(PodSlot slot, const std::string& node_name, std::uint32_t footprint, ChangeLog& log);
  void unbook(NodeIndex node, std::uint32_t footprint, ChangeLog& log);
  void recount(NodeIndex node);
  /// Says on the pod's node that the pod could not be read; empty = takes it back.
  void set_problem(PodSlot slot, const std::string& problem, ChangeLog& log);
  void erase(PodSlot slot, ChangeLog& log);

  const std::string scheduler_name_;
  Model& model_;
  Footprint scratch_;  ///< reused, to spare allocations
  std::map<NodeIndex, std::map<PodSlot, std::string>> problems_;
};

}  // namespace gang::cluster
