#include "gang/base/clock.h"

#include <gtest/gtest.h>

namespace gang {
namespace {

TEST(ManualClock, MovesOnlyWhenToldAndBothReadingsTogether) {
  const TimePoint start = *parse_rfc3339("2026-11-30T00:00:00Z");
  ManualClock clock(start);
  EXPECT_EQ(clock.now(), start);
  EXPECT_EQ(clock.monotonic(), Duration(0));
  clock.advance(std::chrono::milliseconds(1500));
  EXPECT_EQ(clock.now() - start, std::chrono::milliseconds(1500));
  EXPECT_EQ(clock.monotonic(), std::chrono::milliseconds(1500));
}

TEST(SystemClock, IsInOurCenturyAndNeverRunsBack) {
  const SystemClock clock;
  EXPECT_GT(clock.now(), *parse_rfc3339("2020-01-01T00:00:00Z"));
  const Duration first = clock.monotonic();
  EXPECT_GE(clock.monotonic(), first);
}

}  // namespace
}  // namespace gang
