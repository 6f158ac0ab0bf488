// Objects that could not be read: known by name, never trusted, and nothing else suffers.
#include "cluster/state_fixture.h"

namespace gang::cluster {
namespace {

class Unreadable : public StateTest {
 protected:
  std::string problem(const std::string& node_name) {
    return state_.snapshot()->node(*index(node_name))->unreadable;
  }
};

TEST_F(Unreadable, PendingPodHasAClassThatSaysWhy) {
  const auto a = pod("a").gpu(1).unreadable("spec.priority: not a number");
  tell(added(a));
  EXPECT_EQ(gang_of(a)->classes[0]->unreadable, "spec.priority: not a number");
  EXPECT_EQ(gang_of(a)->classes[0]->requests, (std::vector<ResourceAmount>{{kPods, 1}}));
}

TEST_F(Unreadable, BoundPodClosesItsNodeUntilItGoes) {
  const auto a = pod("a").on("n1").unreadable("spec.containers: no list");
  const auto b = pod("b").on("n1").unreadable("spec.overhead: bad");
  tell({added(a), added(node("n1")), added(node("n2"))});
  EXPECT_EQ(problem("n1"), "pod default/a: spec.containers: no list");
  EXPECT_EQ(problem("n2"), "");
  EXPECT_EQ(requested("n1", "pods"), 1);
  tell(added(b));
  EXPECT_TRUE(tell(deleted(a)).nodes);
  EXPECT_EQ(problem("n1"), "pod default/b: spec.overhead: bad");
  tell(updated(pod("b").on("n1")));
  EXPECT_EQ(problem("n1"), "");
}

TEST_F(Unreadable, NodeSaysSoItselfBeforeItsPodsDo) {
  tell({added(pod("a").on("n1").unreadable("x: y")),
        added(node("n1").unreadable("spec.taints: no list"))});
  EXPECT_EQ(problem("n1"), "spec.taints: no list");
  tell(updated(node("n1")));
  EXPECT_EQ(problem("n1"), "pod default/a: x: y");
}

TEST_F(Unreadable, ResourceOfANodeIsNotOffered) {
  tell(added(node("n1").gpu(8).unreadable_resource("nvidia.com/gpu")));
  EXPECT_EQ(allocatable("n1", "nvidia.com/gpu"), 0);
  EXPECT_EQ(allocatable("n1", "cpu"), 4000);
}

TEST_F(Unreadable, PodGroupIsKeptWithItsText) {
  tell(added(pod_group("g").unreadable("spec.schedulingPolicy: unknown member")));
  EXPECT_EQ(gang("g")->group->meta.unreadable, "spec.schedulingPolicy: unknown member");
}

}  // namespace
}  // namespace gang::cluster
