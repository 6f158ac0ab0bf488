#include "gang/binder/binder.h"

#include <gtest/gtest.h>

#include "binder/bench.h"

namespace gang::test {
namespace {

using engine::Verdict;
using kube::Outcome;
using std::chrono::seconds;

TEST(Binder, RunsOneRoundAfterTheOtherForAGang) {
  BinderBench bench;
  bench.create_gang(3);
  bench.commit(bench.plan(2, 2));
  engine::Plan later = bench.plan(2, 3);
  later.assignments.erase(later.assignments.begin(), later.assignments.begin() + 2);
  later.base = 2;
  later.need = 0;
  later.writes_record = false;
  bench.commit(later);
  ASSERT_EQ(bench.outcomes.size(), 2u);
  EXPECT_EQ(bench.members(), "m2=bound");
}

TEST(Binder, ReportsAfterTheCallNotInsideIt) {
  BinderBench bench;
  bench.create_gang(0);
  engine::Plan plan = bench.plan(1, 0);
  plan.need = 0;
  plan.base = 1;
  plan.writes_record = false;
  bench.binder->commit(plan);
  EXPECT_TRUE(bench.outcomes.empty());
  EXPECT_FALSE(bench.binder->idle());
  bench.run();
  EXPECT_EQ(bench.round_end(), "committed");
  EXPECT_TRUE(bench.binder->idle());
}

TEST(Binder, DrainRefusesNewRoundsAndFinishesOpenOnes) {
  BinderBench bench;
  bench.create_gang(4);
  bench.client.hold_all("bind");
  bench.commit(bench.plan(2, 2));
  bench.binder->drain();
  engine::Plan other = bench.plan(2, 4);
  other.gang.id = {2};
  other.gang.uid = {"uid-other"};
  other.assignments.erase(other.assignments.begin(), other.assignments.begin() + 2);
  bench.commit(other);
  ASSERT_EQ(bench.outcomes.size(), 1u);
  EXPECT_EQ(bench.round_end(), "unavailable");
  EXPECT_EQ(bench.members(), "m2=not_bound m3=not_bound");
  EXPECT_FALSE(bench.binder->idle());
  bench.client.release_all();
  bench.run();
  EXPECT_EQ(bench.outcomes.size(), 2u);
  EXPECT_EQ(bench.members(), "m0=bound m1=bound");
}

TEST(Binder, IsIdleWhileOnlyEventsWait) {
  binder::Options options;
  options.events_per_second = 1;
  BinderBench bench(options);
  bench.create_gang(3);
  bench.commit(bench.plan(3, 3));
  EXPECT_LT(bench.client.count("event"), 4u);
  EXPECT_TRUE(bench.binder->idle());
}

TEST(Binder, MayBeDestroyedWithRequestsInFlight) {
  BinderBench bench;
  bench.create_gang(3);
  bench.client.hold_all("bind");
  bench.client.hold_all("get-group");
  bench.commit(bench.plan(3, 3));
  engine::Explanation other = bench.explanation(Verdict::kImpossibleNow, "x");
  other.gang.id = {5};
  bench.explain(other);
  bench.binder.reset();
  bench.client.release_all();
  bench.advance(seconds(120));
  EXPECT_TRUE(bench.outcomes.empty());
}

TEST(Binder, EqualInputsGiveEqualRequests) {
  const auto run = [] {
    BinderBench bench;
    bench.create_gang(6);
    for (const char* pod : {"m1", "m3", "m4"}) {
      bench.client.fail_next("bind", pod, answer(Outcome::kUnknown, 503, "busy"));
    }
    bench.commit(bench.plan(4, 6));
    bench.advance(seconds(10));
    std::string all;
    for (const Request& request : bench.client.requests()) all += request.text + "\n";
    return all;
  };
  const std::string first = run();
  EXPECT_FALSE(first.empty());
  EXPECT_EQ(first, run());
}

TEST(Binder, ExplanationThatARoundHasOvertakenIsNotWritten) {
  BinderBench bench;
  bench.create_gang(2);
  bench.client.hold_next("patch-group", "train");
  bench.commit(bench.plan(2, 2));
  bench.explain(bench.explanation(Verdict::kBinding, "binding"));
  bench.client.release("patch-group", "train");
  bench.advance(seconds(60));
  EXPECT_EQ(bench.client.group_condition("train", api::kSatisfied).reason, "Satisfied");
}

// A server that does not answer for 20 s delays a gang; it is bound once it answers, not parked.
TEST(Binder, B175TransientFailureIsWaitedOut) {
  BinderBench bench;
  bench.create_gang(2);
  bench.client.fail_all("bind", answer(Outcome::kUnknown, 504, "timed out"));
  bench.commit(bench.plan(2, 2));
  bench.advance(seconds(20));
  EXPECT_EQ(bench.round_end(), "open");
  bench.client.allow("bind");
  bench.advance(seconds(6));
  EXPECT_EQ(bench.round_end(), "committed");
}

}  // namespace
}  // namespace gang::test
