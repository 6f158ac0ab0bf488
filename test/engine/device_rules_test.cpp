#include <gtest/gtest.h>

#include "device_fixture.h"

namespace gang::engine {
namespace {

constexpr const char* kOne = R"("requests":[{"name":"gpu","exactly":{"deviceClassName":"gpu"}}])";

std::string ask(const std::string& more) {
  return R"("requests":[{"name":"gpu","exactly":{"deviceClassName":"gpu")" + more + "}}]";
}

std::string partition(const std::string& name, int memory, const std::string& groups = "") {
  return R"({"name":")" + name + R"(","consumesCounters":[{"counterSet":"card",
      "counters":{"memory":{"value":")" +
         std::to_string(memory) + R"("}},"compatibilityGroups":[)" + groups + "]}]}";
}

std::string of_pool(const std::string& content) {
  return R"("driver":"d","pool":{"name":"n1","resourceSliceCount":2},"nodeName":"n1",)" + content;
}

// Two halves and a whole of one card with 4 units of memory, and a device without counters.
const std::string kCounters =
    of_pool(R"("sharedCounters":[{"name":"card","counters":{"memory":{"value":"4"}}}])");
const std::string kPartitions =
    of_pool("\"devices\":[" + partition("whole", 4) + "," + partition("half-0", 2) + "," +
            partition("half-1", 2) + R"(,{"name":"free"}])");

TEST(DeviceCounters, PartitionsShareWhatTheirCardHas) {
  DeviceWorld world;
  world.slice("a", kCounters).slice("b", kPartitions).claim(ask(R"(,"count":2)"));
  // The whole card leaves nothing for a half, so the second device is the one without counters.
  EXPECT_EQ(world.allocate(), "gpu=n1/whole gpu=n1/free");
  world.held("n1", "half-1");
  EXPECT_EQ(world.allocate(), "gpu=n1/half-0 gpu=n1/free");
  world.held("n1", "whole");
  EXPECT_EQ(world.allocate(), "no");
}

TEST(DeviceCounters, AHeldDeviceThatNoSliceShowsMayTakeAnyOfThem) {
  DeviceWorld world;
  world.slice("a", kCounters).slice("b", kPartitions).held("n1", "gone").claim(kOne);
  EXPECT_EQ(world.allocate(), "gpu=n1/free");
  world.held("n1", "free");
  EXPECT_EQ(world.allocate(), "no");
}

TEST(DeviceCounters, AHeldDeviceThatNoSliceShowsConcernsItsPoolOnly) {
  DeviceWorld world;
  world.slice("a", kCounters).slice("b", kPartitions).held("n2", "gone").claim(kOne);
  EXPECT_EQ(world.allocate(), "gpu=n1/whole");
}

TEST(DeviceCounters, SharesOfADeviceInUseTakeNoMoreOfThem) {
  DeviceWorld world;
  const std::string shared = of_pool(R"("devices":[{"name":"many","allowMultipleAllocations":true,
      "consumesCounters":[{"counterSet":"card","counters":{"memory":{"value":"2"}}}]}])");
  world.slice("a", kCounters).slice("b", shared).held("n1", "gone").claim(kOne);
  EXPECT_EQ(world.allocate(), "no");
  world.held("n1", "many", R"(,"shareID":"00000000-0000-0000-0000-000000000001")");
  EXPECT_EQ(world.allocate(), "gpu=n1/many");
}

TEST(DeviceCounters, AnUnknownCounterMakesThePoolInvalid) {
  DeviceWorld world;
  world.slice("a", R"("driver":"d","pool":{"name":"n1","resourceSliceCount":1},"nodeName":"n1",
      "devices":[{"name":"x","consumesCounters":[{"counterSet":"card","counters":{}}]}])");
  world.claim(kOne);
  EXPECT_EQ(world.allocate(), "node: invalid resource pools were encountered");
}

