#include "gang/api/meta.h"

#include <gtest/gtest.h>

#include "gang/api/delta.h"

namespace gang::api {
namespace {

TEST(ResourceVersion, IsComparableOnlyAsADecimalWithoutLeadingZero) {
  for (const auto* text : {"1", "42", "18446744073709551616"}) {
    EXPECT_TRUE(ResourceVersion{text}.comparable()) << text;
  }
  for (const auto* text : {"", "0", "01", "-1", "1a", "a", " 1"}) {
    EXPECT_FALSE(ResourceVersion{text}.comparable()) << text;
  }
}

TEST(ResourceVersion, IsOrderedByLengthThenDigits) {
  EXPECT_TRUE(is_newer({"10"}, {"9"}));
  EXPECT_FALSE(is_newer({"9"}, {"10"}));
  EXPECT_TRUE(is_newer({"18446744073709551617"}, {"18446744073709551616"}));
  EXPECT_FALSE(is_newer({"7"}, {"7"}));
}

TEST(ObjectKey, TextHasTheNamespaceInFrontWhereThereIsOne) {
  EXPECT_EQ((ObjectKey{"ml", "a"}.text()), "ml/a");
  EXPECT_EQ((ObjectKey{"", "n1"}.text()), "n1");
  EXPECT_LT((ObjectKey{"a", "z"}), (ObjectKey{"b", "a"}));
}

TEST(StringMap, FindsByKey) {
  const StringMap map = {{"a", "1"}, {"c", "3"}};
  EXPECT_EQ(*find(map, "c"), "3");
  EXPECT_EQ(find(map, "b"), nullptr);
  EXPECT_EQ(find({}, "a"), nullptr);
}

TEST(Condition, IsFoundByType) {
  const std::vector<Condition> conditions = {{.type = "A"}, {.type = "B", .reason = "why"}};
  EXPECT_EQ(find_condition(conditions, "B")->reason, "why");
  EXPECT_EQ(find_condition(conditions, "C"), nullptr);
  EXPECT_EQ(status_text(ConditionStatus::kTrue), "True");
  EXPECT_EQ(status_text(ConditionStatus::kFalse), "False");
  EXPECT_EQ(status_text(ConditionStatus::kUnknown), "Unknown");
}

TEST(Delta, EveryKindHasTheNameOfTheApi) {
  EXPECT_EQ(kind_name(Kind::kPod), "Pod");
  EXPECT_EQ(kind_name(Kind::kFinishedPod), "Pod");
  EXPECT_EQ(kind_name(Kind::kCompositePodGroup), "CompositePodGroup");
  EXPECT_EQ(kind_name(Kind::kNamespace), "Namespace");
  EXPECT_EQ(kind_name(Kind::kResourceSlice), "ResourceSlice");
  EXPECT_EQ(kind_name(Kind::kResourceClaim), "ResourceClaim");
  EXPECT_EQ(kind_name(Kind::kResourceClaimTemplate), "ResourceClaimTemplate");
  EXPECT_EQ(kind_name(Kind::kDeviceClass), "DeviceClass");
  EXPECT_EQ(kind_name(Kind::kDeviceTaintRule), "DeviceTaintRule");
}

TEST(Delta, MetadataIsReachedWhateverTheObjectIs) {
  Node node;
  node.meta.key.name = "n1";
  EXPECT_EQ(meta_of(Object(node)).key.name, "n1");
  PodGroup group;
  group.meta.key = {"ml", "train"};
  EXPECT_EQ(meta_of(Object(group)).key.text(), "ml/train");
}

}  // namespace
}  // namespace gang::api
