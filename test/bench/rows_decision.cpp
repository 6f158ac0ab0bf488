#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "bench/fleet.h"
#include "bench/plain_planner.h"
#include "bench/rows.h"
#include "engine/counted_new.h"
#include "gang/engine/planner.h"

namespace gang::bench {

namespace {

using engine::Decision;
using engine::Explanation;
using engine::Plan;

/// Times of one decision in the course of the scheduler, in microseconds.
struct Course {
  double snapshot = 0;
  double decide = 0;
  double whole = 0;  ///< gang value, snapshot, decision, assume
};

/// Gangs are planned and assumed one after another; the one before is taken back untimed, so that
/// the fleet stays as full as it is and every decision sees changed nodes.
class Decisions {
 public:
  explicit Decisions(const FleetSize& size) : fleet_(size) {
    for (int i = 0; i < 8; ++i) next();
  }

  Course next() {
    at_ = (at_ + 1) % fleet_.gang_count();
    Course course;
    std::shared_ptr<const cluster::Snapshot> snapshot;
    std::optional<Decision> decision;
    course.whole = microseconds([&] {
      const cluster::Gang gang = fleet_.gang(at_);
      course.snapshot = microseconds([&] { snapshot = fleet_.state().snapshot(); });
      course.decide = microseconds([&] { decision = planner_.plan(*snapshot, gang); });
      if (const Plan* plan = std::get_if<Plan>(&*decision)) fleet_.assume(*plan);
    });
    if (last_) fleet_.forget(*last_);
    last_.reset();
    if (Plan* plan = std::get_if<Plan>(&*decision)) last_ = std::move(*plan);
    return course;
  }

  /// Median times over `count` decisions.
  Course some(int count) {
    std::vector<double> snapshots, decides, wholes;
    for (int i = 0; i < count; ++i) {
      const Course course = next();
      snapshots.push_back(course.snapshot);
      decides.push_back(course.decide);
      wholes.push_back(course.whole);
    }
    return {.snapshot = median(snapshots), .decide = median(decides), .whole = median(wholes)};
  }

  /// The plain loop on the state as it is; the answer must be ours.
  double plain(Run& run) {
    const auto snapshot = fleet_.state().snapshot();
    const cluster::Gang gang = fleet_.gang((at_ + 1) % fleet_.gang_count());
    PlainAnswer answer;
    const double taken = microseconds([&] { answer = plan_plainly(*snapshot, gang, {}); });
    const Decision decision = planner_.plan(*snapshot, gang);
    if (const Plan* plan = std::get_if<Plan>(&decision)) {
      std::vector<std::string> names;
      for (const engine::Assignment& one : plan->assignments) names.push_back(one.node_name);
      run.expect(names == answer.node_names, "plan of " + gang.key.text());
    } else {
      const std::string& ours = std::get<Explanation>(decision).message;
      run.expect(ours == answer.message, ours + " | plain: " + answer.message);
    }
    return taken;
  }

  double read() {
    const auto snapshot = fleet_.state().snapshot();
    const cluster::Gang gang = fleet_.gang((at_ + 1) % fleet_.gang_count());
    return microseconds([&] { sum_ += read_columns(*snapshot, *gang.classes.front()); });
  }

  /// Heap allocations of one warm decision.
  std::size_t allocations() {
    next();
    const auto snapshot = fleet_.state().snapshot();
    const cluster::Gang gang = fleet_.gang((at_ + 1) % fleet_.gang_count());
    static_cast<void>(planner_.plan(*snapshot, gang));
    fleet_.touch(4);
    const auto changed = fleet_.state().snapshot();
    const std::size_t before = test::allocation_count();
    const Decision decision = planner_.plan(*changed, gang);
    return test::allocation_count() - before;
  }

  Fleet& fleet() { return fleet_; }
  [[nodiscard]] std::int64_t sum() const { return sum_; }

