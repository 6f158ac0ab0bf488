// Gangs with claims through the planner: plans with what is written to claims, and refusals in
// words.
#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "engine/cluster_fixture.h"

namespace gang::engine {
namespace {

using test::node;
using test::pod;
using test::pod_group;

/// Nodes n1 ... with two devices each, a class "gpu", and claims as templates would make them.
class PlannerDevicesTest : public testing::Test {
 protected:
  PlannerDevicesTest() {
    api::DeviceClass device_class;
    device_class.meta.key.name = "gpu";
    device_class.meta.uid.text = "uid-class";
    cluster_.add(device_class);
  }

  void add_node(const std::string& name, int devices = 2) {
    cluster_.add_device_node(name, devices);
  }

  void add_node_of(const std::string& name, std::vector<api::Device> devices) {
    cluster_.add(node(name).cpu("16"));
    api::ResourceSlice slice;
    slice.meta.key.name = name + "-d";
    slice.meta.uid.text = "uid-" + slice.meta.key.name;
    slice.driver = "d";
    slice.pool = name;
    slice.pool_slice_count = 1;
    slice.place.node_name = name;
    slice.devices = std::move(devices);
    cluster_.add(slice);
  }

  static api::ResourceClaim claim_named(const std::string& name, std::int64_t count = 1) {
    api::ResourceClaim claim;
    claim.meta.key = {"default", name};
    claim.meta.uid.text = "uid-" + name;
    claim.spec.requests.push_back(
        {.name = "gpu", .exactly = api::DeviceAsk{.class_name = "gpu", .count = count}});
    return claim;
  }

  /// A pod of group g that names a claim, or of no group.
  void add_pod(const std::string& name, const std::string& claim, const std::string& group = "g") {
    auto builder = pod(name).cpu("1").rules({.resource_claims = true});
    if (!group.empty()) builder.group(group);
    api::Pod made = builder.build();
    made.claims = {{.name = "gpu", .claim_name = claim}};
    cluster_.add(made);
  }

  void add_gang(int count) {
    cluster_.add(pod_group("g").min(count));
    for (int i = 0; i < count; ++i) {
      const std::string name = "p" + std::to_string(i);
      cluster_.add(claim_named(name + "-gpu"));
      add_pod(name, name + "-gpu");
    }
  }

  static std::string text_of(const Plan& plan) {
    std::string text;
    for (const ClaimWrite& write : plan.claims) {
      text += (text.empty() ? "" : "; ") + write.claim->meta.key.name + ":";
      if (write.allocation) {
        for (const api::DeviceResult& result : write.allocation->results) {
          text += " " + result.pool + "/" + result.device;
        }
      }
      for (const api::ClaimConsumer& consumer : write.consumers) {
        text += " for " + consumer.resource + "/" + consumer.name;
      }
    }
    return text;
  }

