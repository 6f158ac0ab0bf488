// Rounds over claims as the scheduler sees them: what it counts, and the word on bindings.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "scheduler/device_world.h"

namespace gang::test {
namespace {

using engine::MemberEnd;
using engine::RoundEnd;
using engine::Verdict;
using std::chrono::minutes;
using std::chrono::seconds;

/// Two nodes with two devices each.
class DeviceRoundsTest : public testing::Test {
 protected:
  DeviceRoundsTest() { world.add_device_node("n1", 2).add_device_node("n2", 2); }

  /// The open round of the gang fails with nothing bound.
  void fail(RoundEnd end, const std::vector<std::string>& pods) {
    world.end_round(end, pods, MemberEnd::kNotBound);
  }

  DeviceWorld world;
};

TEST_F(DeviceRoundsTest, DevicesOfAPlanAreTakenAtOnce) {
  world.add_device_gang("a", 3).run();
  ASSERT_EQ(world.plans.size(), 1U);
  EXPECT_EQ(world.devices(), "a-0=n1/g0 a-1=n1/g1 a-2=n2/g0");
  world.add_device_gang("b", 2).run();
  ASSERT_EQ(world.plans.size(), 1U) << "the second gang has one device left";
  EXPECT_EQ(world.told().verdict, Verdict::kImpossibleNow);
  EXPECT_NE(world.told().message.find("device class gpu: 1 free of 4; 3 allocated; needed 2"),
            std::string::npos)
      << world.told().message;
}

TEST_F(DeviceRoundsTest, BindsOnceTheWatchHasShownTheClaims) {
  world.add_device_gang("a", 2).run();
  EXPECT_EQ(world.problem(), "none");
  world.write_claims();
  ASSERT_EQ(world.problem(), "");
  EXPECT_EQ(world.checks[0].stamp, world.plans[0].stamp);
  world.end_round(RoundEnd::kCommitted).pass(minutes(20));
  EXPECT_EQ(world.checks.size(), 1U);
  EXPECT_EQ(world.core.state().recompute(), "");
}

TEST_F(DeviceRoundsTest, WaitsForTheVersionThatWasWritten) {
  world.add_device_gang("a", 2).run();
  engine::ClaimsWritten written{
      .gang = world.plans[0].gang, .stamp = world.plans[0].stamp, .claims = {}};
  written.claims = {{world.claim("a-0").meta.uid, {"1999"}}, {world.claim("a-1").meta.uid, {"1"}}};
  world.show_claims();
  world.post(scheduler::ClaimsWritten{written}).run();
  EXPECT_EQ(world.problem(), "none");
  for (int i = 0; i < 1000; ++i) world.put_claim(world.claim("a-0"));
  world.run();
  ASSERT_EQ(world.problem(), "");
  EXPECT_EQ(world.checks[0].versions.size(), 2U);
}

TEST_F(DeviceRoundsTest, GivesUpWhenTheWatchDoesNotShowThem) {
  world.add_device_gang("a", 2).run();
  engine::ClaimsWritten written{
      .gang = world.plans[0].gang, .stamp = world.plans[0].stamp, .claims = {}};
  written.claims = {{world.claim("a-0").meta.uid, {"99999"}}};
  world.post(scheduler::ClaimsWritten{written}).pass(seconds(29));
  EXPECT_EQ(world.problem(), "none");
  world.pass(seconds(2));
  EXPECT_EQ(world.problem(),
            "the watch of ResourceClaims did not show the reserved devices within 30s");
}

TEST_F(DeviceRoundsTest, YieldsToAnotherClaimWithItsDevice) {
  world.add_device_gang("a", 2).run();
  world.show_claims().put_claim(holding(gpu_claim("foreign"), "n1/g1")).claims_written().run();
  EXPECT_EQ(world.problem(), "claim default/a-1: d/n1: device g1 is held by another claim too");
  world.give_claims_back();
  fail(RoundEnd::kOvertaken, {"a-0", "a-1"});
  world.pass(seconds(2));
  ASSERT_EQ(world.plans.size(), 2U);
  EXPECT_EQ(world.devices(), "a-0=n1/g0 a-1=n2/g0");
}

TEST_F(DeviceRoundsTest, YieldsToWhatBecameOfItsObjects) {
  const auto after = [](const std::function<void(DeviceWorld&)>& change) {
    DeviceWorld one;
    one.add_device_node("n1", 2).add_device_gang("a", 2).run();
    one.show_claims();
    change(one);
    one.claims_written().run();
    return one.problem();
  };
  EXPECT_EQ(after([](DeviceWorld& w) { w.publish("n1", 2, 2); }), "") << "the same devices";
  EXPECT_EQ(after([](DeviceWorld& w) { w.publish("n1", 1, 2); }),
            "claim default/a-1: pool d/n1: device g1 is gone");
  EXPECT_EQ(after([](DeviceWorld& w) { w.remove_pod("a-1"); }), "pod default/a-1 is gone");
  EXPECT_EQ(after([](DeviceWorld& w) { w.remove_node("n1"); }), "node n1 is gone");
  EXPECT_EQ(after([](DeviceWorld& w) {
              api::ResourceClaim claim = w.claim("a-1");
              claim.allocation.reset();
              claim.reserved_for.clear();
              w.put_claim(claim);
            }),
            "claim default/a-1 lost its devices");
  EXPECT_EQ(after([](DeviceWorld& w) {
              api::ResourceClaim claim = w.claim("a-1");
              claim.reserved_for.clear();
              w.put_claim(claim);
            }),
            "claim default/a-1 is not reserved for its pods any more");
  EXPECT_EQ(after([](DeviceWorld& w) {
              api::ResourceClaim claim = w.claim("a-0");
              claim.meta.deletion_time = w.now;
              w.put_claim(claim);
            }),
            "claim default/a-0 is being deleted");
}

TEST_F(DeviceRoundsTest, PodsThatWentAwayAreNotToldAsLostDevices) {
  world.add_device_gang("a", 2).run();
  world.show_claims().remove_pod("a-1");
  world.claims_written().run();
  ASSERT_EQ(world.problem(), "pod default/a-1 is gone");
  EXPECT_EQ(world.checks.back().end, RoundEnd::kMembersGone);
}

TEST_F(DeviceRoundsTest, FailedRoundGivesItsDevicesBack) {
  world.add_device_gang("a", 4).run();
  EXPECT_EQ(world.plans.size(), 1U);
  fail(RoundEnd::kRefused, {"a-0", "a-1", "a-2", "a-3"});
  EXPECT_EQ(world.core.state().recompute(), "");
  EXPECT_NE(world.told().message.find("writes of the round"), std::string::npos);
  world.add(pod_group("a").min(5).version(99).build());  // it waits for a fifth pod now
  world.add_device_gang("b", 2).run();
  EXPECT_EQ(world.devices(), "b-0=n1/g0 b-1=n1/g1");
}

TEST_F(DeviceRoundsTest, OneRoundAtATimeWritesAClaim) {
  world.put_claim(gpu_claim("shared"));
  for (const char* name : {"p", "q", "r"}) {
    api::Pod made = pod(name).cpu("1").rules({.resource_claims = true}).build();
    made.claims = {{.name = "gpu", .claim_name = "shared"}};
    world.add(made);
  }
  world.run();
  for (std::size_t i = 1; i <= 3; ++i) {
    ASSERT_EQ(world.plans.size(), i);
    world.pass(seconds(1));
    ASSERT_EQ(world.plans.size(), i) << "the others wait for its end";
    world.write_claims();
    world.end_round(RoundEnd::kCommitted).run();
  }
  EXPECT_EQ(world.bound().size(), 3U);
}

TEST_F(DeviceRoundsTest, SecondLossIsTold) {
  world.add_device_gang("a", 2).run();
  for (int i = 0; i < 2; ++i) {
    world.clear();
    fail(RoundEnd::kOvertaken, {"a-0", "a-1"});
    EXPECT_EQ(world.explanations.size(), static_cast<std::size_t>(i));
    world.pass(seconds(3));
  }
}

TEST_F(DeviceRoundsTest, PatienceBeginsWithTheAllocation) {
  world.add_device_gang("a", 1).run();
  world.show_claims();
  api::ResourceClaim claim = world.claim("a-0");
  claim.allocation->results[0].binding_conditions = {"example.com/ready"};
  claim.allocation->time = world.now - minutes(8);
  world.put_claim(claim).claims_written().pass(seconds(110));
  EXPECT_EQ(world.problem(), "none");
  world.pass(seconds(20));
  EXPECT_EQ(world.problem(),
            "waited 10m for device d/n1/g0 of claim default/a-0 to become example.com/ready");
}

TEST_F(DeviceRoundsTest, WaitsUntilADeviceIsMadeReady) {
  world.add_device_gang("a", 1).run();
  world.show_claims();
  api::ResourceClaim claim = world.claim("a-0");
  claim.allocation->results[0].binding_conditions = {"example.com/ready"};
  claim.allocation->results[0].binding_failure_conditions = {"example.com/failed"};
  world.put_claim(claim).claims_written().pass(minutes(5));
  EXPECT_EQ(world.problem(), "none");
  EXPECT_EQ(world.told().message,
            "devices are reserved for 1 members; waiting for device d/n1/g0 of claim default/a-0 "
            "to become example.com/ready");
  api::AllocatedDeviceStatus status{.driver = "d", .pool = "n1", .device = "g0"};
  status.conditions = {{.type = "example.com/ready", .status = api::ConditionStatus::kTrue}};
  claim.devices = {status};
  world.put_claim(claim).run();
  EXPECT_EQ(world.problem(), "");
}

/// A gang of one whose device, the first that is free, its driver has to make ready.
class UnreadyDeviceTest : public DeviceRoundsTest {
 protected:
  UnreadyDeviceTest() {
    world.add_device_gang("a", 1).run();
    write();
  }

