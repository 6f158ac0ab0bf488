// Every row of the commit protocol 5.3 for a Binding, seen through rounds of one gang.
#include "binder/bind_step.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "binder/bench.h"

namespace gang::test {
namespace {

using kube::Outcome;
using std::chrono::milliseconds;
using std::chrono::seconds;
using Texts = std::vector<std::string>;

const kube::Answer kTimeOut = answer(Outcome::kUnknown, 0, "timed out");

class BindStepTest : public testing::Test {
 protected:
  BindStepTest() { bench.create_gang(2); }
  void commit() { bench.commit(bench.plan(2, 2)); }
  std::string node_of(const std::string& pod) const { return bench.client.pod(pod)->node_name; }

  BinderBench bench;
};

TEST(MayStillRun, IsReadFromTheReasonThenFromTheStoragesWords) {
  struct Row {
    int status;
    const char* reason;
    const char* message;
    bool may;
  };
  const Row rows[] = {
      {0, "", "reset", true},
      {504, "", "", true},
      {500, "ServerTimeout", "the operation could not be completed at this time", true},
      {500, "", "etcdserver: leader changed", true},
      {500, "", "context deadline exceeded", true},
      {500, "InternalError", "failed calling webhook \"x\": context deadline exceeded", false},
      {500, "InternalError", "nil pointer", false},
      {503, "ServiceUnavailable", "", false},
  };
  for (const Row& row : rows) {
    kube::Answer how = answer(Outcome::kUnknown, row.status, row.message);
    how.reason = row.reason;
    EXPECT_EQ(binder::may_still_run(how), row.may) << row.status << row.reason << row.message;
  }
}

TEST_F(BindStepTest, SendsUidVersionNodeAndStamp) {
  commit();
  const std::string stamp = " gang-scheduler.dev/round=round-1";
  EXPECT_EQ(bench.client.texts("bind"), (Texts{"bind m0 n0 v2" + stamp, "bind m1 n1 v3" + stamp}));
  EXPECT_EQ(bench.members(), "m0=bound m1=bound");
  EXPECT_EQ(bench.client.count("get"), 0u);
}

TEST_F(BindStepTest, SendsNoAnnotationWithoutStamp) {
  engine::Plan plan = bench.plan(1, 1);
  plan.stamp = "";
  bench.commit(plan);
  EXPECT_EQ(bench.client.texts("bind"), (Texts{"bind m0 n0 v2"}));
}

TEST_F(BindStepTest, ReadsAPodWithoutKnownVersionBeforeItBinds) {
  engine::Plan plan = bench.plan(2, 2);
  plan.assignments[0].resource_version = {};
  bench.commit(plan);
  EXPECT_EQ(bench.client.count("get", "m0"), 1u);
  EXPECT_EQ(bench.round_end(), "committed");
}

TEST_F(BindStepTest, ConflictOnAPodThatIsOnThePlannedNodeIsSuccess) {
  engine::Plan plan = bench.plan(2, 2);
  bench.client.change("m0", [](api::Pod& pod) { pod.node_name = "n0"; });
  bench.commit(plan);
  EXPECT_EQ(bench.members(), "m0=bound m1=bound");
  EXPECT_EQ(bench.client.count("bind", "m0"), 1u);
}

TEST_F(BindStepTest, ConflictOnAPodOnAnotherNodeIsAForeignBind) {
  engine::Plan plan = bench.plan(2, 2);
  bench.client.change("m0", [](api::Pod& pod) { pod.node_name = "n9"; });
  bench.commit(plan);
  EXPECT_EQ(bench.members(), "m0=elsewhere m1=bound");
  EXPECT_EQ(bench.round_end(), "members_lost");
}

TEST_F(BindStepTest, ConflictOnADeletingGatedReplacedOrMissingPodIsALoss) {
  const std::vector<std::function<void(BinderBench&)>> losses = {
      [](BinderBench& b) {
        b.client.change("m0", [](api::Pod& pod) { pod.meta.deletion_time = TimePoint{}; });
      },
      [](BinderBench& b) {
        b.client.change("m0", [](api::Pod& pod) { pod.scheduling_gates = {"wait"}; });
      },
      [](BinderBench& b) {
        b.client.change("m0", [](api::Pod& pod) { pod.meta.uid = {"another"}; });
      },
      [](BinderBench& b) {
        b.client.change("m0", [](api::Pod& pod) { pod.phase = api::PodPhase::kFailed; });
      },
      [](BinderBench& b) { b.client.remove_pod("m0"); },
  };
  for (const auto& lose : losses) {
    BinderBench fresh;
    fresh.create_gang(2);
    const engine::Plan plan = fresh.plan(2, 2);
    lose(fresh);
    fresh.commit(plan);
    EXPECT_EQ(fresh.members(), "m0=lost m1=bound");
    EXPECT_EQ(fresh.round_end(), "members_lost");
    EXPECT_EQ(fresh.client.count("bind", "m0"), 1u);
  }
}

TEST_F(BindStepTest, ConflictByAMovedVersionIsTriedWithTheVersionJustRead) {
  engine::Plan plan = bench.plan(2, 2);
  bench.client.change("m0", [](api::Pod& pod) { pod.priority = 1; });
  bench.commit(plan);
  EXPECT_EQ(bench.members(), "m0=bound m1=bound");
  EXPECT_EQ(bench.client.count("bind", "m0"), 2u);
}

TEST_F(BindStepTest, GivesUpAPodThatMovesMoreThanFiveTimes) {
  for (int i = 0; i < 10; ++i) {
    bench.client.fail_next("bind", "m0", answer(Outcome::kConflict, 409));
  }
  commit();
  bench.advance(seconds(20));
  EXPECT_EQ(bench.client.count("bind", "m0"), 6u);
  EXPECT_EQ(bench.members(), "m0=not_bound m1=bound");
  EXPECT_EQ(bench.round_end(), "members_lost");
}

TEST_F(BindStepTest, NotFoundOfAPodThatExistsIsTriedWithPauses) {
  for (int i = 0; i < 10; ++i) {
    bench.client.fail_next("bind", "m0", answer(Outcome::kNotFound, 404, "page not found"));
  }
  commit();
  EXPECT_EQ(bench.client.count("bind", "m0"), 1u);
  bench.advance(seconds(20));
  EXPECT_EQ(bench.client.count("bind", "m0"), 6u);
  EXPECT_EQ(bench.members(), "m0=not_bound m1=bound");
}

TEST_F(BindStepTest, UnknownButExecutedIsFoundByTheRead) {
  bench.client.fail_next("bind", "m0", {kTimeOut, Fault::Execution::kDone});
  commit();
  EXPECT_EQ(bench.members(), "m0=bound m1=bound");
  EXPECT_EQ(bench.client.count("bind", "m0"), 1u);
}

TEST_F(BindStepTest, UnknownAndNotExecutedIsSentAgainWithTheSameVersionAfterAPause) {
  bench.client.fail_next("bind", "m0", kTimeOut);
  commit();
  EXPECT_EQ(bench.client.count("bind", "m0"), 1u);
  EXPECT_EQ(bench.client.count("get", "m0"), 1u);
  bench.advance(milliseconds(200));
  EXPECT_EQ(bench.members(), "m0=bound m1=bound");
  const Texts texts = bench.client.texts("bind");
  EXPECT_EQ(texts.front(), texts.back());
}

TEST_F(BindStepTest, UnknownAndExecutedLateEndsBoundOnceOnThePlannedNode) {
  bench.client.fail_next("bind", "m0", {kTimeOut, Fault::Execution::kLate});
  commit();
  bench.client.run_late();  // after the read, before the second Binding
  bench.advance(seconds(1));
  EXPECT_EQ(bench.members(), "m0=bound m1=bound");
  EXPECT_EQ(node_of("m0"), "n0");
  EXPECT_EQ(bench.client.count("bind", "m0"), 2u);  // the second one met a 409 and was read
}

TEST_F(BindStepTest, LateRequestFailsAfterTheSecondOneWasExecuted) {
  bench.client.fail_next("bind", "m0", {kTimeOut, Fault::Execution::kLate});
  commit();
  bench.advance(seconds(1));
  const std::string version = bench.client.pod("m0")->meta.resource_version.text;
  bench.client.run_late();
  EXPECT_EQ(bench.client.pod("m0")->meta.resource_version.text, version);
  EXPECT_EQ(bench.members(), "m0=bound m1=bound");
}

TEST_F(BindStepTest, NeverReportsNotBoundWhileARequestMayStillBeExecuted) {
  engine::Plan plan = bench.plan(2, 2);
  bench.client.remove_pod("m1");  // the round stops
  bench.client.fail_next("bind", "m0", {kTimeOut, Fault::Execution::kLate});
  bench.commit(plan);
  bench.advance(seconds(39));
  EXPECT_EQ(bench.round_end(), "open");
  bench.client.run_late();
  bench.advance(seconds(6));
  EXPECT_EQ(bench.members(), "m0=bound m1=lost");
  EXPECT_EQ(bench.client.count("bind", "m0"), 1u);
}

TEST_F(BindStepTest, ReportsNotBoundOnceTheServerCannotExecuteTheRequestAnyMore) {
  engine::Plan plan = bench.plan(2, 2);
  bench.client.remove_pod("m1");
  bench.client.fail_next("bind", "m0", kTimeOut);
  bench.commit(plan);
  bench.advance(seconds(46));
  EXPECT_EQ(bench.members(), "m0=not_bound m1=lost");
}

TEST_F(BindStepTest, ReportsNotBoundAtOnceWhenAMovedVersionFencesTheRequest) {
  engine::Plan plan = bench.plan(2, 2);
  bench.client.remove_pod("m1");
  bench.client.fail_next("bind", "m0", {kTimeOut, Fault::Execution::kLate});
  bench.client.hold_next("get", "m0");
  bench.commit(plan);
  bench.client.change("m0", [](api::Pod& pod) { pod.priority = 1; });
  bench.client.release("get", "m0");
  bench.run();
  EXPECT_EQ(bench.members(), "m0=not_bound m1=lost");
  bench.client.run_late();
  EXPECT_EQ(node_of("m0"), "");
}

TEST_F(BindStepTest, NotSentIsSentAgainWithoutARead) {
  bench.client.fail_next("bind", "m0", answer(Outcome::kNotSent, 0, "connection refused"));
  commit();
  bench.advance(milliseconds(200));
  EXPECT_EQ(bench.members(), "m0=bound m1=bound");
  EXPECT_EQ(bench.client.count("get"), 0u);
}

TEST_F(BindStepTest, ThrottledWaitsAsLongAsTheServerSays) {
  kube::Answer throttled = answer(Outcome::kThrottled, 429);
  throttled.retry_after = seconds(7);
  bench.client.fail_next("bind", "m0", throttled);
  commit();
  bench.advance(milliseconds(6900));
  EXPECT_EQ(bench.client.count("bind", "m0"), 1u);
  bench.advance(milliseconds(200));
  EXPECT_EQ(bench.members(), "m0=bound m1=bound");
}

TEST_F(BindStepTest, ForbiddenEndsTheRoundAsRefusedWithTheMessage) {
  bench.client.fail_next("bind", "m0", answer(Outcome::kForbidden, 403, "may not bind"));
  commit();
  EXPECT_EQ(bench.round_end(), "refused");
  EXPECT_EQ(bench.outcomes[0].message, "pod ns/m0: may not bind");
  EXPECT_EQ(bench.members(), "m0=not_bound m1=bound");
  EXPECT_EQ(bench.binder->stats().forbidden, 1);
}

TEST_F(BindStepTest, ForbiddenByAStartingServerIsTriedAgain) {
  bench.client.fail_next("bind", "m0",
                         answer(Outcome::kForbidden, 403, "not yet ready to handle request"));
  commit();
  bench.advance(seconds(1));
  EXPECT_EQ(bench.round_end(), "committed");
  EXPECT_EQ(bench.binder->stats().forbidden, 0);
}

TEST_F(BindStepTest, UnauthorizedIsTriedOnceMoreThenRefused) {
  bench.client.fail_next("bind", "m0", answer(Outcome::kUnauthorized, 401, "no"));
  commit();
  bench.advance(seconds(1));
  EXPECT_EQ(bench.round_end(), "committed");

  BinderBench always;
  always.create_gang(2);
  always.client.fail_all("bind", answer(Outcome::kUnauthorized, 401, "no"));
  always.commit(always.plan(2, 2));
  always.advance(seconds(1));
  EXPECT_EQ(always.round_end(), "refused");
  EXPECT_LE(always.client.count("bind", "m0"), 2u);
}

TEST_F(BindStepTest, InvalidEndsTheRoundAsRefused) {
  bench.client.fail_next("bind", "m0", answer(Outcome::kInvalid, 422, "bad target"));
  commit();
  EXPECT_EQ(bench.round_end(), "refused");
  EXPECT_EQ(bench.client.count("bind", "m0"), 1u);
}

TEST_F(BindStepTest, RefusalAfterAnUnknownRequestIsReportedOnlyWhenThatOneIsDefinite) {
  bench.client.fail_next("bind", "m0", {kTimeOut, Fault::Execution::kLate});
  bench.client.fail_next("bind", "m0", answer(Outcome::kForbidden, 403, "may not bind"));
  commit();
  bench.advance(seconds(1));
  EXPECT_EQ(bench.round_end(), "open");
  bench.client.run_late();
  bench.advance(seconds(6));
  EXPECT_EQ(bench.members(), "m0=bound m1=bound");
  EXPECT_EQ(bench.round_end(), "committed");
}

TEST_F(BindStepTest, TheSame500ThreeTimesOnAnUnchangedPodEndsTheRoundAsUnavailable) {
  for (int i = 0; i < 3; ++i) {
    bench.client.fail_next("bind", "m0", answer(Outcome::kUnknown, 500, "invalid target"));
  }
  commit();
  bench.advance(seconds(5));
  EXPECT_EQ(bench.client.count("bind", "m0"), 3u);
  EXPECT_EQ(bench.round_end(), "unavailable");
  EXPECT_EQ(bench.members(), "m0=not_bound m1=bound");
  EXPECT_NE(bench.outcomes[0].message.find("invalid target"), std::string::npos);
}

TEST_F(BindStepTest, A500OfTheStorageMayStillBeExecuted) {
  engine::Plan plan = bench.plan(2, 2);
  bench.client.remove_pod("m1");  // the round stops
  bench.client.fail_next(
      "bind", "m0",
      {answer(Outcome::kUnknown, 500, "etcdserver: request timed out"), Fault::Execution::kLate});
  bench.commit(plan);
  bench.advance(seconds(30));
  EXPECT_EQ(bench.round_end(), "open");
  bench.client.run_late();
  bench.advance(seconds(6));
  EXPECT_EQ(bench.members(), "m0=bound m1=lost");
}

TEST_F(BindStepTest, AnAnswered500IsTheEndOfItsRequest) {
  engine::Plan plan = bench.plan(2, 2);
  bench.client.remove_pod("m1");
  bench.client.fail_next("bind", "m0", answer(Outcome::kUnknown, 500, "internal error"));
  bench.commit(plan);
  bench.advance(seconds(1));
  EXPECT_EQ(bench.members(), "m0=not_bound m1=lost");
}

TEST_F(BindStepTest, Different500sAreTriedFurther) {
  for (const char* text : {"a", "b", "a", "b"}) {
    bench.client.fail_next("bind", "m0", answer(Outcome::kUnknown, 500, text));
  }
  commit();
  bench.advance(seconds(10));
  EXPECT_EQ(bench.round_end(), "committed");
}

TEST_F(BindStepTest, ReadsAreRepeatedUntilTheServerAnswers) {
  bench.client.fail_next("bind", "m0", {kTimeOut, Fault::Execution::kDone});
  for (const Outcome outcome : {Outcome::kUnknown, Outcome::kNotSent, Outcome::kThrottled}) {
    bench.client.fail_next("get", "m0", answer(outcome));
  }
  commit();
  EXPECT_EQ(bench.round_end(), "open");
  bench.advance(seconds(10));
  EXPECT_EQ(bench.members(), "m0=bound m1=bound");
  EXPECT_EQ(bench.client.count("bind", "m0"), 1u);
}

}  // namespace
}  // namespace gang::test
