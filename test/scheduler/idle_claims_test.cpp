// Claims that hold devices for nobody: which are given back so that their gang can be placed, and
// which never.
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "scheduler/device_world.h"

namespace gang::test {
namespace {

using std::chrono::seconds;

/// The claim, holding the device "n1/g0", which n1 alone can use.
api::ResourceClaim bound_to_node(api::ResourceClaim claim, const std::string& device) {
  claim = holding(std::move(claim), device);
  claim.allocation->node_selector.emplace();
  claim.allocation->node_selector->terms.emplace_back().fields = {
      {"metadata.name", "In", {device.substr(0, device.find('/'))}}};
  return claim;
}

/// Two nodes with two devices each; n1 goes.
class IdleClaimsTest : public testing::Test {
 protected:
  IdleClaimsTest() { world.add_device_node("n1", 2).add_device_node("n2", 2); }

  /// A lone pod over these claims.
  void add_pod(const std::string& name, const std::vector<std::string>& claims) {
    api::Pod made = pod(name).cpu("1").rules({.resource_claims = true}).build();
    for (const std::string& claim : claims) {
      made.claims.push_back({.name = claim, .claim_name = claim});
    }
    world.add(made);
  }

  /// A group g of two pods over the group's claim "c", which holds a device of n1 for the group.
  void add_group_over_claim() {
    api::PodGroup group = pod_group("g").min(2).build();
    group.claims = {{.name = "c", .claim_name = "c"}};
    api::ResourceClaim claim = bound_to_node(gpu_claim("c"), "n1/g0");
    claim.reserved_for.push_back({.api_group = "scheduling.k8s.io",
                                  .resource = "podgroups",
                                  .name = "g",
                                  .uid = group.meta.uid});
    world.put_claim(claim);
    world.add(group);
    for (const char* name : {"g-0", "g-1"}) world.add(group_pod(name));
  }

  static api::Pod group_pod(const std::string& name) {
    api::Pod made = pod(name)
                        .group("g")
                        .cpu("1")
                        .controller("Job", "g")
                        .rules({.resource_claims = true})
                        .build();
    made.claims = {{.name = "c", .claim_name = "c"}};
    return made;
  }

  /// "c a-0" of the newest fence; with "!" those that go in one version only.
  [[nodiscard]] std::string given_back() const {
    if (world.fences.empty()) return "";
    std::string text;
    for (const api::IntentClaim& claim : world.fences.back().intent.claims) {
      text += (text.empty() ? "" : " ") + claim.claim.name;
      if (!claim.left_at.empty()) text += "!";
    }
    return text;
  }

  [[nodiscard]] scheduler::RoundFenced ended() const {
    return {{.gang = {}, .gang_uid = world.fences.back().intent.gang_uid}};
  }

