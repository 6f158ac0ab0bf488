// Claims behind extended resources: their requests and mappings, and gangs that are planned with
// them.
#include "engine/extended_claims.h"

#include <gtest/gtest.h>

#include "engine/cluster_fixture.h"

namespace gang::engine {
namespace {

using test::node;
using test::pod;
using test::pod_group;

constexpr const char* kImplicit = "deviceclass.resource.kubernetes.io/gpu";

/// Requests and mappings as text: "container-0-request-1=2; main -> container-0-request-1".
std::string text_of(const std::vector<api::DeviceRequest>& requests,
                    const std::vector<api::ExtendedRequestMapping>& mappings) {
  std::string text;
  for (const api::DeviceRequest& request : requests) {
    text += (text.empty() ? "" : " ") + request.name + "=" + std::to_string(request.exactly->count);
  }
  text += ";";
  for (const auto& mapping : mappings) {
    text += " " + mapping.container_name + "->" + mapping.request_name;
  }
  return text;
}

/// Nodes, the class "gpu" for nvidia.com/gpu, and a planner that plans both.
class ExtendedClaimsTest : public testing::Test {
 protected:
  ExtendedClaimsTest() { cluster_.add(class_named("gpu", test::kGpu)); }

  static api::DeviceClass class_named(const std::string& name, const std::string& resource,
                                      std::int64_t created = 0) {
    api::DeviceClass device_class;
    device_class.meta.key.name = name;
    device_class.meta.uid.text = "uid-" + name;
    device_class.meta.creation_time = test::at_second(created);
    device_class.extended_resource_name = resource;
    return device_class;
  }

  void add_gang(int count, const Shape& shape) {
    cluster_.add(pod_group("g").min(count)).add(members("g", count, shape));
  }

  static std::string text_of_creations(const Plan& plan) {
    std::string text;
    for (const ClaimCreation& one : plan.new_claims) {
      text += (text.empty() ? "" : "; ") + one.generate_name + ":";
      for (const api::DeviceResult& result : one.allocation.results) {
        text += " " + result.request + "=" + result.pool + "/" + result.device;
      }
    }
    return text;
  }

  /// Requests and mappings of a lone pod "p" on a node with many devices.
  std::string claim_of(const test::PodBuilder& p) {
    cluster_.add_device_node("n1", 30);
    cluster_.add(p);
    const Plan plan = cluster_.plan("p");
    if (plan.new_claims.size() != 1) return "no claim";
    return text_of(plan.new_claims[0].requests, plan.new_claims[0].mappings);
  }

