#include "engine/capacity_table.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "engine/cluster_fixture.h"

namespace gang::engine {
namespace {

using test::node;
using test::pod;

/// A table of the lone pod "p" over a cluster that changes.
class CapacityTableTest : public testing::Test {
 protected:
  void build(const api::Object& wanted) {
    cluster_.add(wanted);
    snapshot_ = cluster_.state.snapshot();
    table_.emplace(ClassRules(cluster_.gang("p").classes.front(), {}, snapshot_->resources()),
                   Options{});
    table_->build(*snapshot_);
  }

  /// Refreshes what changed since the last snapshot and compares with a table built anew.
  void refresh() {
    snapshot_ = cluster_.state.snapshot();
    std::vector<cluster::NodeIndex> changed;
    snapshot_->changed_since(table_->generation(), changed);
    std::vector<std::uint32_t> ranks;
    for (std::uint32_t rank = 0; rank < table_->size(); ++rank) {
      const cluster::NodeIndex at = snapshot_->by_name()[rank];
      if (std::ranges::find(changed, at) != changed.end()) ranks.push_back(rank);
    }
    table_->refresh(*snapshot_, ranks);
    CapacityTable fresh(ClassRules(table_->rules()), Options{});
    fresh.build(*snapshot_);
    for (std::uint32_t rank = 0; rank < table_->size(); ++rank) {
      EXPECT_EQ(table_->entry(rank), fresh.entry(rank)) << rank;
    }
    EXPECT_EQ(table_->capacity_sum(), fresh.capacity_sum());
    EXPECT_EQ(table_->fleet_sum(), fresh.fleet_sum());
    EXPECT_EQ(table_->best(), fresh.best());
    for (std::size_t line = 0; line < 64; ++line) {
      EXPECT_EQ(table_->node_count(line), fresh.node_count(line)) << line;
    }
  }

  TestCluster cluster_;
  std::shared_ptr<const cluster::Snapshot> snapshot_;
  std::optional<CapacityTable> table_;
};

TEST_F(CapacityTableTest, CountsMembersPerNodeAndInAll) {
  cluster_.add(node("n1").gpu(8)).add(node("n2").gpu(3)).add(node("n3"));
  cluster_.add(pod("old").on("n1").gpu(1));
  build(pod("p").gpu(2));
  EXPECT_EQ(table_->entry(0).capacity, 3);
  EXPECT_EQ(table_->entry(1).capacity, 1);
  EXPECT_EQ(table_->entry(2).capacity, 0);
  EXPECT_EQ(table_->capacity_sum(), 4);
  EXPECT_EQ(table_->fleet_sum(), 5);
  EXPECT_EQ(table_->best(), 0U);
}

TEST_F(CapacityTableTest, HoldsAtMostOneMemberWithHostPortsPerNode) {
  cluster_.add(node("n1")).add(node("n2")).add(pod("old").on("n2").host_port(80));
  build(pod("p").host_port(80));
  EXPECT_EQ(table_->capacity_sum(), 1);
  EXPECT_EQ(table_->fleet_sum(), 2);
}

TEST_F(CapacityTableTest, EqualsATableBuiltAnewAfterEveryKindOfChange) {
  for (const char* name : {"n1", "n2", "n3"}) cluster_.add(node(name).gpu(8));
  build(pod("p").gpu(1).cpu("1").prefers(
      5, {.expressions = {{.key = "zone", .op = "Exists", .values = {}}}}));
  cluster_.add(pod("a").on("n1").gpu(3));
  refresh();
  cluster_.update(node("n2").gpu(8).taint("x"));
  refresh();
  cluster_.update(node("n3").gpu(8).label("zone", "z"));
  refresh();
  cluster_.update(node("n2").gpu(4).taint("x", "", api::TaintEffect::kPreferNoSchedule));
  refresh();
  cluster_.update(node("n3").gpu(8).unschedulable());
  refresh();
  cluster_.remove(pod("a").on("n1").gpu(3).build());
  refresh();
  cluster_.update(node("n1").cpu("0").gpu(8));
  refresh();
}

TEST_F(CapacityTableTest, CountsANodeUnderTheLinesThatStopTheNextMember) {
  cluster_.add(node("n1").cpu("4").memory("4Gi")).add(node("n2").cpu("2").memory("8Gi"));
  cluster_.add(node("n3").taint("x"));
  build(pod("p").cpu("1").memory("1Gi"));
  const auto count_of = [this](const std::string& text) {
    const std::vector<ReasonLine>& lines = table_->rules().lines;
    for (std::size_t i = 0; i < lines.size(); ++i) {
      if (lines[i].text == text) return table_->node_count(i);
    }
    return -1;
  };
  EXPECT_EQ(count_of("Insufficient cpu"), 2);
  EXPECT_EQ(count_of("Insufficient memory"), 1);
  EXPECT_EQ(count_of("Too many pods"), 0);
  EXPECT_EQ(count_of("node(s) had untolerated taint(s)"), 1);
}

}  // namespace
}  // namespace gang::engine
