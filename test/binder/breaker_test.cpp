#include "binder/breaker.h"

#include <gtest/gtest.h>

#include "binder/bench.h"

namespace gang::test {
namespace {

using binder::FailureWindow;
using kube::Outcome;
using std::chrono::milliseconds;
using std::chrono::seconds;

FailureWindow window_of(int failures, int successes) {
  FailureWindow window;
  for (int i = 0; i < failures; ++i) window.note(seconds(1), true);
  for (int i = 0; i < successes; ++i) window.note(seconds(2), false);
  return window;
}

TEST(FailureWindow, IsBadAboveHalfOfAtLeastTwenty) {
  EXPECT_FALSE(window_of(19, 0).is_bad());
  EXPECT_TRUE(window_of(20, 0).is_bad());
  EXPECT_FALSE(window_of(10, 10).is_bad());
  EXPECT_TRUE(window_of(11, 9).is_bad());
  EXPECT_FALSE(window_of(0, 100).is_bad());
}

TEST(FailureWindow, ForgetsAfterTenSeconds) {
  FailureWindow window = window_of(20, 0);
  window.note(seconds(10), true);
  EXPECT_EQ(window.counts().writes, 21);
  window.note(seconds(11), true);
  EXPECT_EQ(window.counts().writes, 2);
}

/// A binder whose server is known to keep preconditions, with twenty Bindings under way.
class BreakerTest : public ::testing::Test {
 protected:
  BreakerTest() {
    bench_.create_gang(20);
    bench_.client.hold_all("bind");
    bench_.commit(bench_.plan(20, 20));
    bench_.client.allow("bind");
  }

  /// Every Binding under way, and every further one, is answered like this.
  void answer_all(kube::Answer how) {
    bench_.client.fail_all("bind", how);
    bench_.client.fail_all("get", how);
    bench_.client.fail_held(how);
    bench_.advance(seconds(5));
  }

  engine::Plan other() {
    engine::Plan plan = bench_.plan(1, 1);
    plan.gang.id = {2};
    return plan;
  }

  BinderBench bench_{binder::Options{.writes_in_flight_max = 32}};
};

TEST_F(BreakerTest, OpensWhenTheServerFailsAndRefusesNewRounds) {
  bench_.client.fail_all("try", answer(Outcome::kNotSent));
  answer_all(answer(Outcome::kUnknown, 503, "down"));
  EXPECT_TRUE(bench_.binder->stats().breaker_open);
  EXPECT_EQ(bench_.blocked, std::vector<bool>{true});
  bench_.outcomes.clear();
  const std::size_t sent = bench_.client.count("bind");
  bench_.binder->commit(other());
  bench_.run();
  ASSERT_EQ(bench_.outcomes.size(), 1u);
  EXPECT_EQ(bench_.round_end(), "unavailable");
  EXPECT_EQ(bench_.outcomes.front().message, "the API server fails: down");
  EXPECT_EQ(bench_.client.count("bind"), sent);
}

TEST_F(BreakerTest, StaysClosedOnRefusalsAndThrottling) {
  for (const auto& how :
       {answer(Outcome::kConflict, 409), answer(Outcome::kThrottled, 429, "slow down")}) {
    answer_all(how);
    EXPECT_FALSE(bench_.binder->stats().breaker_open);
  }
  EXPECT_TRUE(bench_.blocked.empty());
}

TEST_F(BreakerTest, StaysClosedWhenOnlyAWebhookFails) {
  kube::Answer how = answer(Outcome::kUnknown, 500, "failed calling webhook \"x\": timeout");
  how.reason = "InternalError";
  answer_all(how);
  EXPECT_FALSE(bench_.binder->stats().breaker_open);
}

TEST_F(BreakerTest, AsksEveryFiveSecondsAndClosesOnAnyAnswerOfTheServer) {
  const std::size_t before = bench_.client.count("try");
  bench_.client.fail_all("try", answer(Outcome::kNotSent));
  answer_all(answer(Outcome::kUnknown, 503, "down"));
  bench_.advance(seconds(10));
  EXPECT_EQ(bench_.client.count("try"), before + 3);
  EXPECT_TRUE(bench_.binder->stats().breaker_open);
  for (const char* verb : {"try", "bind", "get"}) bench_.client.allow(verb);
  bench_.advance(seconds(5));
  EXPECT_FALSE(bench_.binder->stats().breaker_open);
  EXPECT_EQ(bench_.blocked, (std::vector<bool>{true, false}));
}

}  // namespace
}  // namespace gang::test
