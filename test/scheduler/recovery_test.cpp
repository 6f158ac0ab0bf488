#include "scheduler/recovery.h"

#include <gtest/gtest.h>

#include "scheduler/world.h"

namespace gang::scheduler {
namespace {

using cluster::Gang;
using cluster::Member;
using cluster::MemberState;
using engine::RoundEnd;
using std::chrono::seconds;
using test::at_second;
using test::initially_scheduled;
using test::member;
using test::pod;
using test::pod_group;
using test::World;

constexpr const char* kStamp = "round=old-1;need=4;minimum=4;plan=aa";
constexpr const char* kOtherStamp = "round=old-2;need=4;minimum=4;plan=bb";

Gang with_bound(const std::vector<std::string>& stamps) {
  Gang gang;
  gang.kind = cluster::GangKind::kPodGroup;
  gang.group = pod_group("g").min(4).build();
  gang.minimum = gang.min_count = 4;
  for (const std::string& stamp : stamps) {
    Member one;
    one.key = {"default", "p" + std::to_string(gang.members.size())};
    one.state = MemberState::kBound;
    one.stamp = stamp;
    one.scheduler_name = test::kOurScheduler;
    one.has_controller = true;
    gang.members.push_back(one);
  }
  gang.counts.bound = static_cast<std::int32_t>(stamps.size());
  return gang;
}

/// A row of the recovery table: what is found, and the verdict.
struct Row {
  const char* name;
  bool is_true;
  std::vector<std::string> stamps;  ///< of the bound members
  Standing verdict;
};

class RecoveryTable : public testing::TestWithParam<Row> {};

TEST_P(RecoveryTable, GivesItsVerdict) {
  EXPECT_EQ(recover(with_bound(GetParam().stamps), GetParam().is_true, 4).standing,
            GetParam().verdict);
}

INSTANTIATE_TEST_SUITE_P(
    Recovery, RecoveryTable,
    testing::Values(
        Row{"TrueAndWhole", true, {kStamp, kStamp, kStamp, kStamp}, Standing::kFinished},
        Row{"TrueAndBelow", true, {kStamp, kStamp, kStamp}, Standing::kDegraded},
        Row{"TrueAndNoneBound", true, {}, Standing::kNothingBound},
        Row{"NotTrueAndWhole", false, {kStamp, kStamp, kStamp, kStamp}, Standing::kRecordMissing},
        Row{"NotTrueAndWholeByHand", false, {"", "", "", ""}, Standing::kRecordMissing},
        Row{"HalfBoundOneStamp", false, {kStamp, kStamp}, Standing::kHalfBound},
        Row{"HalfBoundMixedStamps", false, {kStamp, kOtherStamp}, Standing::kUnknownOrigin},
        Row{"HalfBoundOneWithoutStamp", false, {kStamp, ""}, Standing::kUnknownOrigin},
        Row{"HalfBoundNoStamp", false, {"", ""}, Standing::kUnknownOrigin},
        Row{"HalfBoundUnreadableStamp", false, {"x", "x"}, Standing::kUnknownOrigin},
        Row{"NotTrueAndNoneBound", false, {}, Standing::kNothingBound}),
    [](const auto& row) { return row.param.name; });

TEST(Recovery, StampedRoundIsJudgedByItsOwnMinimum) {
  const Gang gang = with_bound({kStamp, kStamp, kStamp, kStamp});
  const Recovery raised = recover(gang, false, 6);
  EXPECT_EQ(raised.standing, Standing::kRecordMissing);
  EXPECT_EQ(raised.minimum, 4);
  const Recovery lowered = recover(with_bound({kStamp, kStamp}), false, 2);
  EXPECT_EQ(lowered.standing, Standing::kRecordMissing);
  EXPECT_EQ(lowered.minimum, 2);
}

TEST(RollbackObstacle, NoneWhenEveryMemberIsOfThisRound) {
  EXPECT_EQ(rollback_obstacle(with_bound({kStamp, kStamp}), kStamp, test::kOurScheduler), "");
}

TEST(RollbackObstacle, EveryGuardForbidsByItself) {
  const auto obstacle = [](const Gang& gang, const std::string& stamp) {
    return rollback_obstacle(gang, stamp, test::kOurScheduler);
  };
  EXPECT_EQ(obstacle(with_bound({"", ""}), ""), "the round that bound them is not known");
  const std::string later = "round=a;need=2;minimum=4;plan=x";
  EXPECT_EQ(obstacle(with_bound({later, later}), later), "others were bound before the round");
  EXPECT_EQ(obstacle(with_bound({kStamp, kOtherStamp}), kStamp),
            "default/p1 was not bound by this round");
  Gang bare = with_bound({kStamp, kStamp});
  bare.members[1].has_controller = false;
  EXPECT_EQ(obstacle(bare, kStamp), "default/p1 has no controller that would replace it");
  Gang foreign = with_bound({kStamp, kStamp});
  foreign.members[0].scheduler_name = "default-scheduler";
  EXPECT_EQ(obstacle(foreign, kStamp), "default/p0 was not bound by this round");
  Gang open = with_bound({kStamp, kStamp});
  open.members[0].state = MemberState::kAssumed;
  EXPECT_EQ(obstacle(open, kStamp), "the binding of default/p0 is not confirmed");
}

TEST(RollbackObstacle, MembersOnTheirWayOutAreNoObstacle) {
  Gang gang = with_bound({kStamp, ""});
  gang.members[1].state = MemberState::kTerminating;
  EXPECT_EQ(rollback_obstacle(gang, kStamp, test::kOurScheduler), "");
}

// --- The same through the scheduler, as after a restart -----------------------------------------

/// Four one-GPU nodes, gang(4) with `bound` members on the first nodes and the others pending.
void half_bound(World& world, int bound, const std::string& stamp, bool is_true = false) {
  world.add_nodes(4, 1);
  auto group = pod_group("g").min(4).created(50);
  if (is_true) group.condition(initially_scheduled());
  world.add(group.build());
  for (int i = 0; i < 4; ++i) {
    auto one = member("g" + std::to_string(i), "g").created(60 + i);
    if (i < bound) one.on("n" + std::to_string(i)).stamp(stamp);
    world.add(one.build());
  }
}

TEST(RecoveryAtStart, WholeWithoutRecordIsRecordedAtOnce) {
  World world;
  half_bound(world, 4, kStamp);
  world.run();
  ASSERT_EQ(world.plans.size(), 1U);
  EXPECT_TRUE(world.plans[0].assignments.empty());
  EXPECT_TRUE(world.plans[0].writes_record);
  EXPECT_EQ(world.plans[0].stamp, kStamp);
  EXPECT_TRUE(world.is_true("g"));
  EXPECT_TRUE(world.attempts.empty()) << "nothing was planned";
}

TEST(RecoveryAtStart, RecordThatCannotBeWrittenIsTriedAgainWithBackoff) {
  World world;
  world.binds = false;
  half_bound(world, 4, kStamp);
  world.run().end_round(RoundEnd::kUnavailable).run();
  EXPECT_EQ(world.plans.size(), 1U);
  world.pass(seconds(1));
  EXPECT_EQ(world.plans.size(), 2U);
}

TEST(RecoveryAtStart, B133HalfBoundGangGoesFirstAndKeepsItsStamp) {
  World world;
  half_bound(world, 2, kStamp);
  world.add(pod("competitor").gpu(1).created(1).build());
  world.run();
  EXPECT_EQ(world.bound(), (std::vector<std::string>{"g0", "g1", "g2", "g3"}));
  ASSERT_FALSE(world.plans.empty());
  EXPECT_EQ(world.plans[0].stamp, kStamp);
  EXPECT_EQ(world.plans[0].need, 2);
  EXPECT_TRUE(world.is_true("g"));
  EXPECT_EQ(world.told().gang.key.name, "competitor");
}

TEST(RecoveryAtStart, B133WithCompetitorBoundTheRestWaitsThenIsRolledBack) {
  World world;
  half_bound(world, 2, kStamp);
  world.add(pod("competitor").gpu(2).on("n3").build());
  world.run();
  EXPECT_TRUE(world.plans.empty());
  EXPECT_NE(world.told().message.find("minCount (4) cannot be satisfied: 3 scheduled"),
            std::string::npos);
  world.pass(seconds(59));
  EXPECT_TRUE(world.rollbacks.empty());
  world.pass(seconds(1));
  ASSERT_EQ(world.rollbacks.size(), 1U);
  EXPECT_EQ(world.rollbacks[0].stamp, kStamp);
  EXPECT_EQ(world.rollbacks[0].members.size(), 2U);
}

TEST(RecoveryAtStart, UnknownOriginIsRepairedForwardAndNeverDeleted) {
  World world;
  half_bound(world, 2, "");
  world.add(pod("competitor").gpu(1).on("n3").build());
  world.run();
  EXPECT_TRUE(world.plans.empty());
  ASSERT_FALSE(world.explanations.empty());
  EXPECT_TRUE(world.explanations[0].partially_bound);
  world.pass(std::chrono::minutes(10));
  EXPECT_TRUE(world.rollbacks.empty());
  world.remove_pod("competitor").run();
  EXPECT_EQ(world.bound().size(), 4U);
  EXPECT_TRUE(world.is_true("g"));
}

TEST(RecoveryAtStart, MixedStampsAreNeverDeleted) {
  World world;
  world.add_nodes(3, 1).add(pod_group("g").min(4).build());
  world.add(member("g0", "g").on("n0").stamp(kStamp).build());
  world.add(member("g1", "g").on("n1").stamp(kOtherStamp).build());
  world.pass(std::chrono::minutes(10));
  EXPECT_TRUE(world.rollbacks.empty());
  ASSERT_FALSE(world.explanations.empty());
  EXPECT_TRUE(world.explanations[0].partially_bound);
}

TEST(RecoveryAtStart, TrueAndBelowIsDegradedOnceAndForwardOnly) {
  World world;
  world.add_nodes(4, 1);
  world.add(pod_group("g").min(4).condition(initially_scheduled()).build());
  for (int i = 0; i < 3; ++i) {
    const std::string name = std::to_string(i);
    world.add(member("g" + name, "g").on("n" + name).stamp(kStamp).build());
  }
  world.pass(std::chrono::minutes(10));
  EXPECT_TRUE(world.rollbacks.empty());
  ASSERT_EQ(world.explanations.size(), 1U);
  EXPECT_TRUE(world.told().degraded);
  EXPECT_FALSE(world.told().writes_condition);
  EXPECT_EQ(world.told().message, "3 of 4 pods exist");
  world.add(member("g3", "g").build()).run();
  EXPECT_EQ(world.bound().size(), 4U);
}

TEST(RecoveryAtStart, TrueAndWholeDoesNothing) {
  World world;
  half_bound(world, 4, kStamp, true);
  world.pass(std::chrono::minutes(10));
  EXPECT_TRUE(world.plans.empty());
  EXPECT_TRUE(world.explanations.empty());
}

TEST(BoundBefore, IsWhatAnotherProcessStamped) {
  const std::string own = "round=me-1;need=2;minimum=2;plan=x";
  const std::string other = "round=me2-1;need=2;minimum=2;plan=x";
  const Gang gang = with_bound({own, other, "", "odd"});
  const auto pods = bound_before(gang, "me");
  ASSERT_EQ(pods.size(), 1U);
  EXPECT_EQ(pods[0].pod.name, "p1");
}

TEST(RecoveryAtStart, GroupOfAnotherSchedulerGetsNoRecordOfOurs) {
  World world;
  world.add_nodes(2, 1).add(pod_group("g").min(2).build());
  world.add(member("a", "g").scheduler("default-scheduler").on("n0").build());
  world.add(member("b", "g").scheduler("default-scheduler").on("n1").build());
  world.pass(std::chrono::minutes(10));
  EXPECT_TRUE(world.plans.empty());
  EXPECT_TRUE(world.explanations.empty());
}

}  // namespace
}  // namespace gang::scheduler
