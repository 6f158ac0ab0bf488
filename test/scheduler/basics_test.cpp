#include <gtest/gtest.h>

#include "scheduler/world.h"

namespace gang::scheduler {
namespace {

using std::chrono::seconds;
using test::added;
using test::at_second;
using test::list_begin;
using test::list_end;
using test::member;
using test::node;
using test::pod;
using test::pod_group;
using test::World;

TEST(SchedulerSync, NothingIsPlannedOrSaidBeforeEveryKindIsListed) {
  for (int missing = 0; missing < api::kKindCount; ++missing) {
    Scheduler scheduler({});
    std::size_t effects = 0;
    const auto tell = [&](const api::Delta& delta) {
      effects += scheduler.handle(delta, at_second(0)).size();
    };
    for (int kind = 0; kind < api::kKindCount; ++kind) {
      tell(list_begin(static_cast<api::Kind>(kind)));
      if (kind != missing) tell(list_end(static_cast<api::Kind>(kind)));
    }
    effects += scheduler.handle(IntentsFound{}, at_second(0)).size();
    tell(added(node("n").gpu(1).build()));
    tell(added(pod("p").gpu(1).build()));
    effects += scheduler.handle(Tick{}, at_second(100)).size();
    EXPECT_EQ(effects, 0U) << "kind " << missing;
    EXPECT_FALSE(scheduler.ready());
    tell(list_end(static_cast<api::Kind>(missing)));
    EXPECT_EQ(effects, 1U) << "it asks for a tick";
    scheduler.handle(Tick{}, at_second(100));
    EXPECT_TRUE(scheduler.ready());
  }
}

TEST(SchedulerSync, RelistPausesPlanningUntilItsEnd) {
  World world;
  world.add_nodes(1, 1).run();
  world.tell(list_begin(api::Kind::kNode));
  world.add(pod("p").gpu(1).build()).pass(seconds(60));
  EXPECT_TRUE(world.bound().empty());
  world.tell(added(node("n0").cpu("64").gpu(1).build()));
  world.tell(list_end(api::Kind::kNode)).run();
  EXPECT_EQ(world.bound().size(), 1U);
  EXPECT_TRUE(world.core.ready()) << "stays ready through a relist";
}

TEST(SchedulerSync, TimerThatCameDuringARelistIsNotLost) {
  World world;
  world.add(pod_group("g").min(4).build()).add_pods("g", 3, "p").run();
  world.tell(list_begin(api::Kind::kPriorityClass)).pass(seconds(20));
  EXPECT_TRUE(world.explanations.empty());
  world.tell(list_end(api::Kind::kPriorityClass)).run();
  ASSERT_EQ(world.explanations.size(), 1U);
  EXPECT_EQ(world.told().message, "3 of 4 pods exist");
}

TEST(SchedulerTick, AttemptsOneGangAtATime) {
  World world;
  world.add_nodes(3, 1);
  for (const char* name : {"a", "b", "c"}) world.add(pod(name).gpu(1).build());
  for (std::size_t done = 1; done <= 3; ++done) {
    const Effects effects = world.core.handle(Tick{}, world.now);
    std::size_t binds = 0;
    for (const Effect& effect : effects) binds += std::holds_alternative<BindGang>(effect);
    EXPECT_EQ(binds, 1U) << done;
  }
}

TEST(SchedulerTick, GoesByPriorityThenAge) {
  World world;
  world.add_nodes(1, 1).run();
  world.add(pod("young").gpu(1).created(20).build());
  world.add(pod("old").gpu(1).created(10).build());
  world.add(pod("high").gpu(1).created(30).priority(5).build());
  world.run();
  EXPECT_EQ(world.bound(), std::vector<std::string>{"high"});
  world.remove_pod("high").run();
  EXPECT_EQ(world.bound(), std::vector<std::string>{"old"});
}

TEST(SchedulerTick, EqualInputsGiveEqualEffects) {
  const auto play = [] {
    World world;
    world.add_nodes(3, 2).add(pod_group("g").min(3).build()).add_pods("g", 5, "p").run();
    world.add(pod("lone").gpu(2).build()).pass(seconds(30));
    return std::pair(world.plans, world.explanations.size());
  };
  EXPECT_EQ(play(), play());
}

TEST(SchedulerDelta, HeartbeatsAndForeignUpdatesAskForNothing) {
  World world;
  world.add_nodes(1, 1).add(pod_group("g").min(2).build()).add_pods("g", 2, "p");
  world.pass(seconds(60)).clear();
  for (int i = 0; i < 100; ++i) {
    const api::Node same = node("n0").cpu("64").gpu(1).version(10 + i).build();
    EXPECT_TRUE(world.core.handle(test::updated(same), world.now).empty());
  }
}

TEST(SchedulerDelta, AsksForOneTickForABurst) {
  World world;
  world.run();
  std::size_t wakes = 0;
  for (int i = 0; i < 50; ++i) {
    wakes +=
        world.core.handle(added(pod("p" + std::to_string(i)).gpu(1).build()), world.now).size();
  }
  EXPECT_EQ(wakes, 1U);
}

TEST(SchedulerAttempt, B166CountsScheduledUnschedulableAndError) {
  World world;
  world.add_nodes(2, 1);
  world.add(pod_group("fits").min(2).created(1).build()).add_pods("fits", 2, "f").run();
  ASSERT_EQ(world.attempts.size(), 1U);
  EXPECT_EQ(world.attempts[0].result, AttemptResult::kScheduled);
  EXPECT_EQ(world.attempts[0].member_count, 2);
  world.add(pod_group("not").min(2).created(2).build()).add_pods("not", 2, "n").run();
  ASSERT_EQ(world.attempts.size(), 2U);
  EXPECT_EQ(world.attempts[1].result, AttemptResult::kUnschedulable);
  world.add(pod_group("error").min(1).priority(7).created(3).build());
  world.add(member("e", "error").build()).run();
  ASSERT_EQ(world.attempts.size(), 3U);
  EXPECT_EQ(world.attempts[2].result, AttemptResult::kError);
  EXPECT_EQ(world.attempts[2].gang.key.name, "error");
}

TEST(SchedulerLonePod, CarriesNoStampAndWritesNoRecord) {
  World world;
  world.add_nodes(1, 1).add(pod("p").gpu(1).build()).run();
  ASSERT_EQ(world.plans.size(), 1U);
  EXPECT_EQ(world.plans[0].stamp, "");
  EXPECT_FALSE(world.plans[0].writes_record);
}

TEST(SchedulerLonePod, DeletingAndGatedPodsAreNotPlanned) {
  World world;
  world.add_nodes(2, 1);
  world.add(pod("deleting").gpu(1).deleting().build());
  world.add(pod("gated").gpu(1).gate("x").build());
  world.pass(std::chrono::minutes(10));
  EXPECT_TRUE(world.plans.empty());
  EXPECT_TRUE(world.explanations.empty());
  world.add(pod("gated").gpu(1).build()).run();
  EXPECT_EQ(world.bound(), std::vector<std::string>{"gated"});
}

TEST(SchedulerStamp, NamesRoundNeedMinimumAndPlan) {
  Options options;
  options.epoch = "7_host";
  World world(options);
  world.add_nodes(2, 1).add(pod_group("g").min(2).build()).add_pods("g", 2, "p").run();
  ASSERT_EQ(world.plans.size(), 1U);
  engine::Plan bare = world.plans[0];
  bare.stamp.clear();
  bare.writes_record = false;
  EXPECT_EQ(world.plans[0].stamp,
            "round=7_host-1;need=2;minimum=2;plan=" + engine::plan_hash(bare));
  EXPECT_TRUE(world.plans[0].writes_record);
}

}  // namespace
}  // namespace gang::scheduler
