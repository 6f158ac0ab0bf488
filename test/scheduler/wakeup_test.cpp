#include "scheduler/wakeup.h"

#include <gtest/gtest.h>

#include "scheduler/world.h"

namespace gang::scheduler {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using test::deleted;
using test::member;
using test::node;
using test::pod;
using test::pod_group;
using test::updated;
using test::World;

/// gang(2) of one-GPU pods that select pool=a, parked because one slot is missing.
void park_gang(World& world) {
  world.add(node("n0").gpu(1).label("pool", "a").build());
  world.add(pod_group("g").min(2).build());
  for (const char* name : {"p0", "p1"}) world.add(member(name, "g").selects("pool", "a").build());
  world.run();
  ASSERT_EQ(world.attempts.size(), 1U);
  ASSERT_TRUE(world.plans.empty());
  world.clear();
}

TEST(WakeUp, NodeThatCanTakeAMemberWakesAtOnce) {
  World world;
  park_gang(world);
  world.add(node("n1").gpu(1).label("pool", "a").build()).run();
  EXPECT_EQ(world.bound().size(), 2U);
}

TEST(WakeUp, NodeThatCannotHelpWakesNobody) {
  World world;
  park_gang(world);
  world.add(node("n1").gpu(8).build()).run();
  world.add(node("n2").gpu(8).label("pool", "a").taint("x").build()).run();
  EXPECT_TRUE(world.attempts.empty());
}

TEST(WakeUp, DevicesWakeNobodyWithoutClaims) {
  World world;
  park_gang(world);
  api::ResourceSlice slice;
  slice.meta.key.name = "s1";
  slice.driver = "d";
  slice.pool = slice.place.node_name = "n0";
  slice.pool_slice_count = 1;
  slice.devices.emplace_back().name = "gpu-0";
  api::ResourceClaim claim;
  claim.meta.key = {"default", "c"};
  claim.allocation = api::Allocation{.results = {{.driver = "d", .pool = "n0", .device = "gpu-0"}}};
  world.tell(updated(slice)).tell(updated(claim)).tell(deleted(claim)).tell(deleted(slice));
  world.pass(seconds(10));
  EXPECT_TRUE(world.attempts.empty());
}

TEST(WakeUp, OtherCausesAreToldSoonAndSpaced) {
  World world;
  park_gang(world);
  world.tell(updated(node("n0").gpu(1).label("pool", "a").unschedulable().build())).run();
  EXPECT_TRUE(world.attempts.empty());
  world.pass(seconds(10));
  ASSERT_EQ(world.attempts.size(), 1U);
  EXPECT_EQ(world.told().reasons.at(0).filter, "NodeUnschedulable");
  // Twice as long for each further time, up to a minute.
  for (int i = 0; i < 200; ++i) {
    const bool cordoned = i % 2 == 1;
    world.tell(updated(node("n0").gpu(1).label("pool", "a").unschedulable(cordoned).build()));
    world.pass(seconds(1));
  }
  EXPECT_LE(world.attempts.size(), 8U);
  world.tell(updated(node("n0").gpu(1).label("pool", "a").build())).pass(minutes(2)).clear();
  world.pass(minutes(2));
  EXPECT_TRUE(world.attempts.empty()) << "nothing changes, nothing is planned";
}

TEST(WakeUp, NumbersThatChangeAreNoOtherCause) {
  World world;
  park_gang(world);
  world.tell(updated(node("n0").gpu(1).label("pool", "a").taint("x").build())).pass(minutes(1));
  world.clear();
  world.add(node("n1").gpu(1).label("pool", "a").taint("x").build()).pass(minutes(2));
  EXPECT_TRUE(world.attempts.empty());
}

TEST(WakeUp, ConditionThatWasNotWrittenIsTriedAgainAndSpaced) {
  World world;
  park_gang(world);
  const auto ref = world.core.queue().at(0).gang;
  std::vector<std::size_t> told;
  for (int i = 0; i < 4; ++i) {
    world.clear().post(ExplainFailed{ref}).pass(seconds(60));
    told.push_back(world.explanations.size());
  }
  EXPECT_EQ(told, (std::vector<std::size_t>{1, 1, 1, 1}));
  world.clear().pass(minutes(2));
  EXPECT_TRUE(world.explanations.empty());
}

TEST(WakeUp, LabelTaintAllocatableAndCordonWakeWhenTheyHelp) {
  World world;
  park_gang(world);
  world.add(node("n1").gpu(1).taint("x").unschedulable().build()).run();
  world.tell(updated(node("n1").gpu(1).taint("x").unschedulable().label("pool", "a").build()));
  world.run();
  world.tell(updated(node("n1").gpu(1).unschedulable().label("pool", "a").build())).run();
  EXPECT_TRUE(world.attempts.empty());
  world.tell(updated(node("n1").gpu(1).label("pool", "a").build())).run();
  EXPECT_EQ(world.bound().size(), 2U);
}

TEST(WakeUp, GrownAllocatableWakes) {
  World world;
  park_gang(world);
  world.tell(updated(node("n0").gpu(2).label("pool", "a").build())).run();
  EXPECT_EQ(world.bound().size(), 2U);
}

TEST(WakeUp, FreedRoomWakes) {
  World world;
  world.add(node("n0").gpu(2).build()).add(pod("other").gpu(1).on("n0").build());
  world.add(pod_group("g").min(2).build()).add_pods("g", 2, "p").run();
  EXPECT_TRUE(world.plans.empty());
  world.remove_pod("other").run();
  EXPECT_EQ(world.bound().size(), 2U);
}

TEST(WakeUp, FreedHostPortWakes) {
  World world;
  world.add(node("n0").build()).add(pod("holder").host_port(80).on("n0").build());
  world.add(pod("p").host_port(80).build()).run();
  EXPECT_TRUE(world.plans.empty());
  world.remove_pod("holder").run();
  EXPECT_EQ(world.planned(), std::vector<std::string>{"p"});
}

TEST(WakeUp, RoomGivenBackByAFailedRoundWakesOthers) {
  World world;
  world.binds = false;
  world.add(node("n0").gpu(1).build()).add(pod("first").gpu(1).created(1).build()).run();
  world.add(pod("second").gpu(1).created(2).build()).run();
  ASSERT_EQ(world.plans.size(), 1U);
  world.end_round(engine::RoundEnd::kMembersLost, {"first"}).run();
  EXPECT_EQ(world.planned(), std::vector<std::string>{"second"});
}

TEST(WakeUp, MemberRoomThatHelpsTwoGangsGoesToTheOlder) {
  World world;
  world.add(node("n0").gpu(1).build()).add(pod("other").gpu(1).on("n0").build());
  world.add(pod("young").gpu(1).created(20).build());
  world.add(pod("old").gpu(1).created(10).build()).run();
  world.remove_pod("other").run();
  EXPECT_EQ(world.bound(), std::vector<std::string>{"old"});
}

TEST(WakeUp, OwnChangeWakesAndOwnStatusDoesNot) {
  World world;
  park_gang(world);
  api::Pod written = world.pod_named("p0");
  written.conditions.push_back({.type = "PodScheduled",
                                .status = api::ConditionStatus::kFalse,
                                .reason = "Unschedulable",
                                .message = "no room"});
  world.tell(updated(written)).run();
  EXPECT_TRUE(world.attempts.empty()) << "the condition that we wrote";
  world.add(member("p2", "g").build()).run();
  EXPECT_EQ(world.attempts.size(), 1U) << "a new member";
}

TEST(WakeUp, RuleNotBuiltAndInvalidWaitForTheirOwnObjects) {
  World world;
  world.add_nodes(1, 4);
  world.add(pod("affine").gpu(1).rules({.pod_affinity = true}).build());
  world.add(pod_group("g").min(1).priority(100).build()).add(member("p", "g").build());
  world.run();
  EXPECT_EQ(world.attempts.size(), 2U);
  world.clear().add_nodes(3, 4).pass(minutes(30));
  EXPECT_TRUE(world.attempts.empty()) << "neither nodes nor time help";
  EXPECT_TRUE(world.explanations.empty());
  world.add(member("p", "g").priority(100).build()).run();
  EXPECT_EQ(world.planned(), std::vector<std::string>{"p"});
}

TEST(WakeUp, SafetyAttemptEveryFiveMinutes) {
  World world;
  park_gang(world);
  world.pass(minutes(4));
  EXPECT_TRUE(world.attempts.empty());
  world.pass(minutes(1));
  EXPECT_EQ(world.attempts.size(), 1U);
  world.pass(minutes(5));
  EXPECT_EQ(world.attempts.size(), 2U);
  EXPECT_TRUE(world.explanations.empty()) << "nothing new to say";
}

TEST(WakeUp, InexactCountsAreSpacedFromOneSecondToTheCap) {
  World world;
  // Each member fits, both want the only slot of n0: the counts cannot tell.
  world.add(node("n0").gpu(1).build());
  world.add(pod_group("g").min(2).build());
  world.add(member("a", "g").cpu("1").build()).add(member("b", "g").cpu("2").build()).run();
  ASSERT_TRUE(world.plans.empty());
  const std::size_t first = world.attempts.size();
  for (int i = 0; i < 600; ++i) {
    world.add(pod("noise").cpu("1m").on("n0").build()).run();
    world.remove_pod("noise").pass(seconds(1));
  }
  EXPECT_GT(world.attempts.size(), first);
  EXPECT_LE(world.attempts.size(), first + 6 + 600 / 60 + 2);
  world.add(node("n1").gpu(1).build()).pass(seconds(60));
  EXPECT_EQ(world.bound().size(), 2U);
}

TEST(WakeUp, B171UnrelatedEventsDoNotLoopAFailingGang) {
  World world;
  world.add_nodes(20, 1);
  world.add(pod_group("g").min(1).build());
  world.add(member("p", "g").selects("nowhere", "x").build()).run();
  for (int second = 0; second < 300; ++second) {
    for (int i = 0; i < 20; ++i) {
      const std::string name = "n" + std::to_string(i);
      world.tell(updated(node(name).cpu("64").gpu(1).version(second + 1).build()));
      world.tell(test::added(pod("noise").uid("u" + std::to_string(second)).on(name).build()));
      world.run();
      world.tell(deleted(pod("noise").uid("u" + std::to_string(second)).on(name).build())).run();
    }
    world.pass(seconds(1));
  }
  EXPECT_LE(world.attempts.size(), 2U);
  EXPECT_EQ(world.explanations.size(), 1U);
}

TEST(WakeUp, FiveHundredParkedGangsCauseNoWorkUntilSomethingHelps) {
  World world;
  world.add_nodes(4, 1);
  for (int i = 0; i < 4; ++i) {
    world.add(pod("full" + std::to_string(i)).gpu(1).on("n" + std::to_string(i)).build());
  }
  for (int i = 0; i < 500; ++i) {
    const std::string group = "g" + std::to_string(i);
    world.add(pod_group(group).min(2).created(i).build()).add_pods(group, 2, group + "-");
  }
  world.run();
  EXPECT_EQ(world.attempts.size(), 500U);
  const auto plans = world.core.planner_stats().plans;
  world.clear().pass(minutes(4));
  EXPECT_EQ(world.wake_ups(), 0);
  EXPECT_TRUE(world.explanations.empty());
  EXPECT_EQ(world.core.planner_stats().plans, plans);
  world.remove_pod("full0").run();
  EXPECT_EQ(world.core.planner_stats().plans, plans) << "one slot helps no gang of two";
  world.remove_pod("full1").run();
  EXPECT_EQ(world.bound().size(), 4U);
  EXPECT_EQ(world.planned(), (std::vector<std::string>{"g0-0", "g0-1"}));
}

TEST(Fingerprint, SeesWhatAPlanReadsAndNothingElse) {
  cluster::Gang gang;
  gang.group = pod_group("g").min(2).build();
  cluster::Member one;
  one.uid.text = "a";
  gang.members = {one};
  const std::uint64_t before = fingerprint(gang);
  gang.members[0].resource_version.text = "7";
  gang.members[0].pod_scheduled.message = "told";
  gang.group->conditions = {test::initially_scheduled()};
  EXPECT_EQ(fingerprint(gang), before);
  gang.members[0].state = cluster::MemberState::kGated;
  EXPECT_NE(fingerprint(gang), before);
  gang.members[0].state = cluster::MemberState::kPending;
  gang.group->spec.min_count = 3;
  EXPECT_NE(fingerprint(gang), before);
}

}  // namespace
}  // namespace gang::scheduler
