#include "scheduler/readiness.h"

#include <gtest/gtest.h>

#include "support/builders.h"

namespace gang::scheduler {
namespace {

using cluster::Gang;
using cluster::GangKind;

Gang group_of(std::int32_t min_count, cluster::MemberCounts counts) {
  Gang gang;
  gang.kind = GangKind::kPodGroup;
  gang.group = test::pod_group("g").min(min_count).build();
  gang.min_count = min_count;
  gang.counts = counts;
  return gang;
}

const GangHistory kStarted{.is_recorded = true, .is_settled = true};

TEST(Readiness, LiveAtTheMinimumIsReadyAndOneBelowIsNot) {
  EXPECT_EQ(readiness(group_of(4, {.pending = 4}), {}).state, ReadyState::kReady);
  EXPECT_EQ(readiness(group_of(4, {.pending = 3}), {}).state, ReadyState::kIncomplete);
  EXPECT_EQ(readiness(group_of(4, {.pending = 1, .assumed = 1, .bound = 2}), {}).state,
            ReadyState::kReady);
}

TEST(Readiness, NothingPendingIsNothingToPlace) {
  EXPECT_EQ(readiness(group_of(2, {.bound = 2}), {}).state, ReadyState::kNothingToPlace);
  EXPECT_EQ(readiness(group_of(2, {.gated = 1, .bound = 2}), {}).state,
            ReadyState::kNothingToPlace);
}

TEST(Readiness, GatedMembersAloneAreIncomplete) {
  EXPECT_EQ(readiness(group_of(2, {.gated = 2}), {}).state, ReadyState::kIncomplete);
}

TEST(Readiness, GatedMembersAreLeftOutUnlessTheyHold) {
  const Gang gang = group_of(2, {.pending = 2, .gated = 1});
  EXPECT_EQ(readiness(gang, {}).state, ReadyState::kReady);
  EXPECT_EQ(readiness(gang, {.gated_members = GatedMembers::kHold}).state, ReadyState::kIncomplete);
}

TEST(Readiness, WaitsForItsGroup) {
  Gang gang = group_of(1, {.pending = 2});
  gang.group.reset();
  EXPECT_EQ(readiness(gang, {}).state, ReadyState::kGroupMissing);
}

TEST(EffectiveMinimum, ShrinksByFinishedMembersOnceStartedAndSettled) {
  const Gang gang = group_of(4, {.pending = 1, .bound = 1, .done = 2});
  EXPECT_EQ(effective_minimum(gang, kStarted), 2);
}

TEST(EffectiveMinimum, StaysWhileAnyConditionOfTheRuleFails) {
  const Gang gang = group_of(4, {.pending = 1, .bound = 1, .done = 2});
  EXPECT_EQ(effective_minimum(gang, {.is_recorded = true}), 4) << "not settled";
  EXPECT_EQ(effective_minimum(gang, {.is_settled = true}), 4) << "never started";
  EXPECT_EQ(effective_minimum(group_of(4, {.pending = 2, .bound = 1}), kStarted), 4)
      << "nobody finished";
  EXPECT_EQ(effective_minimum(group_of(4, {.pending = 3, .bound = 1, .done = 2}), kStarted), 4)
      << "enough live";
}

TEST(EffectiveMinimum, IsNeverBelowOneAndSurvivesTheLargestCount) {
  EXPECT_EQ(effective_minimum(group_of(4, {.pending = 1, .done = 9}), kStarted), 1);
  EXPECT_EQ(readiness(group_of(INT32_MAX, {.pending = 1}), {}).state, ReadyState::kIncomplete);
}

}  // namespace
}  // namespace gang::scheduler
