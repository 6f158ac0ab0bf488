// Public traces with the engine against plain code: all arrivals of one order on the openb fleet,
// and all jobs of a gang trace. The short ones of the tests where the data are not there.
#include <fmt/format.h>

#include <filesystem>
#include <string>
#include <utility>

#include "bench/rows.h"
#include "gang/base/file.h"
#include "gang/sim/trace.h"

namespace gang::bench {

namespace {

constexpr const char* kShared = "../shared/data/";
constexpr const char* kShort = "test/sim/traces/";

/// Files of a trace.
struct TraceFiles {
  std::string nodes;
  std::string pods;
  std::string jobs;
};

TraceFiles files_of(bool smoke) {
  const std::string shared = kShared;
  const TraceFiles whole = {.nodes = shared + "openb/openb_node_list_gpu_node.csv",
                            .pods = shared + "openb/openb_pod_list_default.csv",
                            .jobs = shared + "philly-gavel/philly_gavel_seed0_jobs.csv"};
  const bool is_there = std::filesystem::exists(whole.nodes) &&
                        std::filesystem::exists(whole.pods) && std::filesystem::exists(whole.jobs);
  if (is_there && !smoke) return whole;
  const std::string brief = kShort;
  return {.nodes = brief + "nodes.csv", .pods = brief + "pods.csv", .jobs = brief + "jobs.csv"};
}

std::string text_of(Run& run, const std::string& path) {
  Result<std::string> text = read_file(path, 64U << 20U);
  run.expect(text.has_value(), "the trace " + path);
  return text ? *std::move(text) : std::string();
}

}  // namespace

void measure_traces(Run& run) {
  const TraceFiles files = files_of(run.smoke);
  const std::string nodes = text_of(run, files.nodes);
  const std::string pods = text_of(run, files.pods);
  const std::string jobs = text_of(run, files.jobs);
  const auto play = [&](const char* policy) {
    const auto lines = sim::play_pods({.name = "pods", .nodes = nodes, .pods = pods},
                                      {.seeds = 1, .policies = {policy}});
    run.expect(lines.has_value(), std::string("pods of a trace, ") + policy);
  };
  const auto start = [&](const char* policy) {
    const auto lines =
        sim::play_gangs({.jobs = jobs, .node_count = run.smoke ? 8U : 5'000U}, {policy});
    run.expect(lines.has_value(), std::string("jobs of a trace, ") + policy);
  };
  Pairs arrivals;
  Pairs gangs;
  for (int i = 0; i < (run.smoke ? 1 : 3); ++i) {
    arrivals.ours.push_back(microseconds([&] { play("engine"); }));
    arrivals.reference.push_back(microseconds([&] { play("FGD"); }));
    gangs.ours.push_back(microseconds([&] { start("engine"); }));
    gangs.reference.push_back(microseconds([&] { start("best fit"); }));
  }
  run.rows.push_back(
      with_goal(row_of("all arrivals of openb", arrivals, "plain FGD"), "<= 1 s", 1'000'000));
  run.rows.push_back(with_goal(row_of("all jobs of a trace on 5,000 nodes", gangs, "best fit"),
                               "<= 3 s", 3'000'000));
}

}  // namespace gang::bench
