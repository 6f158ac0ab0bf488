// Plan: the decision that starts a gang, as a value, and what else the scheduler tells the binder
// of its round.
//
// The engine makes plans, the scheduler numbers their round, the binder carries them out and
// reports a RoundOutcome (explanation.h), the scheduler decides again. Values only, any thread.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gang/api/claim.h"
#include "gang/api/claim_entry.h"
#include "gang/api/intent.h"
#include "gang/api/meta.h"
#include "gang/cluster/gang.h"

namespace gang::engine {

/// Which gang a decision is about. For a lone pod key and uid are the pod's.
struct GangRef {
  cluster::GangId id;
  cluster::GangKind kind = cluster::GangKind::kLonePod;
  api::ObjectKey key;
  api::Uid uid;
  friend bool operator==(const GangRef&, const GangRef&) = default;
};

/// One pod and the node chosen for it.
struct Assignment {
  api::ObjectKey pod;
  api::Uid uid;
  api::ResourceVersion resource_version;
  cluster::NodeIndex node;
  std::string node_name;
  friend bool operator==(const Assignment&, const Assignment&) = default;
};

/// What a round writes to a claim that its members need, before it binds them.
struct ClaimWrite {
  std::shared_ptr<const api::ResourceClaim> claim;  ///< as it was planned with; not null
  /// Decided by this plan; absent: the claim has its devices already, and is only joined.
  std::optional<api::Allocation> allocation;
  std::vector<api::ClaimConsumer> consumers;  ///< of the members; reservedFor may have some
  friend bool operator==(const ClaimWrite&, const ClaimWrite&) = default;
};

/// The claim that a round makes for the extended resources of a pod before it binds the pod: owned
/// by and reserved for the pod, annotated with api::kExtendedClaim.
struct ClaimCreation {
  api::ObjectKey pod;
  api::Uid pod_uid;
  /// Set by the scheduler, not by the engine: in the namespace of the pod.
  api::ObjectKey claim = {};
  std::string generate_name;
  std::vector<api::DeviceRequest> requests;
  api::Allocation allocation;
  std::vector<api::ExtendedRequestMapping> mappings;  ///< for the status of the pod
  friend bool operator==(const ClaimCreation&, const ClaimCreation&) = default;
};

/// Assignments that bring a gang to its minimum, then extras that fit as well.
struct Plan {
  GangRef gang;
  std::int32_t minimum = 1;             ///< bound members that make the gang whole
  std::int32_t base = 0;                ///< members bound or assumed before this plan
  std::int32_t need = 0;                ///< max(0, minimum - base); the first `need` assignments
  std::vector<Assignment> assignments;  ///< may be empty: only the record is missing
  std::vector<ClaimWrite> claims;       ///< of all assignments, each claim once
  std::vector<ClaimCreation> new_claims;
  /// The first request that failed on a device, or could not be asked at all, while others served;
  /// for people, empty when there was none.
  std::string passed_over;
  /// Set by the scheduler, not by the engine: the stamp of the round ("" for a lone pod).
  std::string stamp;
  /// Set by the scheduler: PodGroupInitiallyScheduled is not True yet, so the round writes it.
  bool writes_record = false;
  /// Set by the scheduler: what a round of an earlier process left open for this gang. Its claims
  /// are kept by this round, which takes the intent over, and given back with its own.
  std::optional<api::StoredIntent> inherited;
  friend bool operator==(const Plan&, const Plan&) = default;
};

/// The same name for the same pod and stamp, and no other: generate_name and 10 hex digits.
[[nodiscard]] api::ObjectKey new_claim_key(const ClaimCreation& creation, const std::string& stamp);

/// The pod, as the claim that is made for it names it.
[[nodiscard]] api::ClaimConsumer consumer_of(const ClaimCreation& creation);

enum class RoundEnd {
  kCommitted,    ///< base + bound >= minimum, and recorded where it had to be
  kMembersLost,  ///< some binds were refused for good
  kUnavailable,  ///< the server did not answer within the commit deadline
  kRefused,      ///< 403, 422: our rights or our request are wrong; retrying does not help
  kGroupGone,    ///< the PodGroup was deleted or replaced
  kOvertaken,    ///< its claims were written or to be written, and the plan no longer held
  kMembersGone,  ///< its pods or its PodGroup went away before the first bind
  kUnready,      ///< drivers did not make the devices of its claims ready
};

/// Stable name in snake case ("members_lost"), for metrics, traces and logs.
[[nodiscard]] const char* round_end_name(RoundEnd end);

/// The scheduler's word on a round whose claims are written.
struct RoundCheck {
  GangRef gang;
  std::string stamp;
  std::string problem;  ///< why the round is given up, for people; empty: bind the members
  RoundEnd end = RoundEnd::kOvertaken;                ///< what it ends as with a problem
  std::map<api::Uid, api::ResourceVersion> versions;  ///< of the members, as they are known now
};

/// Members to delete because their gang cannot be completed (commit protocol 5.6). Made by the
/// scheduler; the binder re-reads each pod and deletes only what still carries the stamp.
struct Rollback {
  GangRef gang;
  std::int32_t minimum = 1;
  std::string stamp;
  std::vector<Assignment> members;
  std::string message;
};

/// Short deterministic hash of (gang uid, pods, nodes), 16 hex digits. Part of the stamp.
[[nodiscard]] std::string plan_hash(const Plan& plan);

}  // namespace gang::engine
