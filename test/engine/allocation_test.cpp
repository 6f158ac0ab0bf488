// Counts heap allocations of a warm decision: none per node.
#include <gtest/gtest.h>

#include "engine/cluster_fixture.h"
#include "engine/counted_new.h"

namespace gang::engine {
namespace {

/// Allocations of one warm decision, after some nodes changed.
std::size_t warm_allocations(int node_count, int minimum) {
  TestCluster cluster;
  for (int i = 0; i < node_count; ++i) cluster.add(test::node("n" + std::to_string(i)).gpu(1));
  cluster.add(test::pod_group("g").min(minimum));
  cluster.add(members("g", minimum, [](test::PodBuilder& pod) { pod.gpu(1); }));
  const cluster::Gang gang = cluster.gang("g");
  for (int round = 0; round < 3; ++round) {
    const std::string name = "n" + std::to_string(round);
    cluster.add(test::pod("f" + std::to_string(round)).on(name).cpu("1"));
    static_cast<void>(cluster.planner.plan(*cluster.state.snapshot(), gang));
  }
  cluster.add(test::pod("last").on("n5").cpu("1"));
  const auto snapshot = cluster.state.snapshot();
  const std::size_t before = test::allocation_count();
  const Decision decision = cluster.planner.plan(*snapshot, gang);
  const std::size_t used = test::allocation_count() - before;
  EXPECT_EQ(std::holds_alternative<Plan>(decision), minimum <= node_count);
  return used;
}

TEST(Allocation, AWarmDecisionAllocatesNothingPerNode) {
  const std::size_t small = warm_allocations(100, 8);
  EXPECT_EQ(warm_allocations(3000, 8), small);
  EXPECT_LE(small, 60U);
}

TEST(Allocation, ARefusalAllocatesNothingPerNode) {
  std::size_t used[2] = {};
  for (int i = 0; i < 2; ++i) {
    TestCluster one;
    for (int n = 0; n < (i == 0 ? 100 : 3000); ++n) {
      one.add(test::node("n" + std::to_string(n)).cpu("1"));
    }
    one.add(test::pod("p").gpu(1));
    const cluster::Gang gang = one.gang("p");
    const auto snapshot = one.state.snapshot();
    static_cast<void>(one.planner.plan(*snapshot, gang));
    const std::size_t before = test::allocation_count();
    const Decision decision = one.planner.plan(*snapshot, gang);
    used[i] = test::allocation_count() - before;
    EXPECT_TRUE(std::holds_alternative<Explanation>(decision));
  }
  EXPECT_EQ(used[0], used[1]);
}

}  // namespace
}  // namespace gang::engine
