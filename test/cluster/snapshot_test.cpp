// Snapshots: shared while nothing changes, immutable when it does, with an exact log of changes.
#include "cluster/state_fixture.h"

namespace gang::cluster {
namespace {

class Snapshots : public StateTest {
 protected:
  static std::vector<std::string> changed(const Snapshot& snapshot, Generation since) {
    std::vector<NodeIndex> nodes;
    snapshot.changed_since(since, nodes);
    std::vector<std::string> names;
    for (const NodeIndex n : nodes) {
      const NodeInfo* info = snapshot.node(n);
      names.push_back(info == nullptr ? "" : info->name);
    }
    return names;
  }
  static std::string names_of(const Snapshot& snapshot) {
    std::string names;
    for (const NodeIndex n : snapshot.by_name()) names += snapshot.node(n)->name + " ";
    return names;
  }
};

TEST_F(Snapshots, AreTheSameObjectWhileNothingChanges) {
  tell(added(node("n1").version(1)));
  const auto first = state_.snapshot();
  EXPECT_FALSE(tell(updated(node("n1").version(2))).nodes);
  EXPECT_TRUE(tell(added(pod("a").group("g"))).gangs.size() == 1);
  EXPECT_EQ(state_.snapshot(), first);
}

TEST_F(Snapshots, NeverChangeOnceTaken) {
  tell({added(node("n1").gpu(8)), added(pod("a").gpu(1).host_port(80).on("n1"))});
  const auto old = state_.snapshot();
  const NodeIndex n1 = *index("n1");
  tell({added(pod("b").gpu(1).host_port(80).on("n1")), updated(node("n1").gpu(4).taint("x"))});
  tell({added(pod("c").request("example.com/new", "1").on("n1")), deleted(node("n1"))});
  EXPECT_EQ(old->requested(n1, ResourceId{4}), 1);
  EXPECT_EQ(old->allocatable(n1, ResourceId{4}), 8);
  EXPECT_EQ(old->ports(n1)[0].holders, 1u);
  EXPECT_TRUE(old->node(n1)->taints.empty());
  EXPECT_EQ(old->resources().size(), 5u);
  EXPECT_EQ(old->node_count(), 1u);
}

TEST_F(Snapshots, ChangedSinceNamesExactlyTheNodesThatChanged) {
  for (int i = 100; i < 300; ++i) tell(added(node("n" + std::to_string(i))));
  const Generation before = state_.snapshot()->generation();
  EXPECT_TRUE(changed(*state_.snapshot(), before).empty());
  tell({added(pod("a").cpu("1").on("n250")), updated(node("n101").cpu("5")),
        updated(node("n102").version(9))});
  EXPECT_EQ(changed(*state_.snapshot(), before), (std::vector<std::string>{"n101", "n250"}));
  EXPECT_EQ(changed(*state_.snapshot(), 0).size(), 200u);
}

TEST_F(Snapshots, UsageAloneLeavesTheFactsAsTheyWere) {
  tell(added(node("n1")));
  const Generation facts = state_.snapshot()->facts_generation(*index("n1"));
  tell(added(pod("a").cpu("1").on("n1")));
  EXPECT_EQ(state_.snapshot()->facts_generation(*index("n1")), facts);
  tell(updated(node("n1").label("a", "b")));
  EXPECT_GT(state_.snapshot()->facts_generation(*index("n1")), facts);
}

TEST_F(Snapshots, ByNameIsSortedAndMovesOnlyWithTheSetOfNodes) {
  tell({added(node("b")), added(node("d")), added(node("a"))});
  const auto first = state_.snapshot();
  EXPECT_EQ(names_of(*first), "a b d ");
  tell({added(pod("p").on("a")), updated(node("a").cpu("9"))});
  EXPECT_EQ(state_.snapshot()->by_name_generation(), first->by_name_generation());
  tell({deleted(node("d")), added(node("c"))});
  EXPECT_EQ(names_of(*state_.snapshot()), "a b c ");
  EXPECT_GT(state_.snapshot()->by_name_generation(), first->by_name_generation());
  EXPECT_EQ(names_of(*first), "a b d ");
}

TEST_F(Snapshots, AFreedSlotMayTakeAnotherName) {
  tell({added(node("a").gpu(8)), added(node("m"))});
  const NodeIndex a = *index("a");
  tell({deleted(node("a")), added(node("z"))});
  EXPECT_EQ(*index("z"), a);
  EXPECT_EQ(names_of(*state_.snapshot()), "m z ");
  EXPECT_EQ(allocatable("z", "nvidia.com/gpu"), 0);
}

TEST_F(Snapshots, ANodeKeepsItsIndexWhileOthersComeAndGo) {
  tell({added(node("a")), added(node("b"))});
  const NodeIndex b = *index("b");
  tell({deleted(node("a")), added(node("c")), added(node("d")), updated(node("b").cpu("9"))});
  EXPECT_EQ(*index("b"), b);
}

TEST_F(Snapshots, NarrowChunksReadAsZero) {
  for (int i = 100; i < 170; ++i) tell(added(node("n" + std::to_string(i))));
  tell(added(pod("a").gpu(1).on("n169")));
  EXPECT_EQ(requested("n169", "nvidia.com/gpu"), 1);
  EXPECT_EQ(requested("n100", "nvidia.com/gpu"), 0);
  EXPECT_EQ(allocatable("n100", "nvidia.com/gpu"), 0);
}

}  // namespace
}  // namespace gang::cluster
