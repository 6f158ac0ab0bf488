// What gangs are told whose devices lack, and what is proved of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "engine/cluster_fixture.h"

namespace gang::engine {
namespace {

using test::node;
using test::pod;
using test::pod_group;
using testing::HasSubstr;

/// Node n1 with two devices of the class "gpu", which serves test::kGpu too.
class DeviceShortageTest : public testing::Test {
 protected:
  explicit DeviceShortageTest(const Options& options = {}) : cluster_(options) {
    api::DeviceClass device_class;
    device_class.meta.key.name = "gpu";
    device_class.meta.uid.text = "uid-gpu";
    device_class.extended_resource_name = test::kGpu;
    cluster_.add(device_class).add_device_node("n1", 2);
  }

  static api::ResourceClaim claim_of(const std::string& name,
                                     std::vector<api::DeviceRequest> requests) {
    api::ResourceClaim claim;
    claim.meta.key = {"default", name};
    claim.meta.uid.text = "uid-" + name;
    claim.spec.requests = std::move(requests);
    return claim;
  }

  static api::ResourceClaim claim_of(const std::string& name, std::int64_t count) {
    return claim_of(
        name, {{.name = "r", .exactly = api::DeviceAsk{.class_name = "gpu", .count = count}}});
  }

  /// Holds one device of n1.
  void hold(const std::string& device) {
    api::ResourceClaim held = claim_of("held-" + device, 1);
    held.allocation.emplace();
    held.allocation->results.push_back(
        {.request = "r", .driver = "d", .pool = "n1", .device = device});
    cluster_.add(held);
  }

  /// A member of g that names the claim, with the claim unless it is there.
  void add_pod(const std::string& name, const std::string& claim) {
    api::Pod made = pod(name).group("g").cpu("1").rules({.resource_claims = true}).build();
    made.claims = {{.name = "c", .claim_name = claim}};
    cluster_.add(made);
  }
  void add_pod(const std::string& name, const api::ResourceClaim& claim) {
    cluster_.add(claim);
    add_pod(name, claim.meta.key.name);
  }

