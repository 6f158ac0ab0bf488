#include "gang/sim/simulator.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/builders.h"

namespace gang::sim {
namespace {

/// What a user makes has no UID yet.
api::Pod made(test::PodBuilder builder) {
  api::Pod pod = builder.build();
  pod.meta.uid = {};
  pod.meta.creation_time = {};
  return pod;
}

/// Two nodes of one GPU and a gang of two.
void put_gang_of_two(SimCluster& cluster) {
  cluster.put(test::node("n1").gpu(1));
  cluster.put(test::node("n2").gpu(1));
  cluster.put(test::pod_group("g").min(2));
  for (const char* name : {"g-0", "g-1"}) {
    cluster.put(made(test::pod(name).group("g").gpu(1).controller("Job", "g")));
  }
}

int bound_count(const SimCluster& cluster) {
  int count = 0;
  for (const auto& [key, pod] : cluster.pods()) count += pod.node_name.empty() ? 0 : 1;
  return count;
}

std::vector<std::string> texts(const std::vector<TraceEntry>& trace) {
  std::vector<std::string> lines;
  for (const TraceEntry& entry : trace) lines.push_back(entry.gang + " " + entry.text);
  return lines;
}

TEST(Simulator, SettlesWithoutMovingTime) {
  Simulator simulator{SimulatorOptions{}};
  put_gang_of_two(simulator.cluster());
  simulator.settle();
  EXPECT_EQ(bound_count(simulator.cluster()), 2);
  EXPECT_EQ(simulator.elapsed(), Duration::zero());
  EXPECT_EQ(texts(simulator.take_trace()), std::vector<std::string>({"g bound"}));
  EXPECT_TRUE(simulator.take_trace().empty());
}

TEST(Simulator, HearsWithoutPlanning) {
  Simulator simulator{SimulatorOptions{}};
  put_gang_of_two(simulator.cluster());
  EXPECT_EQ(simulator.scheduler().state().counts().pending_pods, 0U);
  simulator.hear();
  EXPECT_EQ(simulator.scheduler().state().counts().pending_pods, 2U);
  EXPECT_FALSE(simulator.cluster().has_requests());
  EXPECT_TRUE(simulator.take_trace().empty());
  simulator.settle();
  EXPECT_EQ(bound_count(simulator.cluster()), 2);
}

TEST(Simulator, AdvanceStopsAtEachTimer) {
  Simulator simulator{SimulatorOptions{}};
  put_gang_of_two(simulator.cluster());
  simulator.cluster().delete_gracefully({"default", "g-1"}, Duration::zero());
  simulator.advance(std::chrono::minutes(1));
  const std::vector<TraceEntry> trace = simulator.take_trace();
  ASSERT_EQ(trace.size(), 1U);
  EXPECT_EQ(trace[0].at, std::chrono::seconds(5));
  EXPECT_EQ(trace[0].details, std::vector<std::string>({"1 of 2 pods exist"}));
  EXPECT_EQ(simulator.elapsed(), std::chrono::minutes(1));
}

TEST(Simulator, DiesAfterTheBindingItWasToldAndLeavesItExecuted) {
  Simulator simulator{SimulatorOptions{}};
  put_gang_of_two(simulator.cluster());
  simulator.crash_after({.count = 1});
  simulator.settle();
  EXPECT_FALSE(simulator.daemon_is_up());
  EXPECT_EQ(bound_count(simulator.cluster()), 1);
  simulator.advance(std::chrono::hours(1));
  EXPECT_EQ(bound_count(simulator.cluster()), 1) << "nobody is there who could bind";
  simulator.restart();
  simulator.settle();
  EXPECT_EQ(bound_count(simulator.cluster()), 2);
}

TEST(Simulator, DiesAfterAnyWriteWhenItIsToldSo) {
  Simulator simulator{SimulatorOptions{}};
  put_gang_of_two(simulator.cluster());
  simulator.crash_after({.count = 3, .all_writes = true});
  simulator.settle();
  EXPECT_FALSE(simulator.daemon_is_up());
  ASSERT_EQ(simulator.cluster().writes().size(), 3U);
  EXPECT_EQ(simulator.cluster().writes().back().verb, "patch group");
}

TEST(Simulator, NewDaemonHasAnotherEpoch) {
  Simulator simulator{SimulatorOptions{}};
  put_gang_of_two(simulator.cluster());
  simulator.settle();
  const auto stamp = [&](const char* pod) {
    return *api::find(simulator.cluster().pod({"default", pod})->meta.annotations,
                      api::kRoundAnnotation);
  };
  const std::string before = stamp("g-0");
  simulator.cluster().delete_gracefully({"default", "g-0"}, Duration::zero());
  simulator.crash();
  simulator.restart();
  simulator.cluster().put(made(test::pod("g-0").group("g").gpu(1)));
  simulator.settle();
  EXPECT_NE(stamp("g-0"), before);
}

TEST(Simulator, EndsTerminatingPodsAtTheirTime) {
  Simulator simulator{SimulatorOptions{}};
  put_gang_of_two(simulator.cluster());
  simulator.settle();
  simulator.cluster().delete_gracefully({"default", "g-0"}, std::chrono::seconds(30));
  simulator.advance(std::chrono::seconds(29));
  EXPECT_NE(simulator.cluster().pod({"default", "g-0"}), nullptr);
  simulator.advance(std::chrono::seconds(1));
  EXPECT_EQ(simulator.cluster().pod({"default", "g-0"}), nullptr);
}

}  // namespace
}  // namespace gang::sim
