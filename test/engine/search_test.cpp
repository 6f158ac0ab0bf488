#include "engine/search.h"

#include <gtest/gtest.h>

#include "engine/cluster_fixture.h"

namespace gang::engine {
namespace {

using test::node;
using test::pod;
using test::pod_group;
using test::PodBuilder;

void add_members(TestCluster& cluster, const std::string& prefix, int count, const Shape& shape) {
  for (int i = 0; i < count; ++i) {
    PodBuilder member = pod(prefix + std::to_string(i)).group("g");
    shape(member);
    cluster.add(member);
  }
}

/// Greedy, scarcest first, puts the gpu pod on the node with more memory left to others; only one
/// of both nodes leaves the memory that the other member needs.
TEST(Search, GoesBackOverAChoiceThatSpoilsALaterClass) {
  TestCluster cluster;
  // Two gpu nodes; "a" is the only node where the memory pod fits, and scores best for gpu.
  cluster.add(node("a").gpu(2).memory("16Gi").cpu("8")).add(node("b").gpu(4).memory("4Gi"));
  cluster.add(pod_group("g").min(3));
  add_members(cluster, "gpu", 1, [](PodBuilder& pod) { pod.gpu(2).memory("4Gi"); });
  add_members(cluster, "mem", 2, [](PodBuilder& pod) { pod.memory("8Gi"); });
  EXPECT_EQ(cluster.placed_by_pod("g"), "gpu0=b mem0=a mem1=a");
}

TEST(Search, LeavesOutMembersAboveTheMinimum) {
  TestCluster cluster;
  cluster.add(node("n1").cpu("4"));
  cluster.add(pod_group("g").min(4));
  add_members(cluster, "big", 1, [](PodBuilder& pod) { pod.cpu("4"); });
  add_members(cluster, "small", 4, [](PodBuilder& pod) { pod.cpu("1"); });
  EXPECT_EQ(cluster.placed_by_pod("g"), "small0=n1 small1=n1 small2=n1 small3=n1");
}

TEST(Search, ProvesThatUnlikeMembersDoNotFitTogether) {
  TestCluster cluster;
  for (const char* name : {"n1", "n2", "n3", "n4"}) cluster.add(node(name).gpu(8));
  cluster.add(pod_group("g").min(7));
  add_members(cluster, "whole", 3, [](PodBuilder& pod) { pod.gpu(8); });
  add_members(cluster, "half", 4, [](PodBuilder& pod) { pod.gpu(4); });
  const Explanation explanation = cluster.refused("g");
  EXPECT_EQ(explanation.verdict, Verdict::kImpossibleNow);
  EXPECT_EQ(explanation.remaining, 0);
  EXPECT_TRUE(cluster.could_hold("g"));
}

TEST(Search, RefusesWithoutASearchWhatTheWholeClusterLacks) {
  TestCluster cluster;
  for (int i = 0; i < 500; ++i) cluster.add(node("n" + std::to_string(i)).cpu("3"));
  cluster.add(pod_group("g").min(1500));
  // Each class alone would fit.
  add_members(cluster, "two", 300, [](PodBuilder& pod) { pod.cpu("2"); });
  add_members(cluster, "one", 1200, [](PodBuilder& pod) { pod.cpu("1"); });
  EXPECT_TRUE(cluster.could_hold("g"));
  EXPECT_EQ(cluster.refused("g").verdict, Verdict::kImpossibleNow);
  EXPECT_EQ(cluster.planner.stats().search_steps, 0);
}

/// Every node has room for one of either class, and enough is free in all.
TEST(Search, LetsOneOfManyEqualNodesSpeakForAll) {
  TestCluster cluster;
  for (int i = 0; i < 60; ++i) cluster.add(node("n" + std::to_string(i)).cpu("3"));
  cluster.add(pod_group("g").min(61));
  add_members(cluster, "two", 30, [](PodBuilder& pod) { pod.cpu("2"); });
  add_members(cluster, "more", 31, [](PodBuilder& pod) { pod.cpu("1700m"); });
  EXPECT_TRUE(cluster.could_hold("g"));
  const Explanation explanation = cluster.refused("g");
  EXPECT_EQ(explanation.verdict, Verdict::kImpossibleNow);
  EXPECT_EQ(explanation.scheduled, 60);
  EXPECT_LT(cluster.planner.stats().search_steps, 200);
}

TEST(Search, SaysHonestlyThatItReachedItsLimit) {
  TestCluster cluster({.search_steps_max = 5});
  for (int i = 0; i < 6; ++i) {
    cluster.add(node("n" + std::to_string(i)).cpu(std::to_string(4 + i)).memory("64Gi"));
  }
  cluster.add(pod_group("g").min(9));
  add_members(cluster, "a", 3, [](PodBuilder& pod) { pod.cpu("4"); });
  add_members(cluster, "b", 3, [](PodBuilder& pod) { pod.cpu("3500m"); });
  add_members(cluster, "c", 3, [](PodBuilder& pod) { pod.cpu("5"); });
  const Explanation explanation = cluster.refused("g");
  EXPECT_EQ(explanation.verdict, Verdict::kSearchLimitReached);
  EXPECT_GT(explanation.remaining, 0);
  EXPECT_EQ(explanation.scheduled + explanation.remaining, 9);
  EXPECT_NE(explanation.message.find(" remaining; search limit reached; "), std::string::npos)
      << explanation.message;
  EXPECT_EQ(cluster.planner.stats().search_steps, 5);
}

TEST(Search, SeparatesClassesThatWantOnePort) {
  TestCluster cluster;
  cluster.add(node("n1")).add(node("n2"));
  cluster.add(pod_group("g").min(2));
  add_members(cluster, "a", 1, [](PodBuilder& pod) { pod.cpu("1").host_port(80); });
  add_members(cluster, "b", 1, [](PodBuilder& pod) { pod.cpu("2").host_port(80); });
  const Plan plan = cluster.plan("g");
  ASSERT_EQ(plan.assignments.size(), 2U);
  EXPECT_NE(plan.assignments[0].node_name, plan.assignments[1].node_name);
  cluster.add(pod("c").group("g").host_port(80));
  cluster.update(pod_group("g").min(3));
  EXPECT_EQ(cluster.refused("g").scheduled, 2);
}

TEST(Search, LeavesTheTablesAsTheyWere) {
  TestCluster cluster({.search_steps_max = 50});
  for (int i = 0; i < 6; ++i) cluster.add(node("n" + std::to_string(i)).cpu(std::to_string(4 + i)));
  cluster.add(pod_group("g").min(9));
  add_members(cluster, "a", 3, [](PodBuilder& pod) { pod.cpu("4"); });
  add_members(cluster, "b", 3, [](PodBuilder& pod) { pod.cpu("3500m"); });
  add_members(cluster, "c", 3, [](PodBuilder& pod) { pod.cpu("5"); });
  const std::string first = cluster.refused("g").message;
  for (int i = 0; i < 3; ++i) EXPECT_EQ(cluster.refused("g").message, first);
  Planner cold{{.search_steps_max = 50}};
  const Decision again = cold.plan(*cluster.state.snapshot(), cluster.gang("g"));
  EXPECT_EQ(std::get<Explanation>(again).message, first);
}

}  // namespace
}  // namespace gang::engine
