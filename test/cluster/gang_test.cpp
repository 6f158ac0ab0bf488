// Gangs as values: who belongs, what counts, when they appear and vanish, and what a Change says.
#include "cluster/state_fixture.h"

namespace gang::cluster {
namespace {

class Gangs : public StateTest {
 protected:
  static std::string member_names(const Gang& gang) {
    std::string names;
    for (const Member& m : gang.members) names += m.key.name;
    return names;
  }
};

TEST_F(Gangs, ExistAsSoonAsAPodOrTheObjectNamesThem) {
  tell(added(pod("a").group("g")));
  ASSERT_TRUE(gang("g").has_value());
  EXPECT_TRUE(gang("g")->uid.empty());
  EXPECT_FALSE(gang("g")->group.has_value());
  tell(added(pod_group("h").min(3).priority(7).created(5)));
  ASSERT_TRUE(gang("h").has_value());
  EXPECT_EQ(gang("h")->min_count, 3);
  EXPECT_EQ(gang("h")->minimum, 3);
  EXPECT_EQ(gang("h")->priority, 7);
  EXPECT_EQ(gang("h")->creation_time, test::at_second(5));
  EXPECT_EQ(state_.gangs(), std::vector<GangId>{gang("g")->id});
  EXPECT_EQ(state_.counts().gangs, 2u);
}

TEST_F(Gangs, PodGroupAfterItsPodsKeepsTheId) {
  tell(added(pod("a").group("g")));
  const GangId id = gang("g")->id;
  EXPECT_EQ(tell(added(pod_group("g").min(2))).gangs, std::vector<GangId>{id});
  EXPECT_EQ(gang("g")->id, id);
  EXPECT_EQ(gang("g")->min_count, 2);
}

TEST_F(Gangs, BasicPolicyHasMinimumOne) {
  tell(added(pod_group("g").basic()));
  EXPECT_EQ(gang("g")->min_count, 1);
}

TEST_F(Gangs, MembersAreOrderedByCreationThenName) {
  tell({added(pod("c").group("g").created(1)), added(pod("b").group("g").created(2)),
        added(pod("a").group("g").created(2)), added(pod("d").group("g").created(0))});
  EXPECT_EQ(member_names(*gang("g")), "dcab");
}

TEST_F(Gangs, StatesAndCountsFollowTheTable) {
  tell({added(node("n1")), added(pod("pending").group("g")),
        added(pod("gated").group("g").gate("x")), added(pod("deleting").group("g").deleting()),
        added(pod("bound").group("g").on("n1")),
        added(pod("ending").group("g").on("n1").deleting()),
        added(pod("foreign-bound").group("g").scheduler("other").on("n1")),
        added(pod("foreign").group("g").scheduler("other"))});
  const Gang g = gang("g").value();
  EXPECT_EQ(member(g, "pending")->state, MemberState::kPending);
  EXPECT_EQ(member(g, "gated")->state, MemberState::kGated);
  EXPECT_EQ(member(g, "deleting")->state, MemberState::kDeleting);
  EXPECT_EQ(member(g, "bound")->state, MemberState::kBound);
  EXPECT_EQ(member(g, "ending")->state, MemberState::kTerminating);
  EXPECT_EQ(member(g, "foreign-bound")->state, MemberState::kBound);
  EXPECT_EQ(member(g, "foreign")->state, MemberState::kForeignPending);
  EXPECT_EQ(g.counts, (MemberCounts{.pending = 1, .gated = 1, .bound = 2}));
  EXPECT_EQ(g.counts.live(), 3);
  EXPECT_EQ(member(g, "pending")->class_index, 0);
  EXPECT_EQ(member(g, "gated")->class_index, -1);
}

TEST_F(Gangs, OutlineIsTheGangWithoutMembers) {
  tell({added(pod_group("g").min(2)), added(pod("a").group("g")),
        added(pod("b").group("g").on("n"))});
  const Gang whole = gang("g").value();
  const Gang outline = state_.gang_outline(whole.id).value();
  EXPECT_EQ(outline.counts, whole.counts);
  EXPECT_EQ(outline.uid, whole.uid);
  EXPECT_TRUE(outline.members.empty());
  EXPECT_EQ(whole.members.size(), 2u);
}

TEST_F(Gangs, MemberCarriesWhatItsWritesNeed) {
  api::Condition condition{.type = "PodScheduled", .reason = "Unschedulable", .message = "no"};
  tell(added(pod("a")
                 .group("g")
                 .version(7)
                 .generation(3)
                 .priority(5, "high")
                 .controller("Job", "j")
                 .preemption_policy("Never")
                 .nominated("n9")
                 .condition(condition)));
  const Gang g = gang("g").value();
  const Member& m = g.members.at(0);
  EXPECT_EQ(m.key, (api::ObjectKey{"default", "a"}));
  EXPECT_EQ(m.uid.text, "uid-default-a");
  EXPECT_EQ(m.resource_version.text, "7");
  EXPECT_EQ(m.generation, 3);
  EXPECT_EQ(m.priority, 5);
  EXPECT_EQ(m.priority_class_name, "high");
  EXPECT_EQ(m.scheduler_name, "gang-scheduler");
  EXPECT_EQ(m.preemption_policy, "Never");
  EXPECT_EQ(m.nominated_node_name, "n9");
  EXPECT_TRUE(m.has_controller);
  EXPECT_EQ(m.pod_scheduled, condition);
}

TEST_F(Gangs, LonePodIsAGangOfOne) {
  const auto lone = pod("lone").priority(9).created(4);
  tell(added(lone));
  const Gang g = gang_of(lone).value();
  EXPECT_EQ(g.kind, GangKind::kLonePod);
  EXPECT_EQ(g.key.name, "lone");
  EXPECT_EQ(g.uid.text, "uid-default-lone");
  EXPECT_EQ(g.priority, 9);
  EXPECT_EQ(g.min_count, 1);
  EXPECT_EQ(g.members.size(), 1u);
  EXPECT_EQ(tell(deleted(lone)).gangs, std::vector<GangId>{g.id});
  EXPECT_FALSE(state_.gang(g.id).has_value());
  tell(added(lone));
  EXPECT_NE(gang_of(lone)->id, g.id);
}

TEST_F(Gangs, B029SameNameInTwoNamespacesIsTwoGangs) {
  tell({added(pod_group("g").in("x").min(2)), added(pod_group("g").in("y").min(2)),
        added(pod("a").in("x").group("g")), added(pod("a").in("y").group("g"))});
  EXPECT_EQ(gang("g", "x")->counts.live(), 1);
  EXPECT_EQ(gang("g", "y")->counts.live(), 1);
  tell(added(pod("b").in("x").group("g")));
  EXPECT_EQ(gang("g", "x")->counts.live(), 2);
  EXPECT_EQ(gang("g", "y")->counts.live(), 1);
}

TEST_F(Gangs, MissingParentIsSeenUntilItComes) {
  tell(added(pod_group("g").parent("tree")));
  EXPECT_TRUE(gang("g")->parent_missing);
  EXPECT_EQ(tell(added(test::composite("tree"))).gangs, std::vector<GangId>{gang("g")->id});
  EXPECT_FALSE(gang("g")->parent_missing);
  EXPECT_EQ(tell(deleted(test::composite("tree"))).gangs, std::vector<GangId>{gang("g")->id});
  EXPECT_TRUE(gang("g")->parent_missing);
  EXPECT_TRUE(tell(added(test::composite("tree", "elsewhere"))).gangs.empty());
}

TEST_F(Gangs, DoneMembersAreCountedOncePerUidAndOutliveTheirPods) {
  const auto a = pod("a").group("g");
  tell({added(pod_group("g").min(2)), finished(a), finished(a), finished(pod("b").group("g"))});
  EXPECT_EQ(gang("g")->counts.done, 2);
  api::Delta gone = finished(a);
  gone.type = api::DeltaType::kDeleted;
  tell({gone, test::list_begin(api::Kind::kFinishedPod), test::list_end(api::Kind::kFinishedPod)});
  EXPECT_EQ(gang("g")->counts.done, 2);
}

TEST_F(Gangs, DeletedFinishedPodsDoNotCountAsDone) {
  tell({added(pod_group("g")), finished(pod("a").group("g").deleting())});
  EXPECT_EQ(gang("g")->counts.done, 0);
}

TEST_F(Gangs, DoneMembersBelongToOnePodGroupUid) {
  tell({added(pod_group("g")), finished(pod("a").group("g")), deleted(pod_group("g")),
        added(pod_group("g").uid("second")), finished(pod("a").group("g"))});
  EXPECT_EQ(gang("g")->counts.done, 0);
  tell(finished(pod("b").group("g")));
  EXPECT_EQ(gang("g")->counts.done, 1);
}

TEST_F(Gangs, FinishedPodsAloneAreNoGang) {
  const auto a = pod("a").group("g");
  tell(finished(a));
  EXPECT_FALSE(gang("g").has_value());
  EXPECT_EQ(state_.counts().gangs, 0u);
  tell(added(pod_group("g")));
  EXPECT_EQ(gang("g")->counts.done, 1);
}

TEST_F(Gangs, ChangeTellsNewsFromWhatComesBackOfStatusWrites) {
  const auto a = pod("a").group("g");
  tell({added(pod_group("g").min(2)), added(a)});
  const std::vector<GangId> id{gang("g")->id};
  api::Condition condition{.type = "PodScheduled", .reason = "Unschedulable"};
  Change change = tell(updated(test::PodBuilder(a).condition(condition)));
  EXPECT_EQ(change.gangs, id);
  EXPECT_EQ(change.status_only, id);
  condition.type = "PodGroupInitiallyScheduled";
  change = tell(updated(pod_group("g").min(2).condition(condition)));
  EXPECT_EQ(change.status_only, id);
  change = tell(updated(pod_group("g").min(1)));
  EXPECT_EQ(change.gangs, id);
  EXPECT_TRUE(change.status_only.empty());
  change = tell(updated(test::PodBuilder(a).gpu(1)));
  EXPECT_EQ(change.gangs, id);
  EXPECT_TRUE(change.status_only.empty());
}

TEST_F(Gangs, StatusOfABoundMemberIsNoNews) {
  tell({added(node("n1")), added(pod("a").group("g").version(1).on("n1"))});
  const Change change =
      tell(updated(pod("a").group("g").version(2).on("n1").phase(api::PodPhase::kRunning)));
  EXPECT_TRUE(change.gangs.empty());
  EXPECT_FALSE(change.nodes);
  EXPECT_EQ(gang("g")->members[0].resource_version.text, "2");
}

TEST_F(Gangs, RemovingOneOfManyLeavesTheOthersInPlace) {
  for (const char* name : {"a", "b", "c", "d"}) tell(added(pod(name).group("g")));
  tell({deleted(pod("a").group("g")), deleted(pod("c").group("g"))});
  EXPECT_EQ(member_names(*gang("g")), "bd");
}

}  // namespace
}  // namespace gang::cluster