  TestCluster cluster_;
};

TEST_F(ExtendedClaimsTest, NodesWithAPluginAndNodesWithDevicesServeOneGang) {
  cluster_.add(node("n1").cpu("16").gpu(1));
  cluster_.add_device_node("n2", 1);
  add_gang(2, [](auto& p) { p.cpu("1").memory("1Gi").gpu(1); });
  const Plan plan = cluster_.plan("g");
  EXPECT_EQ(cluster_.placed_by_pod("g"), "g-0=n1 g-1=n2");
  ASSERT_EQ(plan.new_claims.size(), 1u) << "the pod on n1 has no claim";
  EXPECT_EQ(text_of_creations(plan), "g-1-extended-resources-: container-0-request-2=n2/g0");
  EXPECT_EQ(plan.new_claims[0].pod.name, "g-1");
  EXPECT_EQ(plan.new_claims[0].pod_uid.text, "uid-default-g-1");
  const std::vector<api::ExtendedRequestMapping> mapping{
      {"main", "nvidia.com/gpu", "container-0-request-2"}};
  EXPECT_EQ(plan.new_claims[0].mappings, mapping);
  EXPECT_TRUE(plan.claims.empty());
}

TEST_F(ExtendedClaimsTest, ThirdPodIsToldOfBothSources) {
  cluster_.add(node("n1").cpu("16").gpu(1));
  cluster_.add_device_node("n2", 1);
  add_gang(3, [](auto& p) { p.gpu(1); });
  const Explanation told = cluster_.refused("g");
  EXPECT_EQ(told.scheduled, 2);
  EXPECT_NE(told.message.find("1 Insufficient nvidia.com/gpu, 1 cannot allocate all claims"),
            std::string::npos)
      << told.message;
  EXPECT_NE(told.message.find("device class gpu: 1 free of 1; needed 3"), std::string::npos)
      << told.message;
  EXPECT_FALSE(cluster_.could_hold("g"));
  cluster_.add_device_node("n3", 1);
  EXPECT_TRUE(cluster_.could_hold("g"));
  EXPECT_EQ(cluster_.placed_by_pod("g"), "g-0=n1 g-1=n2 g-2=n3");
}

TEST_F(ExtendedClaimsTest, NameOfTheClassItselfIsServedToo) {
  cluster_.add_device_node("n1", 2);
  cluster_.add(pod("p0").request(kImplicit, "1")).add(pod("p1").gpu(1));
  const Plan first = cluster_.plan("p0");
  EXPECT_EQ(text_of_creations(first), "p0-extended-resources-: container-0-request-0=n1/g0");
  EXPECT_EQ(text_of_creations(cluster_.plan("p1")),
            "p1-extended-resources-: container-0-request-0=n1/g0");
}

TEST_F(ExtendedClaimsTest, WithoutAClassTheNodeDoesNotFit) {
  cluster_.add_device_node("n1", 1);
  cluster_.remove(class_named("gpu", test::kGpu));
  cluster_.add(pod("p").gpu(1));
  EXPECT_EQ(cluster_.refused("p").message,
            "0/1 nodes are available: 1 Insufficient nvidia.com/gpu.");
  cluster_.add(class_named("late", test::kGpu));
  EXPECT_EQ(cluster_.placed("p"), "p=n1") << "the tables follow the classes";
}

TEST_F(ExtendedClaimsTest, PodThatNamesAClaimGoesOnlyWhereAnotherOneIsMadeForIt) {
  cluster_.add(node("n1").cpu("16").gpu(1));
  api::Pod named = pod("p").gpu(1).build();
  named.extended_claim = api::ExtendedClaimStatus{"gone", {{"main", test::kGpu, "r"}}};
  cluster_.add(named);
  const Explanation told = cluster_.refused("p");
  EXPECT_NE(told.message.find("1 node(s) serve the pod's extended resources without a claim, and "
                              "its status names one"),
            std::string::npos)
      << told.message;
  EXPECT_FALSE(cluster_.could_hold("p"));
  cluster_.add_device_node("n2", 1);
  const Plan plan = cluster_.plan("p");
  EXPECT_EQ(text_of_creations(plan), "p-extended-resources-: container-0-request-0=n2/g0");
  cluster_.add(pod("p").gpu(1).version(99'999));
  EXPECT_EQ(cluster_.placed("p"), "p=n1");
}

/// Of two resources one is enough: the status is replaced as a whole.
TEST_F(ExtendedClaimsTest, PodThatNamesAClaimMayHavePartOfItsResourcesFromAPlugin) {
  cluster_.add(class_named("nic", "example.com/nic"));
  cluster_.add_device_node("n1", 1).add(node("n2").cpu("16").offers("example.com/nic", "1"));
  api::Pod named = pod("p").gpu(1).request("example.com/nic", "1").build();
  named.extended_claim = api::ExtendedClaimStatus{"gone", {{"main", test::kGpu, "r"}}};
  cluster_.add(named);
  EXPECT_EQ(cluster_.refused("p").scheduled, 0) << "n1 has one device for two resources, n2 none";
  cluster_.update(node("n1").version(99'999).cpu("16").offers("example.com/nic", "1"));
  EXPECT_EQ(text_of_creations(cluster_.plan("p")),
            "p-extended-resources-: container-0-request-1=n1/g0");
}

TEST_F(ExtendedClaimsTest, PodsOwnClaimsComeFirstAndTakeNoDeviceTwice) {
  cluster_.add_device_node("n1", 2);
  api::ResourceClaim claim;
  claim.meta.key = {"default", "own"};
  claim.meta.uid.text = "uid-own";
  claim.spec.requests.push_back({.name = "r", .exactly = api::DeviceAsk{.class_name = "gpu"}});
  cluster_.add(claim);
  api::Pod both = pod("p").gpu(1).rules({.resource_claims = true}).build();
  both.claims = {{.name = "gpu", .claim_name = "own"}};
  cluster_.add(both);
  const Plan plan = cluster_.plan("p");
  ASSERT_EQ(plan.claims.size(), 1u);
  EXPECT_EQ(plan.claims[0].allocation->results[0].device, "g0");
  EXPECT_EQ(text_of_creations(plan), "p-extended-resources-: container-0-request-0=n1/g1");
}

TEST_F(ExtendedClaimsTest, EveryLongRunningContainerHasItsRequest) {
  EXPECT_EQ(claim_of(pod("p").gpu(2).sidecar("s", {{test::kGpu, "1"}}).container("z", {})),
            "container-0-request-0=1 container-1-request-0=2; "
            "s->container-0-request-0 main->container-1-request-0");
}

TEST_F(ExtendedClaimsTest, InitContainerUsesLaterRequestsAgain) {
  EXPECT_EQ(
      claim_of(pod("p").gpu(2).container("b", {{test::kGpu, "2"}}).init("i", {{test::kGpu, "3"}})),
      "container-1-request-0=2 container-2-request-0=2; "
      "main->container-1-request-0 b->container-2-request-0 "
      "i->container-1-request-0 i->container-2-request-0");
}

TEST_F(ExtendedClaimsTest, OnlyTheLargestRestOfInitContainersIsAskedFor) {
  EXPECT_EQ(claim_of(pod("p")
                         .gpu(1)
                         .sidecar("s", {{test::kGpu, "5"}})
                         .init("i1", {{test::kGpu, "3"}})
                         .init("i2", {{"cpu", "1"}, {test::kGpu, "4"}})),
            "container-0-request-0=5 container-2-request-1=3 container-3-request-0=1; "
            "s->container-0-request-0 main->container-3-request-0 "
            "i1->container-3-request-0 i1->container-2-request-1 "
            "i2->container-3-request-0 i2->container-2-request-1");
}

TEST_F(ExtendedClaimsTest, RequestsAreSortedByNameAsBytes) {
  test::PodBuilder p = pod("p").gpu(1);
  for (int i = 1; i <= 10; ++i) p.container("c" + std::to_string(i), {{test::kGpu, "1"}});
  EXPECT_EQ(claim_of(p).substr(0, 69),
            "container-0-request-0=1 container-1-request-0=1 container-10-request-");
}

TEST(ExtendedClaim, MappingsGoByResourceThenContainer) {
  const std::vector<cluster::ContainerAsk> asks = {
      {.container = 0, .position = 0, .container_name = "a", .resource = {5}, .count = 1},
      {.container = 0, .position = 1, .container_name = "a", .resource = {4}, .count = 2},
      {.container = 1, .position = 0, .container_name = "b", .resource = {5}, .count = 1}};
  const ExtendedClaim made =
      extended_claim_of(asks, {{.resource = {5}, .name = "x/a", .class_name = "one"},
                               {.resource = {4}, .name = "x/b", .class_name = "two"}});
  EXPECT_EQ(text_of(made.claim.spec.requests, made.mappings),
            "container-0-request-0=1 container-0-request-1=2 container-1-request-0=1; "
            "a->container-0-request-0 b->container-1-request-0 a->container-0-request-1");
  EXPECT_EQ(made.claim.spec.requests[1].exactly->class_name, "two");
}

}  // namespace
}  // namespace gang::engine