  DeviceWorld world;
};

TEST_F(IdleClaimsTest, ClaimOfALostNodeIsGivenBackAndPlannedAnew) {
  world.put_claim(bound_to_node(gpu_claim("c"), "n1/g0"));
  add_pod("p", {"c"});
  world.remove_node("n1").pass(seconds(2));
  EXPECT_EQ(given_back(), "") << "whoever allocates it may be about to reserve it";
  EXPECT_NE(world.told().message.find("claim default/c holds d/n1/g0"), std::string::npos);
  world.pass(seconds(4));
  EXPECT_EQ(given_back(), "c!");
  EXPECT_EQ(world.fences.back().intent.claims[0].left_at, world.claim("c").meta.resource_version);
  EXPECT_TRUE(world.fences.back().intent.members.empty());
  EXPECT_TRUE(world.fences.back().meta.uid.empty());
  world.put_claim(gpu_claim("c")).post(ended());
  world.pass(seconds(2));
  EXPECT_EQ(world.devices(), "c=n2/g0");
  EXPECT_EQ(world.fences.size(), 1U);
  EXPECT_EQ(world.core.state().recompute(), "");
}

TEST_F(IdleClaimsTest, TheTimeBeginsAnewWithEachChange) {
  world.put_claim(bound_to_node(gpu_claim("c"), "n1/g0"));
  add_pod("p", {"c"});
  world.remove_node("n1").pass(seconds(4));
  api::ResourceClaim changed = world.claim("c");
  changed.reserved_for.push_back({.resource = "pods", .name = "o", .uid = {"uid-o"}});
  world.put_claim(changed).pass(seconds(4));
  EXPECT_EQ(given_back(), "");
  changed.reserved_for.clear();
  world.put_claim(changed).pass(seconds(4));
  EXPECT_EQ(given_back(), "");
  world.pass(seconds(2));
  EXPECT_EQ(given_back(), "c!");
}

TEST_F(IdleClaimsTest, WhatOthersUseStays) {
  api::ResourceClaim claim = bound_to_node(gpu_claim("c"), "n1/g0");
  claim.reserved_for.push_back({.resource = "pods", .name = "o", .uid = {"uid-o"}});
  world.put_claim(claim);
  add_pod("p", {"c"});
  world.remove_node("n1").pass(std::chrono::minutes(20));
  EXPECT_TRUE(world.fences.empty());
}

TEST_F(IdleClaimsTest, WhatDoesNotHelpStays) {
  world.put_claim(bound_to_node(gpu_claim("c"), "n1/g0"));
  add_pod("p", {"c"});
  for (const char* taken : {"n2/g0", "n2/g1"}) {
    world.put_claim(holding(gpu_claim(std::string("of-") + taken[4]), taken));
  }
  world.remove_node("n1").pass(std::chrono::minutes(19));
  EXPECT_TRUE(world.fences.empty());
  world.remove_claim("of-0").pass(seconds(6));
  EXPECT_EQ(given_back(), "c!");
}

TEST_F(IdleClaimsTest, AsFewAsSufficeGo) {
  world.put_claim(bound_to_node(gpu_claim("a"), "n1/g0"));
  world.put_claim(bound_to_node(gpu_claim("b"), "n2/g0"));
  add_pod("p", {"a", "b"});
  world.pass(seconds(6));
  EXPECT_EQ(given_back(), "a!") << "either would do; the first by name goes";
}

TEST_F(IdleClaimsTest, OnlyWhatIsInTheWayGoes) {
  world.put_claim(bound_to_node(gpu_claim("a"), "n1/g0"));
  world.put_claim(bound_to_node(gpu_claim("b"), "n2/g0"));
  add_pod("p", {"a", "b"});
  world.remove_node("n1").pass(seconds(6));
  EXPECT_EQ(given_back(), "a!");
}

TEST_F(IdleClaimsTest, DevicesThatWereNotMadeReadyInTimeGoWhetherItHelpsOrNot) {
  api::ResourceClaim claim = bound_to_node(gpu_claim("c"), "n1/g0");
  claim.allocation->results[0].binding_conditions = {"example.com/ready"};
  claim.allocation->time = world.now - std::chrono::minutes(10);
  world.put_claim(claim);
  for (const char* taken : {"n1/g1", "n2/g0", "n2/g1"}) {
    world.put_claim(holding(gpu_claim(std::string("of-") + taken[1] + taken[4]), taken));
  }
  add_pod("p", {"c"});
  world.pass(seconds(4));
  EXPECT_TRUE(world.plans.empty()) << "no round waits for it once more";
  EXPECT_EQ(given_back(), "");
  world.pass(seconds(2));
  EXPECT_EQ(given_back(), "c!");
  EXPECT_NE(world.told().message.find("waited 10m for device d/n1/g0 of claim default/c"),
            std::string::npos)
      << world.told().message;
}

TEST_F(IdleClaimsTest, ClaimOfAGroupWithoutPlacedPodsIsGivenBack) {
  add_group_over_claim();
  world.remove_node("n1").run();
  ASSERT_EQ(given_back(), "c");
  EXPECT_EQ(world.fences.back().intent.members.size(), 2U) << "a Binding may be on its way";
  world.put_claim(gpu_claim("c")).post(ended());
  world.pass(seconds(2));
  EXPECT_EQ(world.devices(), "c=n2/g0");
}

TEST_F(IdleClaimsTest, ClaimOfAGroupWithAPlacedPodStays) {
  add_group_over_claim();
  api::Pod placed = group_pod("g-2");
  placed.node_name = "n1";
  world.add(placed);
  world.remove_node("n1").pass(std::chrono::minutes(20));
  EXPECT_TRUE(world.fences.empty());
}

TEST_F(IdleClaimsTest, ClaimThatAnotherPodUsesBesideTheGroupStays) {
  add_group_over_claim();
  api::ResourceClaim claim = world.claim("c");
  claim.reserved_for.push_back({.resource = "pods", .name = "o", .uid = {"uid-o"}});
  world.put_claim(claim).remove_node("n1").pass(std::chrono::minutes(20));
  EXPECT_TRUE(world.fences.empty());
}

}  // namespace
}  // namespace gang::test
