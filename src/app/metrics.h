// Metrics: the scheduler_podgroup_* family of kube-scheduler 1.37.2 and our own gang_scheduler_*.
//
// Names, labels and buckets are upstream's where the quantity exists here (gang contract 2.12). All
// series exist from the start. Counters may be raised from any thread; text() may run in any
// thread.
#pragma once

#include <memory>
#include <string>

#include "app/kind_notes.h"
#include "gang/binder/binder.h"
#include "gang/cluster/cluster_state.h"
#include "gang/engine/planner.h"
#include "gang/scheduler/effect.h"
#include "gang/scheduler/scheduler.h"

namespace gang::app {

/// Sizes that are read now and then, not counted.
struct Gauges {
  scheduler::QueueCounts pods;
  scheduler::QueueCounts entities;
  cluster::StateCounts state;
  engine::PlannerStats planner;
};

/// See the head of the file. Owned by the daemon.
class Metrics {
 public:
  explicit Metrics(const std::string& profile);
  ~Metrics();
  Metrics(const Metrics&) = delete;
  Metrics& operator=(const Metrics&) = delete;

  /// An attempt ended after `attempt`, of which `algorithm` was planning.
  void attempt(const scheduler::AttemptDone& attempt, Duration duration);
  /// A namespace owes more, for an attempt that took long.
  void charge(const scheduler::AttemptCharged& charged);
  /// A round ended after `duration`, from the decision to the report.
  void round(engine::RoundEnd end, Duration duration);
  void set(const Gauges& gauges);
  void set(const binder::Stats& stats);
  void set_kind_state(std::string_view kind, KindState state);
  /// Lists and watches of a kind that ended with an error, since the start.
  void set_kind_failures(std::string_view kind, std::int64_t failures);

  /// Prometheus text format 0.0.4.
  [[nodiscard]] std::string text() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace gang::app