TEST(DeviceCounters, WithoutTheFeatureNoPartitionIsGiven) {
  DeviceWorld world;
  world.features.partitionable_devices = false;
  world.slice("a", kCounters).slice("b", kPartitions).claim(kOne);
  EXPECT_EQ(world.allocate(), "gpu=n1/free");
}

/// As upstream: slices of partitions count for completeness, and are passed over otherwise.
TEST(DeviceCounters, WithoutTheFeatureWholeDevicesOfThePoolAreGiven) {
  DeviceWorld world;
  world.features.partitionable_devices = false;
  const std::string three = R"("driver":"d","pool":{"name":"n1","resourceSliceCount":3},)";
  world.slice("a", three + R"("nodeName":"n1","sharedCounters":[{"name":"card","counters":{}}])");
  world.slice("b", three + R"("perDeviceNodeSelection":true,
      "devices":[{"name":"first","allNodes":true}])");
  world.slice("c", three + R"("nodeName":"n1","devices":[{"name":"part",
      "consumesCounters":[{"counterSet":"none","counters":{}}]},{"name":"whole"}])");
  world.claim(kOne);
  EXPECT_EQ(world.allocate(), "gpu=n1/whole");
}

/// As upstream: an incomplete pool stands in the way of mode All only where a node sees it.
TEST(DeviceCounters, WithoutTheFeatureAPoolOfPartitionsIsNotSeen) {
  DeviceWorld world;
  world.features.partitionable_devices = false;
  world.slice("a", R"("driver":"d","pool":{"name":"p2","resourceSliceCount":2},
      "perDeviceNodeSelection":true,"devices":[{"name":"first","allNodes":true}])");
  world.local(R"({"name":"whole"})");
  world.claim(ask(R"(,"allocationMode":"All")"));
  EXPECT_EQ(world.allocate(), "gpu=n1/whole");
}

TEST(DeviceGroups, DevicesOfOneSetNeedAGroupInCommon) {
  DeviceWorld world;
  world.features.compatibility_groups = true;
  world.slice("a", kCounters);
  world.slice("b",
              of_pool("\"devices\":[" + partition("ab", 1, R"("a","b")") + "," +
                      partition("plain", 1) + "," + partition("c", 1, R"("c")") + "," +
                      partition("bc", 1, R"("b","c")") + "," + partition("a", 1, R"("a")") + "]"));
  world.claim(ask(R"(,"count":2)"));
  EXPECT_EQ(world.allocate(), "gpu=n1/ab gpu=n1/bc");
  world.features.compatibility_groups = false;
  EXPECT_EQ(world.allocate(), "no");
}

constexpr const char* kNic = R"({"name":"nic","allowMultipleAllocations":true,"capacity":{
    "bandwidth":{"value":"10","requestPolicy":{"default":"1",
      "validRange":{"min":"2","max":"8","step":"3"}}}}})";

TEST(DeviceCapacity, RequestsAreRoundedUpToTheGridOfTheDevice) {
  DeviceWorld world;
  world.local(kNic).claim(ask(R"(,"capacity":{"requests":{"bandwidth":"3"}})"));
  EXPECT_EQ(world.allocate(), "gpu=n1/nic");
  const api::DeviceResult& result = world.allocations()[0].results[0];
  EXPECT_TRUE(result.share_id);
  ASSERT_EQ(result.consumed_capacity.size(), 1u);
  EXPECT_EQ(result.consumed_capacity[0].second.text(), "5");
}

TEST(DeviceCapacity, SharesAddUpToTheCapacityAndNoFurther) {
  DeviceWorld world;
  world.local(kNic)
      .claim(ask(R"(,"capacity":{"requests":{"bandwidth":"5"}})"))
      .claim(ask(R"(,"capacity":{"requests":{"bandwidth":"5"}})"));
  EXPECT_EQ(world.allocate(), "gpu=n1/nic; gpu=n1/nic");
  world.held("n1", "nic", R"(,"shareID":"s","consumedCapacity":{"bandwidth":"1"})");
  EXPECT_EQ(world.allocate(), "no");
}

