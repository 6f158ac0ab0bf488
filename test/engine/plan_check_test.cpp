// A plan over devices against what became of the cluster while its claims were written.
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>

#include "engine/cluster_fixture.h"

namespace gang::engine {
namespace {

using test::node;
using test::pod;
using test::pod_group;

/// One node with the devices g0 (whole), m0 (64 units for many users) and the partitions a and b of
/// one counter; a pod for each of the first three.
class PlanCheckTest : public testing::Test {
 protected:
  PlanCheckTest() {
    cluster_.add(node("n1").uid("uid-n1").cpu("16"));
    slice_.meta.key.name = "n1-d";
    slice_.meta.uid.text = "uid-slice";
    slice_.driver = "d";
    slice_.pool = "n1";
    slice_.pool_slice_count = 2;
    slice_.place.node_name = "n1";
    slice_.devices.push_back({.name = "g0"});
    api::Device many{.name = "m0", .allow_multiple_allocations = true};
    many.capacity.emplace_back("units", api::DeviceCapacity{*api::Quantity::parse("64"), {}});
    slice_.devices.push_back(many);
    slice_.devices.push_back(partition("a"));
    slice_.devices.push_back(partition("b"));
    counters_ = slice_;
    counters_.meta.key.name = "n1-counters";
    counters_.meta.uid.text = "uid-counters";
    counters_.devices.clear();
    counters_.shared_counters.push_back({"set", {{"slots", *api::Quantity::parse("7")}}});
    cluster_.add(slice_).add(counters_);
    before_ = cluster_.state.snapshot();
  }

  static api::Device partition(const std::string& name) {
    api::Device device{.name = name};
    device.consumes_counters.push_back({"set", {{"slots", *api::Quantity::parse("4")}}, {}});
    return device;
  }

  static api::DeviceResult result_of(const std::string& device) {
    api::DeviceResult result{.request = "r", .driver = "d", .pool = "n1", .device = device};
    if (device == "m0") {
      result.share_id = "s";
      result.consumed_capacity = {{"units", *api::Quantity::parse("40")}};
    }
    return result;
  }

  static api::ResourceClaim claim_with(const std::string& name, const std::string& device) {
    api::ResourceClaim claim;
    claim.meta.key = {"default", name};
    claim.meta.uid.text = "uid-" + name;
    claim.allocation.emplace();
    claim.allocation->results.push_back(result_of(device));
    return claim;
  }

  /// Plans one pod with the device, shows its claim as written, then what `change` does.
  std::string after(const std::string& device, const std::function<void()>& change) {
    Plan plan{.need = 1};
    api::ResourceClaim claim = claim_with("ours", device);
    claim.allocation->results[0].tolerations = tolerations_;
    plan.assignments.push_back({.node = before_->by_name()[0], .node_name = "n1"});
    plan.claims.push_back({.claim = std::make_shared<const api::ResourceClaim>(claim),
                           .allocation = claim.allocation});
    cluster_.add(claim);
    change();
    return overtaken(plan, *before_, *cluster_.state.snapshot(), features_);
  }

  void change_slice(const std::function<void(api::ResourceSlice&)>& change) {
    change(slice_);
    slice_.meta.resource_version.text = std::to_string(++version_);
    cluster_.update(slice_);
  }

