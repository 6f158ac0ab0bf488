#include "gang/api/claim.h"

#include <gtest/gtest.h>

namespace gang::api {
namespace {

/// A claim for a share of the device d0 that has to become "ready".
ResourceClaim staged() {
  ResourceClaim claim;
  claim.allocation.emplace().results = {{.driver = "d",
                                         .pool = "p",
                                         .device = "d0",
                                         .binding_conditions = {"ready"},
                                         .share_id = "one"}};
  return claim;
}

AllocatedDeviceStatus reported(const std::string& share, ConditionStatus status) {
  return {.driver = "d",
          .pool = "p",
          .device = "d0",
          .share_id = share,
          .conditions = {{.type = "ready", .status = status}}};
}

TEST(ClaimConditions, AreAwaitedUntilTheDriverSaysTrueOfThatShare) {
  EXPECT_FALSE(awaits_conditions({}));
  ResourceClaim claim = staged();
  EXPECT_TRUE(awaits_conditions(claim));
  claim.devices = {reported("two", ConditionStatus::kTrue)};
  EXPECT_TRUE(awaits_conditions(claim)) << "another share of the device";
  claim.devices.push_back(reported("one", ConditionStatus::kFalse));
  EXPECT_TRUE(awaits_conditions(claim));
  claim.devices[1] = reported("one", ConditionStatus::kTrue);
  EXPECT_FALSE(awaits_conditions(claim));
  claim.allocation->results[0].binding_conditions.clear();
  claim.devices.clear();
  EXPECT_FALSE(awaits_conditions(claim)) << "it has none";
}

TEST(Claim, ConsumerIsFoundByKindAndUidWhateverItsName) {
  const std::vector<ClaimConsumer> consumers = {
      {.resource = "pods", .name = "p", .uid = {"u1"}},
      {.api_group = "scheduling.k8s.io", .resource = "podgroups", .name = "g", .uid = {"u2"}}};
  EXPECT_TRUE(has_consumer(consumers, {.resource = "pods", .name = "renamed", .uid = {"u1"}}));
  EXPECT_TRUE(has_consumer(consumers, {.resource = "podgroups", .name = "g", .uid = {"u2"}}));
  EXPECT_FALSE(has_consumer(consumers, {.resource = "pods", .name = "p", .uid = {"u3"}}));
  EXPECT_FALSE(has_consumer(consumers, {.resource = "pods", .name = "g", .uid = {"u2"}}));
  EXPECT_FALSE(has_consumer({}, {.resource = "pods", .name = "p", .uid = {"u1"}}));
}

TEST(Claim, FinalizerIsTheOneOfClaims) {
  ResourceClaim claim;
  EXPECT_FALSE(has_finalizer(claim));
  claim.finalizers = {"example.com/other"};
  EXPECT_FALSE(has_finalizer(claim));
  claim.finalizers.emplace_back(kClaimFinalizer);
  EXPECT_TRUE(has_finalizer(claim));
}

}  // namespace
}  // namespace gang::api