TEST(DeviceCapacity, WithoutAnAmountTheDefaultIsTaken) {
  DeviceWorld world;
  world.local(kNic).claim(kOne);
  EXPECT_EQ(world.allocate(), "gpu=n1/nic");
  EXPECT_EQ(world.allocations()[0].results[0].consumed_capacity[0].second.text(), "1");
}

TEST(DeviceCapacity, AboveTheRangeOrUnknownSkipsTheDeviceAndNegativeIsFatal) {
  DeviceWorld above;
  above.local(kNic).claim(ask(R"(,"capacity":{"requests":{"bandwidth":"9"}})"));
  EXPECT_EQ(above.allocate(), "no");
  DeviceWorld unknown;
  unknown.local(kNic).claim(ask(R"(,"capacity":{"requests":{"d/bandwidth":"1"}})"));
  EXPECT_EQ(unknown.allocate(), "no");
  DeviceWorld negative;
  negative.local(R"({"name":"x","capacity":{"m":{"value":"1"}}})")
      .claim(ask(R"(,"capacity":{"requests":{"m":"-1"}})"));
  EXPECT_EQ(negative.allocate(),
            "fatal: claim ns/c0, request gpu: checking capacity for device d/n1/x: capacity \"m\": "
            "capacity value is negative");
}

TEST(DeviceCapacity, ABrokenGridIsNoDivisionByZero) {
  DeviceWorld world;
  world.local(R"({"name":"x","allowMultipleAllocations":true,"capacity":{"m":{"value":"9",
      "requestPolicy":{"default":"1","validRange":{"min":"0","step":"0"}}}}})");
  world.claim(ask(R"(,"capacity":{"requests":{"m":"2"}})"));
  EXPECT_EQ(world.allocate().rfind("fatal: claim ns/c0, request gpu: checking capacity", 0), 0u);
}

std::string model(const std::string& name, const std::string& value) {
  return R"({"name":")" + name + R"(","attributes":{"rack":)" + value + "}}";
}

TEST(DeviceConstraints, MatchWantsOneValueOfOneKind) {
  DeviceWorld world;
  world.local(model("a", R"({"string":"1"})") + "," + model("b", R"({"int":1})") + "," +
              model("c", R"({"version":"1.0.0"})") + "," + model("d", R"({"string":"1"})") +
              R"(,{"name":"e"})");
  world.claim(ask(R"(,"count":2)") + R"(,"constraints":[{"matchAttribute":"d/rack"}])");
  EXPECT_EQ(world.allocate(), "gpu=n1/a gpu=n1/d");
}

TEST(DeviceConstraints, DistinctWantsADifferentValueEachTime) {
  DeviceWorld world;
  world.local(model("a", R"({"int":1})") + "," + model("b", R"({"int":1})") + "," +
              model("c", R"({"int":2})"));
  world.claim(ask(R"(,"count":2)") + R"(,"constraints":[{"distinctAttribute":"d/rack"}])");
  EXPECT_EQ(world.allocate(), "gpu=n1/a gpu=n1/c");
}

TEST(DeviceConstraints, ListsCompareAsSetsWhenTheFeatureIsOn) {
  DeviceWorld world;
  world.features.list_type_attributes = true;
  world.local(model("a", R"({"ints":[1,2]})") + "," + model("b", R"({"ints":[3]})") + "," +
              model("c", R"({"int":2})"));
  world.claim(ask(R"(,"count":2)") + R"(,"constraints":[{"matchAttribute":"d/rack"}])");
  EXPECT_EQ(world.allocate(), "gpu=n1/a gpu=n1/c");
  world.features.list_type_attributes = false;
  EXPECT_EQ(world.allocate(), "no");
}

