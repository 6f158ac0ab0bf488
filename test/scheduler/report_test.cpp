#include "scheduler/report.h"

#include <gtest/gtest.h>

#include "support/builders.h"

namespace gang::scheduler {
namespace {

using cluster::Gang;
using cluster::Member;
using engine::Explanation;
using engine::Verdict;
using test::at_second;

constexpr Duration kInterval = std::chrono::seconds(10);

Gang gang_of(std::vector<std::string> members) {
  Gang gang;
  gang.kind = cluster::GangKind::kPodGroup;
  gang.key = {"default", "g"};
  gang.uid.text = "uid-g";
  gang.group = test::pod_group("g").build();
  for (const std::string& name : members) {
    Member member;
    member.key = {"default", name};
    member.uid.text = name;
    member.resource_version.text = "1";
    gang.members.push_back(member);
  }
  return gang;
}

Explanation lacks(const std::string& text, std::vector<std::string> members = {}) {
  Explanation explanation =
      explain_to_all(gang_of(std::move(members)), Verdict::kImpossibleNow, "no room");
  explanation.reasons = {{"NodeResourcesFit", text, 3}};
  return explanation;
}

TEST(Report, SaysAMeaningOnce) {
  Report report;
  EXPECT_TRUE(report.offer(lacks("Insufficient cpu"), at_second(0), kInterval));
  EXPECT_FALSE(report.offer(lacks("Insufficient cpu"), at_second(60), kInterval));
  EXPECT_TRUE(report.offer(lacks("Insufficient memory"), at_second(61), kInterval));
}

TEST(Report, NewMeaningWaitsForTheInterval) {
  Report report;
  EXPECT_TRUE(report.offer(lacks("Insufficient cpu"), at_second(0), kInterval));
  EXPECT_FALSE(report.offer(lacks("Insufficient memory"), at_second(3), kInterval));
  EXPECT_EQ(report.due(), at_second(10));
  EXPECT_FALSE(report.take_due(at_second(9), kInterval));
  const auto late = report.take_due(at_second(10), kInterval);
  ASSERT_TRUE(late);
  EXPECT_EQ(late->reasons[0].text, "Insufficient memory");
  EXPECT_EQ(report.due(), std::nullopt);
  EXPECT_FALSE(report.offer(lacks("Insufficient memory"), at_second(30), kInterval));
}

TEST(Report, GoingBackToWhatWasToldDropsTheWaitingOne) {
  Report report;
  EXPECT_TRUE(report.offer(lacks("Insufficient cpu"), at_second(0), kInterval));
  EXPECT_FALSE(report.offer(lacks("Insufficient memory"), at_second(3), kInterval));
  EXPECT_FALSE(report.offer(lacks("Insufficient cpu"), at_second(4), kInterval));
  EXPECT_EQ(report.due(), std::nullopt);
}

TEST(Report, NewMemberIsNewsOfItsOwn) {
  Report report;
  EXPECT_TRUE(report.offer(lacks("Insufficient cpu", {"a", "b"}), at_second(0), kInterval));
  const auto more =
      report.offer(lacks("Insufficient cpu", {"a", "b", "c"}), at_second(20), kInterval);
  ASSERT_TRUE(more);
  EXPECT_EQ(more->members.size(), 3U) << "all of them: a newer explanation replaces an older";
  Explanation again = lacks("Insufficient cpu", {"c", "d"});
  report.leave_out_told(again);
  ASSERT_EQ(again.members.size(), 1U);
  EXPECT_EQ(again.members[0].uid.text, "d");
  Explanation other = lacks("Insufficient memory", {"c"});
  report.leave_out_told(other);
  EXPECT_EQ(other.members.size(), 1U) << "told something else";
  EXPECT_FALSE(report.offer(lacks("Insufficient cpu", {"a"}), at_second(40), kInterval));
}

TEST(Report, WaitingTextCountsAsMeaning) {
  Report report;
  const Gang gang = gang_of({});
  const auto say = [&](const char* text, std::int64_t second) {
    return report.offer(explain(gang, Verdict::kWaitingForPods, text), at_second(second), kInterval)
        .has_value();
  };
  EXPECT_TRUE(say("2 of 4 pods exist", 0));
  EXPECT_TRUE(say("3 of 4 pods exist", 20));
  EXPECT_FALSE(say("3 of 4 pods exist", 40));
}

TEST(Report, ForgettingLetsItSayTheSameAgain) {
  Report report;
  EXPECT_TRUE(report.offer(lacks("Insufficient cpu"), at_second(0), kInterval));
  report.forget();
  EXPECT_FALSE(report.has_told());
  EXPECT_TRUE(report.offer(lacks("Insufficient cpu"), at_second(20), kInterval));
}

TEST(Refresh, UpdatesVersionsAndDropsMembersThatAreNotPending) {
  Explanation explanation = lacks("Insufficient cpu", {"a", "b", "c"});
  Gang later = gang_of({"a", "b"});
  later.members[0].resource_version.text = "9";
  later.members[0].generation = 4;
  later.members[0].pod_scheduled.reason = "SchedulingGated";
  later.members[1].state = cluster::MemberState::kBound;
  EXPECT_TRUE(refresh(explanation, later));
  ASSERT_EQ(explanation.members.size(), 1U);
  EXPECT_EQ(explanation.members[0].uid.text, "a");
  EXPECT_EQ(explanation.members[0].resource_version.text, "9");
  EXPECT_EQ(explanation.members[0].generation, 4);
  EXPECT_EQ(explanation.members[0].current.reason, "SchedulingGated");
}

TEST(Refresh, LeavesOutWhatTheServerHas) {
  Explanation explanation = lacks("Insufficient cpu", {"a"});
  Gang gang = gang_of({"a"});
  const api::Condition written{.type = "PodScheduled",
                               .status = api::ConditionStatus::kFalse,
                               .reason = "Unschedulable",
                               .message = "no room"};
  gang.members[0].pod_scheduled = written;
  EXPECT_TRUE(refresh(explanation, gang)) << "the group does not have it";
  EXPECT_TRUE(explanation.members.empty());
  gang.group->conditions = {written};
  gang.group->conditions[0].type = std::string(api::kInitiallyScheduled);
  EXPECT_FALSE(refresh(explanation, gang));
  gang.group->conditions[0].reason = "SchedulerError";
  EXPECT_TRUE(refresh(explanation, gang)) << "another reason is another condition";
}

TEST(WaitingText, CountsNamesGatesAndParent) {
  Gang gang = gang_of({});
  gang.minimum = 4;
  gang.counts.pending = 3;
  EXPECT_EQ(waiting_text(gang), "3 of 4 pods exist");
  gang.counts.gated = 1;
  EXPECT_EQ(waiting_text(gang), "3 of 4 pods exist; 1 gated");
  gang.parent_missing = true;
  gang.group->spec.parent_name = "tree";
  EXPECT_EQ(waiting_text(gang), "3 of 4 pods exist; 1 gated; waiting for composite pod group tree");
}

TEST(WaitingText, NamesMembersThatAreOver) {
  Gang gang = gang_of({});
  gang.minimum = 4;
  gang.counts.pending = 2;
  gang.counts.done = 1;
  gang.failed_count = 1;
  gang.failure = cluster::Failure{{"default", "a-0"}, "n1", "OutOfcpu"};
  EXPECT_EQ(waiting_text(gang), "2 of 4 pods exist; 1 succeeded; pod a-0 failed on n1 (OutOfcpu)");
  gang.failed_count = 3;
  gang.failure->reason.clear();
  EXPECT_EQ(failure_text(gang), "3 pods failed, the newest a-0 on n1");
}

TEST(Report, LossOfAnotherMemberIsNews) {
  Report report;
  const Gang gang = gang_of({});
  const auto say = [&](std::int32_t bound, std::int64_t second) {
    Explanation explanation = explain(gang, Verdict::kImpossibleNow, "no room");
    explanation.degraded = true;
    explanation.bound = bound;
    return report.offer(explanation, at_second(second), kInterval).has_value();
  };
  EXPECT_TRUE(say(3, 0));
  EXPECT_FALSE(say(3, 20));
  EXPECT_TRUE(say(2, 40));
}

TEST(Report, HurriedOneDoesNotWait) {
  Report report;
  EXPECT_TRUE(report.offer(lacks("Insufficient cpu"), at_second(0), kInterval));
  report.hurry();
  EXPECT_TRUE(report.offer(lacks("Insufficient memory"), at_second(1), kInterval));
  EXPECT_FALSE(report.offer(lacks("Insufficient cpu"), at_second(2), kInterval));
}

}  // namespace
}  // namespace gang::scheduler
