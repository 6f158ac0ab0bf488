// ClaimController: what the resourceclaim controller of a control plane does, as an actor.
//
// It makes claims from templates for pods and PodGroups and writes their names into the status of
// these; drops reservations of pods that are gone, finished or were deleted before they had a node;
// takes the devices back where the last reservation goes and the finalizer of schedulers is there;
// lets claims in deletion go, and deletes those of finished or gone owners. It never allocates.
// A claim it made counts for it as there for an hour, also when somebody deletes it: the cache of
// what it wrote is not told of deletions. Names are "<pod>-<entry>", without the random end of a
// real one. Source: the devices contract, 8.1 and 5; pkg/controller/resourceclaim of 1.37.2. One
// thread; acts only in run().
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "gang/base/clock.h"
#include "gang/sim/sim_cluster.h"

namespace gang::sim {

/// See the head of the file. `cluster` and `clock` outlive it.
class ClaimController {
 public:
  /// It acts `delay` after a change; without one never.
  ClaimController(SimCluster& cluster, const Clock& clock, std::optional<Duration> delay)
      : cluster_(cluster), clock_(clock), delay_(delay) {}

  /// Looks at everything if it is due. True when it changed something.
  bool run();
  /// When it acts next: nothing while nothing has changed.
  [[nodiscard]] std::optional<TimePoint> next();

 private:
  void look();
  void look_at(api::ResourceClaim claim);
  [[nodiscard]] bool is_stale(const std::string& name_space,
                              const api::ClaimConsumer& consumer) const;
  [[nodiscard]] bool has_lost_owner(const api::ResourceClaim& claim) const;
  void serve(api::PodGroup group);
  void serve(api::Pod pod);
  void reserve_for(const api::Pod& pod);
  /// Of the template entries whose claim is there, sorted by name. Makes those that are not.
  [[nodiscard]] std::vector<api::ClaimEntryStatus> statuses_of(const api::PodGroup& group);
  [[nodiscard]] std::vector<api::ClaimEntryStatus> statuses_of(const api::Pod& pod);
  /// The name of the claim of that owner for its entry; empty: there can be none now.
  std::string claim_of(const api::ObjectMeta& owner, const char* kind, const api::ClaimEntry& entry,
                       const std::vector<api::ClaimEntryStatus>& told);
  /// Whether it made the claim so lately that it takes it for there, told or not that it is gone.
  [[nodiscard]] bool takes_for_there(const api::ObjectKey& claim) const;

  SimCluster& cluster_;
  const Clock& clock_;
  const std::optional<Duration> delay_;
  std::int64_t seen_ = 0;  ///< revision after its last look
  std::optional<TimePoint> due_;
  std::map<api::ObjectKey, TimePoint> made_;  ///< claims, and when
};

}  // namespace gang::sim
