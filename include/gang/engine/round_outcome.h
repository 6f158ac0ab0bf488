// RoundOutcome: what became of a plan, and what scheduler and binder tell each other of a round on
// the way there. Values only, any thread.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "gang/api/meta.h"
#include "gang/engine/plan.h"

namespace gang::engine {

enum class MemberEnd {
  kBound,      ///< confirmed on the planned node
  kElsewhere,  ///< found bound to another node by somebody else
  kLost,       ///< deleted, deleting, gated, or replaced by another UID
  kNotBound,   ///< definitely not bound; may be planned again
};

/// What became of one assignment. Always definite.
struct MemberOutcome {
  api::ObjectKey pod;
  api::Uid uid;
  MemberEnd end = MemberEnd::kNotBound;
  std::string message;    ///< of the server, for people; empty when bound
  bool stopped = false;   ///< the round was stopped, or the server fails: says nothing of the pod
  bool answered = false;  ///< the server answers, and does not take this Binding
};

enum class RoundEnd {
  kCommitted,    ///< base + bound >= minimum, and recorded where it had to be
  kMembersLost,  ///< some binds were refused for good
  kUnavailable,  ///< the server did not answer within the commit deadline
  kRefused,      ///< 403, 422: our rights or our request are wrong; retrying does not help
  kGroupGone,    ///< the PodGroup was deleted or replaced
  kOvertaken,    ///< its claims were written or to be written, and the plan no longer held
};

/// Stable name in snake case ("members_lost"), for metrics, traces and logs.
[[nodiscard]] const char* round_end_name(RoundEnd end);

/// The report of the binder after a round.
struct RoundOutcome {
  GangRef gang;
  std::string stamp;
  RoundEnd end = RoundEnd::kCommitted;
  std::vector<MemberOutcome> members;
  bool recorded = false;  ///< PodGroupInitiallyScheduled=True is durable
  bool answered = false;  ///< kUnavailable: for every member that lacks, the server answers
  std::string message;
};

/// A round that has taken long and lacks members. Sent once, while it goes on.
struct RoundProgress {
  GangRef gang;
  std::int32_t bound = 0;  ///< members bound, those of before the round too
  std::string message;     ///< what the newest answer for a member that lacks was, for people
};

/// Every claim of a round is written. The round goes on when the scheduler's state has seen it all
/// and says that the plan still holds (commit protocol P6).
struct ClaimsWritten {
  /// A claim and the version that its last write made.
  struct Claim {
    api::Uid uid;
    api::ResourceVersion resource_version;
  };
  GangRef gang;
  std::string stamp;
  std::vector<Claim> claims;
};

/// The scheduler's word on a round whose claims are written.
struct RoundCheck {
  GangRef gang;
  std::string stamp;
  std::string problem;  ///< why the plan no longer holds, for people; empty: bind the members
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

}  // namespace gang::engine
