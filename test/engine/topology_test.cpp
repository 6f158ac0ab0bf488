// Gangs with a topology constraint: one domain, the tightest, and what is said when none fits.
#include <gtest/gtest.h>

#include "engine/cluster_fixture.h"

namespace gang::engine {
namespace {

using test::node;
using test::pod;
using test::pod_group;

/// Nodes with GPUs in racks.
class TopologyTest : public testing::Test {
 protected:
  void add_node(const std::string& name, const std::string& rack, int gpus = 1) {
    cluster_.add(node(name).label("rack", rack).gpu(gpus));
  }
  void add_gang(const std::string& name, int count, int minimum) {
    cluster_.add(pod_group(name).min(minimum).topology("rack"));
    cluster_.add(members(name, count, [](test::PodBuilder& built) { built.gpu(1); }));
  }
  void take(const std::string& name, const std::string& node_name, int gpus = 1) {
    cluster_.add(pod(name).on(node_name).gpu(gpus));
  }

  TestCluster cluster_;
};

TEST_F(TopologyTest, AGangLandsInOneDomain) {
  for (const char* name : {"n1", "n2", "n3"}) add_node(name, "a");
  for (const char* name : {"n4", "n5", "n6", "n7"}) add_node(name, "b");
  cluster_.add(node("n0").gpu(8));
  add_gang("g", 4, 4);
  EXPECT_EQ(cluster_.placed_by_pod("g"), "g-0=n4 g-1=n5 g-2=n6 g-3=n7");
}

TEST_F(TopologyTest, TheTightestDomainIsCountedInWhatTheGangAsksFor) {
  add_node("n1", "a", 8);
  add_node("n2", "b", 8);
  take("filler", "n2", 6);
  add_gang("g", 2, 2);
  EXPECT_EQ(cluster_.placed("g"), "g-0=n2 g-1=n2");
}

TEST_F(TopologyTest, OfEqualDomainsTheLowerValueIsTaken) {
  add_node("n1", "b");
  add_node("n2", "a");
  add_gang("g", 1, 1);
  EXPECT_EQ(cluster_.placed("g"), "g-0=n2");
}

TEST_F(TopologyTest, MostMembersComeBeforeTheTightestFit) {
  for (const char* name : {"n1", "n2"}) add_node(name, "a");
  for (const char* name : {"n3", "n4", "n5"}) add_node(name, "b");
  add_gang("g", 3, 2);
  EXPECT_EQ(cluster_.placed_by_pod("g"), "g-0=n3 g-1=n4 g-2=n5");
}

TEST_F(TopologyTest, NodesThatTakeNobodyDoNotLoosenADomain) {
  add_node("n1", "a", 2);
  cluster_.add(node("n2").label("rack", "a").gpu(64).unschedulable());
  add_node("n3", "b", 4);
  add_gang("g", 2, 2);
  EXPECT_EQ(cluster_.placed("g"), "g-0=n1 g-1=n1");
}

TEST_F(TopologyTest, SaysHowNearTheBestDomainComes) {
  for (const char* name : {"n1", "n2"}) add_node(name, "a");
  for (const char* name : {"n3", "n4", "n5"}) add_node(name, "b");
  take("filler", "n5");
  add_node("n6", "c");
  add_gang("g", 3, 3);
  const Explanation explanation = cluster_.refused("g");
  EXPECT_EQ(explanation.verdict, Verdict::kImpossibleNow);
  EXPECT_EQ(explanation.message,
            "pod group is unschedulable, 0/3 placements are available, best placement rack=a: "
            "minCount (3) cannot be satisfied: 2 scheduled, 0 remaining; 2 Insufficient "
            "nvidia.com/gpu");
  EXPECT_EQ(explanation.domains, (std::vector<std::string>{
                                     "rack=a: 2 of 3 members fit; 2 Insufficient nvidia.com/gpu",
                                     "rack=b: 2 of 3 members fit; 3 Insufficient nvidia.com/gpu",
                                     "rack=c: 1 of 3 members fit; 1 Insufficient nvidia.com/gpu"}));
  EXPECT_EQ(text_of(explanation, "g-2"), explanation.message);
}

TEST_F(TopologyTest, IsImpossibleOnTheFleetWhereNoEmptiedDomainWouldDo) {
  for (const char* name : {"n1", "n2"}) add_node(name, "a");
  for (const char* name : {"n3", "n4"}) add_node(name, "b");
  add_gang("g", 3, 3);
  EXPECT_EQ(cluster_.refused("g").verdict, Verdict::kImpossibleOnFleet);
}

TEST_F(TopologyTest, SaysWhereNoNodeHasTheLabel) {
  cluster_.add(node("n1").gpu(8));
  add_gang("g", 1, 1);
  const Explanation explanation = cluster_.refused("g");
  EXPECT_EQ(explanation.verdict, Verdict::kImpossibleOnFleet);
  EXPECT_EQ(explanation.message, "no feasible placements found; no node has the label rack");
  EXPECT_FALSE(cluster_.could_hold("g"));
  cluster_.update(node("n1").label("rack", "").gpu(8));
  EXPECT_TRUE(cluster_.could_hold("g"));
  EXPECT_EQ(cluster_.placed("g"), "g-0=n1");
}

TEST_F(TopologyTest, MembersThatRunDecideTheDomain) {
  for (const char* name : {"n1", "n2"}) add_node(name, "a");
  for (const char* name : {"n3", "n4", "n5"}) add_node(name, "b");
  add_gang("g", 2, 2);
  cluster_.add(pod("g-old").group("g").on("n1").gpu(1));
  EXPECT_EQ(cluster_.placed("g"), "g-0=n2");
  take("filler", "n2");
  const Explanation explanation = cluster_.refused("g");
  EXPECT_EQ(explanation.message,
            "pod group is unschedulable, 0/1 placements are available, best placement rack=a: "
            "minCount (2) cannot be satisfied: 1 scheduled, 0 remaining; 2 Insufficient "
            "nvidia.com/gpu; running members hold rack=a");
  EXPECT_EQ(text_of(explanation, "g-0"), "0/2 nodes are available: 2 Insufficient nvidia.com/gpu.");
}

TEST_F(TopologyTest, TerminatingMembersDoNotDecideTheDomain) {
  add_node("n1", "a");
  for (const char* name : {"n3", "n4"}) add_node(name, "b");
  add_gang("g", 2, 2);
  cluster_.add(pod("g-old").group("g").on("n1").gpu(1).deleting());
  EXPECT_EQ(cluster_.placed_by_pod("g"), "g-0=n3 g-1=n4");
}

TEST_F(TopologyTest, AssumedMembersDecideTheDomain) {
  for (const char* name : {"n1", "n2"}) add_node(name, "a");
  for (const char* name : {"n3", "n4", "n5"}) add_node(name, "b");
  add_gang("g", 2, 2);
  cluster_.assume(cluster_.plan("g"));
  cluster_.update(pod_group("g").min(2).topology("rack").condition(
      {.type = std::string(api::kInitiallyScheduled), .status = api::ConditionStatus::kTrue}));
  cluster_.add(pod("g-late").group("g").gpu(1));
  EXPECT_EQ(cluster_.refused("g").message,
            "pod group has its minimum (2): 0/1 placements are available, best placement rack=a: "
            "2 scheduled, 1 more cannot be scheduled; 2 Insufficient nvidia.com/gpu; running "
            "members hold rack=a");
}

TEST_F(TopologyTest, SaysWhichRunningMembersHaveNoDomain) {
  for (const char* name : {"n1", "n2"}) add_node(name, "a");
  add_node("n3", "b", 8);
  add_gang("g", 1, 3);
  cluster_.add(pod("x").group("g").on("n1").gpu(1)).add(pod("y").group("g").on("n3").gpu(1));
  EXPECT_EQ(cluster_.refused("g").message,
            "running members hold more than one domain of rack: a, b");
  cluster_.update(node("n3").gpu(8));
  EXPECT_EQ(cluster_.refused("g").message, "node n3 of member y has no label rack");
  cluster_.remove(node("n3").gpu(8).build());
  EXPECT_EQ(cluster_.refused("g").message, "node n3 of member y does not exist");
  EXPECT_FALSE(cluster_.could_hold("g"));
  add_node("n3", "a", 8);
  EXPECT_TRUE(cluster_.could_hold("g"));
  EXPECT_EQ(cluster_.placed("g"), "g-0=n3");
}

TEST_F(TopologyTest, UnlikeMembersAreSearchedWithinADomain) {
  // In a, both fit alone but not beside each other; only b holds them.
  cluster_.add(node("n1").label("rack", "a").cpu("4"));
  cluster_.add(node("n2").label("rack", "b").cpu("4"));
  cluster_.add(node("n3").label("rack", "b").cpu("3"));
  cluster_.add(pod_group("g").min(2).topology("rack"));
  cluster_.add(pod("big").group("g").cpu("3")).add(pod("small").group("g").cpu("2"));
  EXPECT_EQ(cluster_.placed_by_pod("g"), "big=n2 small=n3");
}

TEST_F(TopologyTest, AMemberThatFitsInAnotherDomainIsNotToldThatItFitsNowhere) {
  cluster_.add(node("n1").label("rack", "a").cpu("4"));
  cluster_.add(node("n2").label("rack", "b").cpu("1").gpu(1));
  cluster_.add(pod_group("g").min(2).topology("rack"));
  cluster_.add(pod("big").group("g").cpu("3")).add(pod("gpu").group("g").cpu("1").gpu(1));
  const Explanation explanation = cluster_.refused("g");
  EXPECT_EQ(text_of(explanation, "gpu"), explanation.message);
  EXPECT_EQ(text_of(explanation, "big"), explanation.message);
}

/// Racks in which bounds allow a gang of three sizes and only an exact search can tell.
void add_puzzle(TestCluster& cluster) {
  for (const std::string rack : {"a", "b", "c"}) {
    for (int i = 0; i < 6; ++i) {
      cluster.add(node(rack + std::to_string(i)).label("rack", rack).cpu(std::to_string(4 + i)));
    }
  }
  cluster.add(pod_group("g").min(9).topology("rack"));
  const char* sizes[] = {"4", "3500m", "5"};
  for (int i = 0; i < 9; ++i) {
    cluster.add(pod("g-" + std::to_string(i)).group("g").cpu(sizes[i / 3]));
  }
}

TEST_F(TopologyTest, DomainsThatWereNotSearchedToTheirEndAreNotCalledImpossible) {
  for (const std::int64_t steps : {0, 5}) {
    TestCluster cluster({.search_steps_max = steps});
    add_puzzle(cluster);
    EXPECT_EQ(cluster.refused("g").verdict, Verdict::kSearchLimitReached);
    EXPECT_EQ(cluster.planner.stats().search_steps, steps);
  }
}

TEST_F(TopologyTest, AllDomainsShareOneLimitAndLeaveSomeForEachOther) {
  TestCluster cluster({.search_steps_max = 5});
  add_puzzle(cluster);
  // The search gives up in a, b and c; in d nothing has to be searched.
  for (int i = 0; i < 9; ++i) {
    cluster.add(node("d" + std::to_string(i)).label("rack", "d").cpu("64"));
  }
  const Plan plan = cluster.plan("g");
  EXPECT_EQ(plan.assignments.size(), 9U);
  EXPECT_EQ(plan.assignments.front().node_name.front(), 'd');
}

TEST_F(TopologyTest, AvoidedNodesDoNotCountForTheirDomain) {
  for (const char* name : {"n1", "n2"}) add_node(name, "a");
  for (const char* name : {"n3", "n4", "n5"}) add_node(name, "b");
  add_gang("g", 2, 2);
  cluster::Gang gang = cluster_.gang("g");
  gang.avoided_nodes = {"n1"};
  const auto plan = std::get<Plan>(cluster_.planner.plan(*cluster_.state.snapshot(), gang));
  EXPECT_EQ(plan.assignments.front().node_name, "n3");
  EXPECT_EQ(cluster_.placed_by_pod("g"), "g-0=n1 g-1=n2");
}

TEST_F(TopologyTest, SumsFollowNodesThatChange) {
  for (const char* name : {"n1", "n2"}) add_node(name, "a");
  for (const char* name : {"n3", "n4", "n5"}) add_node(name, "b");
  add_gang("g", 2, 2);
  EXPECT_EQ(cluster_.placed_by_pod("g"), "g-0=n1 g-1=n2");
  take("filler", "n1");
  EXPECT_EQ(cluster_.placed_by_pod("g"), "g-0=n3 g-1=n4");
  cluster_.update(node("n5").label("rack", "c").gpu(1));
  cluster_.update(node("n3").label("rack", "a").gpu(1));
  EXPECT_EQ(cluster_.placed_by_pod("g"), "g-0=n2 g-1=n3");
  cluster_.remove(pod("filler").on("n1").gpu(1).build());
  EXPECT_EQ(cluster_.placed_by_pod("g"), "g-0=n1 g-1=n2");
}

TEST_F(TopologyTest, DevicesAreFoundWithinADomain) {
  api::DeviceClass device_class;
  device_class.meta.key.name = "gpu";
  cluster_.add(device_class);
  const std::pair<const char*, int> nodes[] = {{"n1", 1}, {"n2", 2}, {"n3", 2}, {"n4", 4}};
  for (const auto& [name, devices] : nodes) {
    cluster_.add_device_node(name, devices);
    const char* rack = std::string(name) == "n4" ? "b" : "a";
    cluster_.update(node(name).cpu("16").label("rack", rack));
  }
  cluster_.add(pod_group("g").min(2).topology("rack"));
  for (int i = 0; i < 2; ++i) {
    const std::string name = "p" + std::to_string(i);
    api::ResourceClaim claim;
    claim.meta.key = {"default", name};
    claim.meta.uid.text = "uid-" + name;
    claim.spec.requests = {{.name = "r", .exactly = api::DeviceAsk{.class_name = "gpu"}}};
    claim.spec.requests[0].exactly->count = 2;
    api::Pod built = pod(name).group("g").cpu("1").rules({.resource_claims = true}).build();
    built.claims = {{.name = "c", .claim_name = name}};
    cluster_.add(claim).add(built);
  }
  EXPECT_EQ(cluster_.placed_by_pod("g"), "p0=n4 p1=n4");
}

}  // namespace
}  // namespace gang::engine