std::string derived(const std::string& expression) {
  return ask(R"(,"count":2,"derivedAttributes":[{"name":"d/rack","expression":")" + expression +
             R"("}])") +
         R"(,"constraints":[{"matchAttribute":"d/rack"}])";
}

TEST(DeviceConstraints, DerivedAttributesStandInForThoseOfTheDevice) {
  const std::string two = R"({"name":"a","attributes":{"rack":{"int":1},"row":{"string":"x"}}},
      {"name":"b","attributes":{"rack":{"int":1},"row":{"string":"y"}}},
      {"name":"c","attributes":{"row":{"string":"x"}}})";
  DeviceWorld world;
  world.local(two).claim(derived("row"));
  EXPECT_EQ(world.allocate(),
            "fatal: claim ns/c0, request gpu: cannot handle request with derived attributes, the "
            "feature is disabled");
  world.features.derived_attributes = true;
  EXPECT_EQ(world.allocate(), "gpu=n1/a gpu=n1/c");
}

TEST(DeviceConstraints, OneRequestDerivesWhatAnotherHas) {
  DeviceWorld world;
  world.features.derived_attributes = true;
  world.local(R"({"name":"a","attributes":{"row":{"string":"x"}}},
      {"name":"b","attributes":{"rack":{"string":"y"}}},
      {"name":"c","attributes":{"rack":{"string":"x"}}})");
  world.claim(R"("requests":[{"name":"p","exactly":{"deviceClassName":"gpu","derivedAttributes":[
      {"name":"d/rack","expression":"other"},{"name":"d/rack","expression":"row"}]}},
      {"name":"q","exactly":{"deviceClassName":"gpu"}}],
      "constraints":[{"matchAttribute":"d/rack"}])");
  EXPECT_EQ(world.allocate(), "p=n1/a q=n1/c");
}

TEST(DeviceConstraints, WhatCannotBeDerivedIsFatal) {
  DeviceWorld world;
  world.features.derived_attributes = true;
  world.local(model("a", "{}")).claim(derived("broken"));
  EXPECT_EQ(world.allocate(),
            "fatal: evaluate derived attribute d/rack on device d/n1/a failed: no such key: x");
  DeviceWorld other;
  other.features.derived_attributes = true;
  other.local(model("a", "{}")).claim(derived("nonsense"));
  EXPECT_EQ(other.allocate(), "fatal: compile derived attribute d/rack failed: no sense");
}

TEST(DeviceConstraints, AnEmptyListMatchesNothing) {
  DeviceWorld world;
  world.features.list_type_attributes = true;
  world.local(model("a", R"({"ints":[]})") + "," + model("b", R"({"ints":[1]})"));
  world.claim(std::string(kOne) + R"(,"constraints":[{"distinctAttribute":"d/rack"}])");
  EXPECT_EQ(world.allocate(), "gpu=n1/b");
}

TEST(DeviceConstraints, CoverOnlyTheRequestsTheyName) {
  DeviceWorld world;
  world.local(model("a", R"({"int":1})") + R"(,{"name":"b"})");
  world.claim(R"("requests":[{"name":"x","exactly":{"deviceClassName":"gpu"}},
      {"name":"y","firstAvailable":[{"name":"z","deviceClassName":"gpu"}]}],
      "constraints":[{"requests":["x"],"matchAttribute":"d/rack"}])");
  EXPECT_EQ(world.allocate(), "x=n1/a y/z=n1/b");
  DeviceWorld other;
  other.local(model("a", R"({"int":1})") + R"(,{"name":"b"})");
  other.claim(R"("requests":[{"name":"x","exactly":{"deviceClassName":"gpu"}},
      {"name":"y","firstAvailable":[{"name":"z","deviceClassName":"gpu"}]}],
      "constraints":[{"requests":["y/z"],"matchAttribute":"d/rack"}])");
  EXPECT_EQ(other.allocate(), "x=n1/b y/z=n1/a");
}

