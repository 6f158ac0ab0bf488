#include "gang/sim/trace.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "gang/base/file.h"
#include "sim/trace_csv.h"
#include "sim/trace_engine.h"
#include "sim/trace_fleet.h"
#include "sim/trace_gang_policy.h"
#include "sim/trace_jobs.h"
#include "sim/trace_load.h"
#include "sim/trace_policy.h"

namespace gang::sim {
namespace {

constexpr const char* kNodes =
    "sn,cpu_milli,memory_mib,gpu,model\n"
    "a,8000,8000,2,T4\n"
    "b,64000,64000,2,V100\n";

std::string text_of(const std::string& name) {
  return *read_file(std::string(GANG_SOURCE_ROOT) + "/test/sim/traces/" + name, 1 << 20);
}

TraceLoad load_of(const std::string& pods) {
  return *read_trace_load(kNodes, "cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec\n" + pods);
}

std::string refusal(const std::string& nodes, const std::string& pods) {
  const auto load = read_trace_load(nodes, pods);
  return load ? "" : load.error().message;
}

TEST(TraceLoad, ReadsNodesAndRequests) {
  const TraceLoad load = load_of("4000,100,1,300,T4|V100\n100,1,0,0,\n4000,100,1,300,T4|V100\n");
  ASSERT_EQ(load.nodes.size(), 2U);
  EXPECT_EQ(load.gpu_total(), 4'000);
  EXPECT_EQ(load.pods, (std::vector<std::uint32_t>{0, 1, 0}));
  EXPECT_EQ(load.requests[0].gpu_milli, 300);
  EXPECT_EQ(load.requests[0].models, 3U);
  EXPECT_EQ(load.requests[1].gpu_count, 0);
}

TEST(TraceLoad, NamesTheRowThatItCannotRead) {
  EXPECT_EQ(refusal("sn,cpu_milli\na,1\n", ""),
            "there is no column memory_mib; give a table that has it");
  EXPECT_EQ(refusal("sn,cpu_milli,memory_mib,gpu,model\na,x,1,1,T4\n", ""),
            "row 1, column cpu_milli is no whole number");
  EXPECT_EQ(refusal("sn,cpu_milli,memory_mib,gpu,model\na,1,1\n", ""),
            "row 1 has another number of cells than the line of names; give a table of "
            "comma-separated values");
  EXPECT_EQ(refusal(kNodes, "cpu_milli,memory_mib,num_gpu,gpu_milli\n1,1,1,-5\n"),
            "row 1, column gpu_milli is no whole number");
}

TEST(TraceLoad, ArrivalsAreTheListAndThenMoreOfIt) {
  const TraceLoad load = load_of("1,1,1,500,\n1,1,1,1000,\n1,1,0,0,\n");
  const std::vector<std::uint32_t> order = arrivals(load, 7, 130);
  EXPECT_EQ(order, arrivals(load, 7, 130));
  std::int64_t asked = 0;
  for (const std::uint32_t pod : order) asked += load.requests[pod].gpu_total();
  EXPECT_GE(asked, 5'200);
  EXPECT_LT(asked - load.requests[order.back()].gpu_total(), 5'200);
  std::vector<std::uint32_t> first(order.begin(), order.begin() + 3);
  std::ranges::sort(first);
  EXPECT_EQ(first, (std::vector<std::uint32_t>{0, 1, 2}));
}

TEST(TraceFragments, CountWhatTheNextPodCannotUse) {
  // Half of the pods ask for no GPU, the others for two whole ones.
  const TraceLoad load = load_of("1000,1,2,1000,\n1000,1,0,0,\n");
  const TraceFragments fragments(load);
  TraceFleet fleet(load);
  EXPECT_EQ(fragments.of(fleet.nodes()[0]), 2'000);  // of 2 x 2,000: the pod without GPU
  fleet.take({.cpu_milli = 1, .memory_mib = 1, .gpu_count = 1, .gpu_milli = 300},
             {.node = 0, .gpus = {1}});
  EXPECT_EQ(fragments.of(fleet.nodes()[0]), 3'400);  // nobody can use what is left
  EXPECT_EQ(fleet.gpu_taken(), 300);
}

/// Nodes that three pods with the first request go to.
std::string nodes_of(const std::string& policy, const std::string& pods) {
  const TraceLoad load = load_of(pods);
  const auto placer = policy == "engine" ? engine_policy(load, {}) : reference_policy(policy, load);
  std::string names;
  for (int i = 0; i < 3; ++i) {
    const std::optional<TraceSpot> spot = placer->place(0);
    names += spot ? load.nodes[spot->node].name : "-";
  }
  return names;
}

TEST(TracePolicy, EachChoosesByItsOwnRule) {
  EXPECT_EQ(nodes_of("upstream-like", "1000,1,1,1000,\n"), "bba");
  EXPECT_EQ(nodes_of("best fit", "1000,1,1,1000,\n"), "aab");
  EXPECT_EQ(nodes_of("FGD", "1000,1,1,1000,\n4000,1,2,1000,\n"), "aab");
}

TEST(TracePolicy, ModelsAndRoomAreKept) {
  for (const std::string& policy : pod_policies()) {
    EXPECT_EQ(nodes_of(policy, "1000,1,1,1000,T4\n"), "aa-") << policy;
    EXPECT_EQ(nodes_of(policy, "1000,1,2,1000,\n").find('-'), 2U) << policy;
    EXPECT_EQ(nodes_of(policy, "5000,1,1,600,T4\n"), "a--") << policy;
  }
}

TEST(Trace, TellsAllPoliciesOfAShortTrace) {
  const std::string nodes = text_of("nodes.csv");
  const std::string pods = text_of("pods.csv");
  const std::string published = text_of("published.csv");
  const auto lines = play_pods(
      {.name = "pods", .nodes = nodes, .pods = pods, .published = published}, {.seeds = 3});
  ASSERT_TRUE(lines) << lines.error().message;
  EXPECT_EQ(pod_trace_head() + *lines, text_of("pods.table.txt"));
}

TEST(TraceJobs, FillAsMuchOfTheFleetAsIsSaid) {
  const auto jobs =
      read_trace_jobs("arrival_s,gang_gpus,total_steps\n0,8,100\n10,4,200\n100,1,0\n", 16, 50);
  ASSERT_TRUE(jobs) << jobs.error().message;
  std::int64_t work = 0;
  for (const TraceJob& job : *jobs) work += job.gpus * job.duration;
  EXPECT_NEAR(static_cast<double>(work), 16 * 100'000 / 2, 32);
  EXPECT_EQ((*jobs)[1].arrival, 10'000);
  EXPECT_EQ(pods_of_job(20), (std::vector<std::int32_t>{8, 8, 4}));
}

/// How many of the gangs, started one after the other, find room on two nodes; then, after the
/// first one ended, whether the last one does.
std::string started(TraceStarter& starter, std::size_t jobs) {
  std::string text;
  for (std::size_t job = 0; job < jobs; ++job) text += starter.start(job) ? "1" : "0";
  starter.end(0);
  return text + (starter.start(jobs - 1) ? "1" : "0");
}

TEST(TraceStarter, StartsGangsWholeOrNotAtAll) {
  const std::vector<TraceJob> jobs = {{.gpus = 2}, {.gpus = 6}, {.gpus = 16}, {.gpus = 10}};
  EXPECT_EQ(started(*engine_starter(jobs, 2), jobs.size()), "11001");
  EXPECT_EQ(started(*reference_starter("best fit", jobs, 2), jobs.size()), "11001");
  EXPECT_EQ(started(*reference_starter("upstream-like", jobs, 2), jobs.size()), "11001");
  EXPECT_EQ(started(*reference_starter("pool", jobs, 1), jobs.size()), "11000");
}

TEST(Trace, TellsAllPoliciesOfAShortListOfJobs) {
  const std::string jobs = text_of("jobs.csv");
  const auto lines = play_gangs({.jobs = jobs, .node_count = 8, .load_percent = 110}, {});
  ASSERT_TRUE(lines) << lines.error().message;
  EXPECT_EQ(gang_trace_head() + *lines, text_of("jobs.table.txt"));
}

TEST(Trace, RefusesAPolicyThatIsNone) {
  const auto lines = play_pods({.name = "pods", .nodes = kNodes, .pods = text_of("pods.csv")},
                               {.policies = {"worst fit"}});
  ASSERT_FALSE(lines);
  EXPECT_EQ(lines.error().message,
            "\"worst fit\" is no policy; write one of: engine, upstream-like, best fit, FGD");
}

}  // namespace
}  // namespace gang::sim
