// The conformance rows of the gang contract, chapter 9, that need no later feature.
#include <gtest/gtest.h>

#include "scheduler/world.h"

namespace gang::scheduler {
namespace {

using engine::MemberEnd;
using engine::RoundEnd;
using engine::Verdict;
using std::chrono::minutes;
using std::chrono::seconds;
using test::at_second;
using test::node;
using test::pod;
using test::pod_group;
using test::PodBuilder;
using test::World;

PodBuilder one(const std::string& name, const std::string& group = "g") {
  return pod(name).group(group).cpu("1").controller("Job", group);
}

void slots(World& world, const std::string& name, int count) {
  world.add(node(name).cpu(std::to_string(count)).build());
}

/// A gang of `minimum` with pods p0 .. and `count` slots.
void gang(World& world, int minimum, int pods, int slot_count) {
  if (slot_count > 0) slots(world, "a", slot_count);
  world.add(pod_group("g").min(minimum).created(10).build());
  for (int i = 0; i < pods; ++i) world.add(one("p" + std::to_string(i)).created(20 + i).build());
}

/// The same, bound and True.
void running(World& world, int minimum) {
  gang(world, minimum, minimum, minimum);
  world.run();
  ASSERT_TRUE(world.is_true("g"));
  world.clear();
}

bool has(const std::string& text, const std::string& words) {
  return text.find(words) != std::string::npos;
}

TEST(Conformance, Row01TooFewPods) {
  World world;
  gang(world, 4, 3, 8);
  world.pass(seconds(30));
  EXPECT_TRUE(world.bound().empty());
  ASSERT_EQ(world.explanations.size(), 1U);
  EXPECT_EQ(world.told().message, "3 of 4 pods exist");
  EXPECT_TRUE(world.told().members.empty());
  EXPECT_EQ(world.explained_at[0], at_second(1005));
}

TEST(Conformance, Row02ThenTheFourthWithRoomForThree) {
  World world;
  gang(world, 4, 3, 3);
  world.pass(seconds(30)).add(one("p3").build()).run();
  EXPECT_TRUE(world.bound().empty());
  EXPECT_TRUE(has(world.told().message, "Insufficient cpu"));
  EXPECT_FALSE(has(world.told().message, "exist"));
}

TEST(Conformance, Row03PodsFirstGroupLater) {
  World world;
  slots(world, "a", 4);
  for (int i = 0; i < 4; ++i) world.add(one("p" + std::to_string(i)).build());
  world.pass(seconds(2)).add(pod_group("g").min(4).build()).run();
  EXPECT_EQ(world.bound().size(), 4U);
  EXPECT_TRUE(world.is_true("g"));
  EXPECT_TRUE(world.explanations.empty()) << "never a False with partial counts";
}

TEST(Conformance, Row04ThreeSlotsForFour) {
  World world;
  gang(world, 4, 4, 3);
  world.run();
  EXPECT_TRUE(world.bound().empty());
  EXPECT_TRUE(has(world.told().message, "minCount (4) cannot be satisfied: 3 scheduled, "));
  EXPECT_EQ(world.told().members.size(), 4U);
  EXPECT_TRUE(world.told().writes_condition);
}

TEST(Conformance, Row05SixPodsFiveSlots) {
  World world;
  gang(world, 4, 6, 5);
  world.pass(minutes(1));
  EXPECT_EQ(world.bound().size(), 5U);
  EXPECT_TRUE(world.is_true("g"));
  for (const auto& explanation : world.explanations) EXPECT_FALSE(explanation.writes_condition);
}

TEST(Conformance, Row06ReplacementAlone) {
  World world;
  running(world, 4);
  world.remove_pod("p2").add(one("p2b").build()).run();
  EXPECT_EQ(world.planned(), std::vector<std::string>{"p2b"});
}

TEST(Conformance, Row07ThreeLostTwoSlots) {
  World world;
  running(world, 4);
  for (const char* name : {"p1", "p2", "p3"}) world.remove_pod(name);
  world.add(pod("other").cpu("1").on("a").build());
  for (const char* name : {"q1", "q2", "q3"}) world.add(one(name).build());
  world.pass(seconds(30));
  EXPECT_TRUE(world.plans.empty());
  world.remove_pod("other").run();
  EXPECT_EQ(world.planned().size(), 3U);
}

TEST(Conformance, Row08OnlyOneRecreatedWhileTheLostOnesEnd) {
  World world;
  running(world, 4);
  slots(world, "b", 4);
  for (const char* name : {"p1", "p2", "p3"}) {
    api::Pod leaving = world.pod_named(name);
    leaving.meta.deletion_time = at_second(1100);
    world.tell(test::updated(leaving));
  }
  world.add(one("q1").build()).pass(seconds(30));
  EXPECT_TRUE(world.plans.empty());
  world.add(one("q2").build()).add(one("q3").build()).run();
  EXPECT_EQ(world.planned().size(), 3U);
}

TEST(Conformance, Row09FinishedMembersAndAReplacement) {
  World world;
  running(world, 4);
  world.finish_pod("p0").finish_pod("p1").remove_pod("p2").add(one("q2").build());
  world.pass(seconds(15));
  EXPECT_EQ(world.planned(), std::vector<std::string>{"q2"});
}

TEST(Conformance, Row10OneOfThreeIsGated) {
  World world;
  gang(world, 3, 2, 4);
  world.add(one("gated").gate("x").build()).pass(seconds(30));
  EXPECT_TRUE(world.bound().empty());
  EXPECT_EQ(world.told().message, "2 of 3 pods exist; 1 gated");
  world.add(one("gated").build()).run();
  EXPECT_EQ(world.bound().size(), 3U);
}

TEST(Conformance, Row11GatedExtraIsLeftOut) {
  World world;
  gang(world, 2, 2, 4);
  world.add(one("gated").gate("x").build()).run();
  EXPECT_EQ(world.bound().size(), 2U);
  EXPECT_TRUE(world.is_true("g"));
  world.add(one("gated").build()).run();
  EXPECT_EQ(world.bound().size(), 3U);
}

TEST(Conformance, Row11HoldKeepsUpstreamsRule) {
  Options options;
  options.gated_members = GatedMembers::kHold;
  World world(options);
  gang(world, 2, 2, 4);
  world.add(one("gated").gate("x").build()).pass(seconds(30));
  EXPECT_TRUE(world.bound().empty());
  world.add(one("gated").build()).run();
  EXPECT_EQ(world.bound().size(), 3U);
}

TEST(Conformance, Row12BasicFiveInTwoSlots) {
  World world;
  slots(world, "a", 2);
  world.add(pod_group("g").basic().build());
  for (int i = 0; i < 5; ++i) world.add(one("p" + std::to_string(i)).build());
  world.run();
  EXPECT_EQ(world.bound().size(), 2U);
  EXPECT_TRUE(world.is_true("g"));
}

TEST(Conformance, Row13BasicWithoutRoom) {
  World world;
  world.add(node("a").cpu("0").build()).add(pod_group("g").basic().build());
  world.add(one("p").build()).run();
  EXPECT_TRUE(world.bound().empty());
  EXPECT_TRUE(has(world.told().message, "minCount (1) cannot be satisfied: 0 scheduled, "));
}

TEST(Conformance, Row14MinimumLowered) {
  World world;
  gang(world, 5, 3, 4);
  world.pass(seconds(30));
  EXPECT_TRUE(world.bound().empty());
  world.add(pod_group("g").min(3).created(10).build()).run();
  EXPECT_EQ(world.bound().size(), 3U);
}

TEST(Conformance, Row15MinimumRaisedOnARunningGang) {
  World world;
  running(world, 3);
  world.add(pod_group("g").min(5).created(10).condition(test::initially_scheduled()).build());
  world.pass(minutes(10));
  EXPECT_EQ(world.bound().size(), 3U);
  EXPECT_TRUE(world.rollbacks.empty());
  for (const auto& explanation : world.explanations) EXPECT_FALSE(explanation.writes_condition);
}

TEST(Conformance, Row16GroupWithoutClassPodsWithOne) {
  World world;
  slots(world, "a", 4);
  world.add(pod_group("g").min(2).build());
  for (const char* name : {"a", "b"}) world.add(one(name).priority(1000, "p1000").build());
  world.pass(minutes(10));
  ASSERT_EQ(world.explanations.size(), 1U);
  EXPECT_TRUE(has(world.told().message,
                  "all pods in a single pod group should have the same priority as the pod "
                  "group's priority, got 1000 and 0"));
  EXPECT_EQ(world.told().verdict, Verdict::kInvalid);
  EXPECT_EQ(world.attempts.size(), 1U);
}

TEST(Conformance, Row17TwoSchedulerNames) {
  World world;
  gang(world, 2, 2, 4);
  world.add(one("foreign").scheduler("default-scheduler").build()).run();
  EXPECT_TRUE(world.bound().empty());
  EXPECT_TRUE(has(world.told().message, "same .spec.schedulerName set, got: "));
  for (const auto& text : world.told().members) EXPECT_NE(text.pod.name, "foreign");
}

TEST(Conformance, Row18TwoGangsOfSixtyPercent) {
  World world;
  slots(world, "a", 5);
  world.add(pod_group("young").min(3).created(2).build());
  world.add(pod_group("old").min(3).created(1).build());
  for (int i = 0; i < 3; ++i) {
    world.add(one("y" + std::to_string(i), "young").build());
    world.add(one("o" + std::to_string(i), "old").build());
  }
  world.run();
  EXPECT_EQ(world.bound(), (std::vector<std::string>{"o0", "o1", "o2"}));
}

TEST(Conformance, Row20GangOfAHundredIsBoundAtOnceWhenRoomAppears) {
  World world;
  gang(world, 100, 100, 50);
  world.pass(minutes(3));
  EXPECT_TRUE(world.bound().empty());
  slots(world, "b", 50);
  world.run();
  EXPECT_EQ(world.bound().size(), 100U);
}

TEST(Conformance, Row22TerminatingGroupIsStillScheduled) {
  World world;
  api::PodGroup leaving = pod_group("g").min(2).build();
  leaving.meta.deletion_time = at_second(900);
  slots(world, "a", 2);
  world.add(leaving).add(one("p0").build()).add(one("p1").build()).run();
  EXPECT_EQ(world.bound().size(), 2U);
}

TEST(Conformance, Row23RecreatedGroupIsAttemptedAnew) {
  World world;
  gang(world, 3, 3, 2);
  world.run();
  ASSERT_EQ(world.explanations.size(), 1U);
  world.remove_group("g").add(pod_group("g").uid("new").min(3).build()).run();
  EXPECT_EQ(world.attempts.size(), 2U);
  EXPECT_EQ(world.told().gang.uid.text, "new") << "the new object has its own condition";
}

TEST(Conformance, Row24ResumedGangWithoutRoomStaysTrue) {
  World world;
  running(world, 2);
  world.remove_pod("p0").remove_pod("p1").add(pod("other").cpu("1").on("a").build()).run();
  world.add(one("r0").build()).add(one("r1").build()).pass(seconds(30));
  ASSERT_EQ(world.explanations.size(), 1U);
  EXPECT_FALSE(world.told().writes_condition);
  EXPECT_FALSE(world.told().degraded) << "a new life of the group";
  EXPECT_EQ(world.told().members.size(), 2U);
}

TEST(Conformance, Row25LostMemberAndItsReplacement) {
  World world;
  world.binds = false;
  gang(world, 4, 4, 4);
  world.run().end_round(RoundEnd::kMembersLost, {"p2"});
  EXPECT_FALSE(world.is_true("g"));
  world.remove_pod("p2").pass(seconds(20)).add(one("q2").build()).run();
  EXPECT_EQ(world.planned(), std::vector<std::string>{"q2"});
  EXPECT_TRUE(world.plans.back().writes_record);
  world.end_round(RoundEnd::kCommitted).run();
  EXPECT_EQ(world.bound().size(), 4U);
  EXPECT_TRUE(world.is_true("g"));
}

TEST(Conformance, Row26RecordIsAskedForOnlyTogetherWithTheMinimum) {
  World world;
  gang(world, 3, 5, 5);
  world.run();
  for (const auto& plan : world.plans) {
    if (!plan.writes_record) continue;
    EXPECT_GE(plan.base + static_cast<int>(plan.assignments.size()), plan.minimum);
  }
  EXPECT_EQ(world.plans.size(), 1U);
}

}  // namespace
}  // namespace gang::scheduler
