#include "gang/engine/explanation.h"

#include <gtest/gtest.h>

namespace gang::engine {
namespace {

Explanation lacking(const char* text, std::int64_t nodes) {
  return {.verdict = Verdict::kImpossibleNow,
          .minimum = 4,
          .scheduled = 3,
          .reasons = {{.filter = "NodeResourcesFit", .text = text, .node_count = nodes}}};
}

TEST(SameMeaning, IgnoresChangingNumbers) {
  Explanation other = lacking("Insufficient cpu", 9);
  other.scheduled = 1;
  other.message = "other numbers";
  EXPECT_TRUE(same_meaning(lacking("Insufficient cpu", 7), other));
}

TEST(SameMeaning, SeesOtherCausesVerdictsAndMinima) {
  const Explanation one = lacking("Insufficient cpu", 7);
  EXPECT_FALSE(same_meaning(one, lacking("Insufficient memory", 7)));
  Explanation other = one;
  other.verdict = Verdict::kImpossibleOnFleet;
  EXPECT_FALSE(same_meaning(one, other));
  other = one;
  other.minimum = 5;
  EXPECT_FALSE(same_meaning(one, other));
  other = one;
  other.degraded = true;
  EXPECT_FALSE(same_meaning(one, other));
}

TEST(SameMeaning, IgnoresTheOrderOfCauses) {
  Explanation a = lacking("Insufficient cpu", 7);
  a.reasons.push_back({.filter = "TaintToleration", .text = "taint", .node_count = 2});
  Explanation b = a;
  std::swap(b.reasons[0], b.reasons[1]);
  EXPECT_TRUE(same_meaning(a, b));
}

TEST(SameMeaning, ReadsTheMessageWhereThereAreNoCauses) {
  Explanation a = {.verdict = Verdict::kWaitingForPods, .message = "1 of 3 pods exist"};
  Explanation b = {.verdict = Verdict::kWaitingForPods, .message = "2 of 3 pods exist"};
  EXPECT_TRUE(same_meaning(a, b));
  b.message += "; 1 gated";
  EXPECT_FALSE(same_meaning(a, b));
  a = {.verdict = Verdict::kRuleNotBuilt, .message = "volumes of pod p-1"};
  b = {.verdict = Verdict::kRuleNotBuilt, .message = "volumes of pod p-2"};
  EXPECT_FALSE(same_meaning(a, b));
}

TEST(SameMeaning, ReadsTheWordsOfTheDetail) {
  const auto detailed = [](const char* detail) {
    Explanation one = lacking("cannot allocate all claims", 2);
    one.detail = detail;
    return one;
  };
  const Explanation told = detailed("class gpu: 3 free of 4; 1 allocated; needed 4");
  EXPECT_TRUE(same_meaning(told, detailed("class gpu: 13 free of 40; 27 allocated; needed 4")));
  EXPECT_FALSE(same_meaning(told, detailed("class gpu: 3 free of 4; 1 tainted; needed 4")));
  EXPECT_FALSE(same_meaning(detailed("lost on d/n1/gpu-0"), detailed("lost on d/n1/gpu-1")));
  EXPECT_TRUE(same_meaning(detailed("memory 0 of 40Gi."), detailed("memory 20Gi of 40Gi.")));
  EXPECT_TRUE(same_meaning(detailed("0/4 nodes, 1.5 of 2."), detailed("0/7 nodes, 2.5 of 9.")));
}

TEST(VerdictName, IsStable) {
  EXPECT_STREQ(verdict_name(Verdict::kImpossibleNow), "ImpossibleNow");
  EXPECT_STREQ(verdict_name(Verdict::kImpossibleOnFleet), "ImpossibleOnFleet");
  EXPECT_STREQ(verdict_name(Verdict::kSearchLimitReached), "SearchLimitReached");
  EXPECT_STREQ(verdict_name(Verdict::kWaitingForPods), "WaitingForPods");
  EXPECT_STREQ(verdict_name(Verdict::kWaitingForGroup), "WaitingForGroup");
  EXPECT_STREQ(verdict_name(Verdict::kRuleNotBuilt), "RuleNotBuilt");
  EXPECT_STREQ(verdict_name(Verdict::kInvalid), "Invalid");
  EXPECT_STREQ(verdict_name(Verdict::kBinding), "Binding");
}

TEST(FailureReason, IsAnErrorWhereRoomWouldNotHelp) {
  EXPECT_STREQ(failure_reason(Verdict::kImpossibleNow), "Unschedulable");
  EXPECT_STREQ(failure_reason(Verdict::kRuleNotBuilt), "Unschedulable");
  EXPECT_STREQ(failure_reason(Verdict::kInvalid), "SchedulerError");
  EXPECT_STREQ(failure_reason(Verdict::kBinding), "SchedulerError");
}

TEST(RoundEndName, IsStable) {
  EXPECT_STREQ(round_end_name(RoundEnd::kCommitted), "committed");
  EXPECT_STREQ(round_end_name(RoundEnd::kMembersLost), "members_lost");
  EXPECT_STREQ(round_end_name(RoundEnd::kUnavailable), "unavailable");
  EXPECT_STREQ(round_end_name(RoundEnd::kRefused), "refused");
  EXPECT_STREQ(round_end_name(RoundEnd::kGroupGone), "group_gone");
  EXPECT_STREQ(round_end_name(RoundEnd::kOvertaken), "overtaken");
  EXPECT_STREQ(round_end_name(RoundEnd::kMembersGone), "members_gone");
  EXPECT_STREQ(round_end_name(RoundEnd::kUnready), "devices_not_ready");
}

}  // namespace
}  // namespace gang::engine
