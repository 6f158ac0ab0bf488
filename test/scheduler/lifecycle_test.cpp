// Cases of members and groups that come, go and change, as far as the scheduler decides them.
#include <gtest/gtest.h>

#include "scheduler/world.h"

namespace gang::scheduler {
namespace {

using engine::Verdict;
using std::chrono::minutes;
using std::chrono::seconds;
using test::at_second;
using test::member;
using test::node;
using test::pod;
using test::pod_group;
using test::World;

bool says(const engine::Explanation& explanation, const std::string& words) {
  return explanation.message.find(words) != std::string::npos;
}

/// gang(n) with one GPU each, bound and True.
void run_gang(World& world, int count) {
  world.add_nodes(count, 1).add(pod_group("g").min(count).created(50).build());
  world.add_pods("g", count, "p").run();
  ASSERT_EQ(world.bound().size(), static_cast<std::size_t>(count));
  ASSERT_TRUE(world.is_true("g"));
  world.clear();
}

TEST(Lifecycle, B005LaterGangThatFitsPassesAnEarlierOne) {
  World world;
  world.add(node("n").cpu("10").build());
  world.add(pod_group("pg1").min(3).created(1).build());
  for (const char* name : {"a", "b", "c"}) world.add(pod(name).group("pg1").cpu("4").build());
  world.pass(seconds(5));
  world.add(pod_group("pg2").min(1).created(6).build());
  world.add(pod("d").group("pg2").cpu("3").build()).run();
  EXPECT_EQ(world.bound(), std::vector<std::string>{"d"});
  EXPECT_EQ(world.explanations[0].gang.key.name, "pg1");
  EXPECT_TRUE(says(world.explanations[0], "Insufficient cpu"));
  EXPECT_TRUE(world.explanations[0].writes_condition);
}

TEST(Lifecycle, B008FiveOfSixFirstTheSixthLater) {
  World world;
  world.add_nodes(5, 1).add(pod_group("g").min(4).build()).add_pods("g", 6, "p").run();
  EXPECT_EQ(world.bound().size(), 5U);
  EXPECT_TRUE(world.is_true("g"));
  ASSERT_EQ(world.explanations.size(), 1U);
  EXPECT_FALSE(world.told().writes_condition);
  ASSERT_EQ(world.told().members.size(), 1U);
  EXPECT_EQ(world.told().members[0].pod.name, "p5");
  world.pass(minutes(1)).add_nodes(1, 1).run();
  EXPECT_EQ(world.bound().size(), 6U);
  EXPECT_EQ(world.explanations.size(), 1U) << "the condition is not touched again";
}

TEST(Lifecycle, B009BasicPolicyBindsWhatFits) {
  World world;
  world.add_nodes(3, 8).add(pod_group("p").basic().build());
  for (int i = 0; i < 4; ++i) {
    world.add(member("w" + std::to_string(i), "p").gpu(8).created(i).build());
  }
  world.run();
  EXPECT_EQ(world.bound().size(), 3U);
  EXPECT_TRUE(world.is_true("p"));
  ASSERT_EQ(world.told().members.size(), 1U);
  EXPECT_EQ(world.told().members[0].pod.name, "w3");
  world.add_nodes(1, 8).run();
  EXPECT_EQ(world.bound().size(), 4U);
}

TEST(Lifecycle, B020FinishedMembersLowerTheMinimumAfterTenSeconds) {
  World world;
  run_gang(world, 4);
  world.finish_pod("p0").finish_pod("p1").remove_pod("p3").add(member("p4", "g").build()).run();
  EXPECT_TRUE(world.plans.empty());
  world.pass(seconds(9));
  EXPECT_TRUE(world.plans.empty());
  world.pass(seconds(1));
  EXPECT_EQ(world.planned(), std::vector<std::string>{"p4"});
}

TEST(Lifecycle, B021ReplacementOfOneLostMemberIsBoundAlone) {
  World world;
  run_gang(world, 4);
  world.remove_pod("p3").add(member("p3b", "g").build()).run();
  EXPECT_EQ(world.planned(), std::vector<std::string>{"p3b"});
  EXPECT_EQ(world.plans.back().need, 1);
  EXPECT_FALSE(world.plans.back().writes_record);
}

TEST(Lifecycle, B021TwoLostMembersComeBackTogether) {
  World world;
  run_gang(world, 4);
  world.remove_pod("p2").remove_pod("p3").add(member("p2b", "g").build()).pass(seconds(30));
  EXPECT_TRUE(world.plans.empty());
  ASSERT_EQ(world.explanations.size(), 1U);
  EXPECT_EQ(world.told().verdict, Verdict::kWaitingForPods);
  EXPECT_EQ(world.told().message, "3 of 4 pods exist");
  EXPECT_TRUE(world.told().degraded);
  EXPECT_FALSE(world.told().writes_condition);
  world.add(member("p3b", "g").build()).run();
  EXPECT_EQ(world.planned(), (std::vector<std::string>{"p2b", "p3b"}));
  EXPECT_EQ(world.plans.back().need, 2);
}

TEST(Lifecycle, B024PriorityMismatchIsRefusedOnceAndEvictsNobody) {
  World world;
  world.add_nodes(2, 1);
  world.add(pod_group("g").min(2).priority(100, "high").build()).add_pods("g", 2, "p");
  world.pass(seconds(60));
  EXPECT_TRUE(world.plans.empty());
  ASSERT_EQ(world.explanations.size(), 1U);
  EXPECT_EQ(world.told().verdict, Verdict::kInvalid);
  EXPECT_TRUE(says(world.told(), "got 0 and 100"));
  EXPECT_TRUE(says(world.told(), "\"high\""));
  EXPECT_EQ(world.told().members.size(), 2U);
}

TEST(Lifecycle, B025PodsBeforeTheirPodGroup) {
  World world;
  world.add_nodes(3, 1).add_pods("g1", 3, "p").pass(seconds(30));
  EXPECT_TRUE(world.bound().empty());
  ASSERT_EQ(world.explanations.size(), 1U);
  EXPECT_EQ(world.told().verdict, Verdict::kWaitingForGroup);
  EXPECT_FALSE(world.told().writes_condition);
  ASSERT_EQ(world.told().members.size(), 3U);
  EXPECT_EQ(world.told().members[0].message, "waiting for PodGroup g1");
  EXPECT_EQ(world.explained_at[0], at_second(1005));
  world.add(pod_group("g1").min(3).build()).run();
  EXPECT_EQ(world.bound().size(), 3U);
  EXPECT_TRUE(world.is_true("g1"));
}

TEST(Lifecycle, WaitingForThePodGroupIsToldOncePerPod) {
  World world;
  world.add_pods("g", 2, "p").pass(minutes(10));
  EXPECT_EQ(world.explanations.size(), 1U);
  world.add(member("late", "g").build()).pass(minutes(10));
  ASSERT_EQ(world.explanations.size(), 2U);
  ASSERT_EQ(world.told().members.size(), 1U);
  EXPECT_EQ(world.told().members[0].pod.name, "late");
}

TEST(Lifecycle, MemberOfATreeIsToldThatTreesAreNotPlaced) {
  World world;
  world.add_nodes(2, 1).add(pod_group("g").min(2).parent("tree").build()).add_pods("g", 1, "p");
  world.pass(seconds(30));
  EXPECT_EQ(world.told().message, "1 of 2 pods exist; waiting for composite pod group tree");
  world.add(member("q", "g").build()).run();
  EXPECT_TRUE(world.bound().empty());
  EXPECT_EQ(world.told().verdict, Verdict::kRuleNotBuilt);
  EXPECT_EQ(world.told().members.size(), 2U) << "a parent that is missing changes nothing of it";
}

TEST(Lifecycle, B028ReplacementOfTheOlderGangGoesBeforeANewerFiller) {
  for (const bool filler_told_first : {true, false}) {
    World world;
    run_gang(world, 2);
    world.add(pod("filler").gpu(1).created(90).build()).run();
    const api::Pod leaving = world.pod_named("p1");
    api::Pod terminating = leaving;
    terminating.meta.deletion_time = at_second(2000);
    world.tell(test::updated(terminating)).run();
    world.add(member("p1b", "g").created(200).build());
    if (filler_told_first) world.run();
    world.remove_pod("p1").run();
    EXPECT_EQ(world.bound(), (std::vector<std::string>{"p0", "p1b"})) << filler_told_first;
  }
}

TEST(Lifecycle, B029SameGroupNameInTwoNamespaces) {
  World world;
  world.add_nodes(4, 1);
  world.tell(test::added(pod_group("g").in("x").uid("gx").min(2).build()));
  world.tell(test::added(pod_group("g").in("y").uid("gy").min(2).build()));
  world.add(member("x0", "g").in("x").build()).add(member("y0", "g").in("y").build());
  world.binds = false;
  world.pass(seconds(30));
  EXPECT_TRUE(world.plans.empty());
  world.add(member("x1", "g").in("x").build()).run();
  ASSERT_EQ(world.plans.size(), 1U);
  EXPECT_EQ(world.planned(), (std::vector<std::string>{"x0", "x1"}));
}

TEST(Lifecycle, B032GroupDeletedWhileItsPodsWait) {
  World world;
  world.add_nodes(2, 1).add(pod_group("g").min(3).build()).add_pods("g", 3, "p").run();
  EXPECT_TRUE(world.plans.empty());
  world.remove_group("g").add_nodes(1, 1).pass(seconds(30));
  EXPECT_TRUE(world.plans.empty());
  EXPECT_EQ(world.told().verdict, Verdict::kWaitingForGroup);
  world.add(pod_group("g").uid("second").min(2).build()).run();
  EXPECT_EQ(world.bound().size(), 3U);
  EXPECT_TRUE(world.is_true("g"));
}

TEST(Lifecycle, B033MinimumThatCanNeverBeReached) {
  World world;
  world.add_nodes(1, 8);
  world.add(pod_group("g").min(5).build()).add_pods("g", 3, "p");
  world.add(pod_group("k").min(INT32_MAX).build()).add(member("k0", "k").build());
  world.pass(seconds(60));
  EXPECT_TRUE(world.plans.empty());
  EXPECT_EQ(world.explanations.size(), 2U);
  EXPECT_LT(world.wake_ups(), 10);
  world.add(pod("ordinary").gpu(1).build()).run();
  EXPECT_EQ(world.bound(), std::vector<std::string>{"ordinary"});
}

TEST(Lifecycle, B034HopelessMemberReplacedByAGoodOne) {
  World world;
  world.add_nodes(2, 1).add(pod_group("g").min(2).build());
  world.add(member("a", "g").selects("no", "where").build()).add(member("b", "g").build()).run();
  EXPECT_TRUE(world.plans.empty());
  world.remove_pod("a").add(member("a2", "g").build()).run();
  EXPECT_EQ(world.bound(), (std::vector<std::string>{"a2", "b"}));
  EXPECT_TRUE(world.is_true("g"));
}

TEST(Lifecycle, B157TrueAtLast) {
  World world;
  world.add_nodes(1, 1).add(pod_group("g").min(2).build()).add_pods("g", 2, "p").run();
  EXPECT_TRUE(world.told().writes_condition);
  world.add_nodes(1, 1).run();
  EXPECT_TRUE(world.is_true("g"));
  EXPECT_TRUE(world.plans.back().writes_record);
}

TEST(Lifecycle, B159TrueIsFinal) {
  World world;
  run_gang(world, 2);
  world.remove_pod("p1").add(pod("other").gpu(1).on("n1").build());
  world.add(member("p1b", "g").build()).pass(seconds(60));
  ASSERT_EQ(world.explanations.size(), 1U);
  EXPECT_FALSE(world.told().writes_condition);
  EXPECT_TRUE(world.told().degraded);
  ASSERT_EQ(world.told().members.size(), 1U);
  EXPECT_EQ(world.told().members[0].pod.name, "p1b");
}

TEST(Lifecycle, B162WaitingTextGivesWayToTheRealCause) {
  World world;
  world.add_nodes(1, 3).add(pod_group("g").min(4).build()).add_pods("g", 3, "p");
  world.pass(seconds(4));
  EXPECT_TRUE(world.explanations.empty());
  world.pass(seconds(1));
  ASSERT_EQ(world.explanations.size(), 1U);
  EXPECT_EQ(world.told().message, "3 of 4 pods exist");
  EXPECT_TRUE(world.told().members.empty()) << "pods stay untouched for autoscalers";
  world.pass(seconds(20)).add(member("p3", "g").build()).run();
  ASSERT_EQ(world.explanations.size(), 2U);
  EXPECT_TRUE(says(world.told(), "Insufficient nvidia.com/gpu"));
  EXPECT_FALSE(says(world.told(), "exist"));
  EXPECT_EQ(world.told().members.size(), 4U);
}

TEST(Lifecycle, B163NoNewsNoWrite) {
  World world;
  world.add_nodes(2, 1);
  for (int i = 0; i < 10; ++i) {
    const std::string group = "g" + std::to_string(i);
    world.add(pod_group(group).min(3).created(i).build()).add_pods(group, 3, group + "-");
  }
  world.run();
  EXPECT_EQ(world.explanations.size(), 10U);
  world.clear();
  for (int beat = 0; beat < 120; ++beat) {
    world.tell(test::updated(node("n0").cpu("64").gpu(1).version(beat + 1).build()));
    world.pass(seconds(5));
  }
  EXPECT_TRUE(world.explanations.empty());
  EXPECT_LE(world.attempts.size(), 20U) << "safety attempts only";
}

TEST(Lifecycle, ChangedMeaningIsToldAtMostEveryTenSeconds) {
  World world;
  world.add(node("n").cpu("1").gpu(1).build());
  world.add(pod_group("g").min(2).build());
  world.add(pod("a").group("g").cpu("1").build()).add(pod("b").group("g").cpu("1").build());
  world.run();
  ASSERT_EQ(world.explanations.size(), 1U);
  world.pass(seconds(2)).add(pod("c").group("g").cpu("1").memory("1Ti").build()).run();
  EXPECT_EQ(world.explanations.size(), 1U);
  world.pass(seconds(8));
  ASSERT_EQ(world.explanations.size(), 2U);
  EXPECT_EQ(world.explained_at[1], at_second(1010));
}

TEST(Lifecycle, FailedWriteIsSaidAgainWhenTheGangIsTriedAgain) {
  World world;
  world.add(pod_group("g").min(1).build()).add(member("p", "g").build()).run();
  ASSERT_EQ(world.explanations.size(), 1U);
  world.core.handle(ExplainFailed{world.told().gang}, world.now);
  world.pass(minutes(5));
  EXPECT_EQ(world.explanations.size(), 2U);
}

TEST(Lifecycle, RestartDoesNotRepeatWhatTheServerHas) {
  World first;
  first.add_nodes(1, 1).add(pod_group("g").min(2).build()).add_pods("g", 2, "p").run();
  ASSERT_EQ(first.explanations.size(), 1U);
  const engine::Explanation& told = first.told();
  World second;
  second.add_nodes(1, 1);
  api::Condition condition{.type = std::string(api::kInitiallyScheduled),
                           .status = api::ConditionStatus::kFalse,
                           .reason = "Unschedulable",
                           .message = told.message};
  second.add(pod_group("g").min(2).condition(condition).build());
  condition.type = "PodScheduled";
  for (const engine::MemberText& text : told.members) {
    condition.message = text.message;
    api::Pod again = first.pod_named(text.pod.name);
    again.conditions = {condition};
    second.add(again);
  }
  second.run();
  EXPECT_EQ(second.attempts.size(), 1U);
  EXPECT_TRUE(second.explanations.empty());
}

}  // namespace
}  // namespace gang::scheduler
