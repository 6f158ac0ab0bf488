#include "engine/table_cache.h"

#include <gtest/gtest.h>

#include "engine/cluster_fixture.h"

namespace gang::engine {
namespace {

using test::node;
using test::pod;
using test::pod_group;

/// Plans lone pods of different sizes and counts full passes.
class TableCacheTest : public testing::Test {
 protected:
  TableCacheTest() : cluster_({.class_tables_max = 2, .class_table_nodes_max = 0}) {
    cluster_.add(node("n1").cpu("64"));
    for (const char* size : {"1", "2", "3"}) cluster_.add(pod(size).cpu(size));
  }

  /// Full passes that planning the pod costs.
  std::int64_t passes(const std::string& name) {
    const std::int64_t before = cluster_.planner.stats().class_passes;
    EXPECT_EQ(cluster_.plan(name).assignments.size(), 1U);
    return cluster_.planner.stats().class_passes - before;
  }

  TestCluster cluster_;
};

TEST_F(TableCacheTest, KeepsTheTablesOfTheLastClasses) {
  EXPECT_EQ(passes("1"), 1);
  EXPECT_EQ(passes("2"), 1);
  EXPECT_EQ(passes("1"), 0);
  EXPECT_EQ(passes("2"), 0);
}

TEST_F(TableCacheTest, ForgetsTheLeastRecentlyUsedClass) {
  passes("1");
  passes("2");
  passes("3");
  EXPECT_EQ(passes("2"), 0);
  EXPECT_EQ(passes("1"), 1);
}

TEST_F(TableCacheTest, KeepsEveryClassOfTheGangAtHand) {
  cluster_.add(pod_group("g").min(3));
  for (const char* size : {"4", "5", "6"}) {
    cluster_.add(pod(std::string("g-") + size).group("g").cpu(size));
  }
  EXPECT_EQ(cluster_.plan("g").assignments.size(), 3U);
}

TEST_F(TableCacheTest, BuildsAnewWhenTheSetOfNodesChanges) {
  passes("1");
  cluster_.add(node("n0").cpu("64"));
  EXPECT_EQ(passes("1"), 1);
  EXPECT_EQ(cluster_.placed("1"), "1=n0");
  cluster_.remove(node("n0").cpu("64").build());
  EXPECT_EQ(cluster_.placed("1"), "1=n1");
}

TEST_F(TableCacheTest, RefreshesWhenANodeChanges) {
  passes("1");
  cluster_.update(node("n1").cpu("64").label("x", "y"));
  EXPECT_EQ(passes("1"), 0);
  EXPECT_EQ(cluster_.planner.stats().nodes_refreshed, 1);
}

}  // namespace
}  // namespace gang::engine
