#include "sim/trace_state.h"

#include <memory>
#include <variant>

#include "gang/base/check.h"

namespace gang::sim {
namespace {

api::Delta delta_of(api::DeltaType type, api::Kind kind, api::Object object) {
  return {.type = type,
          .kind = kind,
          .resource_version = api::meta_of(object).resource_version,
          .object = std::move(object)};
}

}  // namespace

api::ObjectMeta trace_meta(std::string name_space, const std::string& name) {
  api::ObjectMeta meta{.key = {std::move(name_space), name}};
  meta.uid.text = "uid-" + name;
  meta.resource_version.text = "1";
  return meta;
}

TraceState::TraceState(const engine::Options& options)
    : state_(kTraceScheduler), planner_(options) {
  tell_all(api::DeltaType::kListBegin);
}

void TraceState::end_lists() {
  tell_all(api::DeltaType::kListEnd);
}

void TraceState::tell_all(api::DeltaType type) {
  for (int kind = 0; kind < api::kKindCount; ++kind) {
    state_.apply({.type = type,
                  .kind = static_cast<api::Kind>(kind),
                  .resource_version = {"1"},
                  .object = {}});
  }
}

void TraceState::added(api::Kind kind, api::Object object) {
  state_.apply(delta_of(api::DeltaType::kAdded, kind, std::move(object)));
}

void TraceState::updated(api::Kind kind, api::Object object) {
  state_.apply(delta_of(api::DeltaType::kUpdated, kind, std::move(object)));
}

void TraceState::deleted(api::Kind kind, api::Object object) {
  state_.apply(delta_of(api::DeltaType::kDeleted, kind, std::move(object)));
}

void TraceState::note(const api::Uid& pod) {
  const std::optional<cluster::GangId> id = state_.find_gang(pod);
  CHECK(id.has_value());
  state_.note_requests(*state_.gang(*id));
}

std::optional<engine::Plan> TraceState::plan(const api::Uid& pod) {
  const std::optional<cluster::GangId> id = state_.find_gang(pod);
  CHECK(id.has_value());
  const std::optional<cluster::Gang> gang = state_.gang(*id);
  CHECK(gang.has_value());
  const std::shared_ptr<const cluster::Snapshot> snapshot = state_.snapshot();
  if (!planner_.outlook(*snapshot, engine::demand_of(*gang)).could_hold) return {};
  engine::Decision decision = planner_.plan(*snapshot, *gang);
  if (auto* plan = std::get_if<engine::Plan>(&decision)) return std::move(*plan);
  return {};
}

}  // namespace gang::sim
