#include "binder/fence_run.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "binder/claim_bench.h"

namespace gang::test {
namespace {

using kube::Outcome;
using std::chrono::seconds;
using Texts = std::vector<std::string>;
using ClaimFault = FakeClaims::Fault;

constexpr const char* kMap = "intent-uid-train";

/// "e1" wrote the claims of m0 and m1 and ended; "e2" runs now and has seen the intent.
class FenceRunTest : public testing::Test {
 protected:
  FenceRunTest() {
    bench.create_gang_with_claims(2);
    bench.commit(bench.claim_plan(2, 2));
    bench.restart("e2");
    find();
  }

  void find() {
    bench.binder->find_intents();
    bench.run();
  }

  void bind(const std::string& pod) {
    bench.client.change(pod, [](api::Pod& changed) { changed.node_name = "n0"; });
  }

  void fence() {
    bench.reconnect();
    bench.binder->fence(bench.found().at(0));
    bench.advance(seconds(60));
  }

  ClaimBench bench;
};

TEST_F(FenceRunTest, MarksTheIntentThenThePodsThenGivesTheClaimsBack) {
  fence();
  EXPECT_EQ(bench.writes(), (Texts{"update intent-uid-train",
                                   "patch m0 gang-scheduler.dev/Fence=True RoundTakenBack v2",
                                   "patch m1 gang-scheduler.dev/Fence=True RoundTakenBack v3",
                                   "clear c1:", "clear c0:", "delete intent-uid-train"}));
  EXPECT_TRUE(bench.is_consistent(2)) << bench.state();
  ASSERT_EQ(bench.fenced.size(), 1U);
  EXPECT_EQ(bench.fenced[0].gang_uid.text, "uid-train");
  EXPECT_EQ(bench.fenced[0].given_back, 2);
  EXPECT_EQ(bench.fenced[0].trouble, "");
  EXPECT_EQ(bench.binder->stats().fences, 1);
  EXPECT_TRUE(bench.binder->idle());
}

TEST_F(FenceRunTest, SaysWhoseRoundItWasOnThePod) {
  fence();
  const api::Condition mark = bench.client.pod_condition("m0", api::kFenced);
  EXPECT_EQ(mark.message,
            "instance e2 at version 2: what a round left unfinished is taken back, the pod is "
            "planned again");
}

TEST_F(FenceRunTest, BoundMembersKeepTheirClaims) {
  bind("m0");
  const std::string version = bench.claims.claim("c0").meta.resource_version.text;
  fence();
  EXPECT_EQ(bench.state(), "m0:n0 c0=d0[m0] m1:- c1=-[] maps=0");
  EXPECT_NE(bench.claims.claim("c0").meta.resource_version.text, version)
      << "an older write of it must fail";
  EXPECT_EQ(bench.client.count("patch", "m0"), 0U);
  EXPECT_EQ(bench.fenced.at(0).bound, 1);
  EXPECT_EQ(bench.fenced.at(0).given_back, 1);
}

TEST_F(FenceRunTest, APodThatIsGoneUsesNothing) {
  bench.client.remove_pod("m0");
  fence();
  EXPECT_EQ(bench.state(), "m0:gone c0=-[] m1:- c1=-[] maps=0");
}

TEST_F(FenceRunTest, PodsOfOtherSchedulersAreLeftAlone) {
  bench.client.change("m0", [](api::Pod& pod) { pod.scheduler_name = "other"; });
  fence();
  EXPECT_EQ(bench.client.count("patch", "m0"), 0U);
  EXPECT_EQ(bench.state(), "m0:- c0=d0[m0] m1:- c1=-[] maps=0");
}

TEST_F(FenceRunTest, AnOlderBindingThatArrivesLateFails) {
  api::Binding late{.pod = {"ns", "m0"}, .uid = {"uid-m0"}, .node_name = "n0"};
  late.resource_version = bench.client.pod("m0")->meta.resource_version;
  fence();
  Outcome outcome = Outcome::kOk;
  bench.client.bind(late, [&](const kube::Answer& answer) { outcome = answer.outcome; });
  EXPECT_EQ(outcome, Outcome::kConflict);
}

TEST_F(FenceRunTest, AnIntentOfSomebodyElseIsLeftToThem) {
  api::Intent intent = bench.found().at(0).intent;
  intent.epoch = "e3";
  api::ConfigMap& map = bench.claims.maps().at(kMap);
  map.data = api::to_config_map(intent, "sys").data;
  map.meta.resource_version.text += "0";
  fence();
  EXPECT_EQ(bench.writes(), Texts{"update intent-uid-train"});
  EXPECT_EQ(bench.fenced.size(), 1U);
  EXPECT_EQ(bench.state(), "m0:- c0=d0[m0] m1:- c1=d1[m1] maps=1");
}

TEST_F(FenceRunTest, AnIntentThatIsGoneWasEndedBySomebodyElse) {
  bench.claims.maps().clear();
  fence();
  EXPECT_EQ(bench.fenced.size(), 1U);
  EXPECT_EQ(bench.writes(), Texts{"update intent-uid-train"});
}

TEST_F(FenceRunTest, WithoutAConfigMapTheObjectsAreEnough) {
  api::StoredIntent told = bench.found().at(0);
  told.meta = {};
  bench.claims.maps().clear();
  bench.reconnect();
  bench.binder->fence(told);
  bench.advance(seconds(60));
  EXPECT_TRUE(bench.is_consistent(2)) << bench.state();
  EXPECT_EQ(bench.binder->stats().intent_writes, 0);
  EXPECT_EQ(bench.fenced.size(), 1U);
}

TEST_F(FenceRunTest, AMissingRightKeepsTheIntent) {
  bench.client.fail_next("patch", "m1", answer(Outcome::kForbidden, 403, "no"));
  fence();
  ASSERT_EQ(bench.fenced.size(), 1U);
  EXPECT_EQ(bench.fenced[0].trouble, "pod ns/m1: no");
  EXPECT_EQ(bench.state(), "m0:- c0=d0[m0] m1:- c1=d1[m1] maps=1") << "pods come before claims";
  bench.claims.fail_next("status", ClaimFault::kLacksBinding);
  find();
  fence();
  EXPECT_EQ(bench.fenced.size(), 2U);
  EXPECT_EQ(bench.state(), "m0:- c0=-[] m1:- c1=d1[m1] maps=1");
  find();
  fence();
  EXPECT_TRUE(bench.is_consistent(2)) << bench.state();
}

TEST_F(FenceRunTest, GoesOnUntilTheServerAnswers) {
  bench.cut_off_at(0, ClaimBench::Loss::kNotExecuted);
  bench.binder->fence(bench.found().at(0));
  bench.advance(seconds(600));
  bench.binder->drain();
  EXPECT_FALSE(bench.binder->idle());
  bench.reconnect();
  bench.advance(seconds(60));
  EXPECT_TRUE(bench.is_consistent(2)) << bench.state();
  EXPECT_TRUE(bench.binder->idle());
}

TEST_F(FenceRunTest, SaysOnceWhatKeepsItAndGoesOn) {
  bench.client.fail_all("patch", answer(Outcome::kUnknown, 500, "a webhook failed"));
  fence();
  bench.advance(seconds(3600));
  ASSERT_EQ(bench.undos.size(), 1U);
  EXPECT_EQ(bench.undos[0].gang.text(), "ns/train");
  EXPECT_EQ(bench.undos[0].gang_uid.text, "uid-train");
  EXPECT_EQ(bench.undos[0].trouble, "pod ns/m0: a webhook failed");
  EXPECT_TRUE(bench.fenced.empty());
  bench.client.allow("patch");
  bench.advance(seconds(20));
  EXPECT_TRUE(bench.is_consistent(2)) << bench.state();
  EXPECT_EQ(bench.fenced.size(), 1U);
}

TEST_F(FenceRunTest, SaysAnewWhenItIsAnotherObject) {
  bench.client.fail_all("patch", answer(Outcome::kThrottled, 429, "slow down"));
  fence();
  for (int i = 0; i < 1000; ++i) bench.claims.fail_next("status", ClaimFault::kFails);
  bench.client.allow("patch");
  bench.advance(seconds(1200));
  ASSERT_EQ(bench.undos.size(), 2U);
  EXPECT_EQ(bench.undos[1].trouble, "claim ns/c1: internal error");
}

TEST_F(FenceRunTest, AnIntentThatCannotBeMarkedIsSaidToo) {
  for (int i = 0; i < 1000; ++i) bench.claims.fail_next("update", ClaimFault::kFails);
  fence();
  ASSERT_EQ(bench.undos.size(), 1U);
  EXPECT_EQ(bench.undos[0].trouble, "ConfigMap sys/intent-uid-train: internal error");
}

/// Sixteen pods whose writes fail for ever would else look like a server that fails.
TEST(FenceOfManyTest, FailingWritesOfAnUndoStopNoRounds) {
  ClaimBench bench;
  bench.create_gang_with_claims(24);
  bench.commit(bench.claim_plan(24, 24));
  bench.restart("e2");
  bench.binder->find_intents();
  bench.run();
  bench.client.fail_all("patch", answer(Outcome::kUnknown, 500, "boom"));
  bench.binder->fence(bench.found().at(0));
  bench.advance(seconds(300));
  EXPECT_TRUE(bench.blocked.empty());
  EXPECT_FALSE(bench.binder->stats().breaker_open);
}

TEST(FindIntentsTest, AsksUntilTheServerAnswersAndTellsOnce) {
  ClaimBench bench;
  bench.claims.fail_next("list", ClaimFault::kForbidden);
  bench.claims.fail_next("list", ClaimFault::kFails);
  bench.binder->find_intents();
  bench.advance(seconds(60));
  ASSERT_EQ(bench.intents.size(), 1U);
  EXPECT_TRUE(bench.intents[0].empty());
  EXPECT_EQ(bench.binder->stats().forbidden, 1);
  EXPECT_EQ(bench.claims.requests(),
            (Texts{"list gang-scheduler.dev/kind=intent", "list gang-scheduler.dev/kind=intent",
                   "list gang-scheduler.dev/kind=intent"}));
}

TEST(FindIntentsTest, OneThatCannotBeReadIsToldAndNeverTouched) {
  ClaimBench bench;
  api::ConfigMap map = api::to_config_map({.gang = {"ns", "a"}, .gang_uid = {"u1"}}, "sys");
  map.meta.uid = {"map-1"};
  bench.claims.maps()["intent-u1"] = map;
  map.meta.key.name = "intent-u2";
  map.data = {{"intent", "{}"}};
  bench.claims.maps()["intent-u2"] = map;
  bench.binder->find_intents();
  bench.run();
  ASSERT_EQ(bench.found().size(), 2U);
  EXPECT_EQ(bench.found()[0].intent.gang.text(), "ns/a");
  EXPECT_EQ(bench.found()[0].problem, "");
  EXPECT_EQ(bench.found()[1].intent.gang_uid.text, "u2");
  EXPECT_NE(bench.found()[1].problem, "");
  bench.binder->fence(bench.found()[1]);
  bench.advance(seconds(1));
  ASSERT_EQ(bench.fenced.size(), 1U);
  EXPECT_EQ(bench.claims.requests().size(), 1U) << "the list";
}

}  // namespace
}  // namespace gang::test
