#include <gtest/gtest.h>

#include "device_fixture.h"

namespace gang::engine {
namespace {

constexpr const char* kOne = R"("requests":[{"name":"gpu","exactly":{"deviceClassName":"gpu"}}])";
constexpr const char* kTwo =
    R"("requests":[{"name":"gpu","exactly":{"deviceClassName":"gpu","count":2}}])";

std::string request(const std::string& name, const std::string& more = "") {
  return R"({"name":")" + name + R"(","exactly":{"deviceClassName":"gpu")" + more + "}}";
}

std::string requests(const std::string& list) {
  return "\"requests\":[" + list + "]";
}

TEST(DeviceAllocator, TakesTheFirstFreeDevicesInListOrder) {
  DeviceWorld world;
  world.local(R"({"name":"b"},{"name":"a"},{"name":"c"})").held("n1", "b").claim(kTwo);
  EXPECT_EQ(world.allocate(), "gpu=n1/a gpu=n1/c");
}

TEST(DeviceAllocator, ClaimsOfOnePodNeverShareADevice) {
  DeviceWorld world;
  world.local(R"({"name":"a"},{"name":"b"})").claim(kOne).claim(kOne);
  EXPECT_EQ(world.allocate(), "gpu=n1/a; gpu=n1/b");
  world.claim(kOne);
  EXPECT_EQ(world.allocate(), "no");
}

TEST(DeviceAllocator, ALaterRequestSendsTheSearchBack) {
  DeviceWorld world;
  world.local(R"({"name":"a","attributes":{"model":{"string":"big"}}},{"name":"b"})");
  world.claim(requests(request("any") + "," +
                       request("big", R"(,"selectors":[{"cel":{"expression":"model==big"}}])")));
  EXPECT_EQ(world.allocate(), "any=n1/b big=n1/a");
}

TEST(DeviceAllocator, AClassOrRequestSelectorThatFailsToRunEndsTheAttempt) {
  DeviceWorld world;
  world.local(R"({"name":"a"})");
  world.claim(requests(request("gpu", R"(,"selectors":[{"cel":{"expression":"broken"}}])")));
  EXPECT_EQ(world.allocate(),
            "fatal: claim ns/c0: selector #0 on device d/n1/a: CEL runtime error: no such key: x");
  world.device_class("bad", R"("selectors":[{"cel":{"expression":"nonsense"}}])");
  world.claim(R"("requests":[{"name":"r","exactly":{"deviceClassName":"bad"}}])");
  DeviceWorld other;
  other.local(R"({"name":"a"})")
      .device_class("bad", R"("selectors":[{"cel":{"expression":"nonsense"}}])")
      .claim(R"("requests":[{"name":"r","exactly":{"deviceClassName":"bad"}}])");
  EXPECT_EQ(other.allocate(), "fatal: class bad: selector #0: CEL compile error: no sense");
}

TEST(DeviceAllocator, ADeviceInUseHidesABrokenSelector) {
  DeviceWorld world;
  world.local(R"({"name":"a"})").held("n1", "a");
  world.claim(requests(request("gpu", R"(,"selectors":[{"cel":{"expression":"broken"}}])")));
  EXPECT_EQ(world.allocate(), "no");
}

TEST(DeviceAllocator, WhatCannotBeAskedForIsFatalAndNamed) {
  const std::pair<std::string, const char*> rows[] = {
      {R"({"name":"r","exactly":{}})",
       "request r: missing device class name (unsupported request type?)"},
      {R"({"name":"r","exactly":{"deviceClassName":"x"}})",
       "request r: could not retrieve device class x: it does not exist"},
      {request("r", R"(,"selectors":[{}])"),
       "request r, selector #0: CEL expression empty (unsupported selector type?)"},
      {request("r", R"(,"allocationMode":"Some")"), "request r: unsupported count mode"},
      {request("r", R"(,"derivedAttributes":[{"name":"a/b","expression":"1"}])"),
       "request r: cannot handle request with derived attributes, the feature is disabled"},
  };
  for (const auto& [list, why] : rows) {
    DeviceWorld world;
    world.local(R"({"name":"a"})").claim(requests(list));
    EXPECT_EQ(world.allocate(), "fatal: claim ns/c0, " + std::string(why));
  }
}

TEST(DeviceAllocator, AbsurdCountsAreRefusedAtOnce) {
  DeviceWorld world;
  world.local(R"({"name":"a"})").claim(requests(request("r", R"(,"count":2147483648)")));
  EXPECT_EQ(world.allocate(),
            "node: claim ns/c0, request r: adding 2147483648 devices exceeds the claim limit of "
            "32, with 0 already accounted for");
}

TEST(DeviceAllocator, ThirtyTwoDevicesAreTheLimitOfAClaim) {
  std::string devices;
  for (int i = 0; i < 40; ++i) {
    devices += (i > 0 ? "," : "") + std::string(R"({"name":"g)") + std::to_string(i) + "\"}";
  }
  DeviceWorld fits;
  fits.local(devices).claim(requests(request("r", R"(,"count":32)")));
  EXPECT_NE(fits.allocate(), "no");
  DeviceWorld split;
  split.local(devices).claim(
      requests(request("a", R"(,"count":30)") + "," + request("b", R"(,"count":3)")));
  EXPECT_EQ(split.allocate().rfind("node: claim ns/c0, request b: adding 3 devices", 0), 0u);
}

TEST(DeviceAllocator, TakesTheFirstAlternativeThatWorks) {
  DeviceWorld world;
  world.local(R"({"name":"a"},{"name":"b"})").claim(R"("requests":[{"name":"r","firstAvailable":[
          {"name":"four","deviceClassName":"gpu","count":4},
          {"name":"two","deviceClassName":"gpu","count":2},
          {"name":"one","deviceClassName":"gpu"}]}])");
  EXPECT_EQ(world.allocate(), "r/two=n1/a r/two=n1/b");
  world.claim(kOne);
  EXPECT_EQ(world.allocate(), "r/one=n1/a; gpu=n1/b");
}

