// A kubelet that refused a member: its node is left out by that gang for five minutes.
#include <gtest/gtest.h>

#include "scheduler/world.h"

namespace gang::scheduler {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using test::member;
using test::pod;
using test::pod_group;
using test::World;

api::Delta refused(const std::string& name, const std::string& on,
                   const std::string& reason = "OutOfcpu") {
  api::Pod failed = member(name, "g").on(on).phase(api::PodPhase::kFailed);
  failed.status_reason = reason;
  failed.meta.creation_time = test::at_second(900);
  return {.type = api::DeltaType::kAdded, .kind = api::Kind::kFinishedPod, .object = failed};
}

/// gang(2) that runs on n0 and n1; the member on n0 is refused and replaced.
void refuse_one(World& world) {
  world.add_nodes(2, 1).add(pod_group("g").min(2).build()).add_pods("g", 2, "p").run();
  ASSERT_EQ(world.pod_named("p0").node_name, "n0");
  world.remove_pod("p0").tell(refused("p0", "n0")).run();
  world.clear().add(member("q", "g").build()).run();
}

TEST(Rejection, NodeIsLeftOutForFiveMinutesAndTheGangSaysSo) {
  World world;
  refuse_one(world);
  EXPECT_TRUE(world.plans.empty());
  EXPECT_EQ(world.told().verdict, engine::Verdict::kImpossibleNow);
  std::int64_t count = 0;
  bool is_named = false;
  for (const engine::Reason& reason : world.told().reasons) {
    count += reason.node_count;
    is_named |= reason.filter == "KubeletRejection" && reason.node_count == 1;
  }
  EXPECT_TRUE(is_named);
  EXPECT_EQ(count, 2) << "every node counts once";
  world.pass(minutes(5) - seconds(1));
  EXPECT_TRUE(world.plans.empty());
  world.pass(seconds(1));
  EXPECT_EQ(world.pod_named("q").node_name, "n0");
}

TEST(Rejection, AnotherNodeIsTakenAtOnce) {
  World world;
  refuse_one(world);
  world.add_nodes(1, 1).run();
  EXPECT_EQ(world.pod_named("q").node_name, "n2");
}

TEST(Rejection, IsTheBusinessOfThatGangAlone) {
  World world;
  refuse_one(world);
  world.add(pod("lone").gpu(1).build()).run();
  EXPECT_EQ(world.pod_named("lone").node_name, "n0");
}

TEST(Rejection, ChangesNothingWhereThePodRan) {
  World world;
  world.add_nodes(1, 1).add(pod_group("g").min(1).build()).add_pods("g", 1, "p").run();
  world.remove_pod("p0").tell(refused("p0", "n0", "Evicted"));
  world.add(member("q", "g").build()).run();
  EXPECT_EQ(world.pod_named("q").node_name, "n0");
}

TEST(Rejection, ToldByAListCountsFromTheCreationOfThePod) {
  World world;
  world.add_nodes(1, 1).add(pod_group("g").min(1).build());
  world.tell({.type = api::DeltaType::kListBegin, .kind = api::Kind::kFinishedPod});
  world.tell(refused("p0", "n0"));  // created at 900, now is 1000
  world.tell({.type = api::DeltaType::kListEnd, .kind = api::Kind::kFinishedPod});
  world.add(member("q", "g").build()).run();
  EXPECT_TRUE(world.plans.empty());
  world.pass(seconds(199));
  EXPECT_TRUE(world.plans.empty());
  world.pass(seconds(1));
  EXPECT_EQ(world.planned(), std::vector<std::string>{"q"});
}

}  // namespace
}  // namespace gang::scheduler
