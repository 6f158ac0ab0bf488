// The column "Condition" of the commit protocol 5.3, and the order of writes to one group.
#include "binder/group_line.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "binder/bench.h"

namespace gang::test {
namespace {

using engine::Verdict;
using kube::Outcome;
using std::chrono::milliseconds;
using std::chrono::seconds;
using Texts = std::vector<std::string>;

const char* const kFalseText =
    "patch-group train PodGroupInitiallyScheduled=False/Unschedulable "
    "Satisfied=False/ImpossibleNow";
const char* const kTrueText =
    "patch-group train PodGroupInitiallyScheduled=True/Scheduled Satisfied=True/Satisfied";

class GroupLineTest : public testing::Test {
 protected:
  GroupLineTest() { bench.create_gang(2); }
  void explain(const std::string& message = "no room") {
    bench.explain(bench.explanation(Verdict::kImpossibleNow, message));
  }
  std::string record() const {
    const api::Condition c = bench.client.group_condition("train", api::kInitiallyScheduled);
    return c.type.empty() ? "absent" : std::string(api::status_text(c.status));
  }
  std::size_t patches() const { return bench.client.count("patch-group"); }

  BinderBench bench;
};

TEST_F(GroupLineTest, ReadsTheGroupOnceBeforeTheFirstExplanation) {
  explain("a");
  explain("b");
  EXPECT_EQ(bench.client.count("get-group"), 1u);
  EXPECT_EQ(patches(), 2u);
}

TEST_F(GroupLineTest, B163TheSameAgainIsNotWritten) {
  explain();
  explain();
  bench.advance(seconds(600));
  explain();
  EXPECT_EQ(bench.client.texts("patch-group"), (Texts{kFalseText}));
}

TEST_F(GroupLineTest, WhatTheServerHasAlreadyIsNotWritten) {
  explain();
  BinderBench restarted;
  restarted.client.put(*bench.client.group("train"));
  restarted.explain(restarted.explanation(Verdict::kImpossibleNow, "no room"));
  EXPECT_EQ(restarted.client.count("get-group"), 1u);
  EXPECT_EQ(restarted.client.count("patch-group"), 0u);
}

TEST_F(GroupLineTest, B157TrueAtLastWithOneTransition) {
  explain("a");
  bench.advance(seconds(20));
  explain("b");
  const TimePoint before = bench.clock.now() - seconds(20);
  EXPECT_EQ(bench.client.group_condition("train", api::kInitiallyScheduled).last_transition_time,
            before);
  bench.advance(seconds(20));
  bench.commit(bench.plan(2, 2));
  const api::Condition record = bench.client.group_condition("train", api::kInitiallyScheduled);
  EXPECT_EQ(record.reason, "Scheduled");
  EXPECT_EQ(record.message, "");
  EXPECT_EQ(record.observed_generation, 0);
  EXPECT_EQ(record.last_transition_time, bench.clock.now());
}

TEST_F(GroupLineTest, B165DelayedFalseIsAnsweredBeforeTrueIsSent) {
  bench.client.hold_next("patch-group", "train");
  explain();
  bench.commit(bench.plan(2, 2));
  EXPECT_EQ(patches(), 1u);
  bench.advance(seconds(3));
  bench.client.release("patch-group", "train");
  bench.run();
  EXPECT_EQ(record(), "True");
  EXPECT_EQ(bench.round_end(), "committed");
}

TEST_F(GroupLineTest, B165FalseThatMayStillBeExecutedHoldsTrueBack) {
  bench.client.fail_next("patch-group", "train",
                         {answer(Outcome::kUnknown, 0, "timed out"), Fault::Execution::kLate});
  explain();
  bench.commit(bench.plan(2, 2));
  bench.advance(seconds(33));
  EXPECT_EQ(record(), "absent");
  bench.client.run_late();
  EXPECT_EQ(record(), "False");
  bench.advance(seconds(8));
  EXPECT_EQ(record(), "True");
  EXPECT_EQ(bench.round_end(), "committed");
}

TEST_F(GroupLineTest, FalseThatARefusedServerCannotExecuteHoldsNothingBack) {
  bench.client.fail_next("patch-group", "train", answer(Outcome::kUnknown, 503, "overloaded"));
  explain();
  bench.commit(bench.plan(2, 2));
  bench.advance(milliseconds(300));
  EXPECT_EQ(record(), "True");
}

TEST_F(GroupLineTest, B165UnsentFalseIsDroppedByARound) {
  bench.client.fail_next("patch-group", "train", answer(Outcome::kThrottled, 429));
  explain();
  bench.commit(bench.plan(2, 2));
  EXPECT_EQ(record(), "True");  // without waiting for the other one's pause
  bench.advance(seconds(60));
  EXPECT_EQ(bench.client.texts("patch-group"), (Texts{kFalseText, kTrueText}));
}

TEST_F(GroupLineTest, TrueIsNeverOverwritten) {
  bench.commit(bench.plan(2, 2));
  explain();  // the scheduler has not seen the record yet
  EXPECT_EQ(record(), "True");
  EXPECT_EQ(bench.client.texts("patch-group").back(),
            "patch-group train Satisfied=False/ImpossibleNow");
}

TEST_F(GroupLineTest, TrueOfAnotherProcessIsNeverOverwritten) {
  api::PodGroup group = *bench.client.group("train");
  group.conditions = {{.type = std::string(api::kInitiallyScheduled),
                       .status = api::ConditionStatus::kTrue,
                       .reason = "Scheduled"}};
  bench.client.put(group);
  explain();
  EXPECT_EQ(record(), "True");
}

TEST_F(GroupLineTest, NewerExplanationTakesThePlaceOfAnUnsentOne) {
  bench.client.hold_next("get-group", "train");
  explain("a");
  explain("b");
  explain("c");
  bench.client.release("get-group", "train");
  bench.advance(seconds(1));
  EXPECT_EQ(patches(), 1u);
  EXPECT_EQ(bench.client.group_condition("train", api::kInitiallyScheduled).message, "c");
  EXPECT_TRUE(bench.explains_failed.empty());
}

TEST_F(GroupLineTest, RecordIsRetriedThroughEveryFailureUntilItIsDurable) {
  for (const kube::Answer& failure :
       {answer(Outcome::kNotSent), answer(Outcome::kThrottled, 429),
        answer(Outcome::kUnknown, 500, "a"), answer(Outcome::kUnknown, 0, "timed out"),
        answer(Outcome::kConflict, 409), answer(Outcome::kUnauthorized, 401)}) {
    bench.client.fail_next("patch-group", "train", failure);
  }
  bench.commit(bench.plan(2, 2));
  EXPECT_EQ(bench.round_end(), "open");
  bench.advance(seconds(60));
  EXPECT_EQ(record(), "True");
  EXPECT_EQ(bench.round_end(), "committed");
  EXPECT_TRUE(bench.outcomes[0].recorded);
  EXPECT_EQ(patches(), 7u);
}

TEST_F(GroupLineTest, RecordOutlivesTheCommitDeadline) {
  bench.client.fail_all("patch-group", answer(Outcome::kUnknown, 503, "down"));
  bench.commit(bench.plan(2, 2));
  bench.advance(seconds(300));
  EXPECT_EQ(bench.round_end(), "open");
  bench.client.allow("patch-group");
  bench.advance(seconds(6));
  EXPECT_EQ(bench.round_end(), "committed");
}

TEST_F(GroupLineTest, RecordWhoseAnswerWasLostIsFoundByTheRead) {
  bench.client.fail_next("patch-group", "train",
                         {answer(Outcome::kUnknown, 0, "reset"), Fault::Execution::kDone});
  bench.commit(bench.plan(2, 2));
  bench.advance(seconds(1));
  EXPECT_EQ(patches(), 1u);
  EXPECT_EQ(bench.client.count("get-group"), 1u);
  EXPECT_TRUE(bench.outcomes.at(0).recorded);
}

TEST_F(GroupLineTest, MissingOrReplacedGroupEndsTheRoundAsGroupGone) {
  engine::Plan plan = bench.plan(2, 2);
  plan.gang.key.name = "missing";
  bench.commit(plan);
  EXPECT_EQ(bench.round_end(), "group_gone");
  EXPECT_EQ(bench.members(), "m0=bound m1=bound");

  BinderBench other;
  other.create_gang(2);
  api::PodGroup replaced = *other.client.group("train");
  replaced.meta.uid = {"uid-new"};
  other.client.put(replaced);
  other.commit(other.plan(2, 2));
  EXPECT_EQ(other.round_end(), "group_gone");
  EXPECT_EQ(other.client.count("patch-group"), 1u);
}

TEST_F(GroupLineTest, InvalidTextIsShortenedOnce) {
  bench.client.fail_next("patch-group", "train", answer(Outcome::kInvalid, 422, "too long"));
  explain(std::string(3000, 'x') + "\xc3\xa4");
  EXPECT_EQ(patches(), 2u);
  EXPECT_EQ(bench.client.group_condition("train", api::kInitiallyScheduled).message.size(), 1024u);
  EXPECT_TRUE(bench.explains_failed.empty());

  BinderBench always;
  always.create_gang(2);
  always.client.fail_all("patch-group", answer(Outcome::kInvalid, 422, "bad"));
  always.explain(always.explanation(Verdict::kImpossibleNow, "x"));
  always.advance(seconds(60));
  EXPECT_EQ(always.client.count("patch-group"), 2u);
  EXPECT_EQ(always.explains_failed.size(), 1u);
}

TEST_F(GroupLineTest, ExplanationIsGivenUpAfterFiveTries) {
  bench.client.fail_all("patch-group", answer(Outcome::kUnknown, 503, "down"));
  explain();
  bench.advance(seconds(60));
  EXPECT_EQ(patches(), 5u);
  EXPECT_EQ(bench.explains_failed.size(), 1u);
  EXPECT_TRUE(bench.binder->idle());
}

// With the right to patch podgroups/status taken away pods are bound, and one line a minute says
// it.
TEST_F(GroupLineTest, B203RightsForWhatItWrites) {
  bench.client.fail_all("patch-group", answer(Outcome::kForbidden, 403, "cannot patch podgroups"));
  testing::internal::CaptureStderr();
  bench.commit(bench.plan(2, 2));
  for (int i = 0; i < 50; ++i) {
    explain("reason " + std::to_string(i));
    bench.advance(seconds(1));
  }
  const std::string log = testing::internal::GetCapturedStderr();
  const std::string line = "does the account have deploy/rbac.yaml?";
  ASSERT_NE(log.find(line), std::string::npos);
  EXPECT_EQ(log.find(line), log.rfind(line));
  EXPECT_NE(log.find("patch podgroups/status"), std::string::npos);

  EXPECT_EQ(bench.members(), "m0=bound m1=bound");
  EXPECT_EQ(bench.round_end(), "refused");
  EXPECT_FALSE(bench.outcomes[0].recorded);
  EXPECT_EQ(bench.binder->stats().forbidden, 51);
  EXPECT_EQ(patches(), 51u);  // no loop: one try for each thing to say

  testing::internal::CaptureStderr();
  bench.advance(seconds(11));
  explain("later");
  EXPECT_NE(testing::internal::GetCapturedStderr().find("refused_since_last_line"),
            std::string::npos);
}

}  // namespace
}  // namespace gang::test
