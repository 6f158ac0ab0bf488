#include "engine/node_order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <tuple>

namespace gang::engine {
namespace {

std::string text_of(NodeOrder order) {
  std::string text;
  for (std::size_t i = 0; order.has(i); ++i) {
    text += (text.empty() ? "" : " ") + std::to_string(order.at(i));
  }
  return text;
}

TEST(NodeOrder, LooksAtOneThingAfterAnother) {
  NodeOrder order;
  order.add(0, {.is_unused = true, .free = 1, .score = 9});
  order.add(1, {.free = 4, .score = 9});
  order.add(2, {.free = 2, .score = 1});
  order.add(3, {.free = 2, .score = 7});
  order.add(4, {.free = 2, .score = 7});
  order.add(5, {.capacity = 1, .all_wait = true, .is_unused = true, .free = 99});
  order.add(6, {.all_wait = true, .free = 1});
  EXPECT_EQ(text_of(order), "5 3 4 2 1 0 6");
}

TEST(NodeOrder, RatingsOfTheFirstNodesSortThemAnew) {
  NodeOrder order;
  for (std::uint32_t rank = 0; rank < 4; ++rank) order.add(rank, {.free = 1});
  EXPECT_EQ(order.at(0), 0u);
  EXPECT_EQ(text_of(order), "0 1 2 3");
  order.rate({{.preference = 7}, {.preference = 8}, {.preference = 7, .size = 3}});
  EXPECT_EQ(text_of(order), "1 0 2 3");
  ASSERT_TRUE(order.has(3) && !order.has(4));
  EXPECT_EQ(order.at(3), 3u);
  EXPECT_EQ(order.rating(0)->preference, 8);
  EXPECT_EQ(order.rating(2)->size, 3);
  EXPECT_EQ(order.rating(3), nullptr);
}

TEST(NodeOrder, RatingsLookAtOneThingAfterAnother) {
  NodeOrder order;
  order.add(0, {.free = 1});
  order.add(1, {.free = 2});
  order.add(2, {.free = 3});
  order.add(3, {.free = 4});
  order.add(4, {.free = 5});
  order.add(5, {.is_unused = true});
  order.add(6, {.is_unused = true, .free = 1});
  order.add(7, {.is_unused = true, .free = 9});
  ASSERT_EQ(order.at(7), 7u);
  order.rate({{.size = 1}, {.amount = 1}, {.spread = 1}, {.waits = 1}, {}, {.preference = 1}, {}});
  EXPECT_EQ(text_of(order), "5 4 2 1 0 6 3 7") << "who is not rated stays behind";
}

TEST(NodeOrder, IsTheSameHoweverFarItIsLookedAt) {
  std::mt19937 random(1);
  NodeOrder order;
  std::vector<std::tuple<int, int, std::uint32_t>> expected;
  for (std::uint32_t rank = 0; rank < 1'000; ++rank) {
    const int free = static_cast<int>(random() % 9);
    const int score = static_cast<int>(random() % 5);
    order.add(rank, {.free = free, .score = score});
    expected.emplace_back(free, -score, rank);
  }
  std::sort(expected.begin(), expected.end());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    ASSERT_TRUE(order.has(i));
    ASSERT_EQ(order.at(i), std::get<2>(expected[i])) << i;
  }
}

}  // namespace
}  // namespace gang::engine
