// Assumptions: booked at once, ended by confirmation, forget or the pod's end, once each.
#include "cluster/state_fixture.h"

namespace gang::cluster {
namespace {

class Assume : public StateTest {
 protected:
  Assume() { tell({added(node("n1").gpu(8)), added(node("n2").gpu(8)), added(a_)}); }
  test::PodBuilder a_ = pod("a").group("g").gpu(2);
};

TEST_F(Assume, BooksAtOnceAndForgetTakesItBack) {
  assume(a_, "n1");
  EXPECT_EQ(free("n1", "nvidia.com/gpu"), 6);
  EXPECT_EQ(gang("g")->counts, (MemberCounts{.assumed = 1}));
  EXPECT_EQ(member(*gang("g"), "a")->state, MemberState::kAssumed);
  EXPECT_EQ(member(*gang("g"), "a")->node_name, "n1");
  EXPECT_TRUE(gang("g")->classes.empty());
  state_.forget(a_.build().meta.uid);
  EXPECT_EQ(free("n1", "nvidia.com/gpu"), 8);
  EXPECT_EQ(gang("g")->counts, (MemberCounts{.pending = 1}));
  state_.forget(a_.build().meta.uid);
  EXPECT_EQ(free("n1", "nvidia.com/gpu"), 8);
}

TEST_F(Assume, ConfirmationReplacesItWithoutCountingTwice) {
  assume(a_, "n1");
  tell(updated(test::PodBuilder(a_).on("n1").stamp("r1")));
  EXPECT_EQ(free("n1", "nvidia.com/gpu"), 6);
  EXPECT_EQ(gang("g")->counts, (MemberCounts{.bound = 1}));
  EXPECT_EQ(member(*gang("g"), "a")->stamp, "r1");
  state_.forget(a_.build().meta.uid);
  EXPECT_EQ(free("n1", "nvidia.com/gpu"), 6);
}

TEST_F(Assume, ConfirmationOnAnotherNodeMovesIt) {
  assume(a_, "n1");
  tell(updated(test::PodBuilder(a_).on("n2")));
  EXPECT_EQ(free("n1", "nvidia.com/gpu"), 8);
  EXPECT_EQ(free("n2", "nvidia.com/gpu"), 6);
}

TEST_F(Assume, DeletionFreesItOnce) {
  assume(a_, "n1");
  tell(deleted(a_));
  state_.forget(a_.build().meta.uid);
  EXPECT_EQ(free("n1", "nvidia.com/gpu"), 8);
  EXPECT_FALSE(gang("g").has_value());
}

TEST_F(Assume, UpdatesOfTheUnassignedPodKeepIt) {
  assume(a_, "n1");
  tell(updated(test::PodBuilder(a_).nominated("n1")));
  tell(updated(test::PodBuilder(a_).deleting()));
  EXPECT_EQ(gang("g")->counts.assumed, 1);
  EXPECT_EQ(free("n1", "nvidia.com/gpu"), 6);
  state_.forget(a_.build().meta.uid);
  EXPECT_EQ(member(*gang("g"), "a")->state, MemberState::kDeleting);
}

TEST_F(Assume, AnotherUidUnderTheNameEndsIt) {
  assume(a_, "n1");
  tell(added(test::PodBuilder(a_).uid("second")));
  EXPECT_EQ(free("n1", "nvidia.com/gpu"), 8);
  EXPECT_EQ(gang("g")->counts, (MemberCounts{.pending = 1}));
}

TEST_F(Assume, SurvivesTheNodeAndCountsWhenItReturns) {
  assume(a_, "n1");
  tell(deleted(node("n1")));
  EXPECT_EQ(member(*gang("g"), "a")->node_name, "n1");
  tell(added(node("n1").uid("second").gpu(8)));
  EXPECT_EQ(free("n1", "nvidia.com/gpu"), 6);
}

TEST_F(Assume, LonePodKeepsItsGangUntilConfirmed) {
  const auto lone = pod("lone").gpu(1);
  tell(added(lone));
  const GangId id = gang_of(lone)->id;
  assume(lone, "n2");
  EXPECT_EQ(state_.gang(id)->counts, (MemberCounts{.assumed = 1}));
  const Change change = tell(updated(test::PodBuilder(lone).on("n2")));
  EXPECT_EQ(change.gangs, std::vector<GangId>{id});
  EXPECT_FALSE(state_.gang(id).has_value());
  EXPECT_EQ(free("n2", "nvidia.com/gpu"), 7);
}

TEST_F(Assume, HoldsHostPortsToo) {
  const auto p = pod("p").host_port(8080);
  tell(added(p));
  assume(p, "n1");
  ASSERT_EQ(state_.snapshot()->ports(*index("n1")).size(), 1u);
  state_.forget(p.build().meta.uid);
  EXPECT_TRUE(state_.snapshot()->ports(*index("n1")).empty());
}

using AssumeDeathTest = Assume;

TEST_F(AssumeDeathTest, AssumingTwiceIsAFaultOfOurs) {
  assume(a_, "n1");
  EXPECT_DEATH(assume(a_, "n1"), "CHECK failed");
}

}  // namespace
}  // namespace gang::cluster
