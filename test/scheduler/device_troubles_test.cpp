// When it is told that a device of a claim is shown by no slice, and when not.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "scheduler/device_world.h"

namespace gang::test {
namespace {

using std::chrono::seconds;

const std::vector<std::string> kNone;
const std::string kLost = "device d/n1/g1 of claim default/c is shown by no slice";

/// A claim that holds the second of two devices of n1.
class DeviceTroublesTest : public testing::Test {
 protected:
  DeviceTroublesTest() {
    world.add_device_node("n1", 2).put_claim(holding(gpu_claim("c"), "n1/g1")).run();
    world.pass(seconds(60));
    EXPECT_EQ(world.troubles, kNone);
    EXPECT_EQ(world.notices, kNone);
  }

  /// One of two slices that the pool has from then on, with the device g<number>.
  void publish_part(const std::string& name, int number, std::int64_t generation) {
    api::ResourceSlice slice;
    slice.meta.key.name = name;
    slice.meta.uid.text = name == "n1-d" ? "uid-slice-n1" : "uid-slice-" + name;
    slice.meta.resource_version.text = std::to_string(++version_);
    slice.driver = "d";
    slice.pool = "n1";
    slice.pool_generation = generation;
    slice.pool_slice_count = 2;
    slice.place.node_name = "n1";
    slice.devices.push_back({.name = "g" + std::to_string(number)});
    world.add(std::move(slice)).run();
  }

  DeviceWorld world;

 private:
  int version_ = 100000;
};

TEST_F(DeviceTroublesTest, WhatLastsIsToldOnce) {
  world.publish("n1", 1, 2).run();
  world.pass(seconds(9));
  EXPECT_EQ(world.troubles, kNone);
  world.pass(seconds(1));
  EXPECT_EQ(world.troubles, std::vector{kLost});
  world.publish("n1", 1, 3).run();
  world.add_device_node("n2", 1).run();
  world.pass(seconds(60));
  EXPECT_EQ(world.troubles.size(), 1U);
  EXPECT_EQ(world.notices, kNone);
}

TEST_F(DeviceTroublesTest, ItsEndIsNoticedAndItMayComeAgain) {
  world.publish("n1", 1, 2).run().pass(seconds(10));
  world.publish("n1", 2, 3).run();
  EXPECT_EQ(world.notices, std::vector{"over: " + kLost});
  world.publish("n1", 1, 4).run().pass(seconds(10));
  EXPECT_EQ(world.troubles, (std::vector{kLost, kLost}));
  world.remove_claim("c").run();
  EXPECT_EQ(world.notices.size(), 2U);
}

TEST_F(DeviceTroublesTest, ADeviceThatComesBackInTimeIsNoTrouble) {
  world.publish("n1", 1, 2).run().pass(seconds(9));
  world.publish("n1", 2, 3).run();
  world.publish("n1", 1, 4).run().pass(seconds(9));
  EXPECT_EQ(world.troubles, kNone) << "each time counts anew";
  world.publish("n1", 2, 5).run().pass(seconds(60));
  EXPECT_EQ(world.troubles, kNone);
  EXPECT_EQ(world.notices, kNone) << "what was not told has no end";
}

TEST_F(DeviceTroublesTest, APoolThatIsNotCompleteIsNoTroubleYet) {
  publish_part("n1-d", 0, 2);
  world.pass(seconds(60));
  EXPECT_EQ(world.troubles, kNone);
  publish_part("n1-e", 7, 2);
  world.pass(seconds(9));
  EXPECT_EQ(world.troubles, kNone) << "the time begins when the pool is complete";
  world.pass(seconds(1));
  EXPECT_EQ(world.troubles, std::vector{kLost});
}

TEST_F(DeviceTroublesTest, AnAllocationOfADeviceThatIsNotThereIsTold) {
  world.put_claim(holding(gpu_claim("e"), "n9/g0")).run().pass(seconds(10));
  EXPECT_EQ(world.troubles,
            std::vector<std::string>{"device d/n9/g0 of claim default/e is shown by no slice"});
}

}  // namespace
}  // namespace gang::test
