#include <fmt/format.h>

#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "bench/device_fleet.h"
#include "bench/rows.h"
#include "gang/cel/program.h"
#include "gang/engine/planner.h"

namespace gang::bench {

namespace {

/// A plan after each change of what is held; the planner keeps what it knows.
void measure_warm(Run& run, DeviceFleet& fleet) {
  engine::Planner planner(engine::Options{});
  const cluster::Gang gang = fleet.gang();
  Pairs pairs;
  for (int i = 0; i < (run.smoke ? 10 : 200); ++i) {
    const auto snapshot = fleet.state().snapshot();
    engine::Decision decision;
    std::vector<std::string> plain;
    pairs.ours.push_back(microseconds([&] { decision = planner.plan(*snapshot, gang); }));
    pairs.reference.push_back(microseconds([&] { plain = first_whole_nodes(*snapshot, 8); }));
    run.expect(nodes_of(decision) == plain, "nodes of a gang over devices");
    if (!std::holds_alternative<engine::Plan>(decision)) return;
    const auto& plan = std::get<engine::Plan>(decision);
    fleet.assume(plan);
    if (i % 2 == 1) (void)fleet.state().snapshot();
    fleet.forget(plan);
  }
  run.rows.push_back(
      with_goal(row_of(fmt::format("plan of 8 whole nodes by claims, {} nodes", run.small_nodes),
                       pairs, "first whole nodes"),
                "<= 30 us", 30));
}

/// A new planner: nothing is compiled, no device has been looked at.
void measure_cold(Run& run, DeviceFleet& fleet) {
  const cluster::Gang gang = fleet.gang();
  const auto snapshot = fleet.state().snapshot();
  Pairs pairs;
  for (int i = 0; i < run.pair_count; ++i) {
    engine::Decision decision;
    std::vector<std::string> plain;
    pairs.ours.push_back(microseconds([&] {
      engine::Planner planner(engine::Options{});
      decision = planner.plan(*snapshot, gang);
    }));
    pairs.reference.push_back(microseconds([&] { plain = first_whole_nodes(*snapshot, 8); }));
    run.expect(nodes_of(decision) == plain, "nodes of a gang over devices");
  }
  run.rows.push_back(with_goal(row_of("the same by a new planner", pairs, "first whole nodes"),
                               "<= 50 ms", 50'000));
}

/// A slice of 16 devices that comes in a new version, and the view after it.
void measure_slice(Run& run, DeviceFleet& fleet) {
  constexpr int kDevices = 16;
  Pairs pairs;
  for (int i = 0; i < (run.smoke ? 10 : 200); ++i) {
    const api::Delta delta{.type = api::DeltaType::kUpdated,
                           .kind = api::Kind::kResourceSlice,
                           .object = fleet.slice(i % run.small_nodes, kDevices, 2 + i)};
    std::shared_ptr<const cluster::Snapshot> snapshot;
    api::ResourceSlice copy;
    pairs.ours.push_back(microseconds([&] {
      fleet.state().apply(delta);
      snapshot = fleet.state().snapshot();
    }));
    pairs.reference.push_back(
        microseconds([&] { copy = std::get<api::ResourceSlice>(delta.object); }));
    run.expect(copy.devices.size() == kDevices, "devices of a slice");
  }
  run.rows.push_back(with_goal(
      row_of("slice of 16 devices applied, with the view", pairs, "a copy"), "<= 100 us", 100));
}

void measure_expressions(Run& run) {
  constexpr int kEvaluations = 1'000;
  const auto program = cel::Program::compile(kGpuSelector);
  std::vector<cel::Device> devices;
  for (int i = 0; i < kEvaluations; ++i) {
    devices.emplace_back(
        cel::DeviceSource{.driver = "gpu.example.com",
                          .attributes = {{"model", std::string(i % 2 == 0 ? "H100" : "A100")}},
                          .capacity = {{"memory", *api::Quantity::parse("80Gi")}}});
  }
  cel::Scratch scratch;
  Pairs pairs;
  for (int i = 0; i < (run.smoke ? 5 : 50); ++i) {
    int ours = 0;
    int by_hand = 0;
    pairs.ours.push_back(microseconds([&] {
      for (const cel::Device& device : devices) {
        ours += program->matches(device, scratch).selected.value_or(false) ? 1 : 0;
      }
    }));
    pairs.reference.push_back(microseconds([&] {
      for (int n = 0; n < kEvaluations; ++n) {
        const std::string model = n % 2 == 0 ? "H100" : "A100";
        by_hand += model == "H100" ? 1 : 0;
      }
    }));
    run.expect(ours == by_hand, "selected devices");
  }
  run.rows.push_back(
      with_goal(row_of("1000 evaluations of a selector", pairs, "by hand"), "<= 1 ms", 1'000));
}

}  // namespace

void measure_device_gangs(Run& run, const char* program) {
  DeviceFleet fleet({.nodes = run.small_nodes});
  measure_warm(run, fleet);
  measure_cold(run, fleet);
  measure_slice(run, fleet);
  measure_expressions(run);
  const double megabytes = megabytes_of(run, fmt::format("'{}' --device-memory", program));
  run.rows.push_back({.name = "resident memory, 5000 nodes of 8 devices",
                      .ours = megabytes,
                      .unit = "MB",
                      .goal = "<= 60 MB",
                      .met = megabytes <= 60});
}

int print_device_memory() {
  DeviceFleet fleet({.nodes = 5'000});
  engine::Planner planner(engine::Options{});
  const engine::Decision decision = planner.plan(*fleet.state().snapshot(), fleet.gang());
  fmt::print("{:.1f}\n", resident_megabytes());
  return std::holds_alternative<engine::Plan>(decision) ? 0 : 1;
}

}  // namespace gang::bench
