// What wakes gangs that wait for devices, and what does not.
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "scheduler/device_world.h"

namespace gang::test {
namespace {

using std::chrono::seconds;

/// What wakes a gang of two that found one free device.
class DeviceWakeTest : public testing::Test {
 protected:
  DeviceWakeTest() {
    world.add_device_node("n1", 2).put_claim(holding(gpu_claim("held"), "n1/g0"));
    world.add_device_gang("a", 2).run();
    EXPECT_TRUE(world.plans.empty());
    world.clear();
  }

  DeviceWorld world;
};

TEST_F(DeviceWakeTest, ClaimThatIsDeallocated) {
  world.put_claim(gpu_claim("held")).run();
  EXPECT_EQ(world.plans.size(), 1U);
}

TEST_F(DeviceWakeTest, ClaimThatIsDeleted) {
  world.remove_claim("held").run();
  EXPECT_EQ(world.plans.size(), 1U);
}

TEST_F(DeviceWakeTest, SliceWithMoreDevices) {
  world.publish("n1", 3, 2).run();
  EXPECT_EQ(world.plans.size(), 1U);
}

TEST_F(DeviceWakeTest, SliceOfAnotherNode) {
  world.add_device_node("n2", 1).run();
  EXPECT_EQ(world.plans.size(), 1U);
}

TEST_F(DeviceWakeTest, NothingElse) {
  world.add(node("n9").cpu("64").build()).run();
  world.put_claim(gpu_claim("unrelated")).run();
  world.put_claim(holding(gpu_claim("more"), "n1/g1")).run();
  api::DeviceClass other;
  other.meta.key.name = "nic";
  other.meta.uid.text = "uid-nic";
  world.add(other).run();
  EXPECT_TRUE(world.attempts.empty());
}

/// A gang of two whose requests only a device of driver e serves; n1 has two free ones of driver d.
class MismatchTest : public testing::Test {
 protected:
  MismatchTest() {
    world.add_device_node("n1", 2).add_device_gang("a", 2);
    for (const char* name : {"a-0", "a-1"}) {
      api::ResourceClaim claim = world.claim(name);
      claim.spec.requests[0].exactly->selectors = {{"device.driver == 'e'"}};
      world.put_claim(claim);
    }
  }

  [[nodiscard]] std::int64_t attempts() const { return world.core.planner_stats().plans; }

  /// Two devices of driver e on the node.
  void publish_serving(const std::string& node) {
    api::ResourceSlice slice;
    slice.meta.key.name = node + "-e";
    slice.meta.uid.text = "uid-e-" + node;
    slice.driver = "e";
    slice.pool = node;
    slice.pool_slice_count = 1;
    slice.place.node_name = node;
    slice.devices = {{.name = "e0"}, {.name = "e1"}};
    world.add(slice);
  }

  DeviceWorld world;
};

TEST_F(MismatchTest, NodesThatCannotHelpLeaveTheGangAsleep) {
  world.run();
  const std::int64_t before = attempts();
  ASSERT_GT(before, 0);
  for (int i = 0; i < 120; ++i) {
    world.add(node("plain" + std::to_string(i)).cpu("64").build());
    world.add(pod("noise").cpu("1").on("n1").build()).run();
    world.remove_pod("noise").pass(seconds(1));
  }
  EXPECT_EQ(attempts(), before);
  EXPECT_EQ(world.core.entity_counts().unschedulable, 1) << "not in backoff";
  publish_serving("n1");
  world.pass(seconds(2));
  EXPECT_EQ(world.plans.size(), 1U);
}

TEST_F(MismatchTest, RoomBesideFreeDevicesWakes) {
  world.add(node("n2").cpu("1").build());
  publish_serving("n2");
  world.run();
  ASSERT_TRUE(world.plans.empty());
  world.add(node("n2").cpu("8").build()).pass(seconds(2));
  EXPECT_EQ(world.plans.size(), 1U);
}

TEST(DeviceWake, NodeThatDeclaresToDoWithoutItsOperations) {
  scheduler::Options options;
  options.engine.device_features.optional_node_operations = true;
  DeviceWorld world(std::move(options));
  api::ResourceSlice slice;
  slice.meta.key.name = "n1-d";
  slice.meta.uid.text = "uid-slice-n1";
  slice.driver = "d";
  slice.pool = "n1";
  slice.pool_slice_count = 1;
  slice.place.node_name = "n1";
  slice.skip_node_operations = {"*"};
  slice.devices = {{.name = "g0"}, {.name = "g1"}};
  api::Node n1 = node("n1").uid("uid-n1").cpu("64").build();
  world.add(n1).add(slice);
  world.add_device_gang("a", 2).run();
  EXPECT_TRUE(world.plans.empty());
  n1.optional_node_operations = true;
  world.add(n1).pass(seconds(2));
  EXPECT_EQ(world.plans.size(), 1U);
}

TEST(DeviceWake, TaintThatGoes) {
  DeviceWorld world;
  world.add_device_node("n1", 2).publish("n1", 2, 1, "sick");
  world.add_device_gang("a", 2).run();
  EXPECT_TRUE(world.plans.empty());
  world.publish("n1", 2).pass(seconds(2));
  EXPECT_EQ(world.plans.size(), 1U);
}

TEST(DeviceWake, ClassThatArrives) {
  DeviceWorld world;
  world.add_device_node("n1", 2);
  api::ResourceClaim claim = gpu_claim("lone");
  claim.spec.requests[0].exactly->class_name = "late";
  world.put_claim(claim);
  api::Pod lone = pod("lone").cpu("1").rules({.resource_claims = true}).build();
  lone.claims = {{.name = "gpu", .claim_name = "lone"}};
  world.add(lone).run();
  EXPECT_TRUE(world.plans.empty());
  api::DeviceClass late;
  late.meta.key.name = "late";
  late.meta.uid.text = "uid-late";
  world.add(late).pass(seconds(2));
  ASSERT_EQ(world.plans.size(), 1U);
  EXPECT_FALSE(world.plans[0].stamp.empty()) << "its intent is told from others by the stamp";
}

TEST(DeviceWake, ClaimThatIsMadeSoonIsNotMissed) {
  DeviceWorld world;
  world.add_device_node("n1", 2);
  world.add_device_gang("a", 2);
  world.remove_claim("a-1").pass(seconds(4));
  world.put_claim(gpu_claim("a-1")).run();
  EXPECT_EQ(world.plans.size(), 1U);
  EXPECT_TRUE(world.explanations.empty());
}

TEST(DeviceWake, ClaimThatIsMadeLate) {
  DeviceWorld world;
  world.add_device_node("n1", 2);
  world.add_device_gang("a", 2);
  world.remove_claim("a-1").pass(seconds(10));
  EXPECT_TRUE(world.plans.empty());
  EXPECT_NE(world.told().message.find("could not find ResourceClaim \"default/a-1\""),
            std::string::npos)
      << world.told().message;
  world.put_claim(gpu_claim("a-1")).run();
  EXPECT_EQ(world.plans.size(), 1U);
}

}  // namespace
}  // namespace gang::test
