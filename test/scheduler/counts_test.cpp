#include <gtest/gtest.h>

#include "scheduler/world.h"

namespace gang::scheduler {
namespace {

using engine::RoundEnd;
using std::chrono::seconds;
using test::member;
using test::pod;
using test::pod_group;
using test::World;

int sum(const QueueCounts& c) {
  return c.active + c.backoff + c.unschedulable + c.gated + c.incomplete + c.pending;
}

TEST(QueueCounts, B170EveryPendingPodIsCountedOnce) {
  World world;
  world.add(pod_group("g").min(3).build()).run();
  for (int i = 1; i <= 3; ++i) {
    world.add(member("p" + std::to_string(i), "g").created(i).build()).pass(seconds(2));
    EXPECT_EQ(sum(world.core.pod_counts()), i);
    EXPECT_EQ(sum(world.core.entity_counts()), 1);
  }
  EXPECT_EQ(world.core.pod_counts().unschedulable, 3);
  world.add_nodes(3, 1).run();
  EXPECT_EQ(world.bound().size(), 3U);
  EXPECT_EQ(sum(world.core.pod_counts()), 0);
  EXPECT_EQ(sum(world.core.entity_counts()), 0);
  for (const char* name : {"p1", "p2", "p3"}) world.remove_pod(name);
  world.run();
  EXPECT_EQ(sum(world.core.pod_counts()), 0);
}

TEST(QueueCounts, IncompleteAndGatedHaveTheirOwnQueues) {
  World world;
  world.add(pod_group("g").min(3).build()).add_pods("g", 2, "p");
  world.add(member("x", "g").gate("wait").build());
  world.add(pod("lone").gate("wait").build()).run();
  EXPECT_EQ(world.core.pod_counts().incomplete, 2);
  EXPECT_EQ(world.core.pod_counts().gated, 2);
  EXPECT_EQ(world.core.entity_counts().incomplete, 1);
  EXPECT_EQ(world.core.entity_counts().gated, 1);
}

TEST(QueueCounts, MembersThatArriveDuringARoundArePending) {
  World world;
  world.binds = false;
  world.add_nodes(3, 1).add(pod_group("g").min(2).build()).add_pods("g", 2, "p").run();
  world.add(member("late", "g").build()).run();
  EXPECT_EQ(world.core.pod_counts().pending, 1);
  EXPECT_EQ(sum(world.core.pod_counts()), 1);
  world.end_round(RoundEnd::kCommitted).run();
  EXPECT_EQ(world.planned(), std::vector<std::string>{"late"});
}

TEST(QueueCounts, BackoffIsCountedAsBackoff) {
  World world;
  world.binds = false;
  world.add_nodes(1, 1).add(pod("p").gpu(1).build()).run();
  world.end_round(RoundEnd::kUnavailable, {"p"}, engine::MemberEnd::kNotBound).run();
  EXPECT_EQ(world.core.pod_counts().backoff, 1);
}

TEST(Queue, ListsEachWaitingGangWithStateAndCause) {
  World world;
  world.add_nodes(1, 1);
  world.add(pod_group("a").min(2).build()).add_pods("a", 2, "a");
  world.add(pod_group("b").min(2).build()).add_pods("b", 1, "b").run();
  const auto entries = world.core.queue();
  ASSERT_EQ(entries.size(), 2U);
  EXPECT_EQ(entries[0].gang.key.name, "a");
  EXPECT_EQ(entries[0].state, "parked");
  EXPECT_NE(entries[0].detail.find("Impossible"), std::string::npos);
  EXPECT_EQ(entries[1].state, "incomplete");
}

TEST(Queue, CallsNothingBoundThatIsNot) {
  World world;
  world.add_nodes(1, 1);
  world.add(pod("held").gpu(1).gate("quota").build()).run();
  const auto entries = world.core.queue();
  ASSERT_EQ(entries.size(), 1U);
  EXPECT_EQ(entries[0].state, "gated");
  EXPECT_EQ(entries[0].detail, "0 pending, 0 bound, minimum 1");
}

}  // namespace
}  // namespace gang::scheduler
