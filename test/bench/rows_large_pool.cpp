#include <fmt/format.h>

#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "bench/device_fleet.h"
#include "bench/rows.h"
#include "gang/engine/planner.h"

namespace gang::bench {

namespace {

constexpr int kDevices = 128;

/// The answer of a plan by hand: the first nodes whose slice has enough devices that nobody holds.
std::vector<std::string> first_nodes(const cluster::DeviceView& view, std::size_t count) {
  std::vector<std::string> nodes;
  for (const cluster::PartPtr& part : view.pool(view.by_name().front()).parts()) {
    if (free_count(view.usage(), *part) < kGpusPerNode) continue;
    nodes.push_back(part->slice->place.node_name);
    if (nodes.size() == count) break;
  }
  return nodes;
}

}  // namespace

/// A slice of one large pool comes in a new version; then a gang is planned.
void measure_large_pool(Run& run) {
  const std::int32_t slice_count = run.smoke ? 32 : 512;
  DeviceFleet fleet({.nodes = slice_count, .devices = kDevices, .is_one_pool = true});
  const cluster::Gang gang = fleet.gang();
  engine::Planner planner(engine::Options{});
  std::shared_ptr<const cluster::Snapshot> snapshot = fleet.state().snapshot();
  engine::Decision decision = planner.plan(*snapshot, gang);
  Pairs updates;
  Pairs plans;
  for (int i = 0; i < (run.smoke ? 10 : 100); ++i) {
    const api::Delta delta{.type = api::DeltaType::kUpdated,
                           .kind = api::Kind::kResourceSlice,
                           .object = fleet.slice(i % slice_count, kDevices, 2 + i)};
    api::ResourceSlice copy;
    std::vector<std::string> by_hand;
    updates.ours.push_back(microseconds([&] {
      fleet.state().apply(delta);
      snapshot = fleet.state().snapshot();
    }));
    updates.reference.push_back(
        microseconds([&] { copy = std::get<api::ResourceSlice>(delta.object); }));
    plans.ours.push_back(microseconds([&] { decision = planner.plan(*snapshot, gang); }));
    plans.reference.push_back(
        microseconds([&] { by_hand = first_nodes(*snapshot->devices(), gang.members.size()); }));
    run.expect(copy.devices.size() == kDevices, "devices of a slice");
    run.expect(nodes_of(decision) == by_hand, "nodes of a gang over a large pool");
  }
  run.rows.push_back(with_goal(
      row_of(fmt::format("slice of {} devices in a pool of {}, with view", kDevices, slice_count),
             updates, "a copy"),
      "<= 500 us", 500));
  run.rows.push_back(
      with_goal(row_of("plan of 8 members after it", plans, "first nodes"), "<= 1 ms", 1'000));
}

}  // namespace gang::bench
