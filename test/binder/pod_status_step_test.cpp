#include "binder/pod_status_step.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "binder/bench.h"

namespace gang::test {
namespace {

using engine::Verdict;
using kube::Outcome;
using std::chrono::seconds;
using Texts = std::vector<std::string>;

class PodStatusStepTest : public testing::Test {
 protected:
  PodStatusStepTest() { bench.create_gang(1); }
  engine::Explanation why(const std::string& message = "no room") const {
    return bench.explanation(Verdict::kImpossibleNow, message, {"m0"});
  }
  api::Condition scheduled() const { return bench.client.pod_condition("m0", "PodScheduled"); }
  std::size_t patches() const { return bench.client.count("patch"); }

  BinderBench bench;
};

TEST_F(PodStatusStepTest, WritesTheReasonWithItsPreconditions) {
  engine::Explanation told = why();
  told.members[0].generation = 3;
  bench.explain(told);
  EXPECT_EQ(bench.client.texts("patch"), (Texts{"patch m0 PodScheduled=False Unschedulable v2"}));
  EXPECT_EQ(scheduled().message, "no room");
  EXPECT_EQ(scheduled().observed_generation, 3);
  EXPECT_EQ(scheduled().last_transition_time, bench.clock.now());
}

TEST_F(PodStatusStepTest, KeepsTheTransitionTimeOfAGatedPod) {
  bench.client.change("m0", [](api::Pod& pod) {
    pod.conditions = {{.type = "PodScheduled",
                       .status = api::ConditionStatus::kFalse,
                       .reason = "SchedulingGated",
                       .last_transition_time = TimePoint{seconds(5)}}};
  });
  bench.explain(why());
  EXPECT_EQ(scheduled().reason, "Unschedulable");
  EXPECT_EQ(scheduled().last_transition_time, TimePoint{seconds(5)});
}

TEST_F(PodStatusStepTest, B163TheSameAgainIsNotWritten) {
  bench.explain(why());
  bench.explain(why());
  engine::Explanation lagging = why();
  lagging.members[0].current = {};  // the watch has not shown our write yet
  bench.explain(lagging);
  EXPECT_EQ(patches(), 1u);
  bench.explain(why("other"));
  EXPECT_EQ(patches(), 2u);
}

TEST_F(PodStatusStepTest, B165BoundPodIsNeverOverwritten) {
  const engine::Explanation late = why();
  bench.commit(bench.plan(1, 1));
  bench.explain(late);
  bench.advance(seconds(60));
  EXPECT_EQ(scheduled().status, api::ConditionStatus::kTrue);
  EXPECT_EQ(patches(), 1u);  // answered by 409
}

TEST_F(PodStatusStepTest, B165FalseDelayedBeyondTheBindingIsRefusedByItsVersion) {
  bench.client.hold_next("patch", "m0");
  bench.explain(why());
  bench.commit(bench.plan(1, 1));
  bench.client.release("patch", "m0");
  bench.advance(seconds(60));
  EXPECT_EQ(scheduled().status, api::ConditionStatus::kTrue);
}

TEST_F(PodStatusStepTest, ConflictIsResolvedByARead) {
  const engine::Explanation told = why();
  bench.client.change("m0", [](api::Pod& pod) { pod.priority = 1; });
  bench.explain(told);
  EXPECT_EQ(bench.client.count("get", "m0"), 1u);
  EXPECT_EQ(patches(), 2u);
  EXPECT_EQ(scheduled().reason, "Unschedulable");
}

TEST_F(PodStatusStepTest, DeletingReplacedGatedOrMissingPodsAreLeftAlone) {
  const std::vector<std::function<void(FakeClient&)>> ends = {
      [](FakeClient& c) {
        c.change("m0", [](api::Pod& p) { p.meta.deletion_time = TimePoint{}; });
      },
      [](FakeClient& c) { c.change("m0", [](api::Pod& p) { p.scheduling_gates = {"wait"}; }); },
      [](FakeClient& c) {
        c.fail_next("patch", "m0", answer(Outcome::kConflict, 409));
        c.change("m0", [](api::Pod& p) { p.meta.uid = {"another"}; });
      },
      [](FakeClient& c) { c.remove_pod("m0"); },
  };
  for (const auto& end : ends) {
    BinderBench fresh;
    fresh.create_gang(1);
    const auto told = fresh.explanation(Verdict::kImpossibleNow, "x", {"m0"});
    end(fresh.client);
    fresh.explain(told);
    fresh.advance(seconds(60));
    EXPECT_EQ(fresh.client.count("patch"), 1u);
    EXPECT_TRUE(fresh.explains_failed.empty());
    EXPECT_TRUE(fresh.binder->idle());
  }
}

TEST_F(PodStatusStepTest, GivesUpAPodThatMovesMoreThanFiveTimes) {
  for (int i = 0; i < 9; ++i) {
    bench.client.fail_next("patch", "m0", answer(Outcome::kConflict, 409));
  }
  bench.explain(why());
  bench.advance(seconds(60));
  EXPECT_EQ(patches(), 6u);
  EXPECT_EQ(bench.explains_failed.size(), 1u);
}

TEST_F(PodStatusStepTest, OtherFailuresAreTriedAgain) {
  for (const Outcome outcome :
       {Outcome::kNotSent, Outcome::kThrottled, Outcome::kUnauthorized, Outcome::kUnknown}) {
    bench.client.fail_next("patch", "m0", answer(outcome));
  }
  bench.explain(why());
  bench.advance(seconds(30));
  EXPECT_EQ(scheduled().reason, "Unschedulable");
  EXPECT_TRUE(bench.explains_failed.empty());
}

TEST_F(PodStatusStepTest, UnknownWriteThatWasExecutedIsNotRepeated) {
  bench.client.fail_next("patch", "m0", {answer(Outcome::kUnknown), Fault::Execution::kDone});
  bench.explain(why());
  bench.advance(seconds(30));
  EXPECT_EQ(patches(), 1u);
}

TEST_F(PodStatusStepTest, ForbiddenIsReportedOnceForTheExplanation) {
  bench.client.fail_all("patch", answer(Outcome::kForbidden, 403, "no"));
  bench.explain(why());
  bench.advance(seconds(60));
  EXPECT_EQ(patches(), 1u);
  EXPECT_EQ(bench.explains_failed.size(), 1u);
}

TEST_F(PodStatusStepTest, ARoundStopsWhatIsNotSent) {
  bench.client.fail_next("patch", "m0", answer(Outcome::kThrottled, 429));
  bench.explain(why());
  bench.client.hold_all("bind");
  bench.commit(bench.plan(1, 1));
  bench.advance(seconds(60));
  EXPECT_EQ(patches(), 1u);
}

}  // namespace
}  // namespace gang::test
