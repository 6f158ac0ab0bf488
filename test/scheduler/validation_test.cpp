#include "scheduler/validation.h"

#include <gtest/gtest.h>

#include "support/builders.h"

namespace gang::scheduler {
namespace {

using cluster::Gang;
using cluster::Member;
using cluster::MemberState;

Member member_of(const std::string& name, MemberState state = MemberState::kPending) {
  Member member;
  member.key = {"default", name};
  member.uid.text = name;
  member.state = state;
  member.scheduler_name = test::kOurScheduler;
  return member;
}

Gang gang_of(std::vector<Member> members) {
  Gang gang;
  gang.kind = cluster::GangKind::kPodGroup;
  gang.group = test::pod_group("g").min(2).build();
  gang.members = std::move(members);
  return gang;
}

std::string validate_strictly(const Gang& gang) {
  return validate(gang, PriorityMismatch::kRefuse);
}

TEST(Validation, EqualMembersPass) {
  EXPECT_EQ(validate_strictly(gang_of({member_of("a"), member_of("b")})), "");
}

TEST(Validation, OneSchedulerNameAlsoOverForeignPendingMembers) {
  Member foreign = member_of("b", MemberState::kForeignPending);
  foreign.scheduler_name = "default-scheduler";
  EXPECT_EQ(validate_strictly(gang_of({member_of("a"), foreign})),
            "all pods in a single pod group should have the same .spec.schedulerName set, got: "
            "\"gang-scheduler\" and \"default-scheduler\" (pods a and b); make those of one of "
            "them anew");
}

TEST(Validation, B024PriorityNamesBothNumbersAndClasses) {
  Gang gang = gang_of({member_of("a"), member_of("b")});
  gang.group->spec.priority = 100;
  gang.group->spec.priority_class_name = "high";
  gang.key.name = "g";
  EXPECT_EQ(validate_strictly(gang),
            "all pods in a single pod group should have the same priority as the pod group's "
            "priority, got 0 and 100; PriorityClass of pod a is \"\", of PodGroup g \"high\": "
            "make one of them anew with the priorityClassName of the other");
  EXPECT_EQ(validate(gang, PriorityMismatch::kUseGroup), "");
}

TEST(Validation, PriorityOfAMemberOnItsWayOutDoesNotCount) {
  Member leaving = member_of("b", MemberState::kTerminating);
  leaving.priority = 7;
  Member deleting = member_of("c", MemberState::kDeleting);
  deleting.priority = 7;
  EXPECT_EQ(validate_strictly(gang_of({member_of("a"), leaving, deleting})), "");
  leaving.state = MemberState::kBound;
  EXPECT_NE(validate_strictly(gang_of({member_of("a"), leaving})), "");
}

TEST(Validation, PreemptionPolicyOfTheGroupRulesWhenItIsThere) {
  Gang gang = gang_of({member_of("a"), member_of("b")});
  gang.group->spec.preemption_policy = "Never";
  EXPECT_EQ(validate_strictly(gang),
            "all pods in a single pod group should have the same preemption policy as the pod "
            "group's preemption policy, got PreemptLowerPriority and Never; give both the same "
            "preemptionPolicy");
  gang.group->spec.preemption_policy = "PreemptLowerPriority";
  EXPECT_EQ(validate_strictly(gang), "");
}

TEST(Validation, PodsAgreeOnPreemptionPolicyWhenTheGroupHasNone) {
  Gang gang = gang_of({member_of("a"), member_of("b")});
  gang.members[1].preemption_policy = "Never";
  EXPECT_EQ(validate_strictly(gang),
            "all pods in a single pod group should have the same preemption policy, got "
            "PreemptLowerPriority and Never; give all pods of the group the same "
            "preemptionPolicy");
  gang.members[1].preemption_policy = "PreemptLowerPriority";
  EXPECT_EQ(validate_strictly(gang), "") << "absent means PreemptLowerPriority";
}

TEST(Validation, LonePodAndUnreadableGroupAreNotJudged) {
  Gang lone = gang_of({member_of("a")});
  lone.group.reset();
  lone.members[0].priority = 5;
  EXPECT_EQ(validate_strictly(lone), "");
  Gang unreadable = gang_of({member_of("a")});
  unreadable.members[0].priority = 5;
  unreadable.group->meta.unreadable = "spec.schedulingPolicy: unknown";
  EXPECT_EQ(validate_strictly(unreadable), "");
}

}  // namespace
}  // namespace gang::scheduler
