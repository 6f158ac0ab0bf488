// Explanation: why a gang has no plan, as a value; RoundOutcome: what became of the plan of one
// that had. Normal answers, not errors.
//
// Texts follow the gang contract 2.11 and the scheduling contract 8.1 byte for byte; the structured
// fields say the same for metrics, `gangctl` and tests. Values only, any thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "gang/engine/plan.h"

namespace gang::engine {

enum class Verdict {
  kImpossibleNow,       ///< proved: no placement exists in this snapshot
  kImpossibleOnFleet,   ///< proved: not even if every pod were gone
  kSearchLimitReached,  ///< neither found nor proved
  kWaitingForPods,      ///< fewer live members than the minimum
  kWaitingForGroup,     ///< the PodGroup, or its parent, does not exist
  kRuleNotBuilt,        ///< a member or the group uses a rule that this version does not place
  kInvalid,             ///< members contradict each other or an object is unreadable
  kBinding,             ///< planned; the round is under way or being repaired
};

/// Stable name, CamelCase ("ImpossibleNow"): reason of gang-scheduler.dev/Satisfied, metrics, logs.
[[nodiscard]] const char* verdict_name(Verdict verdict);
/// Upstream's reason of a False condition with this verdict: "Unschedulable", or "SchedulerError"
/// where more room would not help.
[[nodiscard]] const char* failure_reason(Verdict verdict);

/// One cause with the number of nodes it refuses.
struct Reason {
  std::string filter;  ///< name of the filter that says no, e.g. "NodeResourcesFit"
  std::string text;    ///< upstream's words, e.g. "Insufficient cpu"
  std::int64_t node_count = 0;
  friend bool operator==(const Reason&, const Reason&) = default;
};

/// What one pending member is told.
struct MemberText {
  api::ObjectKey pod;
  api::Uid uid;
  api::ResourceVersion resource_version;
  std::string message;  ///< own FitError when it fits nowhere, else the group's text
  /// PodScheduled as the state knows it, so that nothing is written twice. Empty type: not known.
  api::Condition current;
  std::int64_t generation = 0;  ///< observedGeneration to write; 0 = absent
};

/// Why there is no plan.
struct Explanation {
  GangRef gang;
  Verdict verdict = Verdict::kImpossibleNow;
  std::int32_t minimum = 1;
  std::int32_t scheduled = 0;  ///< base + the most members that could be placed
  std::int32_t remaining = 0;  ///< members not examined
  std::int32_t bound = 0;      ///< bound members when this was made
  std::int32_t live = 0;
  std::int64_t node_total = 0;
  std::vector<Reason> reasons;  ///< all of the first class left over: node_count desc, then text
  std::string detail;           ///< what the reasons count, in words; part of the message
  std::string message;          ///< group text, at most 4,096 bytes
  std::vector<std::string> domains;  ///< for people: what each would take, by its label's value
  std::vector<MemberText> members;   ///< empty when pods are to be left alone
  /// Which members have failed, for people; empty when none has.
  std::string loss;
  bool degraded = false;         ///< the gang was committed and now has fewer than its minimum
  bool partially_bound = false;  ///< members of unknown origin are bound, fewer than the minimum
  /// To be written False; never for a group that is True already, nor for a round that goes on.
  bool writes_condition = true;
  bool is_progress = false;  ///< the round goes on as it should and takes its time: no warning
};

/// Equal texts up to changing numbers: same verdict, minimum, set of causes and words of detail.
[[nodiscard]] bool same_meaning(const Explanation& a, const Explanation& b);

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

/// How it goes to take back what a round of before left, or one that failed wrote.
struct UndoReport {
  api::ObjectKey gang;
  api::Uid gang_uid;
  bool is_round = true;         ///< false: there was no intent, the claims alone told it
  std::int32_t bound = 0;       ///< of the listed members: they keep their claims
  std::int32_t given_back = 0;  ///< claims that had something to give back
  std::string trouble;          ///< the object and the answer that keep it from its end, for people
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

}  // namespace gang::engine
