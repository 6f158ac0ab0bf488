// GangRecord: what the scheduler remembers of one gang besides its objects.
//
// Nothing here survives the process: what must, is read back from the objects (recovery.h).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "gang/base/time.h"
#include "gang/cluster/gang.h"
#include "gang/cluster/snapshot.h"
#include "gang/engine/explanation.h"
#include "gang/engine/planner.h"
#include "scheduler/avoidance.h"
#include "scheduler/report.h"

namespace gang::scheduler {

/// Where a gang is. The transitions:
///
///   kIdle -> kIncomplete -> kActive -> kBinding -> kIdle (bound, or late members)
///                             |  ^        |
///              no plan        v  |        v failed: the bound ones stay, backoff, plan again
///                          kParked      kBackoff -> kActive
///                                         |
///                  repair deadline        v
///                                     kRollingBack -> kBackoff
///
///   kIdle, kActive -> kFencing (what a round of before has written is taken back) -> kIdle
enum class Stage {
  kIdle,
  kIncomplete,
  kActive,
  kBackoff,
  kParked,
  kBinding,
  kRollingBack,
  kFencing,
};

/// The devices of a round that writes claims: what the plan was made of and on. Value.
struct RoundDevices {
  engine::Plan plan;
  std::shared_ptr<const cluster::Snapshot> planned;        ///< the state that it was made on
  std::map<api::Uid, api::ResourceVersion> versions = {};  ///< of claims, once they are written
  TimePoint written_at{};
  std::vector<UnreadyDevice> unready = {};  ///< why the round was given up
};

/// A round that the binder is carrying out. Value.
struct OpenRound {
  std::string stamp;
  std::int32_t minimum = 1;
  std::int32_t base = 0;  ///< members that hold room when nothing is lost: base and planned
  TimePoint start{};
  std::map<api::Uid, api::ResourceVersion> versions;  ///< of the planned members
  std::optional<RoundDevices> devices = {};           ///< of a plan over claims
};

/// A round that has bound some members and lacks others. Value.
struct Repair {
  std::string stamp;     ///< of the round that began it; later plans of the repair carry it too
  TimePoint deadline{};  ///< then the bound members are deleted, if they may be
  bool is_forward_only = false;      ///< they may not: repair goes on without deadline
  std::optional<TimePoint> stopped;  ///< the server does not answer since then: the clock stands
  std::string cause;  ///< what the newest round lost, for people; empty when that is not known

  [[nodiscard]] bool is_running() const { return !is_forward_only && !stopped; }
  [[nodiscard]] bool is_due(TimePoint now) const { return is_running() && now >= deadline; }
  /// Lets the clock run again; the time that it stood does not count.
  void resume(TimePoint now) {
    if (stopped) deadline += now - *stopped;
    stopped.reset();
  }
};

/// Why a gang is parked. Value.
struct Parking {
  engine::Verdict verdict = engine::Verdict::kImpossibleNow;
  engine::Demand demand;
  std::uint64_t fingerprint = 0;
  TimePoint since{};
  std::uint64_t causes = 0;               ///< Outlook::causes of what was told
  std::optional<std::uint64_t> room;      ///< Planner::room() where devices alone refused it
  std::optional<TimePoint> avoids_until;  ///< when the first of the avoided may be used again
};

/// A claim that was seen in that version, reserved for nobody, since then. Value.
struct LeftClaim {
  api::ResourceVersion version;
  TimePoint since{};
};

/// See the head of the file. One per gang that waits, runs a round or has been told something.
struct GangRecord {
  engine::GangRef ref;
  Stage stage = Stage::kIdle;
  cluster::MemberCounts counts;  ///< at the last evaluation
  std::int32_t minimum = 1;      ///< effective, at the last evaluation
  std::int32_t live = -1;
  TimePoint live_since{};                  ///< when `live` last changed
  std::optional<TimePoint> waiting_since;  ///< incomplete, or without its group
  std::optional<TimePoint> degraded_since;
  std::optional<TimePoint> unplannable_since;  ///< members exist, but not all of their claims

  TimePoint attempted_at{};   ///< the last time
  TimePoint not_before{};     ///< no attempt earlier
  std::int32_t failures = 0;  ///< failed rounds in a row
  std::int32_t misses = 0;    ///< attempts in a row without a plan although the counts allowed one

  /// When to say again what is no longer true, or was not written; spaced by `renewals`.
  std::optional<TimePoint> renew_at;
  std::int32_t renewals = 0;

  std::optional<Parking> parking;
  std::optional<OpenRound> round;
  std::optional<Repair> repair;
  std::vector<TimePoint> rollbacks;  ///< of the last ten minutes
  /// That the gang was rolled back and why, for people; empty once it is planned again.
  std::string rolled_back;
  bool is_noted = false;  ///< its requests count in the mix of late
  api::Uid recorded;      ///< UID of the PodGroup whose record a round of ours wrote
  /// Pending members that the server said are gone or bound elsewhere, and the version that was
  /// planned: until the watch shows another one they take no part.
  std::map<api::Uid, api::ResourceVersion> stale;
  /// Members whose Binding was not taken by themselves in the newest round: others go first.
  std::set<api::Uid> troubled;
  Avoidances avoided;  ///< nodes that refused a member, and devices that were not made ready
  std::map<api::Uid, LeftClaim> left_claims;  ///< as of the newest refusal, see idle_claims.h
  Report report;

  [[nodiscard]] bool is_in_flight() const {
    return stage == Stage::kBinding || stage == Stage::kRollingBack || stage == Stage::kFencing;
  }
};

}  // namespace gang::scheduler