TEST(DeviceConstraints, ForAllARefusalIsFatal) {
  DeviceWorld world;
  world.local(model("a", R"({"int":1})") + "," + model("b", R"({"int":2})"));
  world.claim(ask(R"(,"allocationMode":"All")") +
              R"(,"constraints":[{"matchAttribute":"d/rack"}])");
  EXPECT_EQ(world.allocate(),
            "fatal: claim ns/c0, request gpu: cannot add device d/n1/b because a claim constraint "
            "would not be satisfied");
}

TEST(DeviceTaints, OnlyToleratedDevicesAreTaken) {
  DeviceWorld world;
  world.local(R"({"name":"a","taints":[{"key":"k","value":"v","effect":"NoExecute"}]},
                 {"name":"b","taints":[{"key":"k","effect":"None"}]})");
  world.claim(kOne);
  EXPECT_EQ(world.allocate(), "gpu=n1/b");
  world.rule(R"("deviceSelector":{"device":"b"},"taint":{"key":"x","effect":"NoSchedule"})");
  EXPECT_EQ(world.allocate(), "no");
  world.features.device_taints = false;
  EXPECT_EQ(world.allocate(), "gpu=n1/a");
}

TEST(DeviceTaints, TolerationsMatchKeyValueAndEffect) {
  const std::pair<const char*, const char*> rows[] = {
      {R"({"operator":"Exists"})", "no"},
      {R"({"key":"k","value":"v"})", "no"},
      {R"({"operator":"Exists","effect":"NoExecute"})", "gpu=n1/a"},
      {R"({"key":"k","value":"v","effect":"NoExecute"})", "gpu=n1/a"},
      {R"({"operator":"Exists"},{"key":"k","operator":"Exists","effect":"NoExecute"})", "gpu=n1/a"},
      {R"({"key":"k","value":"w"})", "no"},
      {R"({"key":"k","operator":"Exists","effect":"NoSchedule"})", "no"},
      {R"({"key":"k","operator":"Gt","value":"v"})", "no"},
  };
  for (const auto& [toleration, expected] : rows) {
    DeviceWorld world;
    world.local(R"({"name":"a","taints":[{"key":"k","value":"v","effect":"NoExecute"}]})");
    world.claim(ask(std::string(R"(,"tolerations":[)") + toleration + "]"));
    EXPECT_EQ(world.allocate(), expected) << toleration;
  }
}

TEST(DeviceTaints, AnEmptyEffectCoversAllButNoExecuteAndThatToWhereUpstreamsRuleHolds) {
  const auto world_with = [](const std::string& effect) {
    DeviceWorld world;
    world.local(R"({"name":"a","taints":[{"key":"k","effect":")" + effect + R"("}]})");
    world.claim(ask(R"(,"tolerations":[{"key":"k","operator":"Exists"}])"));
    return world;
  };
  EXPECT_EQ(world_with("NoSchedule").allocate(), "gpu=n1/a");
  EXPECT_EQ(world_with("NoExecute").allocate(), "no");
  DeviceWorld as_upstream = world_with("NoExecute");
  as_upstream.features.strict_no_execute = false;
  EXPECT_EQ(as_upstream.allocate(), "gpu=n1/a");
}

TEST(DeviceAdmin, LooksAtDevicesInUseButNeverTwiceInOneClaim) {
  DeviceWorld world;
  world.local(R"({"name":"a"})").held("n1", "a").claim(ask(R"(,"adminAccess":true)"));
  EXPECT_EQ(world.allocate(), "gpu=n1/a");
  EXPECT_TRUE(world.allocations()[0].results[0].admin_access);
  DeviceWorld twice;
  twice.local(R"({"name":"a"})").claim(R"("requests":[
      {"name":"x","exactly":{"deviceClassName":"gpu","adminAccess":true}},
      {"name":"y","exactly":{"deviceClassName":"gpu","adminAccess":true}}])");
  EXPECT_EQ(twice.allocate(), "no");
}

