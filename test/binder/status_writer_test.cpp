#include "binder/status_writer.h"

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

TEST(StatusWriter, TellsGroupAndPodsWithEvents) {
  BinderBench bench;
  bench.create_gang(2);
  bench.explain(bench.explanation(Verdict::kImpossibleNow, "no room", {"m0", "m1"}));
  bench.advance(seconds(1));
  EXPECT_EQ(bench.client.count("patch-group"), 1u);
  EXPECT_EQ(bench.client.count("patch"), 2u);
  EXPECT_EQ(bench.client.texts("event"),
            (Texts{"Warning FailedScheduling m0: no room", "Warning FailedScheduling m1: no room",
                   "Warning FailedScheduling train: no room"}));
  EXPECT_EQ(bench.client.events().at(0).action, "Scheduling");
}

TEST(StatusWriter, ARoundThatOnlyTakesItsTimeIsNoWarning) {
  BinderBench bench;
  bench.create_gang(1);
  engine::Explanation progress = bench.explanation(Verdict::kBinding, "waiting for device d");
  progress.writes_condition = false;
  progress.is_progress = true;
  bench.explain(progress);
  bench.advance(seconds(1));
  EXPECT_EQ(bench.client.texts("event"),
            (Texts{"Normal BindingConditionsPending train: waiting for device d"}));
}

TEST(StatusWriter, WaitingForTheGroupIsAnEventOfEachPodOnly) {
  BinderBench bench;
  bench.create_gang(1);
  engine::Explanation waiting =
      bench.explanation(Verdict::kWaitingForGroup, "waiting for PodGroup train", {"m0"});
  waiting.gang.uid = {};
  bench.explain(waiting);
  bench.advance(seconds(30));
  bench.explain(waiting);
  bench.advance(seconds(30));
  EXPECT_EQ(bench.client.texts("event"),
            (Texts{"Warning FailedScheduling m0: waiting for PodGroup train"}));
  EXPECT_EQ(bench.client.count("patch") + bench.client.count("patch-group"), 0u);
  EXPECT_TRUE(bench.binder->idle());
}

TEST(StatusWriter, PodsThatWaitForOthersAreLeftAlone) {
  BinderBench bench;
  bench.create_gang(3);
  bench.explain(bench.explanation(Verdict::kWaitingForPods, "3 of 4 pods exist"));
  EXPECT_EQ(bench.client.group_condition("train", api::kInitiallyScheduled).message,
            "3 of 4 pods exist");
  EXPECT_EQ(bench.client.count("patch"), 0u);
}

TEST(StatusWriter, DegradedGangKeepsTrueAndSaysWhatItLacks) {
  BinderBench bench;
  bench.create_gang(1);
  bench.commit(bench.plan(1, 1));
  engine::Explanation degraded = bench.explanation(Verdict::kImpossibleNow, "no room");
  degraded.degraded = true;
  degraded.bound = 3;
  degraded.writes_condition = false;
  bench.explain(degraded);
  bench.advance(seconds(1));
  EXPECT_EQ(bench.client.texts("patch-group").back(),
            "patch-group train Satisfied=False/ImpossibleNow Degraded=True/BelowMinCount");
  EXPECT_EQ(bench.client.count("event", "train"), 3u);
  EXPECT_EQ(bench.client.texts("event").at(2),
            "Warning Degraded train: 3 of minimum 4 members are bound");
}

TEST(StatusWriter, LonePodHasOnlyItsOwnCondition) {
  BinderBench bench;
  bench.create_gang(1);
  engine::Explanation lone = bench.explanation(Verdict::kImpossibleNow, "no room", {"m0"});
  lone.gang = {.id = {9}, .key = {"ns", "m0"}, .uid = {"uid-m0"}};
  bench.explain(lone);
  EXPECT_EQ(bench.client.count("patch"), 1u);
  EXPECT_EQ(bench.client.count("patch-group") + bench.client.count("get-group"), 0u);
}

TEST(StatusWriter, WritesNoFasterThanItsRateAndLetsBindingsGoFirst) {
  binder::Options options;
  options.status_writes_per_second = 10;
  options.writes_in_flight_max = 1;
  BinderBench bench(options);
  bench.create_gang(60);
  std::vector<std::string> pods;
  for (int i = 10; i < 60; ++i) pods.push_back("m" + std::to_string(i));
  engine::Explanation other = bench.explanation(Verdict::kImpossibleNow, "no room", pods);
  other.gang = {.id = {9}, .key = {"ns", "x"}, .uid = {"uid-x"}};
  bench.client.hold_all("bind");
  bench.binder->explain(other);
  bench.commit(bench.plan(2, 2));
  bench.advance(seconds(5));
  EXPECT_EQ(bench.client.count("patch"), 0u);  // one Binding waits
  bench.client.release_all();
  bench.run();
  EXPECT_EQ(bench.client.count("patch"), 20u);  // the burst
  bench.advance(seconds(1));
  EXPECT_EQ(bench.client.count("patch"), 30u);
}

TEST(StatusWriter, NewerExplanationStopsTheOlderOne) {
  binder::Options options;
  options.status_writes_per_second = 1;
  BinderBench bench(options);
  bench.create_gang(5);
  const std::vector<std::string> pods = {"m0", "m1", "m2", "m3", "m4"};
  bench.explain(bench.explanation(Verdict::kImpossibleNow, "old", pods));
  bench.explain(bench.explanation(Verdict::kImpossibleNow, "new", pods));
  bench.advance(seconds(30));
  for (const std::string& pod : pods) {
    EXPECT_EQ(bench.client.pod_condition(pod, "PodScheduled").message, "new");
  }
  EXPECT_LE(bench.client.count("patch"), 7u);
  EXPECT_TRUE(bench.binder->idle());
}

}  // namespace
}  // namespace gang::test