  /// The claim of the newest plan is written, and its device has conditions.
  void write() {
    world.show_claims();
    api::ResourceClaim claim = world.claim("a-0");
    claim.allocation->results[0].binding_conditions = {"example.com/ready"};
    claim.allocation->results[0].binding_failure_conditions = {"example.com/failed"};
    claim.devices.clear();
    world.put_claim(claim).claims_written().run();
  }

  void report_failure(const std::string& device, const std::string& words = "no such switch") {
    api::AllocatedDeviceStatus status{.driver = "d", .pool = "n1", .device = device};
    status.conditions = {{.type = "example.com/failed",
                          .status = api::ConditionStatus::kTrue,
                          .reason = "LinkDown",
                          .message = words}};
    api::ResourceClaim claim = world.claim("a-0");
    claim.devices = {status};
    world.put_claim(claim).run();
  }

  /// The round is given up.
  void give_up() {
    world.give_claims_back().clear();
    fail(RoundEnd::kUnready, {"a-0"});
  }

  const std::string why_ =
      "device d/n1/g0 of claim default/a-0 is example.com/failed (LinkDown): no such switch";
};

TEST_F(UnreadyDeviceTest, DeviceThatFailsEndsTheRound) {
  world.pass(minutes(1));
  report_failure("g0");
  EXPECT_EQ(world.problem(), why_);
  EXPECT_EQ(world.checks.back().end, RoundEnd::kUnready);
  give_up();
  ASSERT_EQ(world.explanations.size(), 1U) << "the first time already";
  EXPECT_EQ(world.told().message, "a device was not made ready: " + why_ +
                                      "; the devices are given back and planned again");
  ASSERT_EQ(world.told().members.size(), 1U);
  EXPECT_EQ(world.told().members[0].message, world.told().message);
}

TEST_F(UnreadyDeviceTest, WordsOfTheDriverAreCut) {
  report_failure("g0", std::string(32'768, 'x'));
  EXPECT_EQ(world.problem(),
            "device d/n1/g0 of claim default/a-0 is example.com/failed (LinkDown): " +
                std::string(256, 'x') + "...");
}

TEST_F(UnreadyDeviceTest, FailureIsToldHoweverSoonItFollowsTheWait) {
  ASSERT_TRUE(world.told().is_progress);
  report_failure("g0");
  give_up();
  world.run();
  ASSERT_EQ(world.explanations.size(), 1U);
  EXPECT_NE(world.told().message.find("LinkDown"), std::string::npos) << world.told().message;
  EXPECT_FALSE(world.told().is_progress);
}

TEST_F(UnreadyDeviceTest, NextWaitIsToldOnceTheIntervalIsOver) {
  report_failure("g0");
  give_up();
  world.pass(seconds(2));
  const std::size_t told = world.explanations.size();
  write();
  EXPECT_EQ(world.explanations.size(), told);
  world.pass(seconds(10));
  EXPECT_NE(world.told().message.find("waiting for device d/n1/g1"), std::string::npos);
}

TEST_F(UnreadyDeviceTest, PatienceEnds) {
  world.pass(minutes(9));
  EXPECT_EQ(world.problem(), "none");
  world.pass(minutes(2));
  EXPECT_EQ(world.problem(),
            "waited 10m for device d/n1/g0 of claim default/a-0 to become example.com/ready");
  EXPECT_EQ(world.checks.back().end, RoundEnd::kUnready);
  give_up();
  EXPECT_EQ(world.told().message,
            "a device was not made ready: waited 10m for device d/n1/g0 of claim default/a-0 to "
            "become example.com/ready; the devices are given back and planned again");
}

TEST_F(UnreadyDeviceTest, AnotherDeviceIsTakenNext) {
  report_failure("g0");
  give_up();
  world.pass(seconds(2));
  EXPECT_EQ(world.devices(), "a-0=n1/g1");
}

TEST_F(UnreadyDeviceTest, EachDeviceIsTriedOnceHoweverLongEachTakes) {
  for (const char* next : {"a-0=n1/g1", "a-0=n2/g0", "a-0=n2/g1"}) {
    world.pass(minutes(10));
    give_up();
    world.pass(seconds(20));
    ASSERT_EQ(world.devices(), next);
    write();
  }
}

TEST_F(UnreadyDeviceTest, IsLeftOutForFiveMinutesAndTheGangSaysSo) {
  world.put_claim(holding(gpu_claim("x"), "n1/g1")).put_claim(holding(gpu_claim("y"), "n2/g0"));
  world.put_claim(holding(gpu_claim("z"), "n2/g1")).run();
  report_failure("g0");
  give_up();
  world.pass(seconds(20));
  EXPECT_TRUE(world.plans.empty());
  EXPECT_EQ(world.told().verdict, Verdict::kImpossibleNow);
  const std::string& text = world.told().message;
  EXPECT_NE(text.find("device class gpu: 0 free of 4; 3 allocated; 1 not made ready of late"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("; left out until 1970-01-01T00:21:40Z: " + why_), std::string::npos) << text;
  world.pass(minutes(5) - seconds(21));
  EXPECT_TRUE(world.plans.empty());
  world.pass(seconds(1));
  EXPECT_EQ(world.devices(), "a-0=n1/g0");
}

TEST_F(UnreadyDeviceTest, IsTheBusinessOfThatGangAlone) {
  report_failure("g0");
  give_up();
  world.add_device_gang("b", 1).run();
  EXPECT_EQ(world.devices(), "b-0=n1/g0") << "what a asks of the driver may be wrong";
}

}  // namespace
}  // namespace gang::test