TEST(DeviceNodeOperations, ASliceThatSkipsThemNeedsANodeThatMay) {
  DeviceWorld world;
  world.slice("s", R"("driver":"d","pool":{"name":"p","resourceSliceCount":1},"nodeName":"n1",
      "skipNodeOperations":["*"],"devices":[{"name":"a"}])");
  world.claim(kOne);
  EXPECT_EQ(world.allocate(), "gpu=p/a");
  world.features.list_type_attributes = true;
  EXPECT_EQ(world.allocate(), "no");
}

TEST(DevicePlaces, NodeOperationsAreLeftOutOnlyWhereTheNodeDeclaresIt) {
  DeviceWorld world;
  world.slice("s", R"("driver":"d","pool":{"name":"n1","resourceSliceCount":1},"nodeName":"n1",
      "skipNodeOperations":["*"],"devices":[{"name":"a"}])");
  world.claim(kOne);
  EXPECT_EQ(world.allocate(), "gpu=n1/a") << "without the feature nobody looks";
  EXPECT_TRUE(world.allocations()[0].results[0].skip_node_operations.empty());
  world.features.optional_node_operations = true;
  EXPECT_EQ(world.allocate(), "no");
  world.node_declares_optional_operations = true;
  EXPECT_EQ(world.allocate(), "gpu=n1/a");
  EXPECT_EQ(world.allocations()[0].results[0].skip_node_operations, std::vector<std::string>{"*"});
}

TEST(DevicePlaces, PerDeviceSelectionAndSelectorsDecideWhereADeviceIs) {
  DeviceWorld world;
  world.labels = {{"rack", "r1"}};
  world.slice("s", R"("driver":"d","pool":{"name":"f","resourceSliceCount":1},
      "perDeviceNodeSelection":true,"devices":[{"name":"other","nodeName":"n2"},
      {"name":"rack","nodeSelector":{"nodeSelectorTerms":[
         {"matchExpressions":[{"key":"rack","operator":"In","values":["r1"]}]}]}}])");
  world.claim(kOne);
  EXPECT_EQ(world.allocate(), "gpu=f/rack");
  ASSERT_TRUE(world.allocations()[0].node_selector);
  EXPECT_EQ(world.allocations()[0].node_selector->terms[0].expressions[0].key, "rack");
}

TEST(DeviceResults, NodeLocalDevicesPinTheClaimAndFreeOnesDoNot) {
  DeviceWorld local;
  local.local(R"({"name":"a"})").claim(kOne);
  EXPECT_EQ(local.allocate(), "gpu=n1/a");
  EXPECT_EQ(local.allocations()[0].node_selector->terms[0].fields[0].values,
            std::vector<std::string>{"n1"});
  DeviceWorld everywhere;
  everywhere.slice("s", R"("driver":"d","pool":{"name":"f","resourceSliceCount":1},
      "allNodes":true,"devices":[{"name":"a"},{"name":"b","bindsToNode":true}])");
  everywhere.claim(kOne);
  EXPECT_EQ(everywhere.allocate(), "gpu=f/a");
  EXPECT_FALSE(everywhere.allocations()[0].node_selector);
  everywhere.claim(kOne);
  EXPECT_EQ(everywhere.allocate(), "gpu=f/a; gpu=f/b");
  EXPECT_TRUE(everywhere.allocations()[1].node_selector);
}

