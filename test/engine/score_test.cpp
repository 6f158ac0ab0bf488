// Rows J01 to J10 of the conformance table of the scheduling contract, and accelerator packing.
#include "engine/score.h"

#include <gtest/gtest.h>

#include "engine/cluster_fixture.h"

namespace gang::engine {
namespace {

using test::node;
using test::pod;
using test::PodBuilder;

/// The score of a term for a pod on n1, which holds `running`.
std::int32_t score_of(const UsageTerm& term, const PodBuilder& wanted,
                      const std::vector<PodBuilder>& running,
                      const test::NodeBuilder& n1 = node("n1")) {
  TestCluster cluster;
  cluster.add(n1);
  for (const PodBuilder& one : running) cluster.add(PodBuilder(one).on("n1"));
  cluster.add(wanted);
  const auto snapshot = cluster.state.snapshot();
  const ClassRules rules(cluster.gang(wanted.build().meta.key.name).classes.front(), Options{},
                         snapshot->resources());
  return term.score(rules, NodeUse(*snapshot, snapshot->by_name().front(), nullptr));
}

PodBuilder used(const char* cpu, const char* memory) {
  return pod("u").cpu(cpu).memory(memory);
}

TEST(Score, J01J02LeastAllocatedPrefersTheEmptierNode) {
  EXPECT_EQ(score_of(kLeastAllocated, pod("p").cpu("500m").memory("1Gi"), {used("1", "2Gi")}), 62);
  EXPECT_EQ(score_of(kLeastAllocated, pod("p"), {}), 97);
}

TEST(Score, LeastAllocatedLeavesOutWhatTheNodeDoesNotOffer) {
  EXPECT_EQ(score_of(kLeastAllocated, pod("p").cpu("1"), {}, node("n1").memory("0")), 75);
  EXPECT_EQ(score_of(kLeastAllocated, pod("p").cpu("1"), {}, node("n1").memory("0").cpu("0")), 0);
}

TEST(Score, LeastAllocatedIsZeroPerResourceThatIsOverused) {
  EXPECT_EQ(score_of(kLeastAllocated, pod("p").cpu("1").memory("4Gi"), {used("5", "0")}), 25);
}

TEST(Score, J03ToJ05BalancedAllocationWeighsCpuAgainstMemory) {
  EXPECT_EQ(score_of(kBalancedAllocation, pod("p").cpu("1"), {used("1", "2Gi")}), 68);
  EXPECT_EQ(score_of(kBalancedAllocation, pod("p").cpu("1").memory("2Gi"), {used("1", "2Gi")}), 75);
  EXPECT_EQ(score_of(kBalancedAllocation, pod("p").memory("2Gi"), {used("2", "2Gi")}), 81);
}

TEST(Score, J06BalancedAllocationIsSkippedWithoutCpuAndMemory) {
  TestCluster cluster;
  cluster.add(node("n1").gpu(1)).add(pod("none")).add(pod("cpu").cpu("1"));
  const auto snapshot = cluster.state.snapshot();
  const auto names_of = [&](const char* pod_name) {
    const ClassRules rules(cluster.gang(pod_name).classes.front(), Options{},
                           snapshot->resources());
    std::vector<std::string> names;
    for (const WeightedTerm& one : weighted_terms(rules, Options{})) {
      names.emplace_back(one.term->name);
    }
    return names;
  };
  EXPECT_EQ(names_of("none"), (std::vector<std::string>{"LeastAllocated"}));
  EXPECT_EQ(names_of("cpu"), (std::vector<std::string>{"LeastAllocated", "BalancedAllocation"}));
  cluster.add(pod("gpu").cpu("1").gpu(1));
  EXPECT_EQ(names_of("gpu"), (std::vector<std::string>{"AcceleratorPacking"}));
}

TEST(Score, BalancedAllocationSurvivesVeryLargeNodes) {
  const test::NodeBuilder big = node("n1").cpu("9000000").memory("8Ei");
  EXPECT_EQ(score_of(kBalancedAllocation, pod("p").cpu("9000000"), {}, big), 50 + (50 - 50) / 2);
}

TEST(Score, J09UntoleratedPreferencesCountDown) {
  EXPECT_EQ(kTaintPreference.normalise(0, 2), 100);
  EXPECT_EQ(kTaintPreference.normalise(1, 2), 50);
  EXPECT_EQ(kTaintPreference.normalise(2, 2), 0);
  EXPECT_EQ(kTaintPreference.normalise(0, 0), 100);
  EXPECT_EQ(Options{}.weight_taint_preference, 3);
}

TEST(Score, J10PreferredTermsCountUp) {
  EXPECT_EQ(kNodePreference.normalise(10, 30), 33);
  EXPECT_EQ(kNodePreference.normalise(30, 30), 100);
  EXPECT_EQ(kNodePreference.normalise(0, 30), 0);
  EXPECT_EQ(kNodePreference.normalise(0, 0), 0);
  EXPECT_EQ(Options{}.weight_node_affinity, 2);
}

TEST(Score, AvoidsNodesWithPreferNoSchedule) {
  TestCluster cluster;
  cluster.add(node("n1").taint("old", "", api::TaintEffect::kPreferNoSchedule)).add(node("n2"));
  cluster.add(pod("p").cpu("1"));
  EXPECT_EQ(cluster.placed("p"), "p=n2");
}

TEST(Score, FollowsPreferredTermsByTheirWeights) {
  const auto zone = [](const char* value) {
    return api::NodeSelectorTerm{.expressions = {{.key = "zone", .op = "In", .values = {value}}}};
  };
  TestCluster cluster;
  cluster.add(node("n1").label("zone", "a")).add(node("n2").label("zone", "b"));
  cluster.add(pod("p").cpu("1").prefers(10, zone("a")).prefers(30, zone("b")).prefers(50, {}));
  EXPECT_EQ(cluster.placed("p"), "p=n2");
}

/// 16 gpus: a node with 4 used, one with 2 used, an empty one of 8 and one of 4.
TEST(Score, PacksAcceleratorsOnPartlyUsedNodesThenTheTightestEmptyOne) {
  TestCluster cluster;
  cluster.add(node("a").gpu(8)).add(node("b").gpu(8)).add(node("c").gpu(8)).add(node("d").gpu(4));
  cluster.add(pod("u1").on("b").gpu(2)).add(pod("u2").on("c").gpu(4));
  cluster.add(test::pod_group("g").min(4));
  cluster.add(members("g", 4, [](PodBuilder& pod) { pod.gpu(4); }));
  EXPECT_EQ(cluster.placed("g"), "g-0=c g-1=b g-2=d g-3=a");
}

TEST(Score, SpreadsPlainPods) {
  TestCluster cluster;
  cluster.add(node("n1")).add(node("n2")).add(node("n3"));
  cluster.add(test::pod_group("g").min(3));
  cluster.add(members("g", 3, [](PodBuilder& pod) { pod.cpu("1").memory("1Gi"); }));
  EXPECT_EQ(cluster.placed("g"), "g-0=n1 g-1=n2 g-2=n3");
}

TEST(Score, PacksOnlyTheAcceleratorsOfTheOption) {
  TestCluster cluster({.accelerators = {"example.com/tpu"}});
  cluster.add(node("n1").gpu(8)).add(node("n2").gpu(8));
  cluster.add(pod("old").on("n2").gpu(4).cpu("1"));
  cluster.add(pod("p").gpu(1).cpu("1"));
  EXPECT_EQ(cluster.placed("p"), "p=n1");
}

}  // namespace
}  // namespace gang::engine
