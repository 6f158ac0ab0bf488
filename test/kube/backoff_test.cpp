#include "kube/backoff.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace gang::kube {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

/// The longest of many delays of the n-th failure in a row.
Duration longest(int failures) {
  Duration out{0};
  Jitter jitter(7);
  for (int i = 0; i < 2000; ++i) {
    Backoff backoff{BackoffLimits{}};
    Duration delay{0};
    for (int n = 0; n < failures; ++n) delay = backoff.next(seconds(1), jitter);
    out = std::max(out, delay);
  }
  return out;
}

TEST(Backoff, DoublesItsCeilingUpToTheCap) {
  EXPECT_LE(longest(1), milliseconds(800));
  EXPECT_GT(longest(1), milliseconds(780));
  EXPECT_LE(longest(2), milliseconds(1600));
  EXPECT_GT(longest(2), milliseconds(1560));
  EXPECT_LE(longest(20), seconds(30));
  EXPECT_GT(longest(20), seconds(29));
}

TEST(Backoff, SpreadsDelaysOverTheWholeRange) {
  Jitter jitter(7);
  int early = 0;
  for (int i = 0; i < 1000; ++i) {
    Backoff backoff{BackoffLimits{}};
    if (backoff.next(seconds(1), jitter) < milliseconds(400)) ++early;
  }
  EXPECT_GT(early, 400);
  EXPECT_LT(early, 600);
}

TEST(Backoff, BeginsAgainAfterTwoMinutesWithoutFailure) {
  Jitter jitter(7);
  for (int i = 0; i < 200; ++i) {
    Backoff backoff{BackoffLimits{}};
    for (int n = 0; n < 10; ++n) static_cast<void>(backoff.next(minutes(5), jitter));
    EXPECT_LE(backoff.next(minutes(7), jitter), milliseconds(800));
  }
}

TEST(Jitter, GivesTheSameNumbersForTheSameSeed) {
  Jitter a(3);
  Jitter b(3);
  Jitter c(4);
  EXPECT_EQ(a.below(1'000'000), b.below(1'000'000));
  EXPECT_NE(a.below(1'000'000), c.below(1'000'000));
  EXPECT_EQ(a.below(0), 0U);
  EXPECT_EQ(a.between(seconds(2), seconds(2)), seconds(2));
}

}  // namespace
}  // namespace gang::kube
