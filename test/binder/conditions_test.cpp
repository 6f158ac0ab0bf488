#include "binder/conditions.h"

#include <gtest/gtest.h>

#include <string>

namespace gang::binder {
namespace {

using api::Condition;
using api::ConditionStatus;
using engine::Explanation;
using engine::Verdict;

const TimePoint kOld{std::chrono::seconds(1)};
const TimePoint kNow{std::chrono::seconds(9)};

Explanation explanation(Verdict verdict) {
  Explanation explanation{.verdict = verdict, .minimum = 4};
  explanation.gang = {.kind = cluster::GangKind::kPodGroup, .key = {"ns", "g"}, .uid = {"u"}};
  explanation.bound = 1;
  explanation.live = 5;
  explanation.message = "why";
  return explanation;
}

std::string text(const std::vector<WantedCondition>& wanted) {
  std::string text;
  for (const WantedCondition& want : wanted) {
    if (want.only_where_true) continue;
    text += want.condition.type + "=" + std::string(api::status_text(want.condition.status)) + "/" +
            want.condition.reason + ": " + want.condition.message + "\n";
  }
  return text;
}

TEST(Conditions, MessageIsNoLongerThanTheServerTakes) {
  Explanation told = explanation(Verdict::kImpossibleNow);
  told.message = std::string(32'767, 'x') + "\xC3\xA9 and more";
  EXPECT_EQ(group_conditions(told).front().condition.message, std::string(32'767, 'x'));
  told.message.resize(32'767);
  told.message += "y";
  EXPECT_EQ(group_conditions(told).front().condition.message, told.message);
}

TEST(Conditions, EveryVerdictHasItsReasons) {
  const std::string counts = ": 1 bound, 5 live, minimum 4: ";
  const struct {
    Verdict verdict;
    const char* reason;  ///< of PodGroupInitiallyScheduled
    const char* own;
    const char* sentence;
  } rows[] = {
      {Verdict::kImpossibleNow, "Unschedulable", "ImpossibleNow", "no placement exists now"},
      {Verdict::kImpossibleOnFleet, "Unschedulable", "ImpossibleOnFleet",
       "no placement exists even on these nodes emptied"},
      {Verdict::kSearchLimitReached, "Unschedulable", "SearchLimitReached",
       "no placement was found within the search limit"},
      {Verdict::kWaitingForPods, "Unschedulable", "WaitingForPods",
       "its pods cannot be placed yet"},
      {Verdict::kRuleNotBuilt, "Unschedulable", "RuleNotBuilt",
       "it uses a rule that this version does not place"},
      {Verdict::kInvalid, "SchedulerError", "Invalid", "its objects are not valid"},
      {Verdict::kBinding, "SchedulerError", "Binding", "why"},
  };
  for (const auto& row : rows) {
    const std::string expected = "PodGroupInitiallyScheduled=False/" + std::string(row.reason) +
                                 ": why\ngang-scheduler.dev/Satisfied=False/" + row.own + counts +
                                 row.sentence + "\n";
    EXPECT_EQ(text(group_conditions(explanation(row.verdict))), expected);
  }
}

TEST(Conditions, GangThatLacksPodsWaitsForThem) {
  Explanation waiting = explanation(Verdict::kWaitingForPods);
  waiting.live = 3;
  waiting.writes_condition = false;
  EXPECT_EQ(text(group_conditions(waiting)),
            "gang-scheduler.dev/Satisfied=False/WaitingForPods: 1 bound, 3 live, minimum 4: "
            "waiting for pods: why\n");
}

TEST(Conditions, RoundThatGoesOnIsNotInTheRecord) {
  Explanation progress = explanation(Verdict::kBinding);
  progress.writes_condition = false;
  EXPECT_EQ(text(group_conditions(progress)),
            "gang-scheduler.dev/Satisfied=False/Binding: 1 bound, 5 live, minimum 4: why\n");
}

TEST(Conditions, SatisfiedGangStaysSoWhileMembersAboveItsMinimumWait) {
  Explanation extras = explanation(Verdict::kImpossibleNow);
  extras.bound = 4;
  extras.writes_condition = false;
  EXPECT_EQ(text(group_conditions(extras)),
            "gang-scheduler.dev/Satisfied=True/Satisfied: 4 bound, minimum 4\n");
}

TEST(Conditions, NothingIsSaidOfAGroupThatDoesNotExist) {
  EXPECT_TRUE(group_conditions(explanation(Verdict::kWaitingForGroup)).empty());
  Explanation lone = explanation(Verdict::kImpossibleNow);
  lone.gang.kind = cluster::GangKind::kLonePod;
  EXPECT_TRUE(group_conditions(lone).empty());
}

TEST(Conditions, FlagsTellWhatIsBound) {
  Explanation told = explanation(Verdict::kImpossibleNow);
  told.writes_condition = false;
  told.degraded = told.partially_bound = true;
  told.loss = "pod a-0 failed on n1 (OutOfcpu)";
  EXPECT_EQ(text(group_conditions(told)),
            "gang-scheduler.dev/Satisfied=False/ImpossibleNow: 1 bound, 5 live, minimum 4: no "
            "placement exists now: why\n"
            "gang-scheduler.dev/Degraded=True/BelowMinCount: 1 of minimum 4 members are bound; "
            "pod a-0 failed on n1 (OutOfcpu)\n"
            "gang-scheduler.dev/PartiallyBound=True/BelowMinCount: 1 of minimum 4 members are "
            "bound and are left where they are\n");
}

TEST(Conditions, PodsAreToldUnschedulableOrSchedulerErrorOrNothing) {
  const engine::MemberText member{.message = "no room"};
  EXPECT_EQ(pod_condition(explanation(Verdict::kImpossibleNow), member)->reason, "Unschedulable");
  EXPECT_EQ(pod_condition(explanation(Verdict::kInvalid), member)->reason, "SchedulerError");
  EXPECT_EQ(pod_condition(explanation(Verdict::kInvalid), member)->message, "no room");
  EXPECT_FALSE(pod_condition(explanation(Verdict::kWaitingForGroup), member));
  const engine::MemberText told{.message = "no group", .current = {.type = "PodScheduled"}};
  EXPECT_EQ(pod_condition(explanation(Verdict::kWaitingForGroup), told)->message, "no group");
  EXPECT_EQ(pod_condition(explanation(Verdict::kBinding), member)->reason, "SchedulerError");
}

Condition told(std::string_view type, ConditionStatus status, std::string reason,
               std::string message) {
  return {.type = std::string(type),
          .status = status,
          .reason = reason,
          .message = message,
          .last_transition_time = kOld};
}

TEST(Conditions, TransitionTimeMovesOnlyWithTheStatus) {
  const std::vector<Condition> known = {
      told(api::kInitiallyScheduled, ConditionStatus::kFalse, "Unschedulable", "old")};
  const auto texts = changes(known, group_conditions(explanation(Verdict::kImpossibleNow)), kNow);
  EXPECT_EQ(texts.at(0).message, "why");
  EXPECT_EQ(texts.at(0).last_transition_time, kOld);
  EXPECT_EQ(texts.at(1).last_transition_time, kNow);  // Satisfied is new

  engine::Plan plan{.minimum = 4, .writes_record = true};
  const auto flips = changes(known, group_conditions(plan, 4), kNow);
  EXPECT_EQ(flips.at(0).status, ConditionStatus::kTrue);
  EXPECT_EQ(flips.at(0).last_transition_time, kNow);
}

TEST(Conditions, WhatStandsThereIsNotWritten) {
  const auto wanted = group_conditions(explanation(Verdict::kImpossibleNow));
  std::vector<Condition> known;
  merge(known, changes(known, wanted, kOld));
  EXPECT_TRUE(changes(known, wanted, kNow).empty());
}

TEST(Conditions, TrueIsFinal) {
  const std::vector<Condition> known = {
      told(api::kInitiallyScheduled, ConditionStatus::kTrue, "Scheduled", "by another version")};
  for (const Condition& c :
       changes(known, group_conditions(explanation(Verdict::kImpossibleNow)), kNow)) {
    EXPECT_NE(c.type, api::kInitiallyScheduled);
  }
  engine::Plan plan{.minimum = 4, .writes_record = true};
  EXPECT_EQ(changes(known, group_conditions(plan, 4), kNow).size(), 1u);  // Satisfied
}

TEST(Conditions, NumbersOfASatisfiedGangAreNoNews) {
  const std::vector<Condition> known = {
      told(api::kSatisfied, ConditionStatus::kTrue, "Satisfied", "4 bound, minimum 4")};
  EXPECT_TRUE(changes(known, group_conditions(engine::Plan{.minimum = 4}, 6), kNow).empty());
}

TEST(Conditions, FlagsEndOnlyWhereTheyAreTrue) {
  const engine::Plan plan{.minimum = 1};
  std::vector<Condition> known = {
      told(api::kSatisfied, ConditionStatus::kTrue, "Satisfied", ""),
      told(api::kDegraded, ConditionStatus::kFalse, "NotDegraded", ""),
      told(api::kPartiallyBound, ConditionStatus::kTrue, "BelowMinCount", "x")};
  const auto changed = changes(known, group_conditions(plan, 1), kNow);
  ASSERT_EQ(changed.size(), 1u);
  EXPECT_EQ(changed[0].type, api::kPartiallyBound);
  EXPECT_EQ(changed[0].reason, "NotPartiallyBound");
}

}  // namespace
}  // namespace gang::binder
