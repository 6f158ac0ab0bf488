#include "gang/engine/planner.h"

#include <gtest/gtest.h>

#include "engine/cluster_fixture.h"

namespace gang::engine {
namespace {

using test::node;
using test::pod;
using test::pod_group;
using test::PodBuilder;

Shape cpu(const char* quantity) {
  return [quantity](PodBuilder& pod) { pod.cpu(quantity); };
}

api::Condition recorded() {
  return {.type = std::string(api::kInitiallyScheduled), .status = api::ConditionStatus::kTrue};
}

TEST(Planner, PlacesALonePodOnTheBestNodeThenByName) {
  TestCluster cluster;
  cluster.add(node("n2")).add(node("n1")).add(node("n3"));
  cluster.add(pod("busy").on("n1").cpu("1"));
  cluster.add(pod("p").cpu("1"));
  EXPECT_EQ(cluster.placed("p"), "p=n2");
}

TEST(Planner, GivesMembersTheirNodesInTheGangsOrder) {
  TestCluster cluster;
  cluster.add(node("n1").cpu("1")).add(node("n2").cpu("1"));
  cluster.add(pod_group("g").min(2));
  cluster.add(pod("zz").group("g").cpu("1").created(1));
  cluster.add(pod("aa").group("g").cpu("1").created(2));
  EXPECT_EQ(cluster.placed("g"), "zz=n1 aa=n2");
}

TEST(Planner, SaysWhatAPlanIsFor) {
  TestCluster cluster;
  cluster.add(node("n1"));
  cluster.add(pod_group("g").min(2).uid("u")).add(members("g", 3, cpu("1")));
  const Plan plan = cluster.plan("g");
  EXPECT_EQ(plan.gang.key.text(), "default/g");
  EXPECT_EQ(plan.gang.uid.text, "u");
  EXPECT_EQ(plan.gang.kind, cluster::GangKind::kPodGroup);
  EXPECT_EQ(plan.minimum, 2);
  EXPECT_EQ(plan.base, 0);
  EXPECT_EQ(plan.need, 2);
  ASSERT_EQ(plan.assignments.size(), 3U);
  EXPECT_EQ(plan.assignments[0].pod.text(), "default/g-0");
  EXPECT_EQ(plan.assignments[0].uid.text, "uid-default-g-0");
  EXPECT_EQ(plan.stamp, "");
}

TEST(Planner, CountsBoundAndAssumedMembersAsTheBase) {
  TestCluster cluster;
  cluster.add(node("n1").cpu("4"));
  cluster.add(pod_group("g").min(4)).add(members("g", 4, cpu("1")));
  cluster.assume(cluster.plan("g"));
  cluster.remove(pod("g-3").group("g").cpu("1").build());
  cluster.add(pod("again").group("g").cpu("1"));
  const Plan plan = cluster.plan("g");
  EXPECT_EQ(plan.base, 3);
  EXPECT_EQ(plan.need, 1);
  EXPECT_EQ(plan.assignments.size(), 1U);
}

/// Row 7 of the gang contract: the deficit of a running gang is all or nothing.
TEST(Planner, PlacesTheDeficitOfARunningGangWholeOrNotAtAll) {
  TestCluster cluster;
  cluster.add(node("n1").cpu("3"));
  cluster.add(pod_group("g").min(4));
  cluster.add(pod("g-0").group("g").cpu("1").on("n1"));
  for (const char* name : {"r1", "r2", "r3"}) cluster.add(pod(name).group("g").cpu("1"));
  const Explanation explanation = cluster.refused("g");
  EXPECT_EQ(explanation.scheduled, 3);
  EXPECT_EQ(explanation.bound, 1);
  EXPECT_EQ(explanation.message,
            "pod group is unschedulable, minCount (4) cannot be satisfied: 3 scheduled, "
            "0 remaining; 1 Insufficient cpu");
  cluster.add(node("n2").cpu("1"));
  EXPECT_EQ(cluster.plan("g").assignments.size(), 3U);
}

TEST(Planner, ReturnsAnEmptyPlanWhenOnlyTheRecordIsMissing) {
  TestCluster cluster;
  cluster.add(node("n1").cpu("1"));
  cluster.add(pod_group("g").min(1)).add(pod("g-0").group("g").cpu("1").on("n1"));
  EXPECT_TRUE(cluster.plan("g").assignments.empty());
  cluster.add(pod("extra").group("g").cpu("1"));
  EXPECT_TRUE(cluster.plan("g").assignments.empty());
}

TEST(Planner, ExplainsExtrasOfAGangThatHasItsMinimum) {
  TestCluster cluster;
  cluster.add(node("n1").cpu("1"));
  cluster.add(pod_group("g").min(1).condition(recorded()));
  cluster.add(pod("g-0").group("g").cpu("1").on("n1"));
  cluster.add(pod("extra").group("g").cpu("1"));
  const Explanation explanation = cluster.refused("g");
  EXPECT_EQ(explanation.verdict, Verdict::kImpossibleNow);
  EXPECT_EQ(explanation.message,
            "pod group has its minimum (1): 1 scheduled, 1 more cannot be scheduled; "
            "1 Insufficient cpu");
  EXPECT_EQ(text_of(explanation, "extra"), "0/1 nodes are available: 1 Insufficient cpu.");
  EXPECT_EQ(text_of(explanation, "g-0"), "");
}

TEST(Planner, LeavesGatedMembersOut) {
  TestCluster cluster;
  cluster.add(node("n1"));
  cluster.add(pod_group("g").min(2)).add(members("g", 2, cpu("1")));
  cluster.add(pod("gated").group("g").cpu("1").gate("wait").created(9));
  EXPECT_EQ(cluster.placed("g"), "g-0=n1 g-1=n1");
}

TEST(Planner, ProvesThatAGangIsTooBigForTheFleet) {
  TestCluster cluster;
  cluster.add(node("n1").cpu("2")).add(pod("busy").on("n1").cpu("2"));
  cluster.add(pod_group("now").min(2)).add(members("now", 2, cpu("1")));
  cluster.add(pod_group("never").min(3)).add(members("never", 3, cpu("1")));
  EXPECT_EQ(cluster.refused("now").verdict, Verdict::kImpossibleNow);
  EXPECT_EQ(cluster.refused("never").verdict, Verdict::kImpossibleOnFleet);
}

TEST(Planner, PlansTheSameTwice) {
  TestCluster cluster;
  for (int i = 0; i < 20; ++i) cluster.add(node("n" + std::to_string(i)));
  cluster.add(pod_group("g").min(8)).add(members("g", 9, cpu("1")));
  const Plan first = cluster.plan("g");
  EXPECT_EQ(cluster.plan("g"), first);
}

TEST(Planner, RefreshesOnlyNodesThatChanged) {
  TestCluster cluster;
  for (int i = 0; i < 50; ++i) cluster.add(node("n" + std::to_string(i)));
  cluster.add(pod_group("g").min(2)).add(members("g", 2, cpu("1")));
  cluster.assume(cluster.plan("g"));
  EXPECT_EQ(cluster.planner.stats().class_passes, 1);
  cluster.add(pod_group("h").min(2)).add(members("h", 2, cpu("1")));
  EXPECT_EQ(cluster.plan("h").assignments.size(), 2U);
  EXPECT_EQ(cluster.planner.stats().class_passes, 1);
  EXPECT_EQ(cluster.planner.stats().nodes_refreshed, 2);
  EXPECT_EQ(cluster.planner.stats().plans, 2);
}

TEST(Planner, PlansOnAnOlderSnapshotAsItWas) {
  TestCluster cluster;
  cluster.add(node("n1").cpu("1"));
  cluster.add(pod("p").cpu("1"));
  const cluster::Gang gang = cluster.gang("p");
  const auto before = cluster.state.snapshot();
  cluster.add(pod("busy").on("n1").cpu("1"));
  const auto after = cluster.state.snapshot();
  EXPECT_TRUE(std::holds_alternative<Explanation>(cluster.planner.plan(*after, gang)));
  EXPECT_TRUE(std::holds_alternative<Plan>(cluster.planner.plan(*before, gang)));
  EXPECT_TRUE(std::holds_alternative<Explanation>(cluster.planner.plan(*after, gang)));
}

TEST(Planner, CouldHoldSaysWhetherCountsAllowAPlan) {
  TestCluster cluster;
  cluster.add(node("n1").cpu("2"));
  cluster.add(pod_group("g").min(3)).add(members("g", 3, cpu("1")));
  EXPECT_FALSE(cluster.could_hold("g"));
  cluster.add(node("n2").cpu("1"));
  EXPECT_TRUE(cluster.could_hold("g"));
  EXPECT_EQ(cluster.plan("g").assignments.size(), 3U);
}

TEST(Planner, CouldHoldAsksForOneMoreWhenTheMinimumIsMet) {
  TestCluster cluster;
  cluster.add(node("n1").cpu("1"));
  cluster.add(pod_group("g").basic());
  cluster.add(pod("g-0").group("g").cpu("1").on("n1"));
  cluster.add(pod("extra").group("g").cpu("1"));
  EXPECT_FALSE(cluster.could_hold("g"));
  cluster.add(node("n2").cpu("1"));
  EXPECT_TRUE(cluster.could_hold("g"));
}

TEST(Planner, CouldHoldRefusesRulesThatAreNotBuilt) {
  TestCluster cluster;
  cluster.add(node("n1"));
  cluster.add(pod("p").rules({.volumes = true}));
  EXPECT_FALSE(cluster.could_hold("p"));
}

TEST(Planner, DemandCountsPendingMembersByClass) {
  TestCluster cluster;
  cluster.add(node("n1"));
  cluster.add(pod_group("g").min(3)).add(members("g", 2, cpu("1")));
  cluster.add(pod("big").group("g").cpu("2").created(7));
  cluster.add(pod("bound").group("g").cpu("1").on("n1"));
  const Demand demand = demand_of(cluster.gang("g"));
  EXPECT_EQ(demand.need, 2);
  ASSERT_EQ(demand.classes.size(), 2U);
  EXPECT_EQ(demand.classes[0].member_count, 2);
  EXPECT_EQ(demand.classes[1].member_count, 1);
}

}  // namespace
}  // namespace gang::engine