TEST(DeviceResults, ConfigurationOfClassesComesOnceAndOfTheClaimWhereItApplies) {
  DeviceWorld world;
  world.local(R"({"name":"a"},{"name":"b"},{"name":"c"})");
  world.device_class("tuned", R"("config":[{"opaque":{"driver":"d","parameters":{"k":1}}}])");
  world.claim(R"("requests":[{"name":"x","exactly":{"deviceClassName":"tuned"}},
      {"name":"y","firstAvailable":[{"name":"z","deviceClassName":"tuned"}]},
      {"name":"w","exactly":{"deviceClassName":"gpu"}}],
      "config":[{"requests":["y/z"],"opaque":{"driver":"d","parameters":{}}},
                {"requests":["y/other"],"opaque":{"driver":"d","parameters":{}}},
                {"requests":["x","y","w"],"opaque":{"driver":"d","parameters":{}}}])");
  EXPECT_EQ(world.allocate(), "x=n1/a y/z=n1/b w=n1/c");
  const auto& configs = world.allocations()[0].configs;
  ASSERT_EQ(configs.size(), 3u);
  EXPECT_EQ(configs[0].source, api::ConfigSource::kClass);
  EXPECT_EQ(configs[0].config.requests, (std::vector<std::string>{"x", "y/z"}));
  EXPECT_EQ(configs[1].config.requests, std::vector<std::string>{"y/z"});
  EXPECT_TRUE(configs[2].config.requests.empty());
}

TEST(DeviceResults, ADeviceWhoseNodesTakeSeveralTermsIsPassedOver) {
  const std::string terms =
      R"({"matchExpressions":[{"key":"a","operator":"Exists"}]},
         {"matchFields":[{"key":"metadata.name","operator":"In","values":["n1"]}]})";
  DeviceWorld world;
  world.slice("a", R"("driver":"d","pool":{"name":"f","resourceSliceCount":2},
      "nodeSelector":{"nodeSelectorTerms":[)" +
                       terms + R"(]},"devices":[{"name":"a"}])");
  world.slice("b", R"("driver":"d","pool":{"name":"f","resourceSliceCount":2},
      "allNodes":true,"devices":[{"name":"b"}])");
  world.claim(kOne);
  EXPECT_EQ(world.allocate(), "gpu=f/b");
  world.as_upstream = true;
  EXPECT_EQ(world.allocate(),
            "fatal: claim ns/c0: unsupported ResourceSlice.NodeSelector with 2 terms");
}

TEST(DeviceResults, ThoseThatBindToTheirNodeNeedNoTerms) {
  DeviceWorld world;
  world.slice("a", R"("driver":"d","pool":{"name":"f","resourceSliceCount":1},
      "nodeSelector":{"nodeSelectorTerms":[{},{"matchFields":[
        {"key":"metadata.name","operator":"In","values":["n1"]}]}]},
      "devices":[{"name":"a","bindsToNode":true}])");
  world.claim(kOne);
  EXPECT_EQ(world.allocate(), "gpu=f/a");
}

TEST(DeviceResults, MoreConfigurationThanIsStoredIsToldBeforeItIsWritten) {
  const std::string entry = R"({"opaque":{"driver":"d","parameters":{}}})";
  std::string entries = entry;
  for (int i = 1; i < 64; ++i) entries += "," + entry;
  DeviceWorld world;
  world.local(R"({"name":"a"})");
  world.device_class("tuned", R"("config":[)" + entries + "]");
  world.claim(R"("requests":[{"name":"x","exactly":{"deviceClassName":"tuned"}}])");
  EXPECT_EQ(world.allocate(), "x=n1/a") << "64 are stored";
  DeviceWorld more;
  more.local(R"({"name":"a"})");
  more.device_class("tuned", R"("config":[)" + entries + "]");
  more.claim(R"("requests":[{"name":"x","exactly":{"deviceClassName":"tuned"}}],
      "config":[)" +
             entry + "]");
  EXPECT_EQ(more.allocate(),
            "fatal: claim ns/c0: 65 configuration entries, at most 64 are stored; use fewer in its "
            "classes");
  more.as_upstream = true;
  EXPECT_EQ(more.allocate(), "x=n1/a");
}

}  // namespace
}  // namespace gang::engine