  int version_ = 100;
  cluster::DeviceFeatures features_;
  std::vector<api::DeviceToleration> tolerations_;
  api::ResourceSlice slice_;
  api::ResourceSlice counters_;
  TestCluster cluster_;
  std::shared_ptr<const cluster::Snapshot> before_;
};

TEST_F(PlanCheckTest, HoldsWhenNothingElseHappened) {
  for (const char* device : {"g0", "m0", "a"}) EXPECT_EQ(after(device, [] {}), "") << device;
}

TEST_F(PlanCheckTest, ChangesThatDoNotConcernItLeaveIt) {
  EXPECT_EQ(after("g0",
                  [this] {
                    cluster_.add(claim_with("other", "a"));
                    cluster_.add(node("n2"));
                    cluster_.update(node("n1").uid("uid-n1").version(99).cpu("8").taint(
                        "soft", "", api::TaintEffect::kPreferNoSchedule));
                    change_slice([](api::ResourceSlice& slice) {
                      slice.devices[2].taints.push_back(
                          {.key = "sick", .effect = api::DeviceTaintEffect::kNoSchedule});
                    });
                  }),
            "");
}

TEST_F(PlanCheckTest, DeviceOfAnotherClaimIsNamed) {
  EXPECT_EQ(after("g0", [this] { cluster_.add(claim_with("other", "g0")); }),
            "claim default/ours: d/n1: device g0 is held by another claim too");
}

TEST_F(PlanCheckTest, DevicesOfAClaimThatIsJoinedAreLookedAt) {
  const api::ResourceClaim held = claim_with("held", "g0");
  Plan plan{.need = 1};
  plan.assignments.push_back({.node = before_->by_name()[0], .node_name = "n1"});
  plan.claims.push_back({.claim = std::make_shared<const api::ResourceClaim>(held)});
  cluster_.add(held);
  const auto problem = [&] {
    return overtaken(plan, *before_, *cluster_.state.snapshot(), features_);
  };
  EXPECT_EQ(problem(), "");
  change_slice([](api::ResourceSlice& slice) {
    slice.devices[0].taints = {{.key = "sick", .effect = api::DeviceTaintEffect::kNoSchedule}};
  });
  EXPECT_EQ(problem(), "") << "keeps new claims away only";
  change_slice([](api::ResourceSlice& slice) {
    slice.devices[0].taints = {
        {.key = "xid", .value = "48", .effect = api::DeviceTaintEffect::kNoExecute}};
  });
  EXPECT_EQ(problem(),
            "claim default/held: device d/n1/g0 has the taint xid=48:NoExecute, which evicts its "
            "pods");
  change_slice([](api::ResourceSlice& slice) { slice.devices[0].taints.clear(); });
  cluster_.add(claim_with("other", "g0"));
  EXPECT_EQ(problem(), "claim default/held: device d/n1/g0 is held by another claim too");
  change_slice([](api::ResourceSlice& slice) { slice.devices.erase(slice.devices.begin()); });
  EXPECT_EQ(problem(), "claim default/held: device d/n1/g0 is shown by no slice");
  change_slice([](api::ResourceSlice& slice) { slice.pool_generation = 1; });
  EXPECT_EQ(problem(), "") << "the pool is not complete: it may come yet";
}

TEST_F(PlanCheckTest, SharesAddUpToTheCapacity) {
  EXPECT_EQ(after("m0", [this] { cluster_.add(claim_with("other", "m0")); }),
            "claim default/ours: d/n1: more of capacity units of device m0 is held than there is");
}

TEST_F(PlanCheckTest, PartitionsAddUpToTheirCounters) {
  EXPECT_EQ(after("a", [this] { cluster_.add(claim_with("other", "b")); }),
            "claim default/ours: d/n1: more of counter set/slots is held than there is");
}

/// As drivers do when they have made a device ready: first one slice of two, then the other.
TEST_F(PlanCheckTest, TheSameDeviceInAPoolPublishedAnewHolds) {
  const auto publish_halfway = [this] {
    change_slice([](api::ResourceSlice& slice) {
      slice.pool_generation = 2;
      slice.devices[1].name = "m1";
    });
  };
  const auto publish_the_rest = [this] {
    counters_.pool_generation = 2;
    counters_.meta.resource_version.text = std::to_string(++version_);
    cluster_.update(counters_);
  };
  EXPECT_EQ(after("g0", publish_halfway), "");
  EXPECT_EQ(after("g0", publish_the_rest), "");
  EXPECT_EQ(after("m0", [] {}), "claim default/ours: pool d/n1: device m0 is gone");
}

TEST_F(PlanCheckTest, AnotherDeviceOfThatNameOvertakes) {
  const std::string problem =
      "claim default/ours: pool d/n1: device m0 was published anew as another one";
  const auto units_become = [this](const char* units) {
    change_slice([units](api::ResourceSlice& slice) {
      slice.devices[1].capacity[0].second.value = *api::Quantity::parse(units);
    });
  };
  EXPECT_EQ(after("m0", [&] { units_become("48"); }), problem);
  EXPECT_EQ(after("m0", [&] { units_become("64"); }), "");
  EXPECT_EQ(after("m0",
                  [this] {
                    change_slice([](api::ResourceSlice& slice) { slice.place.node_name = "n2"; });
                  }),
            problem);
}

TEST_F(PlanCheckTest, ATaintThatItWasPlannedWithDoesNotOvertake) {
  change_slice([](api::ResourceSlice& slice) {
    slice.devices[0].taints.push_back(
        {.key = "sick", .effect = api::DeviceTaintEffect::kNoExecute});
  });
  before_ = cluster_.state.snapshot();
  EXPECT_EQ(after("g0",
                  [this] {
                    change_slice([](api::ResourceSlice& slice) {
                      slice.devices[2].taints.push_back(
                          {.key = "sick", .effect = api::DeviceTaintEffect::kNoSchedule});
                    });
                  }),
            "");
}

/// As the plan was made: without the rules of taints, or with upstream's.
TEST_F(PlanCheckTest, ANewTaintIsJudgedByTheFeaturesOfThePlan) {
  const auto after_taint = [this](const std::string& effect) {
    before_ = cluster_.state.snapshot();
    return after("g0", [&] {
      change_slice([&](api::ResourceSlice& slice) {
        slice.devices[0].taints = {{.key = effect, .effect = api::DeviceTaintEffect::kNoExecute}};
      });
    });
  };
  tolerations_ = {{.op = "Exists"}};
  EXPECT_NE(after_taint("a"), "");
  features_.strict_no_execute = false;
  EXPECT_EQ(after_taint("b"), "");
  tolerations_.clear();
  EXPECT_NE(after_taint("c"), "");
  features_.device_taints = false;
  EXPECT_EQ(after_taint("d"), "");
}

TEST_F(PlanCheckTest, DeviceThatWentOrIsTaintedOvertakes) {
  EXPECT_EQ(after("g0",
                  [this] {
                    change_slice([](api::ResourceSlice& slice) {
                      slice.devices[0].taints.push_back(
                          {.key = "sick", .effect = api::DeviceTaintEffect::kNoExecute});
                    });
                  }),
            "claim default/ours: pool d/n1: device g0 got the taint sick");
  before_ = cluster_.state.snapshot();
  EXPECT_EQ(after("g0",
                  [this] {
                    change_slice([](api::ResourceSlice& slice) { slice.devices[0].name = "g9"; });
                  }),
            "claim default/ours: pool d/n1: device g0 is gone");
}

TEST_F(PlanCheckTest, NodesThatWentOrTurnedAwayOvertake) {
  const auto node_becomes = [this](const api::Node& changed) {
    return after("g0", [&] { cluster_.update(changed); });
  };
  EXPECT_EQ(node_becomes(node("n1").uid("uid-n1").version(99).unschedulable()),
            "node n1 was cordoned");
  EXPECT_EQ(node_becomes(node("n1").uid("uid-n1").version(100).taint("not-ready")),
            "node n1 got the taint not-ready");
  EXPECT_EQ(node_becomes(node("n1").uid("uid-again").version(101)), "node n1 was made anew");
  EXPECT_EQ(after("g0", [this] { cluster_.remove(node("n1").uid("uid-again").version(102)); }),
            "node n1 is gone");
}

}  // namespace
}  // namespace gang::engine
