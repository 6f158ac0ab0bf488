// Where pods with and without accelerators go once requests were noted, and that it is the same
// whatever the planner did before.
#include "engine/fragments.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "engine/cluster_fixture.h"

namespace gang::engine {
namespace {

using test::node;
using test::pod;

constexpr const char* kMilli = "milli";

/// Nodes with GPUs as an extended resource or as devices that many can use.
class FragmentsTest : public testing::Test {
 protected:
  FragmentsTest() {
    api::DeviceClass gpu;
    gpu.meta.key.name = "gpu";
    gpu.meta.uid.text = "uid-gpu";
    cluster_.add(gpu);
  }

  void add_shared_node(const std::string& name, int devices) {
    cluster_.add(node(name).cpu("64").memory("256Gi"));
    api::ResourceSlice slice = TestCluster::slice_of(name, devices);
    for (api::Device& device : slice.devices) {
      device.allow_multiple_allocations = true;
      device.capacity = {{kMilli, {.value = api::Quantity::from_units(1'000)}}};
    }
    cluster_.add(slice);
  }

  /// A pod, with a claim for so much of each of so many devices.
  static api::Pod claiming(const std::string& name) {
    api::Pod made = pod(name).cpu("4").memory("8Gi").rules({.resource_claims = true}).build();
    made.claims = {{.name = "gpu", .claim_name = name}};
    return made;
  }

  void add_claim(const std::string& name, std::int64_t count, std::int64_t milli) {
    api::ResourceClaim claim;
    claim.meta.key = {"default", name};
    claim.meta.uid.text = "uid-claim-" + name;
    api::DeviceAsk ask{.class_name = "gpu", .count = count};
    ask.capacity = {{kMilli, api::Quantity::from_units(milli)}};
    claim.spec.requests.push_back({.name = "gpu", .exactly = ask});
    cluster_.add(claim);
  }

  void note(const std::string& name) { cluster_.state.note_requests(cluster_.gang(name)); }

  void book(const Plan& plan) {
    cluster_.assume(plan);
    for (const ClaimWrite& write : plan.claims) {
      cluster_.state.assume_allocation(write.claim->meta.uid, *write.allocation);
    }
  }

  /// Notes and plans a lone pod and books the plan; "-" when there is none.
  std::string place(const api::Pod& made) {
    cluster_.add(made);
    note(made.meta.key.name);
    const Decision decision = cluster_.decide(made.meta.key.name);
    const auto* plan = std::get_if<Plan>(&decision);
    if (plan == nullptr) return "-";
    book(*plan);
    return plan->assignments.front().node_name;
  }

  std::string place_share(const std::string& name, std::int64_t milli) {
    add_claim(name, 1, milli);
    return place(claiming(name));
  }

  TestCluster cluster_;
};

TEST_F(FragmentsTest, OneAcceleratorLeavesWholeNodesWhole) {
  cluster_.add(node("a").gpu(8)).add(node("b").gpu(8)).add(pod("old").on("b").gpu(1));
  EXPECT_EQ(place(pod("p").gpu(1).build()), "b");
  EXPECT_EQ(place(pod("whole").gpu(8).build()), "a");
}

TEST_F(FragmentsTest, SmallRequestsGoWhereLargeOnesCannot) {
  // Pods with 4 come often: what is left of b serves no more of them, what is left of a does.
  cluster_.add(node("a").gpu(8)).add(node("b").gpu(8));
  cluster_.add(pod("old-a").on("a").gpu(3)).add(pod("old-b").on("b").gpu(5));
  for (int i = 0; i < 40; ++i) {
    cluster_.add(pod("four-" + std::to_string(i)).gpu(4));
    note("four-" + std::to_string(i));
  }
  EXPECT_EQ(place(pod("one").gpu(1).build()), "b");
  EXPECT_EQ(place(pod("two").gpu(1).build()), "b");
}

TEST_F(FragmentsTest, PlainPodsStayAwayFromEmptyAcceleratorNodes) {
  cluster_.add(node("a").gpu(8).cpu("64")).add(node("b").gpu(8).cpu("64"));
  cluster_.add(node("c").cpu("16")).add(pod("old").on("b").gpu(7).cpu("8"));
  EXPECT_EQ(place(pod("gpu").gpu(1).cpu("1").build()), "b");
  EXPECT_NE(place(pod("plain-0").cpu("4").build()), "a");
  EXPECT_NE(place(pod("plain-1").cpu("4").build()), "a");
}

TEST_F(FragmentsTest, PlainPodsAreSpreadWhereNobodyAskedForAccelerators) {
  cluster_.add(node("a").cpu("16")).add(node("b").cpu("32"));
  EXPECT_EQ(place(pod("plain").cpu("1").build()), "b");
}

TEST_F(FragmentsTest, AcceleratorsThatCannotBeFedAreLeftToThoseWhoNeedNoMore) {
  // Equal but for what is left of cpu: a pod that asks for much of it goes where there is more.
  cluster_.add(node("a").gpu(8).cpu("64")).add(node("b").gpu(8).cpu("64"));
  cluster_.add(pod("old-a").on("a").gpu(4).cpu("48")).add(pod("old-b").on("b").gpu(4).cpu("8"));
  EXPECT_EQ(place(pod("p").gpu(1).cpu("12").build()), "b");
}

TEST_F(FragmentsTest, SharesFillDevicesThatAreInUse) {
  add_shared_node("a", 2);
  add_shared_node("b", 2);
  const std::string first = place_share("p0", 500);
  EXPECT_EQ(place_share("p1", 500), first);
  EXPECT_EQ(place_share("p2", 500), first);
  EXPECT_EQ(place_share("p3", 500), first);
  const std::string other = first == "a" ? "b" : "a";
  EXPECT_EQ(place_share("p4", 600), other);
}

TEST_F(FragmentsTest, NodesWithoutEnoughOfADeviceAreNotTried) {
  add_shared_node("a", 1);
  EXPECT_EQ(place_share("p0", 700), "a");
  EXPECT_EQ(place_share("p1", 400), "-");
  EXPECT_FALSE(cluster_.could_hold("p1"));
  EXPECT_EQ(place_share("p2", 300), "a");
}

TEST_F(FragmentsTest, WeightZeroLeavesThemOut) {
  TestCluster cluster({.weight_accelerator_packing = 0});
  cluster.add(node("a").gpu(8).cpu("64")).add(node("b").cpu("16")).add(pod("p").cpu("1"));
  cluster.add(pod("gpu").gpu(1));
  cluster.state.note_requests(cluster.gang("gpu"));
  EXPECT_EQ(cluster.placed("p"), "p=a");
}

/// Random histories of shares, whole devices, extended resources and plain pods.
class FragmentWorld : public FragmentsTest {
 protected:
  void step(std::mt19937& random) {
    const std::string name = "p" + std::to_string(next_++);
    api::Pod made;
    switch (random() % 4) {
      case 0:
        made = pod(name).cpu(std::to_string(1 + random() % 8)).build();
        break;
      case 1:
        made = pod(name).cpu("2").gpu(1 + static_cast<std::int64_t>(random() % 4)).build();
        break;
      default:
        add_claim(name, random() % 4 == 0 ? 2 : 1, random() % 3 == 0 ? 1'000 : 300);
        made = claiming(name);
    }
    cluster_.add(made);
    note(name);
    const auto snapshot = cluster_.state.snapshot();
    const cluster::Gang gang = cluster_.gang(name);
    const Decision warm = cluster_.planner.plan(*snapshot, gang);
    const Decision cold = Planner(Options{}).plan(*snapshot, gang);
    ASSERT_EQ(warm.index(), cold.index()) << name;
    if (warm.index() != 0) return;
    EXPECT_EQ(std::get<Plan>(warm), std::get<Plan>(cold)) << name;
    book(std::get<Plan>(warm));
    if (random() % 3 == 0) cluster_.remove(made);
    if (random() % 9 == 0) cluster_.update(node("e1").gpu(4 + random() % 4).cpu("32"));
  }

  int next_ = 0;
};

TEST_F(FragmentWorld, WarmAndColdPlannersAgree) {
  for (int i = 0; i < 4; ++i) add_shared_node("s" + std::to_string(i), 1 + i);
  for (int i = 0; i < 3; ++i) cluster_.add(node("e" + std::to_string(i)).gpu(8).cpu("64"));
  cluster_.add(node("plain").cpu("32"));
  std::mt19937 random(7);
  for (int i = 0; i < 150 && !HasFatalFailure(); ++i) step(random);
}

}  // namespace
}  // namespace gang::engine
