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

}  // namespace
}  // namespace gang::api