 private:
  Fleet fleet_;
  engine::Planner planner_{engine::Options{}};
  std::optional<Plan> last_;
  std::size_t at_ = 0;
  std::int64_t sum_ = 0;
};

/// What the pairs of one fleet size showed.
struct Shown {
  Pairs plain, read, control, state;
};

Shown measure_pairs(Run& run, Decisions& decisions) {
  const int count = run.smoke ? 20 : 200;
  Shown shown;
  for (int pair = 0; pair < run.pair_count; ++pair) {
    const Course ours = decisions.some(count);
    const double plain = decisions.plain(run);
    const Course again = decisions.some(count);
    std::vector<double> reads;
    for (int i = 0; i < 20; ++i) reads.push_back(decisions.read());
    shown.plain.ours.push_back(ours.decide);
    shown.plain.reference.push_back(plain);
    shown.control.ours.push_back(ours.decide);
    shown.control.reference.push_back(again.decide);
    shown.read.ours.push_back(again.decide);
    shown.read.reference.push_back(median(reads));
    shown.state.ours.push_back(ours.whole);
    shown.state.reference.push_back(plain);
  }
  return shown;
}

void add_rows(Run& run, const Shown& shown, const std::string& at) {
  Row plain = row_of("warm decision, gang of 8, " + at, shown.plain, "plain loop");
  if (at == "5000 nodes") {
    plain.goal = "<= 5 us, >= 100 x";
    plain.met = plain.ours <= 5 && plain.ratio->low >= 100;
  }
  run.rows.push_back(plain);
  run.rows.push_back(row_of("the same", shown.read, "one read pass"));
  run.rows.push_back(row_of("the same, with gang, snapshot and assume", shown.state, "plain loop"));
  run.rows.push_back(row_of("control: the same twice", shown.control, "itself"));
}

void measure_refusal(Run& run) {
  // One node has 8 free accelerators, the gangs want 9.
  Decisions decisions({.nodes = run.large_nodes, .gang_members = 9, .nodes_with_room = 1});
  Pairs pairs;
  for (int pair = 0; pair < run.pair_count; ++pair) {
    std::vector<double> ours;
    for (int i = 0; i < (run.smoke ? 20 : 200); ++i) {
      decisions.fleet().touch(4);
      ours.push_back(decisions.next().decide);
    }
    pairs.ours.push_back(median(ours));
    pairs.reference.push_back(decisions.plain(run));
  }
  Row row = row_of(fmt::format("refusal with its reason, {} nodes", run.large_nodes), pairs,
                   "plain loop");
  row.goal = "<= 20 us";
  row.met = row.ours <= 20;
  run.rows.push_back(row);
}

/// Gangs that ask for one rack, in the course of the scheduler; median microseconds of a decision.
/// Of a rack's accelerators five in eight are free on average, so its nodes hold such a gang.
double in_one_rack(const Run& run, std::int32_t nodes, std::int32_t members) {
  Decisions decisions({.nodes = nodes,
                       .gang_members = members,
                       .nodes_with_room = nodes,
                       .nodes_per_rack = std::max(100, members / 4),
                       .in_one_rack = true});
  std::vector<double> times;
  for (int pair = 0; pair < run.pair_count; ++pair) {
    times.push_back(decisions.some(run.smoke ? 20 : 200).decide);
  }
  return median(times);
}

void measure_racks(Run& run) {
  const auto add = [&run](std::string name, double ours, double goal) {
    run.rows.push_back({.name = std::move(name),
                        .ours = ours,
                        .goal = fmt::format("<= {} us", goal),
                        .met = ours <= goal});
  };
  const std::int32_t nodes = run.small_nodes;
  const double small = in_one_rack(run, nodes, 8);
  add(fmt::format("warm decision, gang of 8 in one rack of 100, {} nodes", nodes), small, 10);
  add(fmt::format("the same, gang of 1000 in one rack of 250, {} nodes", nodes),
      in_one_rack(run, nodes, 1000), 100);
  const double growth = in_one_rack(run, run.large_nodes, 8) / small;
  run.rows.push_back(
      {.name = fmt::format("growth with a rack, {} to {} nodes", run.small_nodes, run.large_nodes),
       .ours = growth,
       .unit = "x",
       .goal = "<= 4 x",
       .met = growth <= 4});
}

}  // namespace

void measure_decisions(Run& run) {
  std::vector<double> decide;
  std::vector<std::size_t> allocations;
  for (const std::int32_t nodes : {run.small_nodes, run.large_nodes}) {
    Decisions decisions({.nodes = nodes, .nodes_with_room = nodes});
    const Shown shown = measure_pairs(run, decisions);
    add_rows(run, shown, fmt::format("{} nodes", nodes));
    decide.push_back(median(shown.plain.ours));
    allocations.push_back(decisions.allocations());
    run.expect(decisions.sum() != 0, "read pass");
  }
  run.rows.push_back({.name = fmt::format("growth of the warm decision, {} to {} nodes",
                                          run.small_nodes, run.large_nodes),
                      .ours = decide[1] / decide[0],
                      .unit = "x",
                      .goal = "<= 4 x",
                      .met = decide[1] / decide[0] <= 4});
  const double more = static_cast<double>(allocations[1]) - static_cast<double>(allocations[0]);
  run.rows.push_back(
      {.name = fmt::format("heap allocations of a warm decision ({} in all)", allocations[1]),
       .ours = more / (run.large_nodes - run.small_nodes),
       .unit = "a node",
       .goal = "0",
       .met = more == 0});
  measure_refusal(run);
  measure_racks(run);
}

}  // namespace gang::bench
