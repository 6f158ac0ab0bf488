// Core: everything the scheduler holds, shared by the functions that work on it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "gang/cluster/cluster_state.h"
#include "gang/engine/planner.h"
#include "gang/scheduler/scheduler.h"
#include "scheduler/device_troubles.h"
#include "scheduler/gang_queue.h"
#include "scheduler/gang_record.h"
#include "scheduler/namespace_debts.h"
#include "scheduler/readiness.h"
#include "scheduler/wakeup.h"

namespace gang::scheduler {

/// An open round that the binder takes back. Value.
struct Undo {
  std::optional<cluster::GangId> id;       ///< none: the gang is gone, or was made anew
  std::set<api::Uid> claims;               ///< who needs one of them waits
  std::vector<cluster::AssumedPod> pods;   ///< whose room is kept: it may still bind them
  std::set<cluster::GangId> waiting = {};  ///< for the claims
};

/// What rounds of earlier processes have left open, by UID of their gang.
struct Inheritance {
  bool is_known = false;    ///< the binder has told it
  TimePoint holds_until{};  ///< a request of a process that died may be executed until then
  std::map<api::Uid, api::StoredIntent> open;  ///< neither taken over nor being taken back
  std::map<api::Uid, Undo> undos;
  std::map<api::Uid, api::StoredIntent> unreadable;
  std::optional<TimePoint> look_at;  ///< when to look again whether they are still there

  /// Whether nobody may be planned: what open rounds may yet write is not known.
  [[nodiscard]] bool holds_all(TimePoint now) const {
    return !is_known || ((!open.empty() || !undos.empty()) && now < holds_until);
  }
};

/// What a gang's undo meets for long. Value.
struct UndoTrouble {
  api::ObjectKey gang;
  std::optional<cluster::GangId> id;
  std::string text;  ///< the object and the answer
};

/// Owned by the Scheduler, for its life; one thread. A gang that is in the queue has a record.
struct Core {
  explicit Core(Options o)
      : options(std::move(o)),
        state(options.scheduler_name, options.engine.device_features),
        planner(options.engine),
        debts(engine::work_max(options.engine)) {}

  const Options options;
  cluster::ClusterState state;
  engine::Planner planner;
  NamespaceDebts debts;
  GangQueue queue;
  WakeUp wakeup;
  std::map<cluster::GangId, GangRecord> records;
  std::set<cluster::GangId> dirty;  ///< changed since they were last evaluated
  /// Gangs that have lost a member in the middle of their round, and when. Until the round has
  /// ended and the gang was planned again, or Options::repair_deadline has passed, nobody else may
  /// take the room: no gang is attempted.
  std::map<cluster::GangId, TimePoint> torn;
  std::int64_t round_count = 0;
  std::set<cluster::GangId> unconfirmed;  ///< their round has written its claims and waits
  /// By UID of each claim that an open round writes: other gangs that wait for its end.
  std::map<api::Uid, std::set<cluster::GangId>> claims_in_rounds;
  Inheritance inheritance;
  DeviceTroubles device_troubles;
  std::map<api::Uid, UndoTrouble> undo_troubles;  ///< by UID of the gang
};

/// One call of handle(): when, and what it asks for.
struct Turn {
  TimePoint now{};
  Effects effects;
};

/// delay of the n-th failure in a row: initial x 2^(n-1), at most the cap. REQUIRES: n >= 1.
[[nodiscard]] Duration backoff(const Options& options, std::int32_t failures);

/// What the gang was told is to be said again, 1 s x 2 up to the cap from now.
void renew_later(const Core& core, GangRecord& record, TimePoint now);

/// Whether the gang had started for good: its condition is True, or a round of ours recorded it.
[[nodiscard]] bool is_recorded(const cluster::Gang& gang, const GangRecord& record);

/// What readiness needs of the record.
[[nodiscard]] GangHistory history_of(const Core& core, const cluster::Gang& gang,
                                     const GangRecord& record, TimePoint now);

/// Whether a gang that had started holds fewer members than its minimum, finished ones aside.
[[nodiscard]] bool is_below_minimum(const cluster::Gang& gang, const GangRecord& record);

/// The same where members are bound or have failed. A gang that has neither is over, or not begun
/// again: nothing of it is degraded.
[[nodiscard]] bool is_degraded(const cluster::Gang& gang, const GangRecord& record);

/// The flags that every explanation of a gang carries now, and its bound members.
void flag(engine::Explanation& explanation, const cluster::Gang& gang, const GangRecord& record);

/// Lets an explanation through the gang's report, with its flags. `gang` may be an outline when the
/// explanation has no member texts.
void tell(Core& core, GangRecord& record, const cluster::Gang& gang,
          engine::Explanation explanation, Turn& turn);

}  // namespace gang::scheduler
