// Rounds that make claims for extended resources, as the scheduler sees them.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "scheduler/device_world.h"

namespace gang::test {
namespace {

using engine::MemberEnd;
using engine::RoundEnd;
using std::chrono::seconds;

/// Two nodes with a device each; devices of the class "gpu" serve kGpu.
class ExtendedRoundsTest : public testing::Test {
 protected:
  explicit ExtendedRoundsTest(DeviceWorld::Start start = DeviceWorld::Start::kInformed)
      : world(scheduler::Options{}, start) {
    api::DeviceClass device_class;
    device_class.meta.key.name = "served";
    device_class.meta.uid.text = "uid-served";
    device_class.extended_resource_name = kGpu;
    world.add(device_class);
    world.add_device_node("n1", 1).add_device_node("n2", 1);
  }

  void add_gang(const std::string& name, int count) {
    world.add(pod_group(name).min(count).build());
    for (int i = 0; i < count; ++i) {
      const std::string pod_name = name + "-" + std::to_string(i);
      world.add(pod(pod_name).group(name).cpu("1").gpu(1).controller("Job", name).build());
    }
  }

  /// The claim that the newest plan makes for the pod of that number, as the binder has left it.
  [[nodiscard]] api::ResourceClaim made(std::size_t number) const {
    const engine::ClaimCreation& creation = world.plans.back().new_claims.at(number);
    api::ResourceClaim claim = left_over(creation.claim.name, creation.pod.name);
    claim.spec.requests = creation.requests;
    claim.allocation = creation.allocation;
    claim.reserved_for = {engine::consumer_of(creation)};
    return claim;
  }

  [[nodiscard]] api::ResourceClaim left_over(const std::string& name,
                                             const std::string& pod_name) const {
    api::ResourceClaim claim;
    claim.meta.key = {"default", name};
    claim.meta.uid.text = "uid-" + name;
    claim.meta.annotations = {{std::string(api::kExtendedClaim), "true"}};
    claim.meta.controller = api::ControllerRef{"Pod", pod_name, world.pod_named(pod_name).meta.uid};
    return claim;
  }

  void claims_written() {
    engine::ClaimsWritten written{
        .gang = world.plans.back().gang, .stamp = world.plans.back().stamp, .claims = {}};
    for (std::size_t i = 0; i < world.plans.back().new_claims.size(); ++i) {
      written.claims.push_back({made(i).meta.uid, {"1"}});
    }
    world.post(scheduler::ClaimsWritten{std::move(written)}).run();
  }

  DeviceWorld world;
};

TEST_F(ExtendedRoundsTest, DevicesOfClaimsThatAreNotMadeYetAreTakenAtOnce) {
  add_gang("a", 2);
  world.run();
  ASSERT_EQ(world.plans.size(), 1U);
  ASSERT_EQ(world.plans[0].new_claims.size(), 2U);
  EXPECT_FALSE(world.plans[0].stamp.empty());
  const std::string& name = world.plans[0].new_claims[0].claim.name;
  EXPECT_EQ(name.substr(0, 23), "a-0-extended-resources-");
  EXPECT_EQ(name.size(), 33U);
  EXPECT_NE(name, world.plans[0].new_claims[1].claim.name);
  add_gang("b", 1);
  world.run();
  EXPECT_EQ(world.plans.size(), 1U) << "no device is left";
  EXPECT_EQ(world.core.state().recompute(), "");
}

TEST_F(ExtendedRoundsTest, BindsOnceTheWatchHasShownTheClaims) {
  add_gang("a", 2);
  world.run();
  claims_written();
  EXPECT_EQ(world.problem(), "none");
  world.put_claim(made(0)).run();
  EXPECT_EQ(world.problem(), "none");
  world.put_claim(made(1)).run();
  ASSERT_EQ(world.problem(), "");
  world.end_round(RoundEnd::kCommitted).pass(seconds(60));
  EXPECT_TRUE(world.fences.empty()) << "claims of bound pods are no left-overs";
  EXPECT_EQ(world.core.state().recompute(), "");
}

TEST_F(ExtendedRoundsTest, YieldsToAnotherClaimWithItsDevice) {
  add_gang("a", 2);
  world.run();
  world.put_claim(holding(gpu_claim("foreign"), "n1/g0"));
  world.put_claim(made(0)).put_claim(made(1));
  claims_written();
  EXPECT_NE(world.problem().find("held by another claim too"), std::string::npos)
      << world.problem();
}

TEST_F(ExtendedRoundsTest, WhatWasNotMadeIsFreeAgain) {
  add_gang("a", 2);
  world.run();
  world.end_round(RoundEnd::kUnavailable, {"a-0", "a-1"}, MemberEnd::kNotBound).pass(seconds(5));
  ASSERT_EQ(world.plans.size(), 2U);
  EXPECT_NE(world.plans[0].new_claims[0].claim, world.plans[1].new_claims[0].claim);
  EXPECT_EQ(world.core.state().recompute(), "");
}

TEST_F(ExtendedRoundsTest, LeftOversAreDeletedBeforeTheirPodIsPlanned) {
  world.add(pod("p").cpu("1").gpu(1).build());
  world.put_claim(holding(left_over("p-old", "p"), "n1/g0"));
  world.put_claim(holding(gpu_claim("foreign"), "n2/g0")).run();
  EXPECT_TRUE(world.plans.empty());
  ASSERT_EQ(world.fences.size(), 1U);
  const api::Intent& intent = world.fences[0].intent;
  ASSERT_EQ(intent.claims.size(), 1U);
  EXPECT_EQ(intent.claims[0].claim.name, "p-old");
  EXPECT_EQ(intent.claims[0].made_for, intent.members.at(0).uid);
  world.remove_claim("p-old")
      .post(scheduler::RoundFenced{{.gang = {}, .gang_uid = intent.gang_uid}})
      .pass(seconds(5));
  ASSERT_EQ(world.plans.size(), 1U);
  EXPECT_EQ(world.plans[0].new_claims.size(), 1U);
  EXPECT_EQ(world.fences.size(), 1U);
}

class InheritedExtendedRoundsTest : public ExtendedRoundsTest {
 protected:
  InheritedExtendedRoundsTest() : ExtendedRoundsTest(DeviceWorld::Start::kUninformed) {}
};

TEST_F(InheritedExtendedRoundsTest, ARoundThatMadeClaimsIsFencedAndNotTakenOver) {
  add_gang("a", 2);
  api::StoredIntent open;
  open.intent.gang = {"default", "a"};
  open.intent.gang_uid = pod_group("a").build().meta.uid;
  open.intent.claims = {{.claim = {"default", "a-0-old"},
                         .allocates = true,
                         .made_for = world.pod_named("a-0").meta.uid}};
  open.meta.uid.text = "uid-map";
  world.post(scheduler::IntentsFound{{open}}).run();
  ASSERT_EQ(world.fences.size(), 1U);
  EXPECT_TRUE(world.plans.empty());
  world.post(scheduler::RoundFenced{{.gang = {}, .gang_uid = open.intent.gang_uid}}).run();
  EXPECT_EQ(world.plans.size(), 1U);
}

}  // namespace
}  // namespace gang::test
