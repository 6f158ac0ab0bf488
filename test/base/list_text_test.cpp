#include "gang/base/list_text.h"

#include <gtest/gtest.h>

namespace gang {
namespace {

TEST(ListText, NamesTheFirstFewAndCountsTheRest) {
  EXPECT_EQ(list_text({}), "");
  EXPECT_EQ(list_text({"a"}), "a");
  EXPECT_EQ(list_text({"a", "b", "c"}), "a, b, c");
  EXPECT_EQ(list_text({"a", "b", "c", "d", "e"}), "a, b, c and 2 more");
}

TEST(ListText, TakesItsWords) {
  const ListWords words = {.between = "; ", .more = "; and ", .what = " nodes"};
  EXPECT_EQ(list_text({"a", "b"}, words), "a; b");
  EXPECT_EQ(list_text({"a", "b", "c", "d"}, words), "a; b; c; and 1 more nodes");
}

}  // namespace
}  // namespace gang
