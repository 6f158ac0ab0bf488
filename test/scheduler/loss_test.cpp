// A gang that had started and has lost members: what it is told, and what its pods are told.
#include <gtest/gtest.h>

#include "scheduler/world.h"

namespace gang::scheduler {
namespace {

using engine::Verdict;
using std::chrono::minutes;
using std::chrono::seconds;
using test::member;
using test::pod_group;
using test::World;

/// gang(2) that runs on n0 and n1.
void run_two(World& world) {
  world.add_nodes(2, 1).add(pod_group("g").min(2).build()).add_pods("g", 2, "p").run();
  ASSERT_EQ(world.bound().size(), 2U);
  world.add_condition(
      "g", {.type = std::string(api::kSatisfied), .status = api::ConditionStatus::kTrue});
  world.clear();
}

TEST(Loss, GangThatLostEveryMemberByFailureIsDegraded) {
  World world;
  run_two(world);
  world.fail_pod("p0", "OutOfcpu").fail_pod("p1", "").pass(seconds(5));
  ASSERT_EQ(world.explanations.size(), 1U);
  EXPECT_TRUE(world.told().degraded);
  EXPECT_EQ(world.told().bound, 0);
  EXPECT_EQ(world.told().loss, "2 pods failed, the newest p1 on n1");
  EXPECT_EQ(world.told().message, "0 of 2 pods exist; 2 pods failed, the newest p1 on n1");
}

TEST(Loss, SecondLossIsToldAsWell) {
  World world;
  world.add_nodes(3, 1).add(pod_group("g").min(3).build()).add_pods("g", 3, "p").run();
  world.clear().fail_pod("p0", "OutOfcpu").pass(seconds(20));
  ASSERT_EQ(world.explanations.size(), 1U);
  EXPECT_EQ(world.told().bound, 2);
  EXPECT_EQ(world.told().loss, "pod p0 failed on n0 (OutOfcpu)");
  world.fail_pod("p1", "OutOfcpu").pass(seconds(20));
  ASSERT_EQ(world.explanations.size(), 2U);
  EXPECT_EQ(world.told().bound, 1);
}

TEST(Loss, GangWithoutPodsIsNotSatisfiedAndNotDegraded) {
  World world;
  run_two(world);
  world.remove_pod("p0").remove_pod("p1").pass(seconds(5));
  ASSERT_EQ(world.explanations.size(), 1U);
  EXPECT_FALSE(world.told().degraded);
  EXPECT_EQ(world.told().bound, 0);
  EXPECT_EQ(world.told().message, "0 of 2 pods exist");
  EXPECT_FALSE(world.told().writes_condition);
}

TEST(Loss, WhatAnEarlierProcessSaidIsNotSaidAgain) {
  const api::Condition said{
      .type = std::string(api::kSatisfied),
      .status = api::ConditionStatus::kFalse,
      .reason = "WaitingForPods",
      .message = "0 bound, 0 live, minimum 2: waiting for pods: 0 of 2 pods exist"};
  World world;
  world.add(pod_group("g").min(2).condition(test::initially_scheduled()).condition(said).build());
  world.pass(minutes(1));
  EXPECT_TRUE(world.explanations.empty());
  world.add(pod_group("g").min(3).condition(test::initially_scheduled()).condition(said).build());
  world.pass(minutes(1));
  ASSERT_EQ(world.explanations.size(), 1U);
  EXPECT_EQ(world.told().message, "0 of 3 pods exist");
}

TEST(Loss, FinishedGangIsLeftAlone) {
  World world;
  run_two(world);
  world.finish_pod("p0").finish_pod("p1").pass(minutes(1));
  EXPECT_TRUE(world.explanations.empty());
}

TEST(Loss, GroupOfAnotherSchedulerIsLeftAlone) {
  World world;
  world.add_nodes(2, 1).add(pod_group("g").min(2).condition(test::initially_scheduled()).build());
  world.add(member("p0", "g").scheduler("default-scheduler").on("n0").build());
  world.pass(minutes(1));
  EXPECT_TRUE(world.explanations.empty()) << "with pods";
  world.remove_pod("p0").pass(minutes(1));
  EXPECT_TRUE(world.explanations.empty()) << "without pods";
}

TEST(Loss, GroupThatIsBeingDeletedIsLeftAlone) {
  World world;
  run_two(world);
  world.delete_group("g").remove_pod("p0").pass(minutes(1));
  EXPECT_TRUE(world.explanations.empty());
}

TEST(Loss, GroupThatNeverStartedAndLostItsPodsSaysSo) {
  World world;
  world.add_nodes(1, 1).add(pod_group("g").min(2).build()).add_pods("g", 2, "p").run();
  ASSERT_EQ(world.told().verdict, Verdict::kImpossibleOnFleet);
  world.clear().remove_pod("p0").remove_pod("p1").pass(seconds(30));
  ASSERT_EQ(world.explanations.size(), 1U);
  EXPECT_EQ(world.told().message, "0 of 2 pods exist");
  EXPECT_TRUE(world.told().writes_condition);
}

/// gang(2) whose pods were told that they do not fit, as the server shows it.
void refuse_two(World& world) {
  world.add_nodes(1, 1).add(pod_group("g").min(2).build()).add_pods("g", 2, "p").run();
  ASSERT_EQ(world.told().members.size(), 2U);
  for (const char* name : {"p0", "p1"}) world.show_told(name);
  world.clear().pass(seconds(20));
  ASSERT_TRUE(world.explanations.empty());
}

TEST(Loss, OldTextOfAPodIsReplacedWhenItsGangWaitsForSiblings) {
  World world;
  refuse_two(world);
  world.remove_pod("p1").pass(seconds(20));
  EXPECT_EQ(world.told().verdict, Verdict::kWaitingForPods);
  ASSERT_EQ(world.told().members.size(), 1U);
  EXPECT_EQ(world.told().members[0].message, "1 of 2 pods exist");
}

TEST(Loss, OldTextOfAPodIsReplacedWhenItsPodGroupIsGone) {
  World world;
  refuse_two(world);
  world.remove_group("g").pass(seconds(20));
  EXPECT_EQ(world.told().verdict, Verdict::kWaitingForGroup);
  ASSERT_EQ(world.told().members.size(), 2U);
  EXPECT_EQ(world.told().members[0].message, "waiting for PodGroup g");
  EXPECT_EQ(world.told().members[0].current.reason, "Unschedulable");
}

TEST(Loss, PodThatOnlyWaitsForSiblingsIsToldNothing) {
  World world;
  world.add_nodes(1, 1).add(pod_group("g").min(2).build()).add_pods("g", 1, "p");
  world.pass(seconds(20));
  ASSERT_EQ(world.explanations.size(), 1U);
  EXPECT_TRUE(world.told().members.empty());
}

TEST(Loss, GroupsThatAreNotServedAreNamedAsTheCause) {
  World world;
  world.tell({.type = api::DeltaType::kUnserved, .kind = api::Kind::kPodGroup});
  world.add_nodes(1, 1).add_pods("g", 1, "p").pass(seconds(20));
  ASSERT_EQ(world.told().members.size(), 1U);
  EXPECT_EQ(world.told().members[0].message,
            "waiting for PodGroup g; the API server does not serve PodGroups: start it with "
            "feature gate GenericWorkload and scheduling.k8s.io/v1beta1");
}

}  // namespace
}  // namespace gang::scheduler
