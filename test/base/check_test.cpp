#include "gang/base/check.h"

#include <gtest/gtest.h>

namespace gang {
namespace {

TEST(Check, PassesWhereTheExpressionHolds) {
  int evaluated = 0;
  CHECK(++evaluated == 1);
  EXPECT_EQ(evaluated, 1);
}

TEST(CheckDeathTest, NamesExpressionAndPlaceThenAborts) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const int free_gpus = -1;
  EXPECT_DEATH(CHECK(free_gpus >= 0), "CHECK failed: free_gpus >= 0 at .*check_test.cpp:[0-9]+");
}

}  // namespace
}  // namespace gang
