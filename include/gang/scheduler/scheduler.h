// Scheduler: the core as a state machine. Inputs in, effects out; nothing else.
//
// handle() applies deltas to the cluster state, keeps the queue of gangs (active, backoff, parked),
// plans at most one gang per Tick and says what to do about each outcome. A gang is attempted when
// every kind is synced and enough members live. Gangs go by priority; among equals those that hold
// bound members below their minimum first, then the oldest, then by UID; those of a namespace whose
// attempts took much work come after all others for a while. A gang without plan is parked and
// wakes on a change that can help it, or that refuses it for other causes than it was told, the
// latter spaced 1 s x 2 up to 60 s, and once every five minutes as a safety net. What a crash left
// behind is seen in the objects: recovery is the same table as the ordinary course (commit
// protocol, chapter 6). Open rounds over claims are taken over where their gang can be planned
// around what is written, else taken back, before anything else is planned, but for 40 s at most:
// then only who needs what they may hold waits. One thread; no clock, no log, no sockets; equal
// inputs give equal effects.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "gang/cluster/cluster_state.h"
#include "gang/engine/options.h"
#include "gang/engine/planner.h"
#include "gang/scheduler/effect.h"
#include "gang/scheduler/input.h"

namespace gang::scheduler {

/// What happens to the others when a member has scheduling gates.
enum class GatedMembers { kLeaveOut, kHold };
/// What happens when pod and group priority differ.
enum class PriorityMismatch { kRefuse, kUseGroup };

/// Every field is an option of the configuration file.
struct Options {
  std::string scheduler_name = "gang-scheduler";
  engine::Options engine;
  Duration backoff_initial = std::chrono::seconds(1);
  Duration backoff_max = std::chrono::seconds(60);
  Duration safety_interval = std::chrono::minutes(5);
  Duration incomplete_grace = std::chrono::seconds(5);  ///< before "x of y pods exist" is told
  Duration done_settle = std::chrono::seconds(10);      ///< before finished members count (G-01)
  Duration repair_deadline = std::chrono::seconds(60);
  Duration claims_seen_deadline = std::chrono::seconds(30);   ///< for the watch to show writes
  Duration device_ready_deadline = std::chrono::minutes(10);  ///< for binding conditions
  Duration condition_interval = std::chrono::seconds(10);     ///< between conditions of one group
  GatedMembers gated_members = GatedMembers::kLeaveOut;
  PriorityMismatch priority_mismatch = PriorityMismatch::kRefuse;
  /// Prefix of round numbers, unique per process.
  std::string epoch = "0";
};

/// Queue sizes, for metrics and `show queue`; names as the gauges of the gang contract 2.12.
struct QueueCounts {
  std::int32_t active = 0, backoff = 0, unschedulable = 0, gated = 0, incomplete = 0, pending = 0;
};

/// One line of `show queue`.
struct QueueEntry {
  engine::GangRef gang;
  std::string state;  ///< "active", "backoff", "parked", "gated", "binding", "bound", ...
  std::string detail;
};

/// See the head of the file. Owned by the shell.
class Scheduler {
 public:
  explicit Scheduler(Options options);
  ~Scheduler();
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;

  /// `now` never decreases between calls.
  Effects handle(const Input& input, TimePoint now);

  /// Every kind was synced since start, and what an earlier process began holds nobody up any more.
  [[nodiscard]] bool ready() const;
  /// What is not taken back for long, and why, for people; empty: there is nothing.
  [[nodiscard]] std::string undo_text() const;
  [[nodiscard]] QueueCounts pod_counts() const;
  [[nodiscard]] QueueCounts entity_counts() const;
  [[nodiscard]] std::vector<QueueEntry> queue() const;
  [[nodiscard]] cluster::ClusterState& state();
  [[nodiscard]] const engine::PlannerStats& planner_stats() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace gang::scheduler
