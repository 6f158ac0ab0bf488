// WakeUp: whether something has changed since parked gangs were last tested, and whom it may help.
//
// Capacity counts decide (Planner::could_hold): every change of a node's usage or facts that lets a
// gang in changes its counts, so the rules of the scheduling contract 11 for resources, taints,
// affinity and ports need no list of their own; so do the numbers of free devices for claims that
// were given back, slices, taints and classes. A gang that broke a rule, or uses one that is not
// built, is helped by its own objects only. Counts that do not let it in may still refuse it for
// other causes than it was told (Outlook::causes): then it is attempted again, spaced.
//
// The numbers of free devices may let a gang in whose requests no device serves. It is attempted
// once; then changes of nodes leave it asleep until they change the room that its members have
// where devices are free (Planner::room).
#pragma once

#include <cstdint>

#include "gang/cluster/cluster_state.h"
#include "gang/cluster/gang.h"
#include "gang/engine/explanation.h"
#include "gang/engine/planner.h"

namespace gang::scheduler {

/// Collects changes between two tests. Owned by the scheduler; one thread.
class WakeUp {
 public:
  void note(const cluster::Change& change) {
    nodes_ |= change.nodes;
    devices_ |= change.devices_gained;
  }
  /// Room was given back that no delta tells of.
  void note_room() { nodes_ = true; }
  /// The same of devices.
  void note_devices() { devices_ = true; }
  [[nodiscard]] bool is_pending() const { return nodes_ || devices_; }
  [[nodiscard]] bool has_devices() const { return devices_; }
  /// Whether what has changed may help a gang that asks for this.
  [[nodiscard]] bool may_help(const engine::Demand& demand) const;

 private:
  bool nodes_ = false;
  bool devices_ = false;
};

/// Whether devices may serve a member of the gang: by its claims, or what a container asks for.
[[nodiscard]] bool may_take_devices(const engine::Demand& demand);
/// Whether Planner::room() and free devices are all that decides over the gang: others that use its
/// claims do not.
[[nodiscard]] bool is_decided_by_devices(const engine::Demand& demand);

/// Whether a change of nodes can help a gang that was parked with this verdict.
[[nodiscard]] bool nodes_may_help(engine::Verdict verdict);

/// Equal for two gangs when a plan of one is a plan of the other on the same nodes: the group's
/// spec, per member its identity, state, class and what validation reads, and what its claims hold
/// and why they cannot be used. Conditions, resource versions and labels do not count, so that our
/// own writes wake nobody. O(members).
[[nodiscard]] std::uint64_t fingerprint(const cluster::Gang& gang);

}  // namespace gang::scheduler
