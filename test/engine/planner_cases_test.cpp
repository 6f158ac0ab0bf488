// Cases of the case book that one decision shows, named after their ids.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <set>

#include "engine/cluster_fixture.h"

namespace gang::engine {
namespace {

using test::node;
using test::pod;
using test::pod_group;
using test::PodBuilder;

void gpus(TestCluster& cluster, int count, int gpu = 1) {
  for (int i = 0; i < count; ++i) cluster.add(node("n" + std::to_string(i)).gpu(gpu));
}

Shape gpu(int count) {
  return [count](PodBuilder& pod) { pod.gpu(count); };
}

std::set<std::string> nodes_of(const Plan& plan) {
  std::set<std::string> nodes;
  for (const Assignment& assignment : plan.assignments) nodes.insert(assignment.node_name);
  return nodes;
}

TEST(PlannerCases, B001OneOfTwoInterleavedGangsTakesAllAndTheOtherNothing) {
  TestCluster cluster;
  gpus(cluster, 10);
  cluster.add(pod_group("a").min(10)).add(pod_group("b").min(10));
  const std::vector<api::Pod> a = members("a", 10, gpu(1));
  const std::vector<api::Pod> b = members("b", 10, gpu(1));
  for (int i = 0; i < 10; ++i) cluster.add(api::Object(a[i])).add(api::Object(b[i]));
  const Plan plan = cluster.plan("a");
  EXPECT_EQ(nodes_of(plan).size(), 10U);
  cluster.assume(plan);
  EXPECT_EQ(cluster.refused("b").message,
            "pod group is unschedulable, minCount (10) cannot be satisfied: 0 scheduled, "
            "0 remaining; 10 Insufficient nvidia.com/gpu");
}

TEST(PlannerCases, B003AGangThatMissesByOneTakesNothing) {
  TestCluster cluster;
  gpus(cluster, 9);
  cluster.add(pod_group("g").min(10)).add(members("g", 10, gpu(1)));
  EXPECT_EQ(cluster.refused("g").scheduled, 9);
  cluster.add(pod("solo").gpu(1));
  EXPECT_EQ(cluster.plan("solo").assignments.size(), 1U);
}

TEST(PlannerCases, B005ALaterGangThatFitsIsPlacedBesideOneThatDoesNot) {
  TestCluster cluster;
  cluster.add(node("n1").cpu("10"));
  cluster.add(pod_group("pg1").min(3));
  cluster.add(members("pg1", 3, [](PodBuilder& pod) { pod.cpu("4"); }));
  cluster.add(pod_group("pg2").min(1)).add(pod("late").group("pg2").cpu("3"));
  EXPECT_NE(cluster.refused("pg1").message.find("Insufficient cpu"), std::string::npos);
  EXPECT_EQ(cluster.placed("pg2"), "late=n1");
}

TEST(PlannerCases, B006ALeaderWaitsForItsWorker) {
  TestCluster cluster;
  gpus(cluster, 4);
  for (const char* group : {"g0", "g1", "g2", "g3"}) {
    cluster.add(pod_group(group).min(2));
    cluster.add(pod(std::string(group) + "-leader").group(group).gpu(1));
    EXPECT_EQ(cluster.refused(group).verdict, Verdict::kWaitingForPods);
  }
  for (const char* group : {"g0", "g1", "g2", "g3"}) {
    cluster.add(pod(std::string(group) + "-worker").group(group).gpu(1));
  }
  cluster.assume(cluster.plan("g0"));
  cluster.assume(cluster.plan("g1"));
  EXPECT_EQ(cluster.refused("g2").scheduled, 0);
  EXPECT_EQ(cluster.refused("g3").scheduled, 0);
}

TEST(PlannerCases, B008FiveOfSixArePlacedWhenTheMinimumIsFour) {
  TestCluster cluster;
  gpus(cluster, 5);
  cluster.add(node("n-low").gpu(1)).add(pod("low").on("n-low").gpu(1));
  cluster.add(pod_group("g").min(4)).add(members("g", 6, gpu(1)));
  const Plan plan = cluster.plan("g");
  EXPECT_EQ(plan.need, 4);
  EXPECT_EQ(plan.assignments.size(), 5U);
  EXPECT_EQ(nodes_of(plan).count("n-low"), 0U);
}

TEST(PlannerCases, B009BasicPolicyPlacesWhatFits) {
  TestCluster cluster;
  gpus(cluster, 3, 8);
  cluster.add(pod_group("p").basic()).add(members("p", 4, gpu(8)));
  const Plan plan = cluster.plan("p");
  EXPECT_EQ(plan.minimum, 1);
  EXPECT_EQ(plan.assignments.size(), 3U);
  cluster.assume(plan);
  cluster.add(node("n3").gpu(8));
  EXPECT_EQ(cluster.placed("p"), "p-3=n3");
}

TEST(PlannerCases, B010ASmallMemberLeavesTheOnlyRoomOfTheBigOne) {
  for (const bool small_first : {true, false}) {
    TestCluster cluster;
    cluster.add(node("n1").cpu("4")).add(node("n2").cpu("2"));
    cluster.add(pod_group("g").min(2));
    cluster.add(pod("p-small").group("g").cpu("2").created(small_first ? 1 : 2));
    cluster.add(pod("p-big").group("g").cpu("4").created(small_first ? 2 : 1));
    EXPECT_EQ(cluster.placed_by_pod("g"), "p-big=n1 p-small=n2");
  }
}

TEST(PlannerCases, B013MembersWithOneHostPortNeedANodeEach) {
  TestCluster cluster;
  cluster.add(node("n1").cpu("64")).add(node("n2").cpu("64"));
  cluster.add(pod_group("g").min(3));
  cluster.add(members("g", 3, [](PodBuilder& pod) { pod.cpu("1").host_port(8471); }));
  const Explanation explanation = cluster.refused("g");
  EXPECT_EQ(explanation.message,
            "pod group is unschedulable, minCount (3) cannot be satisfied: 2 scheduled, "
            "0 remaining; 2 node(s) didn't have free ports for the requested pod ports");
  cluster.add(node("n3").cpu("64"));
  EXPECT_EQ(nodes_of(cluster.plan("g")).size(), 3U);
}

TEST(PlannerCases, O03AGangOfThreeWithAHostPortTakesThreeNodes) {
  TestCluster cluster;
  for (const char* name : {"n1", "n2", "n3", "n4"}) cluster.add(node(name));
  cluster.add(pod_group("g").min(3));
  cluster.add(members("g", 3, [](PodBuilder& pod) { pod.host_port(80); }));
  EXPECT_EQ(nodes_of(cluster.plan("g")).size(), 3U);
}

TEST(PlannerCases, B015ForeignPodsReduceTheRoom) {
  TestCluster cluster;
  cluster.add(node("n1").cpu("4000m"));
  const api::Pod foreign = pod("foreign").scheduler("default-scheduler").on("n1").cpu("1100m");
  cluster.add(api::Object(foreign));
  cluster.add(pod_group("g").min(3));
  cluster.add(members("g", 3, [](PodBuilder& pod) { pod.cpu("1000m"); }));
  EXPECT_EQ(cluster.refused("g").scheduled, 2);
  cluster.remove(foreign);
  EXPECT_EQ(cluster.plan("g").assignments.size(), 3U);
}

TEST(PlannerCases, B016AffinityLeavesFewerPlacesThanTheMinimum) {
  TestCluster cluster;
  for (int i = 0; i < 2; ++i) {
    cluster.add(node("a" + std::to_string(i)).gpu(1).label("pool", "a"));
  }
  for (int i = 0; i < 10; ++i) {
    cluster.add(node("b" + std::to_string(i)).gpu(1).label("pool", "b"));
  }
  cluster.add(pod_group("g").min(5)).add(members("g", 5, [](PodBuilder& pod) {
    pod.gpu(1).requires_term({.expressions = {{.key = "pool", .op = "In", .values = {"a"}}}});
  }));
  EXPECT_EQ(cluster.refused("g").message,
            "pod group is unschedulable, minCount (5) cannot be satisfied: 2 scheduled, "
            "0 remaining; 10 node(s) didn't match Pod's node affinity/selector, "
            "2 Insufficient nvidia.com/gpu");
  for (int i = 2; i < 5; ++i) {
    cluster.add(node("a" + std::to_string(i)).gpu(1).label("pool", "a"));
  }
  EXPECT_EQ(nodes_of(cluster.plan("g")), (std::set<std::string>{"a0", "a1", "a2", "a3", "a4"}));
}

TEST(PlannerCases, B019TheTextSaysHowManyWerePossible) {
  TestCluster cluster;
  gpus(cluster, 8, 8);
  for (int i = 0; i < 5; ++i) {
    const std::string n = std::to_string(i);
    cluster.add(pod("filler-" + n).on("n" + n).gpu(8));
  }
  cluster.add(pod_group("gang-4").min(4)).add(members("gang-4", 4, gpu(8)));
  EXPECT_EQ(cluster.refused("gang-4").message,
            "pod group is unschedulable, minCount (4) cannot be satisfied: 3 scheduled, "
            "0 remaining; 8 Insufficient nvidia.com/gpu");
  cluster.remove(pod("filler-2").on("n2").gpu(8).build());
  EXPECT_EQ(nodes_of(cluster.plan("gang-4")), (std::set<std::string>{"n2", "n5", "n6", "n7"}));
}

TEST(PlannerCases, B033AMinimumThatCanNeverBeMetWaitsWithoutOverflow) {
  TestCluster cluster;
  cluster.add(node("n1").cpu("1000"));
  cluster.add(pod_group("g").min(5));
  cluster.add(members("g", 3, [](PodBuilder& pod) { pod.cpu("1"); }));
  EXPECT_EQ(cluster.refused("g").message, "3 of 5 pods exist");
  cluster.add(pod_group("k").min(std::numeric_limits<std::int32_t>::max()));
  cluster.add(pod("k-0").group("k"));
  const Explanation explanation = cluster.refused("k");
  EXPECT_EQ(explanation.verdict, Verdict::kWaitingForPods);
  EXPECT_EQ(explanation.message, "1 of 2147483647 pods exist");
}

TEST(PlannerCases, B034AHopelessMemberIsForgottenWhenItIsReplaced) {
  TestCluster cluster;
  cluster.add(node("n1").cpu("2"));
  cluster.add(pod_group("g").min(2)).add(pod("b").group("g").cpu("1"));
  const api::Pod hopeless = pod("a").group("g").cpu("1").selects("no", "node");
  cluster.add(api::Object(hopeless));
  EXPECT_EQ(cluster.refused("g").verdict, Verdict::kImpossibleOnFleet);
  cluster.remove(hopeless);
  cluster.add(pod("a2").group("g").cpu("1").created(5));
  EXPECT_EQ(cluster.placed_by_pod("g"), "a2=n1 b=n1");
}

TEST(PlannerCases, B191ATaintAfterAFailedAttemptIsSeen) {
  TestCluster cluster;
  cluster.add(node("n1").gpu(1)).add(node("n2").gpu(1));
  cluster.add(pod_group("g").min(3)).add(members("g", 3, gpu(1)));
  EXPECT_EQ(cluster.refused("g").scheduled, 2);
  cluster.update(node("n1").gpu(1).taint("broken"));
  cluster.add(node("n3").gpu(1));
  EXPECT_EQ(cluster.refused("g").scheduled, 2);
  cluster.add(node("n4").gpu(1));
  EXPECT_EQ(nodes_of(cluster.plan("g")), (std::set<std::string>{"n2", "n3", "n4"}));
}

TEST(PlannerCases, B192ATolerantGangRunsOnCordonedNodes) {
  TestCluster cluster;
  const char* cordon = "node.kubernetes.io/unschedulable";
  for (const char* name : {"n1", "n2"}) {
    cluster.add(node(name).gpu(8).unschedulable().taint(cordon));
  }
  cluster.add(pod_group("strict").min(2)).add(members("strict", 2, gpu(8)));
  EXPECT_EQ(cluster.refused("strict").message,
            "pod group is unschedulable, minCount (2) cannot be satisfied: 0 scheduled, "
            "0 remaining; 2 node(s) were unschedulable");
  cluster.add(pod_group("tolerant").min(2));
  cluster.add(members("tolerant", 2, [cordon](PodBuilder& pod) { pod.gpu(8).tolerates(cordon); }));
  EXPECT_EQ(nodes_of(cluster.plan("tolerant")).size(), 2U);
}

}  // namespace
}  // namespace gang::engine
