#include "binder/backoff.h"

#include <gtest/gtest.h>

namespace gang::binder {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(Backoff, DoublesUpToItsMaximumAndCutsAtMostAHalf) {
  Backoff backoff(milliseconds(200), seconds(5), 7);
  Duration full = milliseconds(200);
  for (int i = 0; i < 12; ++i) {
    const Duration pause = backoff.next();
    EXPECT_LE(pause, full) << i;
    EXPECT_GE(pause, full / 2) << i;
    full = std::min<Duration>(full * 2, seconds(5));
  }
}

TEST(Backoff, RepeatsForEqualSeedsAndDiffersForOthers) {
  Backoff a(seconds(1), seconds(5), 1);
  Backoff b(seconds(1), seconds(5), 1);
  Backoff c(seconds(1), seconds(5), 2);
  const Duration first = a.next();
  EXPECT_EQ(first, b.next());
  EXPECT_NE(first, c.next());
}

TEST(Backoff, StartsAgainAfterReset) {
  Backoff backoff(seconds(1), seconds(60), 3);
  const Duration first = backoff.next();
  static_cast<void>(backoff.next());
  backoff.reset();
  EXPECT_EQ(backoff.next(), first);
}

}  // namespace
}  // namespace gang::binder
