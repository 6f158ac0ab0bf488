#include "engine/explain.h"

#include <gtest/gtest.h>

#include <numeric>

#include "engine/cluster_fixture.h"

namespace gang::engine {
namespace {

using test::node;
using test::pod;
using test::pod_group;
using test::PodBuilder;

TEST(Explain, B156TheNumbersAddUpToAllNodes) {
  TestCluster cluster;
  for (int i = 0; i < 10; ++i) {
    test::NodeBuilder one = node("n" + std::to_string(i)).label("pool", i == 9 ? "b" : "a");
    if (i < 3) one.gpu(8);
    if (i == 7 || i == 8) one.gpu(8).taint("dedicated");
    cluster.add(one);
  }
  cluster.add(pod_group("g").min(4));
  cluster.add(members("g", 4, [](PodBuilder& pod) { pod.gpu(8).selects("pool", "a"); }));
  const Explanation explanation = cluster.refused("g");
  EXPECT_EQ(explanation.message,
            "pod group is unschedulable, minCount (4) cannot be satisfied: 3 scheduled, "
            "0 remaining; 7 Insufficient nvidia.com/gpu, 2 node(s) had untolerated taint(s), "
            "1 node(s) didn't match Pod's node affinity/selector");
  const std::int64_t sum = std::accumulate(
      explanation.reasons.begin(), explanation.reasons.end(), std::int64_t{0},
      [](std::int64_t total, const Reason& reason) { return total + reason.node_count; });
  EXPECT_EQ(sum, 10);
  EXPECT_EQ(explanation.node_total, 10);
  EXPECT_EQ(explanation.scheduled, 3);
  EXPECT_EQ(explanation.minimum, 4);
  EXPECT_EQ(explanation.live, 4);
  EXPECT_EQ(text_of(explanation, "g-0"), explanation.message);
}

TEST(Explain, B161AMemberThatFitsAloneIsToldThatTheGroupIsTheReason) {
  TestCluster cluster;
  cluster.add(node("n1").gpu(8)).add(node("n2").gpu(8));
  cluster.add(pod_group("g").min(3));
  cluster.add(pod("m1").group("g").gpu(1).created(1)).add(pod("m2").group("g").gpu(1).created(2));
  cluster.add(pod("m3").group("g").gpu(99).created(3));
  const Explanation explanation = cluster.refused("g");
  EXPECT_EQ(text_of(explanation, "m3"), "0/2 nodes are available: 2 Insufficient nvidia.com/gpu.");
  const std::string group =
      "pod group is unschedulable, minCount (3) cannot be satisfied: 2 scheduled, 0 remaining; "
      "2 Insufficient nvidia.com/gpu; pod m3 fits no node";
  EXPECT_EQ(text_of(explanation, "m1"), group);
  EXPECT_EQ(text_of(explanation, "m2"), group);
  EXPECT_EQ(explanation.message, group);
}

TEST(Explain, AMemberThatFitsNowhereIsNamedWhereTheReasonsAreAboutOthers) {
  TestCluster cluster;
  cluster.add(node("n1").gpu(1)).add(pod("busy").gpu(1).on("n1"));
  cluster.add(pod_group("g").min(2)).add(pod("plain").group("g").gpu(1).created(1));
  cluster.add(pod("odd").group("g").selects("zone", "mars").gpu(1).created(2));
  EXPECT_EQ(cluster.refused("g").message,
            "pod group is unschedulable, minCount (2) cannot be satisfied: 0 scheduled, 0 "
            "remaining; 1 Insufficient nvidia.com/gpu; pod odd fits no node: 0/1 nodes are "
            "available: 1 node(s) didn't match Pod's node affinity/selector.");
}

TEST(Explain, K01K03ALonePodIsToldAHistogramOfItsOwn) {
  TestCluster cluster;
  cluster.add(node("n1").taint("a")).add(node("n2").taint("a")).add(node("n3").cpu("1"));
  cluster.add(pod("p").cpu("2"));
  const Explanation explanation = cluster.refused("p");
  const char* text =
      "0/3 nodes are available: 1 Insufficient cpu, 2 node(s) had untolerated taint(s).";
  EXPECT_EQ(explanation.message, text);
  EXPECT_EQ(text_of(explanation, "p"), text);
  TestCluster small;
  small.add(node("n1")).add(pod("p").cpu("5").memory("9Gi"));
  EXPECT_EQ(small.refused("p").message,
            "0/1 nodes are available: 1 Insufficient cpu, 1 Insufficient memory.");
}

TEST(Explain, K02EntriesAreSortedAsStrings) {
  TestCluster cluster;
  for (int i = 0; i < 10; ++i) cluster.add(node("full" + std::to_string(i)).pods(0));
  cluster.add(node("small0").cpu("1")).add(node("small1").cpu("1"));
  cluster.add(pod("p").cpu("2"));
  EXPECT_EQ(cluster.refused("p").message,
            "0/12 nodes are available: 10 Too many pods, 2 Insufficient cpu.");
}

TEST(Explain, A10SaysThatThereAreNoNodes) {
  TestCluster cluster;
  cluster.add(pod("p").cpu("1"));
  EXPECT_EQ(cluster.refused("p").message, "no nodes available to schedule pods");
  cluster.add(pod_group("g").min(1)).add(pod("g-0").group("g"));
  EXPECT_EQ(cluster.refused("g").message,
            "pod group is unschedulable, minCount (1) cannot be satisfied: 0 scheduled, "
            "0 remaining; no nodes available to schedule pods");
}

TEST(Explain, ShowsTheLargestCausesFirstAndKeepsTheRest) {
  TestCluster cluster({.reasons_shown_max = 2});
  cluster.add(node("a").taint("x")).add(node("b").cpu("1")).add(node("c").cpu("1"));
  cluster.add(node("d").unschedulable());
  cluster.add(pod_group("g").min(1)).add(pod("g-0").group("g").cpu("2"));
  const Explanation explanation = cluster.refused("g");
  EXPECT_EQ(explanation.message,
            "pod group is unschedulable, minCount (1) cannot be satisfied: 0 scheduled, "
            "0 remaining; 2 Insufficient cpu, 1 node(s) had untolerated taint(s) and 1 more");
  ASSERT_EQ(explanation.reasons.size(), 3U);
  EXPECT_EQ(explanation.reasons[0].filter, "NodeResourcesFit");
  EXPECT_EQ(explanation.reasons[1].filter, "TaintToleration");
  EXPECT_EQ(explanation.reasons[2].filter, "NodeUnschedulable");
}

TEST(Explain, GivesReasonsOfTheFirstClassLeftOverAfterTheOthersArePlaced) {
  TestCluster cluster;
  cluster.add(node("n1").cpu("4"));
  cluster.add(pod_group("g").min(3));
  cluster.add(pod("big").group("g").cpu("3").created(1));
  cluster.add(pod("small1").group("g").cpu("1").created(2));
  cluster.add(pod("small2").group("g").cpu("1").created(3));
  const Explanation explanation = cluster.refused("g");
  EXPECT_EQ(explanation.scheduled, 2);
  EXPECT_EQ(explanation.verdict, Verdict::kImpossibleNow);
  ASSERT_EQ(explanation.reasons.size(), 1U);
  EXPECT_EQ(explanation.reasons[0], (Reason{"NodeResourcesFit", "Insufficient cpu", 1}));
}

}  // namespace
}  // namespace gang::engine