  TestCluster cluster_;
};

/// With too few steps to search anything.
class NoStepsTest : public DeviceShortageTest {
 protected:
  NoStepsTest() : DeviceShortageTest({.device_steps_max = 0}) {}
};

TEST_F(DeviceShortageTest, AlternativesCountADeviceOnceForAllOfThem) {
  cluster_.add(pod_group("g").min(3));
  for (const char* name : {"a", "b", "c"}) {
    add_pod(
        name,
        claim_of(name, {{.name = "r",
                         .first_available = {{.name = "two", .class_name = "gpu", .count = 2},
                                             {.name = "one", .class_name = "gpu", .count = 1}}}}));
  }
  const Explanation told = cluster_.refused("g");
  EXPECT_EQ(told.verdict, Verdict::kImpossibleOnFleet) << "one pair, or two alone";
  EXPECT_THAT(told.message, HasSubstr("request r/one, the nearest of 2 alternatives: device class "
                                      "gpu: 2 free of 2; needed 3; the others: r/two 2 free of 2"));
}

TEST_F(DeviceShortageTest, AlternativesTogetherMayServe) {
  cluster_.add(pod_group("g").min(2));
  for (const char* name : {"a", "b"}) {
    add_pod(
        name,
        claim_of(name, {{.name = "r",
                         .first_available = {{.name = "two", .class_name = "gpu", .count = 2},
                                             {.name = "one", .class_name = "gpu", .count = 1}}}}));
  }
  hold("g0");
  EXPECT_EQ(cluster_.refused("g").verdict, Verdict::kImpossibleNow);
}

TEST_F(DeviceShortageTest, MissingClassOfAnAlternativeIsToldWithItsFullName) {
  cluster_.add(pod_group("g").min(1));
  add_pod("a", claim_of("a", {{.name = "r",
                               .first_available = {{.name = "one", .class_name = "gpu"},
                                                   {.name = "odd", .class_name = "typo"}}}}));
  const Explanation told = cluster_.refused("g");
  EXPECT_EQ(told.verdict, Verdict::kImpossibleOnFleet);
  EXPECT_THAT(told.message,
              HasSubstr("claim default/a, request r/odd: could not retrieve device class typo"));
}

TEST_F(DeviceShortageTest, ConstraintThatNoDevicesMeetIsOfTheFleet) {
  api::ResourceSlice slice = TestCluster::slice_of("n1", 3);
  slice.meta.resource_version.text = "99";
  slice.devices[0].attributes = {{"link", std::string("a")}};
  slice.devices[1].attributes = {{"link", std::string("b")}};
  slice.devices[2].attributes = {{"link", std::string("a")}};
  cluster_.update(slice);
  cluster_.add(pod_group("g").min(1));
  api::ResourceClaim pair = claim_of("pair", 2);
  pair.spec.constraints.push_back({.kind = api::ConstraintKind::kMatch, .attribute = "d/link"});
  add_pod("a", pair);
  hold("g0");
  const Explanation told = cluster_.refused("g");
  EXPECT_EQ(told.verdict, Verdict::kImpossibleNow) << "g0 and g2 match once g0 is given back";
  EXPECT_THAT(told.message, HasSubstr("2 free of 3; 1 allocated; needed 2; to be met as well: "
                                      "matchAttribute d/link"));

  slice.meta.resource_version.text = "100";
  slice.devices[2].attributes = {{"link", std::string("c")}};
  cluster_.update(slice);
  EXPECT_EQ(cluster_.refused("g").verdict, Verdict::kImpossibleOnFleet);
}

TEST_F(NoStepsTest, NumbersProveWhatIsNotSearched) {
  cluster_.add(pod_group("g").min(2));
  for (const char* name : {"a", "b"}) add_pod(name, claim_of(name, 1));
  EXPECT_EQ(cluster_.refused("g").verdict, Verdict::kSearchLimitReached);
  hold("g0");
  const Explanation now = cluster_.refused("g");
  EXPECT_EQ(now.verdict, Verdict::kImpossibleNow);
  EXPECT_EQ(now.remaining, 0);
  cluster_.update(pod_group("g").min(3).version(99).build());
  add_pod("c", claim_of("c", 1));
  EXPECT_EQ(cluster_.refused("g").verdict, Verdict::kImpossibleOnFleet);
}

TEST_F(NoStepsTest, TheKindThatNeverFitsIsToldHoweverLateItIs) {
  cluster_.add(pod_group("g").min(3));
  add_pod("a", claim_of("shared", 1));
  add_pod("b", "shared");
  add_pod("c", claim_of("c", 3));
  const Explanation told = cluster_.refused("g");
  EXPECT_EQ(told.verdict, Verdict::kImpossibleOnFleet);
  EXPECT_THAT(told.message, HasSubstr("device class gpu: 2 free of 2; needed 3"));
}

TEST_F(DeviceShortageTest, OfKindsThatFitNowhereTheScarcestIsTold) {
  cluster_.add(pod_group("g").min(3));
  add_pod("a", claim_of("shared", 1));
  add_pod("b", "shared");
  add_pod("c", claim_of("c", 2));
  hold("g0");
  hold("g1");
  const Explanation told = cluster_.refused("g");
  EXPECT_EQ(told.verdict, Verdict::kImpossibleNow);
  EXPECT_THAT(told.message, HasSubstr("pod c fits no node (and 1 more kind of pods): device class "
                                      "gpu: 0 free of 2; 2 allocated; needed 2"));
  EXPECT_THAT(text_of(told, "a"), HasSubstr("0 free of 2; 2 allocated; needed 1"));
}

TEST_F(DeviceShortageTest, SharedClaimNeedsItsDevicesOnce) {
  cluster_.add(pod_group("g").min(3));
  add_pod("a", claim_of("shared", 3));
  add_pod("b", "shared");
  add_pod("c", claim_of("c", 1));
  const Explanation told = cluster_.refused("g");
  EXPECT_EQ(told.verdict, Verdict::kImpossibleOnFleet);
  EXPECT_THAT(told.message, HasSubstr("2 pods fit no node, the first a: device class gpu: 2 free "
                                      "of 2; needed 3"));
  EXPECT_THAT(text_of(told, "b"), HasSubstr("device class gpu: 2 free of 2; needed 3"));
  EXPECT_THAT(text_of(told, "c"), HasSubstr("pod group is unschedulable"));
}

TEST_F(DeviceShortageTest, NothingIsProvedByMembersAboveTheMinimum) {
  cluster_.add(pod_group("g").min(2));
  for (const char* name : {"x", "y"}) cluster_.add(pod(name).group("g").cpu("1").on("n1"));
  add_pod("a", claim_of("a", 3));
  add_pod("b", claim_of("b", 1));
  hold("g0");
  hold("g1");
  const Explanation told = cluster_.refused("g");
  EXPECT_EQ(told.verdict, Verdict::kImpossibleNow) << "b may come";
  EXPECT_THAT(told.message, HasSubstr("pod group has its minimum (2): 2 scheduled, 2 more cannot "
                                      "be scheduled"));
  EXPECT_THAT(told.message, HasSubstr("pod a fits no node (and 1 more kind of pods): device class "
                                      "gpu: 0 free of 2; 2 allocated; needed 3"));
}

TEST_F(DeviceShortageTest, ExtendedResourceIsToldBesideClaims) {
  cluster_.add(pod_group("g").min(1)).add(claim_of("own", 1));
  api::Pod made = pod("a").group("g").cpu("1").gpu(1).rules({.resource_claims = true}).build();
  made.claims = {{.name = "c", .claim_name = "own"}};
  cluster_.add(made);
  hold("g0");
  EXPECT_THAT(cluster_.refused("g").message, HasSubstr("device class gpu: 1 free of 2"));
  hold("g1");
  EXPECT_THAT(cluster_.refused("g").message,
              HasSubstr("claim default/own, request r: device class gpu: 0 free of 2"));
}

/// Where upstream would say "cannot fit resource" its filter of resources has said this before.
TEST_F(DeviceShortageTest, ResourceThatNothingServesIsToldAsInsufficient) {
  cluster_.add(pod("a").cpu("1").gpu(1).request("example.com/nic", "1"));
  EXPECT_THAT(cluster_.refused("a").message, HasSubstr("1 Insufficient example.com/nic"));
}

TEST_F(DeviceShortageTest, ExtendedResourceIsNamedWithItsContainer) {
  cluster_.add(pod("a").cpu("1").gpu(3));
  EXPECT_THAT(cluster_.refused("a").message,
              HasSubstr("extended resource nvidia.com/gpu of container main: device class gpu: 2 "
                        "free of 2; needed 3"));
  cluster_.add(pod("b").cpu("1").gpu(40));
  EXPECT_THAT(cluster_.refused("b").message,
              HasSubstr("claim for extended resource nvidia.com/gpu, request container-0-request-1:"
                        " adding 40 devices exceeds the claim limit of 32"));
}

TEST_F(DeviceShortageTest, ExtendedResourceOfDevicesAloneIsProved) {
  cluster_.add(pod("a").cpu("1").gpu(3)).add(pod("b").cpu("1").gpu(40));
  EXPECT_EQ(cluster_.refused("a").verdict, Verdict::kImpossibleOnFleet);
  EXPECT_EQ(cluster_.refused("b").verdict, Verdict::kImpossibleOnFleet);
  cluster_.add(node("n2").cpu("8").gpu(40)).add(pod("u").cpu("1").gpu(39).on("n2"));
  EXPECT_EQ(cluster_.refused("a").verdict, Verdict::kImpossibleNow) << "n2 has a device plugin";
  EXPECT_EQ(cluster_.refused("b").verdict, Verdict::kImpossibleNow);
}

TEST_F(DeviceShortageTest, UnlikeMembersWantTheSameDevices) {
  cluster_.add(pod_group("g").min(2));
  add_pod("a", claim_of("a", 2));
  add_pod("b", claim_of("b", 1));
  const Explanation told = cluster_.refused("g");
  EXPECT_EQ(told.verdict, Verdict::kImpossibleOnFleet);
  EXPECT_THAT(told.message, HasSubstr("device class gpu: 2 free of 2; needed 3"));
}

TEST_F(DeviceShortageTest, KindsThatShareAClaimNeedItOnce) {
  cluster_.add(pod_group("g").min(3));
  add_pod("a", claim_of("shared", 1));
  cluster_.add(claim_of("own", 1));
  api::Pod made = pod("b").group("g").cpu("1").rules({.resource_claims = true}).build();
  made.claims = {{.name = "c", .claim_name = "shared"}, {.name = "d", .claim_name = "own"}};
  cluster_.add(made);
  add_pod("c", claim_of("c", 1));
  const Explanation told = cluster_.refused("g");
  EXPECT_EQ(told.verdict, Verdict::kImpossibleOnFleet);
  EXPECT_THAT(told.message, HasSubstr("2 free of 2; needed 3"));
}

}  // namespace
}  // namespace gang::engine
