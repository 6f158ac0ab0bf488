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

/// Allocations of one warm decision about members with a claim for two devices each, after devices
/// of some nodes were taken and given back.
std::size_t warm_device_allocations(int node_count, int members) {
  TestCluster cluster;
  api::DeviceClass device_class;
  device_class.meta.key.name = "gpu";
  cluster.add(device_class);
  for (int i = 0; i < node_count; ++i) cluster.add_device_node("n" + std::to_string(i), 2);
  cluster.add(test::pod_group("g").min(members));
  for (int i = 0; i < members; ++i) {
    const std::string name = "p" + std::to_string(i);
    api::ResourceClaim claim;
    claim.meta.key = {"default", name};
    claim.meta.uid.text = "uid-" + name;
    claim.spec.requests = {{.name = "r", .exactly = api::DeviceAsk{.class_name = "gpu"}}};
    claim.spec.requests[0].exactly->count = 2;
    api::Pod pod = test::pod(name).group("g").cpu("1").rules({.resource_claims = true}).build();
    pod.claims = {{.name = "c", .claim_name = name}};
    cluster.add(claim).add(pod);
  }
  const cluster::Gang gang = cluster.gang("g");
  const Plan first = std::get<Plan>(cluster.planner.plan(*cluster.state.snapshot(), gang));
  const ClaimWrite& write = first.claims.front();
  cluster.state.assume_allocation(write.claim->meta.uid, *write.allocation);
  static_cast<void>(cluster.planner.plan(*cluster.state.snapshot(), gang));
  cluster.state.forget_allocation(write.claim->meta.uid);
  const auto snapshot = cluster.state.snapshot();
  const std::size_t before = test::allocation_count();
  const Decision decision = cluster.planner.plan(*snapshot, gang);
  const std::size_t used = test::allocation_count() - before;
  EXPECT_TRUE(std::holds_alternative<Plan>(decision));
  return used;
}

TEST(Allocation, AWarmDecisionOverDevicesAllocatesNothingPerNode) {
  const std::size_t small = warm_device_allocations(100, 8);
  EXPECT_EQ(warm_device_allocations(3000, 8), small);
  EXPECT_LE(small, 300U);
}

}  // namespace
}  // namespace gang::engine
