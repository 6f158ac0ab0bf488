#include "gang/engine/plan.h"

#include <gtest/gtest.h>

#include <cctype>

namespace gang::engine {
namespace {

Plan two_pods() {
  Plan plan;
  plan.gang.uid.text = "g";
  plan.assignments = {{.uid = {"a"}, .node_name = "n1"}, {.uid = {"b"}, .node_name = "n2"}};
  return plan;
}

TEST(PlanHash, IsSixteenHexDigits) {
  const std::string hash = plan_hash(Plan{});
  ASSERT_EQ(hash.size(), 16U);
  for (const char c : hash) EXPECT_TRUE(std::isxdigit(static_cast<unsigned char>(c))) << hash;
}

TEST(PlanHash, DependsOnGangPodsAndNodesOnly) {
  const std::string hash = plan_hash(two_pods());
  Plan other = two_pods();
  other.stamp = "s";
  other.need = 1;
  EXPECT_EQ(plan_hash(other), hash);
  other.gang.uid.text = "h";
  EXPECT_NE(plan_hash(other), hash);
  other = two_pods();
  other.assignments[1].node_name = "n3";
  EXPECT_NE(plan_hash(other), hash);
  other = two_pods();
  std::swap(other.assignments[0].node_name, other.assignments[1].node_name);
  EXPECT_NE(plan_hash(other), hash);
}

TEST(PlanHash, TellsTextsApartThatJoinToTheSame) {
  Plan a, b;
  a.assignments = {{.uid = {"ab"}, .node_name = "c"}};
  b.assignments = {{.uid = {"a"}, .node_name = "bc"}};
  EXPECT_NE(plan_hash(a), plan_hash(b));
}

/// The stamp of a round is compared after a restart, so the hash may never change.
TEST(PlanHash, StaysTheSameBetweenVersions) {
  EXPECT_EQ(plan_hash(Plan{}), "7bd3144f29c0cc9e");
  EXPECT_EQ(plan_hash(two_pods()), "30a8ff69d65a287b");
}

}  // namespace
}  // namespace gang::engine
