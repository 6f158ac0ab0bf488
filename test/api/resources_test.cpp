#include "gang/api/resources.h"

#include <gtest/gtest.h>

namespace gang::api {
namespace {

Quantity q(std::string_view text) {
  return *Quantity::parse(text);
}

TEST(ResourceList, IsSortedAndTheLastOfEqualNamesWins) {
  const ResourceList list({{"memory", q("1Gi")}, {"cpu", q("1")}, {"memory", q("2Gi")}});
  ASSERT_EQ(list.entries().size(), 2u);
  EXPECT_EQ(list.entries()[0].first, "cpu");
  EXPECT_EQ(*list.find("memory"), q("2Gi"));
  EXPECT_EQ(list.find("pods"), nullptr);
}

TEST(ResourceList, AddsAndTakesMaximaPerName) {
  ResourceList sum({{"cpu", q("1")}, {"memory", q("1Gi")}});
  sum.add(ResourceList({{"cpu", q("500m")}, {"nvidia.com/gpu", q("8")}}));
  EXPECT_EQ(sum,
            ResourceList({{"cpu", q("1500m")}, {"memory", q("1Gi")}, {"nvidia.com/gpu", q("8")}}));
  sum.max_with(ResourceList({{"cpu", q("1")}, {"memory", q("2Gi")}, {"pods", q("1")}}));
  EXPECT_EQ(sum, ResourceList({{"cpu", q("1500m")},
                               {"memory", q("2Gi")},
                               {"nvidia.com/gpu", q("8")},
                               {"pods", q("1")}}));
}

TEST(ResourceNames, OnlyAccountedNamesCount) {
  for (const auto* name : {"cpu", "memory", "ephemeral-storage", "pods", "nvidia.com/gpu",
                           "hugepages-2Mi", "attachable-volumes-csi", "example.kubernetes.io/x",
                           "deviceclass.resource.kubernetes.io/gpu"}) {
    EXPECT_TRUE(is_accounted(name)) << name;
  }
  for (const auto* name : {"storage", "gpu", "", "requests.nvidia.com/gpu", "hugepages"}) {
    EXPECT_FALSE(is_accounted(name)) << name;
  }
}

TEST(ResourceNames, ExtendedNamesHaveADomainOfTheirOwn) {
  EXPECT_TRUE(is_extended("nvidia.com/gpu"));
  EXPECT_FALSE(is_extended("cpu"));
  EXPECT_FALSE(is_extended("kubernetes.io/x"));
  EXPECT_FALSE(is_extended("a.kubernetes.io/x"));
  EXPECT_FALSE(is_extended("requests.nvidia.com/gpu"));
  EXPECT_FALSE(is_extended("hugepages-1Gi"));
}

TEST(ResourceNames, CpuIsCountedInMilliUnitsAndAllElseInUnitsRoundedUp) {
  EXPECT_EQ(whole("cpu", q("1500u")), 2);
  EXPECT_EQ(whole("cpu", q("+1")), 1000);
  EXPECT_EQ(whole("memory", q("1.5")), 2);
  EXPECT_EQ(whole("nvidia.com/gpu", q("8")), 8);
}

}  // namespace
}  // namespace gang::api