TEST(DeviceAllocator, AllTakesEveryMatchingDeviceOrNothing) {
  DeviceWorld world;
  world.local(R"({"name":"a"},{"name":"b"})")
      .claim(requests(request("r", R"(,"allocationMode":"All")")));
  EXPECT_EQ(world.allocate(), "r=n1/a r=n1/b");
  world.held("n1", "b");
  EXPECT_EQ(world.allocate(), "no");
  DeviceWorld none;
  none.claim(requests(request("r", R"(,"allocationMode":"All")")));
  EXPECT_EQ(none.allocate(), "no");
}

TEST(DeviceAllocator, AllWaitsForAPoolThatCouldHoldMore) {
  DeviceWorld world;
  world.slice("s1", R"("driver":"d","pool":{"name":"p","resourceSliceCount":2},"nodeName":"n1",
      "devices":[{"name":"a","attributes":{"model":{"string":"x"}}}])");
  world.claim(requests(request("r", R"(,"allocationMode":"All",
      "selectors":[{"cel":{"expression":"model==x"}}])")));
  EXPECT_EQ(world.allocate(),
            "node: claim ns/c0, request r: asks for all devices, but resource pool d/p is "
            "currently being updated");
  world.as_upstream = true;
  EXPECT_EQ(world.allocate().rfind("fatal: ", 0), 0u);
}

TEST(DeviceAllocator, AllPassesOverABadPoolOfOtherDevices) {
  DeviceWorld world;
  world.local(R"({"name":"a","attributes":{"model":{"string":"x"}}})");
  world.slice("s1", R"("driver":"other","pool":{"name":"p","resourceSliceCount":2},
      "nodeName":"n1","devices":[{"name":"nic"}])");
  world.claim(requests(request("r", R"(,"allocationMode":"All",
      "selectors":[{"cel":{"expression":"model==x"}}])")));
  EXPECT_EQ(world.allocate(), "r=n1/a");
}

TEST(DeviceAllocator, OnlyTheNewestGenerationOfAPoolCounts) {
  DeviceWorld world;
  const auto slice = [&](const char* name, int generation, const char* device) {
    world.slice(name, R"("driver":"d","pool":{"name":"p","resourceSliceCount":1,"generation":)" +
                          std::to_string(generation) + R"(},"nodeName":"n1","devices":[{"name":")" +
                          device + "\"}]");
  };
  slice("s1", 1, "old");
  slice("s2", 2, "new");
  world.claim(kOne);
  EXPECT_EQ(world.allocate(), "gpu=p/new");
}

TEST(DeviceAllocator, APoolThatContradictsItselfIsNamedWhenNothingElseFits) {
  DeviceWorld world;
  world.local(R"({"name":"a"},{"name":"a"})").claim(kOne);
  EXPECT_EQ(world.allocate(), "node: invalid resource pools were encountered");
  world.slice("x", R"("driver":"e","pool":{"name":"q","resourceSliceCount":1},"allNodes":true,
      "devices":[{"name":"z"}])");
  EXPECT_EQ(world.allocate(), "gpu=q/z");
}

TEST(DeviceAllocator, PoolsWithBindingConditionsComeLast) {
  DeviceWorld world;
  world.slice("s1", R"("driver":"a","pool":{"name":"p","resourceSliceCount":1},"nodeName":"n1",
      "devices":[{"name":"slow","bindingConditions":["c"],"bindingFailureConditions":["f"]}])");
  world.slice("s2", R"("driver":"b","pool":{"name":"p","resourceSliceCount":1},"nodeName":"n1",
      "devices":[{"name":"quick"}])");
  world.claim(kOne);
  EXPECT_EQ(world.allocate(), "gpu=p/quick");
  world.features.binding_conditions = false;
  world.claim(kOne);
  EXPECT_EQ(world.allocate(), "no");
}

TEST(DeviceAllocator, APoolThatIsNotReadyComesByItsNameWhateverItsDevicesWaitFor) {
  DeviceWorld world;
  world.slice("s1", R"("driver":"d","pool":{"name":"a","resourceSliceCount":1},"nodeName":"n1",
      "devices":[{"name":"x","bindingConditions":["c"],"bindingFailureConditions":["f"]},
                 {"name":"x"}])");
  world.slice("s2", R"("driver":"d","pool":{"name":"b","resourceSliceCount":2},"nodeName":"n1",
      "devices":[{"name":"y"}])");
  world.claim(requests(request("r", R"(,"allocationMode":"All")")));
  EXPECT_EQ(world.allocate(),
            "node: claim ns/c0, request r: asks for all devices, but resource pool d/a is "
            "currently invalid");
}

TEST(DeviceAllocator, DevicesTakenInOnePassCountTheStepsOfASearch) {
  const auto answer = [](std::int64_t steps_max, const std::string& constraints) {
    DeviceWorld world;
    world.steps_max = steps_max;
    std::string devices;
    for (const char* name : {"a", "b", "c", "d", "e"}) {
      devices += devices.empty() ? "" : ",";
      devices += R"({"name":")" + std::string(name) + R"(","attributes":{"rack":{"int":1}}})";
    }
    world.local(devices).held("n1", "b");
    world.rule(R"("deviceSelector":{"device":"d"},"taint":{"key":"k","effect":"NoSchedule"})");
    world.claim(requests(request("gpu", R"(,"count":3)")) + constraints);
    return world.allocate();
  };
  for (std::int64_t steps = 1; steps < 7; ++steps) {
    // What a constraint ties together is searched for.
    EXPECT_EQ(answer(steps, ""), answer(steps, R"(,"constraints":[{"matchAttribute":"d/rack"}])"));
  }
  EXPECT_EQ(answer(3, ""), "limit: the search for devices reached its limit");
  EXPECT_EQ(answer(4, ""), "gpu=n1/a gpu=n1/c gpu=n1/e");
}

TEST(DeviceAllocator, TheSearchEndsAtItsCountedLimit) {
  DeviceWorld world;
  std::string devices;
  for (int i = 0; i < 30; ++i) {
    devices += (i > 0 ? "," : "") + std::string(R"({"name":"g)") + std::to_string(i) + "\"}";
  }
  world.steps_max = 1000;
  world.local(devices).claim(
      requests(request("a", R"(,"count":10)") + "," + request("b", R"(,"count":10,
      "selectors":[{"cel":{"expression":"model==x"}}])")));
  EXPECT_EQ(world.allocate(), "limit: the search for devices reached its limit");
}

TEST(DeviceAllocator, DevicesThatAreOnlyLookedAtCountTowardsTheLimit) {
  const auto answer = [](std::int64_t steps_max) {
    DeviceWorld world;
    std::string devices;
    for (int i = 0; i < 64; ++i) {
      devices += i > 0 ? "," : "";
      devices += R"({"name":"g)" + std::to_string(i) + R"(","attributes":{"serial":{"int":)" +
                 std::to_string(i) + "}}}";
    }
    world.steps_max = steps_max;
    world.local(devices).claim(requests(request("gpu", R"(,"count":2)")) +
                               R"(,"constraints":[{"matchAttribute":"d/serial"}])");
    return world.allocate();
  };
  // 64 are tried as the first, and for each of them all that come later are refused: 2,016.
  EXPECT_EQ(answer(65 + 2016 / 16), "no");
  EXPECT_EQ(answer(65 + 2016 / 16 - 1), "limit: the search for devices reached its limit");
}

}  // namespace
}  // namespace gang::engine
