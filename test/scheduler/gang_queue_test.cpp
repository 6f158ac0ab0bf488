#include "scheduler/gang_queue.h"

#include <gtest/gtest.h>

#include "support/builders.h"

namespace gang::scheduler {
namespace {

using cluster::Gang;
using cluster::GangId;
using test::at_second;

Gang gang_of(std::uint64_t id, std::int32_t priority, std::int64_t created) {
  Gang gang;
  gang.id = GangId{id};
  gang.uid.text = "uid-" + std::to_string(id);
  gang.priority = priority;
  gang.creation_time = at_second(created);
  return gang;
}

std::vector<std::uint64_t> drain(GangQueue& queue) {
  std::vector<std::uint64_t> ids;
  while (const auto first = queue.first_active()) {
    ids.push_back(first->value);
    queue.take_out(*first);
  }
  return ids;
}

TEST(GangQueue, GoesByPriorityThenAgeThenUid) {
  GangQueue queue;
  queue.activate({queue_order(gang_of(3, 0, 20), 1)});
  queue.activate({queue_order(gang_of(2, 0, 20), 1)});
  queue.activate({queue_order(gang_of(1, 0, 10), 1)});
  queue.activate({queue_order(gang_of(9, 100, 99), 1)});
  EXPECT_EQ(drain(queue), (std::vector<std::uint64_t>{9, 1, 2, 3}));
}

TEST(GangQueue, HalfStartedGangGoesFirstWithinItsPriority) {
  GangQueue queue;
  Gang half = gang_of(5, 0, 50);
  half.counts.bound = 2;
  Gang whole = gang_of(6, 0, 60);
  whole.counts.bound = 4;
  queue.activate({queue_order(gang_of(1, 0, 10), 4)});
  queue.activate({queue_order(whole, 4)});
  queue.activate({queue_order(half, 4)});
  queue.activate({queue_order(gang_of(7, 1, 70), 4)});
  EXPECT_EQ(drain(queue), (std::vector<std::uint64_t>{7, 5, 1, 6}));
}

TEST(GangQueue, ExtremePrioritiesKeepTheirOrder) {
  GangQueue queue;
  queue.activate({queue_order(gang_of(1, INT32_MIN, 1), 1)});
  queue.activate({queue_order(gang_of(2, INT32_MAX, 1), 1)});
  EXPECT_EQ(drain(queue), (std::vector<std::uint64_t>{2, 1}));
}

TEST(GangQueue, ActivatingAgainMovesTheGang) {
  GangQueue queue;
  queue.activate({queue_order(gang_of(1, 0, 10), 1)});
  queue.activate({queue_order(gang_of(2, 0, 20), 1)});
  queue.activate({queue_order(gang_of(1, 0, 30), 1)});
  EXPECT_EQ(drain(queue), (std::vector<std::uint64_t>{2, 1}));
}

/// As gang_of(), in a namespace and attempted at that second.
QueuePlace place_of(const std::string& name_space, const Gang& gang, std::int64_t attempted) {
  return {.order = queue_order(gang, 1),
          .name_space = name_space,
          .attempted_at = at_second(attempted)};
}

TEST(GangQueue, NamespacesBehindComeAfterAllOthers) {
  GangQueue queue;
  queue.activate(place_of("a", gang_of(1, 100, 10), 0));
  queue.set_behind("a", true);
  queue.activate(place_of("a", gang_of(2, 0, 20), 0));
  queue.activate(place_of("b", gang_of(3, 0, 30), 0));
  queue.activate(place_of("c", gang_of(4, 5, 40), 0));
  EXPECT_EQ(drain(queue), (std::vector<std::uint64_t>{4, 3, 1, 2}));
  queue.activate(place_of("a", gang_of(1, 100, 10), 0));
  queue.activate(place_of("b", gang_of(3, 0, 30), 0));
  EXPECT_EQ(drain(queue), (std::vector<std::uint64_t>{3, 1})) << "also once its line was empty";
}

TEST(GangQueue, AttemptRenewsThePlaceAmongThoseBehind) {
  GangQueue queue;
  queue.set_behind("a", true);
  queue.set_behind("b", true);
  queue.activate(place_of("a", gang_of(1, 0, 10), 90));
  queue.activate(place_of("a", gang_of(2, 0, 20), 70));
  queue.activate(place_of("b", gang_of(3, 0, 30), 80));
  queue.activate(place_of("b", gang_of(4, 0, 75), 0));
  queue.activate(place_of("b", gang_of(5, 1, 99), 0));
  EXPECT_EQ(drain(queue), (std::vector<std::uint64_t>{5, 2, 4, 3, 1}));
}

TEST(GangQueue, NamespaceInOrderAgainHasItsOldPlaces) {
  GangQueue queue;
  queue.set_behind("a", true);
  queue.activate(place_of("a", gang_of(1, 0, 10), 90));
  queue.activate(place_of("a", gang_of(2, 0, 20), 70));
  queue.activate(place_of("b", gang_of(3, 0, 15), 95));
  queue.set_behind("a", false);
  EXPECT_EQ(drain(queue), (std::vector<std::uint64_t>{1, 3, 2}));
}

TEST(GangQueue, ParkingTakesOutOfActive) {
  GangQueue queue;
  queue.activate({queue_order(gang_of(1, 0, 10), 1)});
  queue.park(GangId{1});
  EXPECT_FALSE(queue.has_active());
  EXPECT_TRUE(queue.parked().contains(GangId{1}));
  queue.activate({queue_order(gang_of(1, 0, 10), 1)});
  EXPECT_TRUE(queue.parked().empty());
}

TEST(GangQueue, HasOneTimerPerGang) {
  GangQueue queue;
  queue.set_timer(GangId{1}, at_second(5));
  queue.set_timer(GangId{1}, at_second(9));
  queue.set_timer(GangId{2}, at_second(7));
  EXPECT_EQ(queue.next_timer(), at_second(7));
  EXPECT_TRUE(queue.take_due(at_second(6)).empty());
  EXPECT_EQ(queue.take_due(at_second(9)), (std::vector<GangId>{GangId{2}, GangId{1}}));
  EXPECT_EQ(queue.next_timer(), std::nullopt);
}

TEST(GangQueue, EraseForgetsTimerAndPlace) {
  GangQueue queue;
  queue.activate({queue_order(gang_of(1, 0, 10), 1)});
  queue.set_timer(GangId{1}, at_second(5));
  queue.erase(GangId{1});
  EXPECT_FALSE(queue.has_active());
  EXPECT_EQ(queue.next_timer(), std::nullopt);
}

}  // namespace
}  // namespace gang::scheduler
