// ClusterState: the mutable truth of the owner thread. Deltas in, snapshots and gangs out.
//
// One writer, no lock. Every bound pod counts on its node whoever bound it, terminating ones too;
// terminal pods never; a pod may come before its node. assume() books planned pods at once; an
// assumption ends when the watch confirms it, by forget(), or when the pod goes; it never times
// out. Devices are counted in the same way, by the allocations of claims. Invariant: what is kept
// as taken of nodes and devices is the sum of what pods and claims take (recompute() checks). Does
// not judge, score, queue or know the time. Source: scheduling contract 1, 4, 10; gang 2.2; the
// devices contract, 2.1 and 8.4.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "gang/api/delta.h"
#include "gang/cluster/device_view.h"
#include "gang/cluster/gang.h"
#include "gang/cluster/snapshot.h"

namespace gang::cluster {

/// A kubelet has refused a member that was bound to its node: the pod is Failed for good.
struct Rejection {
  GangId gang;
  Failure failure;  ///< node and reason are set
  TimePoint pod_created{};
  bool listed = false;  ///< told by a list: when it happened is not known, only that it did
};

/// A claim holds a device that no slice shows.
struct LostDevice {
  api::DeviceName device;
  std::shared_ptr<const api::ResourceClaim> claim;
};

/// What may be wrong with a device that a claim holds.
using DeviceTrouble = std::variant<api::DoubleBooking, LostDevice>;

/// What one apply() changed, for the queue.
struct Change {
  std::vector<GangId> gangs;  ///< members or group object changed; also gangs that vanished
  /// The part of `gangs` in which only resource versions, conditions or nominations changed: what
  /// comes back of our own status writes. It neither helps nor hinders a placement.
  std::vector<GangId> status_only;
  bool nodes = false;                 ///< usage or facts of some node changed
  bool devices_gained = false;        ///< devices may be had that were not: given back, new, healed
  bool devices_lost = false;          ///< devices were taken, went away or were tainted
  std::vector<Rejection> rejections;  ///< each refused pod once
  std::vector<DeviceTrouble> device_troubles;  ///< that came about; lost ones maybe: see shows()
};

/// A planned pod for assume().
struct AssumedPod {
  api::Uid uid;
  NodeIndex node;
};

/// Sizes of the state, for metrics and tests.
struct StateCounts {
  std::size_t nodes = 0;
  std::size_t bound_pods = 0;
  std::size_t pending_pods = 0;  ///< own, unassigned
  std::size_t gangs = 0;
  std::size_t classes = 0;
};

/// See the head of the file. Lives as long as its Scheduler.
class ClusterState {
 public:
  /// `scheduler_name`: pods that name it are ours. `features`: which rules of devices hold.
  explicit ClusterState(std::string scheduler_name, const DeviceFeatures& features = {});
  ~ClusterState();
  ClusterState(const ClusterState&) = delete;
  ClusterState& operator=(const ClusterState&) = delete;

  /// Applies one delta; O(1) for a pod, O(resources) for a node, O(objects of the kind) at the end
  /// of a list.
  /// Duplicates, older versions and unknown objects are ignored or added, never an error.
  Change apply(const api::Delta& delta);

  /// Whether every kind has been listed since the last kListBegin; kUnserved counts as listed for
  /// every kind but Pod and Node, kForbidden for none.
  [[nodiscard]] bool synced() const;
  [[nodiscard]] bool synced(api::Kind kind) const;
  /// False only after kUnserved, until the kind is listed again.
  [[nodiscard]] bool served(api::Kind kind) const;

  /// The current view; equal generations share one object. Cheap, see snapshot.h.
  [[nodiscard]] std::shared_ptr<const Snapshot> snapshot();
  /// The view as it would be if these claims held nothing. REQUIRES: each is as the watch shows it.
  [[nodiscard]] std::shared_ptr<const Snapshot> snapshot_without(
      const std::vector<std::shared_ptr<const api::ResourceClaim>>& claims);

  /// Builds the gang as a value; nullopt when no such gang is known any more. O(members).
  [[nodiscard]] std::optional<Gang> gang(GangId id) const;
  /// The same without `members` and `classes`, for the queue. O(1).
  [[nodiscard]] std::optional<Gang> gang_outline(GangId id) const;
  /// Gangs with at least one member, ascending.
  [[nodiscard]] std::vector<GangId> gangs() const;
  /// The gang of a PodGroup name, if known.
  [[nodiscard]] std::optional<GangId> find_gang(const api::ObjectKey& pod_group) const;
  /// The gang of one of our unassigned pods, lone or member of a group, if known.
  [[nodiscard]] std::optional<GangId> find_gang(const api::Uid& pod) const;

  /// Counts the requests of the pending members in the mix of snapshots to come. Once for a gang.
  void note_requests(const Gang& gang);

  /// Books planned pods on their nodes. REQUIRES: each pod is known, ours and unassigned.
  void assume(const std::vector<AssumedPod>& pods);
  /// Takes an assumption back; ignored when the pod is not assumed (any more).
  void forget(const api::Uid& pod);

  /// Counts a decided allocation until the watch shows one, the claim goes, or forget_allocation().
  /// REQUIRES: a known claim that holds nothing, nor is assumed to.
  void assume_allocation(const api::Uid& claim, api::Allocation allocation);
  /// Takes it back; ignored when nothing is assumed of the claim (any more).
  void forget_allocation(const api::Uid& claim);

  /// The same for a claim that is still to be made, for that pod: until the watch shows a claim of
  /// the name with an allocation, or forget_new_claim().
  void assume_new_claim(const api::ObjectKey& claim, const api::Uid& pod,
                        api::Allocation allocation);
  void forget_new_claim(const api::ObjectKey& claim);
  /// The claims that were made for extended resources of the pod, by name.
  [[nodiscard]] std::vector<std::shared_ptr<const api::ResourceClaim>> extended_claims(
      const api::Uid& pod) const;

  /// As the watch showed it last; null when there is none of that name.
  [[nodiscard]] std::shared_ptr<const api::ResourceClaim> claim(const api::ObjectKey& key) const;

  /// Whether slices show the device; nothing while its pool is not complete or not valid, for what
  /// it will have is not known. O(log pools), and what the view takes when slices have changed.
  [[nodiscard]] std::optional<bool> shows(const api::DeviceName& device);

  [[nodiscard]] StateCounts counts() const;
  [[nodiscard]] std::optional<api::PriorityClass> priority_class(const std::string& name) const;

  /// Empty when the sums of nodes and devices equal a recomputation from pods and claims, else the
  /// first difference.
  [[nodiscard]] std::string recompute() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace gang::cluster
