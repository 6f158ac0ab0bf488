// Versions and UIDs: late, repeated and replaced objects.
#include "cluster/state_fixture.h"

namespace gang::cluster {
namespace {

class Versions : public StateTest {};

TEST_F(Versions, OlderAndEqualVersionsOfOneUidAreIgnored) {
  tell({added(node("n1")), added(pod("a").version(10).cpu("2").on("n1"))});
  EXPECT_FALSE(tell(updated(pod("a").version(9).cpu("1").on("n1"))).nodes);
  EXPECT_FALSE(tell(updated(pod("a").version(10).cpu("1").on("n1"))).nodes);
  EXPECT_EQ(requested("n1", "cpu"), 2000);
  EXPECT_TRUE(tell(updated(pod("a").version(100).cpu("1").on("n1"))).nodes);
  EXPECT_EQ(requested("n1", "cpu"), 1000);
}

TEST_F(Versions, LateUpdateOfABoundPodDoesNotUnbindIt) {
  tell({added(node("n1")), added(pod("a").version(5)), added(pod("a").version(7).on("n1"))});
  tell(updated(pod("a").version(6)));
  EXPECT_EQ(state_.counts().bound_pods, 1u);
  EXPECT_EQ(state_.counts().pending_pods, 0u);
}

TEST_F(Versions, B026LateDeleteOfTheOldUidLeavesTheNewPod) {
  const auto old_a = pod("a").group("g").uid("old");
  const auto new_a = pod("a").group("g").uid("new");
  tell({added(pod_group("g").min(2)), added(old_a), added(pod("b").group("g")), added(new_a),
        deleted(old_a)});
  EXPECT_EQ(gang("g")->counts.live(), 2);
  EXPECT_EQ(member(*gang("g"), "a")->uid.text, "new");
  tell(deleted(new_a));
  EXPECT_EQ(gang("g")->counts.live(), 1);
}

TEST_F(Versions, AnotherUidReplacesABoundPodWhateverItsVersion) {
  tell({added(node("n1").gpu(8)), added(pod("a").uid("old").version(9).gpu(4).on("n1")),
        added(pod("a").uid("new").version(1).gpu(1).on("n1"))});
  EXPECT_EQ(free("n1", "nvidia.com/gpu"), 7);
  tell(deleted(pod("a").uid("old")));
  EXPECT_EQ(free("n1", "nvidia.com/gpu"), 7);
}

TEST_F(Versions, LateDeleteOfAnOldNodeOrGroupLeavesTheNewOne) {
  tell({added(node("n1").uid("old")), added(node("n1").uid("new").cpu("9")),
        deleted(node("n1").uid("old"))});
  EXPECT_EQ(allocatable("n1", "cpu"), 9000);
  tell({added(pod_group("g").uid("old")), added(pod_group("g").uid("new")),
        deleted(pod_group("g").uid("old"))});
  EXPECT_EQ(gang("g")->uid.text, "new");
}

TEST_F(Versions, ARecreatedPodGroupKeepsTheGangAndShowsItsUid) {
  tell({added(pod("a").group("g")), added(pod_group("g").uid("old"))});
  const GangId id = gang("g")->id;
  tell(deleted(pod_group("g").uid("old")));
  EXPECT_TRUE(gang("g")->uid.empty());
  tell(added(pod_group("g").uid("new")));
  EXPECT_EQ(gang("g")->id, id);
  EXPECT_EQ(gang("g")->uid.text, "new");
}

TEST_F(Versions, UnknownObjectsMayBeDeletedAndUpdated) {
  EXPECT_FALSE(tell({deleted(pod("a")), deleted(node("n")), deleted(pod_group("g"))}).nodes);
  tell(updated(pod("a").group("g")));
  EXPECT_EQ(gang("g")->counts.pending, 1);
}

TEST_F(Versions, TextVersionsAreTakenAsTheyCome) {
  api::Pod a = pod("a").cpu("1").on("n1");
  a.meta.resource_version.text = "v2";
  tell({added(node("n1")), added(a)});
  a = pod("a").cpu("2").on("n1");
  a.meta.resource_version.text = "v1";
  tell(updated(a));
  EXPECT_EQ(requested("n1", "cpu"), 2000);
}

}  // namespace
}  // namespace gang::cluster
