#include <fmt/format.h>

#include <cstdio>
#include <memory>
#include <string>
#include <variant>

#include "bench/fleet.h"
#include "bench/pod_event.h"
#include "bench/rows.h"
#include "gang/api/json.h"
#include "gang/engine/planner.h"

namespace gang::bench {

namespace {

void measure_snapshot(Run& run) {
  Fleet fleet({.nodes = run.small_nodes, .nodes_with_room = run.small_nodes});
  std::vector<double> taken;
  std::uint64_t generation = 0;
  for (int i = 0; i < (run.smoke ? 50 : 1000); ++i) {
    fleet.touch(8);
    std::shared_ptr<const cluster::Snapshot> snapshot;
    taken.push_back(microseconds([&] { snapshot = fleet.state().snapshot(); }));
    run.expect(snapshot->generation() > generation, "snapshot shows the changes");
    generation = snapshot->generation();
  }
  const double middle = median(taken);
  run.rows.push_back({.name = fmt::format("snapshot after 8 changes, {} nodes", run.small_nodes),
                      .ours = middle,
                      .goal = "<= 20 us",
                      .met = middle <= 20});
}

void measure_decode(Run& run) {
  const std::string event = pod_event();
  std::vector<double> taken;
  for (int i = 0; i < (run.smoke ? 50 : 2000); ++i) {
    bool decoded = false;
    taken.push_back(microseconds(
        [&] { decoded = api::decode_watch_event(api::Kind::kPod, event).has_value(); }));
    run.expect(decoded, "pod event");
  }
  const double middle = median(taken);
  run.rows.push_back({.name = fmt::format("decode of a pod event of {} bytes", event.size()),
                      .ours = middle,
                      .goal = "<= 40 us",
                      .met = middle <= 40});
}

void measure_memory(Run& run, const char* program) {
  const double megabytes = megabytes_of(run, fmt::format("'{}' --memory", program));
  run.rows.push_back({.name = "resident memory, 5000 nodes and 50000 pods",
                      .ours = megabytes,
                      .unit = "MB",
                      .goal = "<= 60 MB",
                      .met = megabytes <= 60});
}

}  // namespace

void measure_model(Run& run, const char* program) {
  measure_snapshot(run);
  measure_decode(run);
  measure_memory(run, program);
}

int print_memory() {
  Fleet fleet({.nodes = 5'000, .pods_per_node = 10, .nodes_with_room = 5'000});
  engine::Planner planner{engine::Options{}};
  const engine::Decision decision = planner.plan(*fleet.state().snapshot(), fleet.gang(0));
  fmt::print("{:.1f}\n", resident_megabytes());
  return std::holds_alternative<engine::Plan>(decision) ? 0 : 1;
}

}  // namespace gang::bench
