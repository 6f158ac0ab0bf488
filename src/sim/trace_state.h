// The state and the planner of the daemon, told of the objects of a trace as by a watch.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "gang/api/delta.h"
#include "gang/cluster/cluster_state.h"
#include "gang/engine/planner.h"

namespace gang::sim {

/// The name that pods of a trace give as their scheduler.
inline constexpr const char* kTraceScheduler = "gang-scheduler";

/// Metadata of an object that is new, with a uid of its name.
[[nodiscard]] api::ObjectMeta trace_meta(std::string name_space, const std::string& name);

/// See the head of the file. One thread.
class TraceState {
 public:
  explicit TraceState(const engine::Options& options);

  /// The first lists of every kind begin with the construction; nothing is planned before.
  void end_lists();
  void added(api::Kind kind, api::Object object);
  void updated(api::Kind kind, api::Object object);
  void deleted(api::Kind kind, api::Object object);

  /// REQUIRES: the gang of the pod is known. Once, before it is planned.
  void note(const api::Uid& pod);
  /// Nothing where there is no plan. As for a gang that waits in the queue of the daemon, the
  /// counts are asked first, and why there is none is not. REQUIRES: the gang of the pod is known.
  [[nodiscard]] std::optional<engine::Plan> plan(const api::Uid& pod);
  [[nodiscard]] cluster::ClusterState& state() { return state_; }

 private:
  void tell_all(api::DeltaType type);

  cluster::ClusterState state_;
  engine::Planner planner_;
};

}  // namespace gang::sim
