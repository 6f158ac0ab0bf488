#include <gtest/gtest.h>

#include "scheduler/world.h"

namespace gang::scheduler {
namespace {

using engine::MemberEnd;
using engine::RoundEnd;
using std::chrono::minutes;
using std::chrono::seconds;
using test::member;
using test::pod;
using test::pod_group;
using test::World;

/// gang(4) on four nodes of one GPU, its first round open.
void open_round(World& world) {
  world.binds = false;
  world.add_nodes(4, 1).add(pod_group("g").min(4).build()).add_pods("g", 4, "p").run();
  ASSERT_EQ(world.planned().size(), 4U);
}

TEST(Round, MembersAreAssumedWhileItIsOpen) {
  World world;
  open_round(world);
  world.add(pod("other").gpu(1).build()).run();
  EXPECT_EQ(world.plans.size(), 1U) << "the room is taken";
}

TEST(Round, NobodyIsPlannedAndNoTextChangesWhileWritesAreBlocked) {
  World world;
  world.binds = false;
  world.post(WritesBlocked{true});
  world.add_nodes(4, 1).add(pod_group("g").min(4).build()).add_pods("g", 4, "p").run();
  world.clear().pass(minutes(10));
  EXPECT_TRUE(world.plans.empty());
  EXPECT_TRUE(world.explanations.empty());
  EXPECT_TRUE(world.core.ready());
  world.post(WritesBlocked{false}).run();
  EXPECT_EQ(world.planned().size(), 4U);
}

TEST(Round, LostMemberIsReplacedByARepairOfTheSameStamp) {
  World world;
  open_round(world);
  const std::string stamp = world.plans[0].stamp;
  world.end_round(RoundEnd::kMembersLost, {"p3"}).remove_pod("p3").run();
  EXPECT_EQ(world.plans.size(), 1U) << "nobody to place";
  world.pass(seconds(7)).add(member("p4", "g").build()).run();
  ASSERT_EQ(world.plans.size(), 2U);
  EXPECT_EQ(world.planned(), std::vector<std::string>{"p4"});
  EXPECT_EQ(world.plans[1].need, 1);
  EXPECT_EQ(world.plans[1].base, 3);
  EXPECT_EQ(world.plans[1].stamp, stamp);
  world.end_round(RoundEnd::kCommitted).run();
  EXPECT_TRUE(world.is_true("g"));
  world.pass(minutes(5));
  EXPECT_TRUE(world.rollbacks.empty());
}

TEST(Round, LostMemberIsNotPlannedAgainBeforeTheWatchShowsItAnew) {
  World world;
  open_round(world);
  world.end_round(RoundEnd::kMembersLost, {"p3"}).pass(seconds(30));
  EXPECT_EQ(world.plans.size(), 1U);
  EXPECT_EQ(world.core.pod_counts().pending, 1) << "but it is counted";
  world.add(member("p3", "g").version(77).build()).run();
  EXPECT_EQ(world.planned(), std::vector<std::string>{"p3"});
}

TEST(Round, B150RoomOfAMemberLostMeanwhileIsKeptUntilTheGangIsPlannedAgain) {
  World world;
  world.binds = false;
  world.add_nodes(3, 1).add(pod_group("g").min(3).build()).add_pods("g", 3, "p").run();
  ASSERT_EQ(world.planned().size(), 3U);
  world.remove_pod("p1").add_pods("g", 1, "q").add(pod("plain").gpu(1).build()).run();
  EXPECT_EQ(world.plans.size(), 1U);
  world.end_round(RoundEnd::kMembersLost, {"p1"}, MemberEnd::kLost).run();
  ASSERT_GE(world.plans.size(), 2U);
  EXPECT_EQ(world.plans[1].gang.key.name, "g");
  ASSERT_EQ(world.plans[1].assignments.size(), 1U);
  EXPECT_EQ(world.plans[1].assignments[0].pod.name, "q0");
}

TEST(Round, RoundThatDoesNotEndKeepsTheRoomOfALostMemberForAMinuteOnly) {
  World world;
  world.binds = false;
  world.add_nodes(3, 1).add(pod_group("g").min(3).build()).add_pods("g", 3, "p").run();
  ASSERT_EQ(world.planned().size(), 3U);
  world.remove_pod("p1").add(pod("plain").gpu(1).build()).pass(seconds(59));
  EXPECT_EQ(world.plans.size(), 1U);
  world.pass(seconds(2));
  EXPECT_EQ(world.planned(), std::vector<std::string>{"plain"});
}

TEST(Round, MemberFoundElsewhereIsNotPlannedAgain) {
  World world;
  open_round(world);
  world.end_round(RoundEnd::kMembersLost, {"p3"}, MemberEnd::kElsewhere).pass(seconds(30));
  EXPECT_EQ(world.plans.size(), 1U);
  world.add(member("p3", "g").on("n3").build()).run();
  ASSERT_EQ(world.plans.size(), 2U) << "whole now: only the record is missing";
  EXPECT_TRUE(world.plans[1].assignments.empty());
}

TEST(Round, FirstRepairStartsAtOnceTheNextOnesBackOff) {
  World world;
  open_round(world);
  world.end_round(RoundEnd::kMembersLost, {"p3"}, MemberEnd::kNotBound).run();
  EXPECT_EQ(world.plans.size(), 2U);
  world.end_round(RoundEnd::kMembersLost, {"p3"}, MemberEnd::kNotBound).run();
  EXPECT_EQ(world.plans.size(), 2U);
  world.pass(seconds(2));
  EXPECT_EQ(world.plans.size(), 3U);
  world.end_round(RoundEnd::kMembersLost, {"p3"}, MemberEnd::kNotBound).pass(seconds(3));
  EXPECT_EQ(world.plans.size(), 3U);
  world.pass(seconds(1));
  EXPECT_EQ(world.plans.size(), 4U);
}

TEST(Round, FailureWithNothingBoundBacksOffAndRollsNothingBack) {
  World world;
  open_round(world);
  const std::vector<std::string> all{"p0", "p1", "p2", "p3"};
  world.end_round(RoundEnd::kUnavailable, all, MemberEnd::kNotBound).run();
  EXPECT_EQ(world.plans.size(), 1U);
  world.pass(seconds(1));
  EXPECT_EQ(world.plans.size(), 2U);
  world.end_round(RoundEnd::kUnavailable, all, MemberEnd::kNotBound).pass(seconds(1));
  EXPECT_EQ(world.plans.size(), 2U);
  world.pass(seconds(1));
  EXPECT_EQ(world.plans.size(), 3U);
  world.pass(minutes(5));
  EXPECT_TRUE(world.rollbacks.empty());
}

TEST(Round, B175RefusedIsToldAndTriedAgainWithBackoffAndIsNoLackOfRoom) {
  World world;
  world.binds = false;
  world.add_nodes(1, 1).add(pod("p").gpu(1).build()).run();
  world.end_round(RoundEnd::kRefused, {"p"}, MemberEnd::kNotBound).run();
  ASSERT_EQ(world.explanations.size(), 1U);
  EXPECT_EQ(world.told().verdict, engine::Verdict::kBinding);
  EXPECT_EQ(world.told().members.size(), 1U);
  EXPECT_EQ(world.plans.size(), 1U);
  world.pass(seconds(1));
  EXPECT_EQ(world.plans.size(), 2U);
  world.end_round(RoundEnd::kRefused, {"p"}, MemberEnd::kNotBound).pass(seconds(1));
  EXPECT_EQ(world.plans.size(), 2U);
  world.pass(seconds(1));
  EXPECT_EQ(world.plans.size(), 3U);
}

TEST(Round, ExtraThatWasNotBoundIsTriedAgainWithBackoff) {
  World world;
  world.binds = false;
  world.add_nodes(3, 1).add(pod_group("g").min(2).build()).add_pods("g", 3, "p").run();
  ASSERT_EQ(world.planned().size(), 3U);
  world.end_round(RoundEnd::kCommitted, {"p2"}, MemberEnd::kNotBound).run();
  EXPECT_TRUE(world.is_true("g"));
  EXPECT_EQ(world.plans.size(), 1U);
  world.pass(seconds(1));
  EXPECT_EQ(world.planned(), std::vector<std::string>{"p2"});
  EXPECT_FALSE(world.plans.back().writes_record);
}

TEST(Round, ExtrasThatDoNotFitDoNotSpinBeforeTheWatchShowsTheRecord) {
  World world;
  world.binds = false;
  world.add_nodes(2, 1).add(pod_group("g").min(2).build()).add_pods("g", 3, "p").run();
  engine::RoundOutcome outcome{.gang = world.plans[0].gang,
                               .stamp = world.plans[0].stamp,
                               .end = RoundEnd::kCommitted,
                               .recorded = true};
  for (const auto& assignment : world.plans[0].assignments) {
    outcome.members.push_back(
        {.pod = assignment.pod, .uid = assignment.uid, .end = MemberEnd::kBound});
  }
  Effects effects = world.core.handle(RoundDone{outcome}, world.now);
  for (int i = 0; i < 5; ++i) {
    for (Effect& effect : world.core.handle(Tick{}, world.now)) effects.push_back(effect);
  }
  int binds = 0;
  int explanations = 0;
  for (const Effect& effect : effects) {
    binds += std::holds_alternative<BindGang>(effect);
    explanations += std::holds_alternative<ExplainGang>(effect);
  }
  EXPECT_EQ(binds, 0);
  EXPECT_EQ(explanations, 1);
}

TEST(Rollback, DeletesTheBoundMembersAtTheDeadline) {
  World world;
  open_round(world);
  world.end_round(RoundEnd::kMembersLost, {"p3"}).remove_pod("p3").pass(seconds(59));
  EXPECT_TRUE(world.rollbacks.empty());
  world.pass(seconds(1));
  ASSERT_EQ(world.rollbacks.size(), 1U);
  EXPECT_EQ(world.rollbacks[0].members.size(), 3U);
  EXPECT_EQ(world.rollbacks[0].stamp, world.plans[0].stamp);
  EXPECT_EQ(world.rollbacks[0].minimum, 4);
  EXPECT_EQ(world.rollbacks[0].message,
            "3 of minimum 4 members are bound, the others could not be bound within 1m; pod "
            "default/p3 was lost");
  world.pass(minutes(2));
  EXPECT_EQ(world.rollbacks.size(), 1U) << "one at a time";
}

TEST(Round, HalfBoundGangWithoutPendingMembersSaysAtOnceWhatItAwaits) {
  World world;
  open_round(world);
  world.end_round(RoundEnd::kMembersLost, {"p3"}).remove_pod("p3").run();
  EXPECT_EQ(world.told().verdict, engine::Verdict::kBinding);
  EXPECT_EQ(world.told().message,
            "3 of minimum 4 members are bound; waiting for 1 more pods, without them the bound "
            "ones are deleted 1m after the round failed; pod default/p3 was lost");
  EXPECT_FALSE(world.told().writes_condition);
  world.pass(seconds(59));
  EXPECT_EQ(world.explanations.size(), 1U) << "once";
}

TEST(Rollback, SaysThatItHappenedAndWhyUntilTheGangIsPlannedAgain) {
  World world;
  open_round(world);
  world.end_round(RoundEnd::kMembersLost, {"p3"}).remove_pod("p3").pass(seconds(60));
  const std::string why =
      "rolled back: 3 of minimum 4 members were bound, the others could not be bound within 1m; "
      "pod default/p3 was lost; tried again after 1s, when 4 pods exist";
  world.end_rollback().run();
  EXPECT_EQ(world.told().message, why);
  EXPECT_TRUE(world.told().writes_condition);
  world.add_pods("g", 2, "q").pass(seconds(20));
  EXPECT_EQ(world.told().message, "2 of 4 pods exist; " + why);
  world.add_pods("g", 2, "r").pass(seconds(1));
  ASSERT_EQ(world.plans.size(), 2U);
}

TEST(Rollback, NewMembersArePlannedAfterABackoff) {
  World world;
  open_round(world);
  world.end_round(RoundEnd::kMembersLost, {"p3"}).remove_pod("p3").pass(seconds(60));
  ASSERT_EQ(world.rollbacks.size(), 1U);
  world.end_rollback().add_pods("g", 4, "q").run();
  EXPECT_EQ(world.plans.size(), 1U);
  world.pass(seconds(1));
  ASSERT_EQ(world.plans.size(), 2U);
  EXPECT_EQ(world.plans[1].need, 4);
  EXPECT_NE(world.plans[1].stamp, world.plans[0].stamp);
}

TEST(Rollback, ThreeInTenMinutesSlowDownToTheCapAndSaySo) {
  World world;
  world.binds = false;
  world.add_nodes(4, 1).add(pod_group("g").min(4).build());
  for (int i = 0; i < 3; ++i) {
    const std::string prefix = "r" + std::to_string(i) + "-";
    world.add_pods("g", 4, prefix).pass(seconds(5));
    world.end_round(RoundEnd::kMembersLost, {prefix + "3"}).remove_pod(prefix + "3");
    world.pass(seconds(61));
    ASSERT_EQ(world.rollbacks.size(), static_cast<std::size_t>(i + 1));
    world.end_rollback();
  }
  world.add_pods("g", 4, "s").pass(seconds(11));
  EXPECT_TRUE(world.told().message.starts_with(
      "rolled back 3 times in 10 minutes, one attempt every 1m; rolled back: "))
      << world.told().message;
  const std::size_t plans = world.plans.size();
  world.pass(seconds(48));
  EXPECT_EQ(world.plans.size(), plans);
  world.pass(seconds(2));
  EXPECT_EQ(world.plans.size(), plans + 1);
}

TEST(Rollback, RepairClockStandsWhileTheServerDoesNotAnswer) {
  World world;
  open_round(world);
  world.end_round(RoundEnd::kMembersLost, {"p3"}, MemberEnd::kNotBound).run();  // deadline +60
  world.pass(seconds(30)).end_round(RoundEnd::kUnavailable, {"p3"}, MemberEnd::kNotBound);
  world.pass(seconds(2));
  ASSERT_EQ(world.plans.size(), 3U);
  world.pass(seconds(40)).end_round(RoundEnd::kMembersLost, {"p3"});
  world.remove_pod("p3").pass(seconds(59));
  EXPECT_TRUE(world.rollbacks.empty()) << "72 s have passed, none of them counts";
  world.pass(seconds(1));
  EXPECT_EQ(world.rollbacks.size(), 1U);
}

TEST(Rollback, WaitsUntilTheWatchHasConfirmedEveryBoundMember) {
  World world;
  open_round(world);
  const engine::Plan& plan = world.plans[0];
  engine::RoundOutcome outcome{
      .gang = plan.gang, .stamp = plan.stamp, .end = RoundEnd::kMembersLost};
  for (const engine::Assignment& assignment : plan.assignments) {
    const bool is_lost = assignment.pod.name == "p3";
    outcome.members.push_back({.pod = assignment.pod,
                               .uid = assignment.uid,
                               .end = is_lost ? MemberEnd::kLost : MemberEnd::kBound});
  }
  world.post(RoundDone{outcome}).remove_pod("p3").pass(seconds(90));
  EXPECT_TRUE(world.rollbacks.empty());
  for (const engine::Assignment& assignment : plan.assignments) {
    if (assignment.pod.name == "p3") continue;
    world.add(member(assignment.pod.name, "g").on(assignment.node_name).stamp(plan.stamp).build());
  }
  world.run();
  ASSERT_EQ(world.rollbacks.size(), 1U);
  EXPECT_EQ(world.rollbacks[0].members.size(), 3U);
}

TEST(Rollback, NeverOfBareMembersButSaidOnce) {
  World world;
  world.binds = false;
  world.add_nodes(2, 1).add(pod_group("g").min(2).build());
  world.add(pod("a").group("g").gpu(1).build()).add(pod("b").group("g").gpu(1).build()).run();
  world.end_round(RoundEnd::kMembersLost, {"b"}).remove_pod("b").pass(minutes(5));
  EXPECT_TRUE(world.rollbacks.empty());
  ASSERT_FALSE(world.explanations.empty());
  EXPECT_TRUE(world.told().partially_bound);
  EXPECT_NE(world.told().message.find("default/a has no controller"), std::string::npos);
  world.add(pod("c").group("g").gpu(1).build()).run();
  EXPECT_EQ(world.planned(), std::vector<std::string>{"c"}) << "repair goes on";
}

TEST(Rollback, NeverOfAGangThatWasTrue) {
  World world;
  world.add_nodes(4, 1).add(pod_group("g").min(4).build()).add_pods("g", 4, "p").run();
  ASSERT_TRUE(world.is_true("g"));
  world.binds = false;
  world.remove_pod("p2").remove_pod("p3").add_pods("g", 2, "q").run();
  world.end_round(RoundEnd::kMembersLost, {"q1"}).remove_pod("q1").pass(minutes(5));
  EXPECT_TRUE(world.rollbacks.empty());
  EXPECT_TRUE(world.told().degraded);
  EXPECT_FALSE(world.told().writes_condition);
}

TEST(Rollback, NeverOfMembersThatWereBoundBeforeTheRound) {
  World world;
  world.binds = false;
  world.add_nodes(4, 1).add(pod_group("g").min(4).build());
  world.add(member("mine", "g").on("n0").build()).add_pods("g", 3, "p").run();
  ASSERT_EQ(world.planned().size(), 3U);
  world.end_round(RoundEnd::kMembersLost, {"p2"}).remove_pod("p2").pass(minutes(5));
  EXPECT_TRUE(world.rollbacks.empty());
}

TEST(Rollback, NotWhenTheRepairCompletedTheGang) {
  World world;
  open_round(world);
  world.end_round(RoundEnd::kMembersLost, {"p3"}, MemberEnd::kNotBound).run();
  world.end_round(RoundEnd::kCommitted).pass(minutes(5));
  EXPECT_TRUE(world.rollbacks.empty());
  EXPECT_TRUE(world.is_true("g"));
}

TEST(Round, RecreatedGroupIsANewGang) {
  World world;
  open_round(world);
  world.remove_group("g").add(pod_group("g").uid("second").min(4).build()).run();
  const std::vector<std::string> all{"p0", "p1", "p2", "p3"};
  world.end_round(RoundEnd::kGroupGone, all, MemberEnd::kNotBound).pass(seconds(2));
  ASSERT_EQ(world.plans.size(), 2U);
  EXPECT_EQ(world.plans[1].gang.uid.text, "second");
}

}  // namespace
}  // namespace gang::scheduler