  TestCluster cluster_;
};

TEST_F(PlannerDevicesTest, PlanSaysWhichDevicesEachClaimGetsAndForWhom) {
  add_node("n1");
  add_node("n2");
  add_gang(3);
  EXPECT_EQ(cluster_.placed_by_pod("g"), "p0=n1 p1=n1 p2=n2");
  EXPECT_EQ(text_of(cluster_.plan("g")),
            "p0-gpu: n1/g0 for pods/p0; p1-gpu: n1/g1 for pods/p1; p2-gpu: n2/g0 for pods/p2");
}

TEST_F(PlannerDevicesTest, RefusalCountsDevicesInWords) {
  add_node("n1");
  api::ResourceClaim held = claim_named("held");
  held.allocation.emplace();
  held.allocation->results.push_back(
      {.request = "gpu", .driver = "d", .pool = "n1", .device = "g0"});
  cluster_.add(held);
  add_gang(2);
  const Explanation told = cluster_.refused("g");
  EXPECT_EQ(told.verdict, Verdict::kImpossibleNow);
  EXPECT_EQ(told.scheduled, 1);
  EXPECT_EQ(told.message,
            "pod group is unschedulable, minCount (2) cannot be satisfied: 1 scheduled, 0 "
            "remaining; 1 cannot allocate all claims; device class gpu: 1 free of 2; 1 allocated; "
            "needed 2");
  EXPECT_FALSE(cluster_.could_hold("g"));
  cluster_.remove(held);
  EXPECT_TRUE(cluster_.could_hold("g"));
  EXPECT_EQ(cluster_.placed_by_pod("g"), "p0=n1 p1=n1");
}

/// The claim, holding a device that only its node can use.
api::ResourceClaim holding(api::ResourceClaim claim, const std::string& node_name) {
  claim.allocation.emplace();
  claim.allocation->results.push_back(
      {.request = "gpu", .driver = "d", .pool = node_name, .device = "g0"});
  claim.allocation->node_selector.emplace();
  claim.allocation->node_selector->terms.emplace_back().fields = {
      {"metadata.name", "In", {node_name}}};
  return claim;
}

TEST_F(PlannerDevicesTest, AClaimWhoseDevicesNoNodeCanUseIsNamed) {
  add_node("n1");
  cluster_.add(holding(claim_named("c"), "n0"));
  add_pod("lone", "c", "");
  EXPECT_EQ(cluster_.refused("lone").message,
            "0/1 nodes are available: 1 cannot allocate all claims. claim default/c holds "
            "d/n0/g0, usable on no node that takes the pods (n0: no such node)");
  cluster_.add_device_node("n0", 1);
  EXPECT_EQ(cluster_.placed_by_pod("lone"), "lone=n0");
  cluster_.update(node("n0").cpu("16").unschedulable());
  EXPECT_EQ(cluster_.refused("lone").message,
            "0/2 nodes are available: 1 cannot allocate all claims, 1 node(s) were unschedulable. "
            "claim default/c holds d/n0/g0, usable on no node that takes the pods (n0: node(s) "
            "were unschedulable)");
}

TEST_F(PlannerDevicesTest, ClaimsThatKeepEachOtherApartAreNamed) {
  add_node("n1");
  add_node("n2");
  cluster_.add(holding(claim_named("c"), "n1"));
  cluster_.add(holding(claim_named("e"), "n2"));
  api::Pod made = pod("lone").cpu("1").rules({.resource_claims = true}).build();
  made.claims = {{.name = "one", .claim_name = "c"}, {.name = "two", .claim_name = "e"}};
  cluster_.add(made);
  EXPECT_EQ(cluster_.refused("lone").message,
            "0/2 nodes are available: 2 cannot allocate all claims. claim default/c holds "
            "d/n1/g0, claim default/e holds d/n2/g0, which no node that takes the pods can use "
            "together");
}

TEST_F(PlannerDevicesTest, TooFewDevicesOnTheFleetAreToldAsSuch) {
  add_node("n1");
  add_gang(3);
  EXPECT_EQ(cluster_.refused("g").verdict, Verdict::kImpossibleOnFleet);
}

TEST_F(PlannerDevicesTest, TooFewDevicesForOneOfTwoKindsAreToldAsSuch) {
  add_node("n1", 3);
  cluster_.add(pod_group("g").min(3));
  for (const char* name : {"a", "b"}) cluster_.add(claim_named(name, 2));
  add_pod("p0", "a");
  add_pod("p1", "b");
  cluster_.add(claim_named("one"));
  add_pod("p2", "one");
  EXPECT_EQ(cluster_.refused("g").verdict, Verdict::kImpossibleOnFleet);
  // One of the large ones is enough now, and the other may be left out.
  cluster_.update(pod_group("g").min(2).version(99).build());
  EXPECT_EQ(cluster_.placed_by_pod("g"), "p0=n1 p2=n1");
}

TEST_F(PlannerDevicesTest, OfAKindThatMayBeLeftOutNothingIsProved) {
  add_node("n1", 2);
  cluster_.add(pod_group("g").min(2)).add(claim_named("a", 3));
  add_pod("p0", "a");
  for (const char* name : {"b", "c"}) {
    cluster_.add(claim_named(name));
    add_pod(std::string("p-") + name, name);
  }
  api::ResourceClaim held = claim_named("held");
  held.allocation.emplace();
  held.allocation->results.push_back(
      {.request = "gpu", .driver = "d", .pool = "n1", .device = "g0"});
  cluster_.add(held);
  EXPECT_EQ(cluster_.refused("g").verdict, Verdict::kImpossibleNow);
}

TEST_F(PlannerDevicesTest, WhoLooksOnNeedsNoDeviceForEachMember) {
  add_node("n1", 1);
  cluster_.add(pod("other").cpu("8").on("n1"));
  api::Namespace space;
  space.meta.key.name = "default";
  space.meta.labels = {{"resource.kubernetes.io/admin-access", "true"}};
  cluster_.add(space);
  cluster_.add(pod_group("g").min(2));
  for (const char* name : {"a", "b"}) {
    api::ResourceClaim claim = claim_named(name);
    claim.spec.requests[0].exactly->admin_access = true;
    cluster_.add(claim);
    api::Pod made =
        pod(std::string("p-") + name).cpu("8").rules({.resource_claims = true}).group("g").build();
    made.claims = {{.name = "gpu", .claim_name = name}};
    cluster_.add(made);
  }
  EXPECT_EQ(cluster_.refused("g").verdict, Verdict::kImpossibleNow);
}

TEST_F(PlannerDevicesTest, LonePodIsToldItsOwnFitError) {
  add_node("n1", 1);
  cluster_.add(claim_named("two", 2));
  add_pod("lone", "two", "");
  EXPECT_EQ(cluster_.refused("lone").message,
            "0/1 nodes are available: 1 cannot allocate all claims. device class gpu: 1 free of 1; "
            "needed 2");
}

TEST_F(PlannerDevicesTest, LonePodWithoutItsClaimIsToldSo) {
  add_node("n1");
  add_pod("lone", "nobody", "");
  const Explanation told = cluster_.refused("lone");
  EXPECT_EQ(told.verdict, Verdict::kWaitingForPods);
  EXPECT_EQ(engine::text_of(told, "lone"),
            "pod default/lone: could not find ResourceClaim \"default/nobody\"");
}

TEST_F(PlannerDevicesTest, MembersWithoutTheirClaimAreLeftOut) {
  add_node("n1");
  add_gang(2);
  add_pod("late", "nobody");
  EXPECT_EQ(cluster_.placed_by_pod("g"), "p0=n1 p1=n1");
  cluster_.update(pod_group("g").min(3).version(99).build());
  const Explanation told = cluster_.refused("g");
  EXPECT_EQ(told.verdict, Verdict::kWaitingForPods);
  EXPECT_EQ(told.message,
            "2 of 3 pods can be placed; pod default/late: could not find ResourceClaim "
            "\"default/nobody\"");
}

TEST_F(PlannerDevicesTest, SharedClaimIsWrittenOnceForAllItsUsers) {
  add_node("n1");
  add_node("n2");
  cluster_.add(pod_group("g").min(2)).add(claim_named("shared"));
  add_pod("p0", "shared");
  add_pod("p1", "shared");
  EXPECT_EQ(text_of(cluster_.plan("g")), "shared: n1/g0 for pods/p0 for pods/p1");
}

TEST_F(PlannerDevicesTest, SlowSelectorEndsThePlanAndTheNextOneGetsFurther) {
  add_node("n1");
  add_node("n2");
  api::ResourceClaim slow = claim_named("slow");
  slow.spec.requests[0].exactly->selectors = {
      {.expression = "lists.range(100).all(x, x >= 0) && device.driver == 'other'"}};
  cluster_.add(slow);
  add_pod("lone", "slow", "");
  Planner planner{{.selector_steps_max = 2500}};
  const auto plan = [&] {
    return std::get<Explanation>(planner.plan(*cluster_.state.snapshot(), cluster_.gang("lone")));
  };
  const Explanation told = plan();
  EXPECT_EQ(told.verdict, Verdict::kSearchLimitReached);
  EXPECT_NE(told.message.find("selectors may take 2500 steps for an attempt, and claim "
                              "default/slow, request gpu, selector #0 took "),
            std::string::npos)
      << told.message;
  EXPECT_NE(told.message.find(" on 1 device; the next attempt goes on from there"),
            std::string::npos);
  EXPECT_EQ(plan().verdict, Verdict::kImpossibleOnFleet);
  EXPECT_EQ(cluster_.refused("lone").verdict, Verdict::kImpossibleOnFleet);
}

TEST_F(PlannerDevicesTest, SlowSelectorOfOneGangDoesNotCountForAnother) {
  add_node("n1");
  api::ResourceClaim slow = claim_named("slow");
  slow.spec.requests[0].exactly->selectors = {{.expression = "lists.range(999).all(x, x >= 0)"}};
  cluster_.add(slow).add(claim_named("plain"));
  add_pod("lone", "slow", "");
  add_pod("other", "plain", "");
  Planner planner{{.selector_steps_max = 1}};
  const auto plan = [&](const std::string& name) {
    return planner.plan(*cluster_.state.snapshot(), cluster_.gang(name));
  };
  EXPECT_TRUE(std::holds_alternative<Explanation>(plan("lone")));
  EXPECT_TRUE(std::holds_alternative<Plan>(plan("other")));
  // The selector is compiled by now.
  EXPECT_TRUE(std::holds_alternative<Plan>(plan("lone")));
}

TEST_F(PlannerDevicesTest, MissingClassIsNamed) {
  add_node("n1");
  cluster_.add(pod_group("g").min(1));
  api::ResourceClaim odd = claim_named("odd");
  odd.spec.requests[0].exactly->class_name = "typo";
  cluster_.add(odd);
  add_pod("p0", "odd");
  EXPECT_NE(cluster_.refused("g").message.find("could not retrieve device class typo"),
            std::string::npos);
}

TEST_F(PlannerDevicesTest, ClaimWithMoreUsersThanTheServerTakesIsToldByName) {
  add_node("n1");
  cluster_.add(node("n2").cpu("400").pods(400));
  api::ResourceClaim shared = claim_named("shared");
  shared.allocation.emplace();
  shared.allocation->results.push_back(
      {.request = "gpu", .driver = "d", .pool = "n1", .device = "g0"});
  shared.reserved_for.push_back({.resource = "pods", .name = "other", .uid = {"uid-other"}});
  cluster_.add(shared).add(pod_group("g").min(256));
  for (int i = 0; i < 256; ++i) add_pod("p" + std::to_string(i), "shared");
  EXPECT_NE(cluster_.refused("g").message.find(
                "claim default/shared: 257 pods would use it, the API server takes 256; name it in "
                "spec.resourceClaims of the PodGroup, which counts once"),
            std::string::npos)
      << cluster_.refused("g").message;
  cluster_.update(pod_group("g").min(200).version(99).build());
  EXPECT_EQ(cluster_.plan("g").assignments.size(), 255u) << "as many as there is room for";
}

TEST_F(PlannerDevicesTest, ClaimOfTheGroupHasOneUser) {
  cluster_.add(node("n1").cpu("400").pods(400));
  add_node("n0");
  api::ResourceClaim fabric = claim_named("fabric");
  fabric.allocation.emplace();
  fabric.allocation->results.push_back(
      {.request = "gpu", .driver = "d", .pool = "n0", .device = "g0"});
  api::PodGroup group = pod_group("g").min(300);
  group.claims = {{.name = "gpu", .claim_name = "fabric"}};
  cluster_.add(fabric).add(group);
  for (int i = 0; i < 300; ++i) add_pod("p" + std::to_string(i), "fabric");
  const Plan plan = cluster_.plan("g");
  EXPECT_EQ(plan.assignments.size(), 300u);
  EXPECT_EQ(text_of(plan), "fabric: for podgroups/g");
}

TEST_F(PlannerDevicesTest, NodesWithDevicesInUseComeFirstThenTheTightest) {
  add_node("n1", 4);
  add_node("n2", 3);
  add_node("n3", 8);
  api::ResourceClaim held = claim_named("held");
  held.allocation.emplace();
  held.allocation->results.push_back(
      {.request = "gpu", .driver = "d", .pool = "n3", .device = "g7"});
  cluster_.add(held).add(claim_named("one"));
  add_pod("p", "one", "");
  EXPECT_EQ(cluster_.placed("p"), "p=n3") << "whole nodes stay whole";
  cluster_.remove(held);
  EXPECT_EQ(cluster_.placed("p"), "p=n2");
}

TEST_F(PlannerDevicesTest, AnswersOfSelectorsGoWithTheClassAndThePoolTheyAreOf) {
  add_node("n1", 2);
  add_gang(2);
  EXPECT_EQ(cluster_.placed("g"), "p0=n1 p1=n1");
  api::DeviceClass device_class;
  device_class.meta.key.name = "gpu";
  device_class.meta.uid.text = "uid-class";
  device_class.meta.resource_version.text = "2";
  device_class.selectors.push_back({.expression = R"("fast" in device.attributes["d"])"});
  cluster_.update(device_class);
  (void)cluster_.refused("g");
  api::ResourceSlice slice = cluster_.slice_of("n1", 2);
  slice.meta.resource_version.text = "2";
  for (api::Device& device : slice.devices) device.attributes = {{"fast", true}};
  cluster_.update(slice);
  EXPECT_EQ(cluster_.placed("g"), "p0=n1 p1=n1");
  slice.meta.resource_version.text = "3";
  slice.devices[0].attributes.clear();
  cluster_.update(slice);
  EXPECT_EQ(cluster_.refused("g").scheduled, 1);
}

TEST_F(PlannerDevicesTest, AnswersOfSelectorsStayWithSlicesThatTheirPoolKeeps) {
  std::vector<api::ResourceSlice> slices;
  for (const char* name : {"n1", "n2", "n3"}) {
    cluster_.add(node(name).cpu("16"));
    api::ResourceSlice& slice = slices.emplace_back(cluster_.slice_of(name, 1));
    slice.pool = "rack";
    slice.pool_slice_count = 3;
    slice.devices[0].name = std::string("g-") + name;
    cluster_.add(slice);
  }
  api::ResourceClaim slow = claim_named("slow");
  slow.spec.requests[0].exactly->selectors = {{.expression = "device.driver == 'other'"}};
  cluster_.add(slow);
  add_pod("lone", "slow", "");
  // The next answer after a new one is more than a plan may spend.
  Planner planner{{.selector_steps_max = 1}};
  const auto is_cut_short = [&] {
    const Decision told = planner.plan(*cluster_.state.snapshot(), cluster_.gang("lone"));
    return std::get<Explanation>(told).verdict == Verdict::kSearchLimitReached;
  };
  const auto plans_until_known = [&] {
    int plans = 1;
    while (plans < 20 && is_cut_short()) ++plans;
    return plans;
  };
  EXPECT_EQ(plans_until_known(), 4) << "it is compiled, then each slice is asked";
  for (const std::size_t changed : {0, 2}) {
    slices[changed].devices[0].attributes = {{"new", true}};
    slices[changed].meta.resource_version.text = "2";
    cluster_.update(slices[changed]);
  }
  EXPECT_EQ(plans_until_known(), 2) << "two slices were asked again";
  api::DeviceTaintRule rule;
  rule.meta.key.name = rule.meta.uid.text = "r";
  rule.selector = api::DeviceTaintSelector{.pool = "rack"};
  rule.taint = {.key = "t", .effect = api::DeviceTaintEffect::kNoSchedule};
  cluster_.add(rule);
  EXPECT_EQ(plans_until_known(), 1) << "a taint is nothing to selectors";
}

TEST_F(PlannerDevicesTest, NodeWhoseDevicesAreNearestComesFirst) {
  // n1 gives two of two NUMA nodes, n2 of two PCIe roots, n3 of one; n4 says nothing.
  const std::pair<const char*, std::vector<std::pair<int, const char*>>> nodes[] = {
      {"n1", {{0, "a"}, {1, "b"}, {0, "a"}}},
      {"n2", {{0, "a"}, {0, "b"}, {0, "a"}}},
      {"n3", {{1, "b"}, {1, "b"}, {0, "a"}}}};
  for (const auto& [name, places] : nodes) {
    std::vector<api::Device> devices;
    for (const auto& [numa, root] : places) {
      api::Device& device = devices.emplace_back();
      device.name = "g" + std::to_string(devices.size());
      device.attributes = {{"resource.kubernetes.io/numaNode", std::int64_t{numa}},
                           {"resource.kubernetes.io/pcieRoot", std::string(root)}};
    }
    add_node_of(name, devices);
  }
  add_node("n4", 3);
  cluster_.add(claim_named("two", 2));
  add_pod("p", "two", "");
  EXPECT_EQ(text_of(cluster_.plan("p")), "two: n3/g1 n3/g2 for pods/p");
  cluster_.remove(node("n3"));
  EXPECT_EQ(text_of(cluster_.plan("p")), "two: n2/g1 n2/g2 for pods/p")
      << "upstream's choice there";
  cluster_.remove(node("n2"));
  EXPECT_EQ(cluster_.placed("p"), "p=n1");
}

TEST_F(PlannerDevicesTest, NodeWhoseDevicesAreSmallestComesFirst) {
  const auto sized = [](const std::string& name, const char* memory) {
    api::Device device{.name = name};
    device.capacity = {{"memory", {.value = *api::Quantity::parse(memory)}}};
    return device;
  };
  add_node_of("n1", {sized("a", "80Gi"), sized("b", "80Gi")});
  add_node_of("n2", {sized("a", "10Gi"), sized("b", "80Gi")});
  add_node_of("n3", {sized("a", "20Gi"), sized("b", "20Gi")});
  cluster_.add(claim_named("one"));
  add_pod("p", "one", "");
  EXPECT_EQ(text_of(cluster_.plan("p")), "one: n2/a for pods/p");
  add_node_of("n0", {sized("whole", "80Gi")});
  EXPECT_EQ(cluster_.placed("p"), "p=n2") << "n0 is tighter, and its device larger";
}

TEST_F(PlannerDevicesTest, NodeThatGivesTheFirstAlternativeComesFirst) {
  api::DeviceClass fast;
  fast.meta.key.name = "fast";
  fast.meta.uid.text = "uid-fast";
  fast.selectors.push_back({.expression = R"("fast" in device.attributes["d"])"});
  cluster_.add(fast);
  add_node("n1", 1);
  for (const char* name : {"n2", "n3"}) {
    cluster_.add(node(name).cpu("16"));
    api::ResourceSlice slice;
    slice.meta.key.name = std::string(name) + "-d";
    slice.meta.uid.text = "uid-" + slice.meta.key.name;
    slice.driver = "d";
    slice.pool = name;
    slice.pool_slice_count = 1;
    slice.place.node_name = name;
    for (const char* device : {"a", "b", "c"}) slice.devices.push_back({.name = device});
    slice.devices[2].attributes = {{"fast", true}};
    cluster_.add(slice);
  }
  cluster_.add(pod_group("g").min(3));
  for (int i = 0; i < 3; ++i) {
    const std::string name = "p" + std::to_string(i);
    api::ResourceClaim claim = claim_named(name);
    claim.spec.requests = {{.name = "r",
                            .first_available = {{.name = "best", .class_name = "fast"},
                                                {.name = "any", .class_name = "gpu"}}}};
    cluster_.add(claim);
    add_pod(name, name);
  }
  EXPECT_EQ(text_of(cluster_.plan("g")),
            "p0: n2/c for pods/p0; p1: n3/c for pods/p1; p2: n2/a for pods/p2")
      << "n1 is tighter, and each node has one fast device";
}

}  // namespace
}  // namespace gang::engine
