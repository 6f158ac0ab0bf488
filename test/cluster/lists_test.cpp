// Lists and relists: what was not told is gone; which kinds are synced and served.
#include "cluster/state_fixture.h"

namespace gang::cluster {
namespace {

using api::DeltaType;
using api::Kind;
using test::list_begin;
using test::list_end;
using test::mark;

class Lists : public StateTest {};

TEST_F(Lists, SyncedWhenEveryKindWasListed) {
  std::vector<api::Delta> deltas = test::empty_lists();
  const api::Delta last = deltas.back();
  deltas.pop_back();
  tell(deltas);
  EXPECT_FALSE(state_.synced());
  tell(last);
  EXPECT_TRUE(state_.synced());
  tell(list_begin(Kind::kNode));
  EXPECT_FALSE(state_.synced());
  EXPECT_FALSE(state_.synced(Kind::kNode));
  EXPECT_TRUE(state_.synced(Kind::kPod));
}

TEST_F(Lists, OptionalKindsMayBeUnservedPodsAndNodesNot) {
  tell(test::empty_lists());
  tell(mark(DeltaType::kUnserved, Kind::kPodGroup));
  EXPECT_TRUE(state_.synced());
  EXPECT_FALSE(state_.served(Kind::kPodGroup));
  tell({list_begin(Kind::kPodGroup)});
  EXPECT_TRUE(state_.served(Kind::kPodGroup));
  tell({list_end(Kind::kPodGroup), mark(DeltaType::kUnserved, Kind::kNode)});
  EXPECT_FALSE(state_.synced());
}

TEST_F(Lists, ForbiddenKindsAreServedAndNotSynced) {
  tell(test::empty_lists());
  tell(mark(DeltaType::kForbidden, Kind::kWorkload));
  EXPECT_TRUE(state_.served(Kind::kWorkload));
  EXPECT_FALSE(state_.synced());
}

TEST_F(Lists, B141RelistRemovesWhatWasDeletedInBetween) {
  tell({list_begin(Kind::kNode), added(node("n1").gpu(8)), added(node("n2").gpu(8)),
        list_end(Kind::kNode), list_begin(Kind::kPod)});
  for (int i = 0; i < 8; ++i) tell(added(pod("p" + std::to_string(i)).gpu(1).on("n1")));
  tell({added(pod("waiting").group("g")), list_end(Kind::kPod), list_begin(Kind::kPodGroup),
        added(pod_group("g").min(2)), list_end(Kind::kPodGroup)});

  tell(list_begin(Kind::kPod));
  for (int i = 4; i < 8; ++i) tell(added(pod("p" + std::to_string(i)).gpu(1).on("n1")));
  EXPECT_EQ(free("n1", "nvidia.com/gpu"), 0);
  tell(added(pod("waiting").group("g")));
  EXPECT_TRUE(tell(list_end(Kind::kPod)).nodes);
  EXPECT_EQ(free("n1", "nvidia.com/gpu"), 4);
  tell({list_begin(Kind::kNode), added(node("n1").gpu(8))});
  EXPECT_TRUE(tell(list_end(Kind::kNode)).nodes);
  EXPECT_FALSE(index("n2").has_value());
  const GangId id = gang("g")->id;
  tell(list_begin(Kind::kPodGroup));
  EXPECT_EQ(tell(list_end(Kind::kPodGroup)).gangs, std::vector<GangId>{id});
  EXPECT_FALSE(gang("g")->group.has_value());
}

TEST_F(Lists, ABegunListMayStartOver) {
  tell({list_begin(Kind::kPod), added(pod("a")), list_begin(Kind::kPod), added(pod("b")),
        list_end(Kind::kPod)});
  EXPECT_FALSE(gang_of(pod("a")).has_value());
  EXPECT_TRUE(gang_of(pod("b")).has_value());
}

TEST_F(Lists, OlderVersionsInAListStillCountAsTold) {
  tell({added(pod("a").version(9).gpu(1)), list_begin(Kind::kPod), added(pod("a").version(7)),
        list_end(Kind::kPod)});
  EXPECT_EQ(gang_of(pod("a"))->members[0].resource_version.text, "9");
}

TEST_F(Lists, UnservedEmptiesTheKind) {
  tell({added(pod_group("g")), added(test::composite("tree")), added(pod_group("h").parent("tree")),
        added(pod("a").group("g"))});
  EXPECT_EQ(tell(mark(DeltaType::kUnserved, Kind::kPodGroup)).gangs.size(), 2u);
  EXPECT_FALSE(gang("g")->group.has_value());
  EXPECT_FALSE(gang("h").has_value());
  tell(
      {mark(DeltaType::kUnserved, Kind::kCompositePodGroup), added(pod_group("h").parent("tree"))});
  EXPECT_TRUE(gang("h")->parent_missing);
}

TEST_F(Lists, PriorityClassesAreKept) {
  tell({added(test::priority_class("high", 9)), added(test::priority_class("low", 1))});
  EXPECT_EQ(state_.priority_class("high")->value, 9);
  tell({list_begin(Kind::kPriorityClass), added(test::priority_class("high", 8)),
        list_end(Kind::kPriorityClass)});
  EXPECT_EQ(state_.priority_class("high")->value, 8);
  EXPECT_FALSE(state_.priority_class("low").has_value());
  tell(deleted(test::priority_class("high", 8)));
  EXPECT_FALSE(state_.priority_class("high").has_value());
}

TEST_F(Lists, FinishedPodsOfUnknownGroupsLeaveWithTheirList) {
  tell({finished(pod("a").group("g")), list_begin(Kind::kFinishedPod), list_end(Kind::kFinishedPod),
        added(pod_group("g"))});
  EXPECT_EQ(gang("g")->counts.done, 0);
}

}  // namespace
}  // namespace gang::cluster
