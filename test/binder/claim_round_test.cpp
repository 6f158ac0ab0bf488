#include "binder/claim_round.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "binder/claim_bench.h"

namespace gang::test {
namespace {

using kube::Outcome;
using std::chrono::seconds;
using Texts = std::vector<std::string>;
using ClaimFault = FakeClaims::Fault;

constexpr const char* kMap = "intent-uid-train";

api::ClaimConsumer group_consumer() {
  return {.api_group = "scheduling.k8s.io",
          .resource = "podgroups",
          .name = "train",
          .uid = {"uid-train"}};
}

class ClaimRoundTest : public testing::Test {
 protected:
  [[nodiscard]] const std::string& message() const { return bench.outcomes.back().message; }
  [[nodiscard]] api::Intent stored() { return *api::intent_from(bench.claims.maps().at(kMap)); }

  ClaimBench bench;
};

TEST_F(ClaimRoundTest, WritesTheIntentThenClaimsThenBindingsThenTheRecord) {
  bench.create_gang_with_claims(2);
  bench.carry_out(bench.claim_plan(2, 2));
  EXPECT_EQ(bench.round_end(), "committed");
  EXPECT_EQ(bench.writes(),
            (Texts{"create intent-uid-train", "finalizer c0", "finalizer c1", "set c0: m0",
                   "set c1: m1", "bind m0 n0 v2 gang-scheduler.dev/round=round-1",
                   "bind m1 n1 v3 gang-scheduler.dev/round=round-1",
                   "patch-group train PodGroupInitiallyScheduled=True/Scheduled "
                   "Satisfied=True/Satisfied",
                   "delete intent-uid-train"}));
  EXPECT_EQ(bench.state(), "m0:n0 c0=d0[m0] m1:n1 c1=d1[m1] maps=0");
}

// n binds, 2c claim writes, 2 intent writes, the record, and one read before the binds.
TEST_F(ClaimRoundTest, CostsNoMoreThanItsBudget) {
  bench.create_gang_with_claims(4);
  bench.carry_out(bench.claim_plan(4, 4));
  EXPECT_EQ(bench.writes().size(), 4U + 8U + 2U + 1U);
  EXPECT_EQ(bench.claims.requests().size(), 8U + 2U + 1U);
  EXPECT_EQ(std::ranges::count(bench.claims.requests(), std::string("read ") + kMap), 1);
  EXPECT_EQ(bench.client.count("get") + bench.client.count("get-group"), 0U);
  EXPECT_EQ(bench.client.count("try"), 1U) << "once in the life of the process";
  EXPECT_EQ(bench.binder->stats().claim_writes, 8);
  EXPECT_EQ(bench.binder->stats().intent_writes, 2);
  EXPECT_TRUE(bench.binder->idle());
}

TEST_F(ClaimRoundTest, ListsAllThatItTouchesBeforeTheFirstClaim) {
  bench.create_gang_with_claims(2);
  engine::Plan plan = bench.claim_plan(1, 2);
  plan.base = 3;
  bench.claims.fail_next("finalizer", ClaimFault::kNotSent);
  bench.commit(plan);
  const api::Intent intent = stored();
  EXPECT_EQ(intent.gang.text(), "ns/train");
  EXPECT_EQ(intent.base, 3);
  EXPECT_EQ(intent.epoch, "e1");
  EXPECT_EQ(intent.stamp, "round-1");
  ASSERT_EQ(intent.members.size(), 2U);
  EXPECT_EQ(intent.members[1].node_name, "n1");
  ASSERT_EQ(intent.claims.size(), 2U);
  EXPECT_TRUE(intent.claims[0].allocates);
}

TEST_F(ClaimRoundTest, TellsTheVersionsThatItWroteAndWaits) {
  bench.create_gang_with_claims(2);
  bench.commit(bench.claim_plan(2, 2));
  ASSERT_EQ(bench.written.size(), 1U);
  EXPECT_EQ(bench.written[0].stamp, "round-1");
  ASSERT_EQ(bench.written[0].claims.size(), 2U);
  EXPECT_EQ(bench.written[0].claims[1].resource_version,
            bench.claims.claim("c1").meta.resource_version);
  bench.advance(seconds(700));
  EXPECT_EQ(bench.round_end(), "open") << "no deadline runs meanwhile";
  bench.binder->confirm({.gang = bench.gang(), .stamp = "round-0", .problem = "old"});
  bench.confirm();
  bench.run();
  EXPECT_EQ(bench.round_end(), "committed");
}

TEST_F(ClaimRoundTest, PodsWhoseDevicesAreMadeReadyNowSaySo) {
  bench.create_gang_with_claims(2);
  engine::Plan plan = bench.claim_plan(2, 2);
  plan.claims[1].allocation->results[0].binding_conditions = {"ready"};
  bench.commit(plan);
  bench.advance(seconds(1));
  EXPECT_EQ(bench.client.texts("event"),
            (Texts{"Normal BindingConditionsPending m1: waiting for binding conditions for device "
                   "on node n1"}));
}

TEST_F(ClaimRoundTest, DevicesThatAreReadyAlreadyAreNotWaitedFor) {
  bench.create_gang_with_claims(1);
  engine::Plan plan = bench.claim_plan(1, 1);
  plan.claims[0].allocation->results[0].binding_conditions = {"ready"};
  bench.claims.change("c0", [](api::ResourceClaim& claim) {
    claim.devices.push_back(
        {.driver = "d",
         .pool = "p",
         .device = "d0",
         .conditions = {{.type = "ready", .status = api::ConditionStatus::kTrue}}});
  });
  bench.commit(plan);
  bench.advance(seconds(1));
  EXPECT_EQ(bench.client.texts("event"), Texts{});
}

TEST_F(ClaimRoundTest, APlanThatNoLongerHoldsIsGivenBackInReverseOrder) {
  bench.create_gang_with_claims(2);
  bench.commit(bench.claim_plan(2, 2));
  bench.confirm("device p/d0 is tainted");
  bench.run();
  EXPECT_EQ(bench.round_end(), "overtaken");
  EXPECT_EQ(message(), "device p/d0 is tainted");
  EXPECT_EQ(bench.state(), "m0:- c0=-[] m1:- c1=-[] maps=0");
  const Texts tail(bench.writes().end() - 3, bench.writes().end());
  EXPECT_EQ(tail, (Texts{"clear c1:", "clear c0:", "delete intent-uid-train"}));
  EXPECT_EQ(bench.client.count("bind"), 0U);
}

TEST_F(ClaimRoundTest, ADeviceThatIsNotReadyIsAnEndOfItsOwn) {
  bench.create_gang_with_claims(1);
  bench.commit(bench.claim_plan(1, 1));
  bench.confirm("waited 10m for device p/d0", engine::RoundEnd::kUnready);
  bench.run();
  EXPECT_EQ(bench.round_end(), "devices_not_ready");
  EXPECT_EQ(bench.state(), "m0:- c0=-[] maps=0");
}

TEST_F(ClaimRoundTest, OtherDevicesInAClaimEndTheRound) {
  bench.create_gang_with_claims(2);
  const engine::Plan plan = bench.claim_plan(2, 2);
  bench.claims.change("c1", [](api::ResourceClaim& claim) {
    claim.allocation.emplace();
    claim.allocation->results.push_back({.device = "x"});
    claim.reserved_for = {{.resource = "pods", .name = "o", .uid = {"uid-o"}}};
  });
  bench.carry_out(plan);
  EXPECT_EQ(bench.round_end(), "overtaken");
  EXPECT_EQ(message(), "claim ns/c1: it got other devices meanwhile");
  EXPECT_EQ(bench.state(), "m0:- c0=-[] m1:- c1=x[o] maps=0");
  EXPECT_TRUE(bench.written.empty());
}

TEST_F(ClaimRoundTest, HalfBoundKeepsTheClaimsOfTheBoundOnes) {
  bench.create_gang_with_claims(2);
  bench.commit(bench.claim_plan(2, 2));
  bench.confirm();
  bench.client.remove_pod("m1");
  bench.advance(seconds(60));
  EXPECT_EQ(bench.round_end(), "members_lost");
  EXPECT_EQ(bench.state(), "m0:n0 c0=d0[m0] m1:gone c1=-[] maps=0");
}

TEST_F(ClaimRoundTest, ClaimsOfExtrasThatDoNotBindAreGivenBack) {
  bench.create_gang_with_claims(3);
  engine::Plan plan = bench.claim_plan(1, 3);
  plan.claims[0] = bench.write_of("c0", {"m0", "m2"});  // shared by a member that binds
  bench.commit(plan);
  bench.confirm();
  bench.client.remove_pod("m2");
  bench.advance(seconds(60));
  EXPECT_EQ(bench.round_end(), "committed");
  EXPECT_EQ(bench.members(), "m0=bound m1=bound m2=lost");
  EXPECT_EQ(bench.state(), "m0:n0 c0=d0[m0] m1:n1 c1=d1[m1] m2:gone c2=-[] maps=0");
}

TEST_F(ClaimRoundTest, AClaimOfTheGroupStaysWhileAMemberIsBound) {
  bench.create_gang_with_claims(2);
  engine::Plan plan = bench.claim_plan(2, 2);
  plan.claims[1].consumers = {group_consumer()};
  bench.commit(plan);
  bench.confirm();
  bench.client.remove_pod("m1");
  bench.advance(seconds(60));
  EXPECT_EQ(bench.state(), "m0:n0 c0=d0[m0] m1:gone c1=d1[train] maps=0");
}

TEST_F(ClaimRoundTest, AClaimOfTheGroupGoesWithTheLastMember) {
  bench.create_gang_with_claims(1);
  engine::Plan plan = bench.claim_plan(1, 1);
  plan.claims[0].consumers = {group_consumer()};
  bench.commit(plan);
  bench.confirm("no longer");
  bench.run();
  EXPECT_EQ(bench.state(), "m0:- c0=-[] maps=0");
}

TEST_F(ClaimRoundTest, AClaimOfARunningGroupStays) {
  bench.create_gang_with_claims(1);
  engine::Plan plan = bench.claim_plan(1, 1);
  plan.base = 1;
  plan.claims[0].consumers = {group_consumer()};
  bench.commit(plan);
  bench.confirm("no longer");
  bench.run();
  EXPECT_EQ(bench.state(), "m0:- c0=d0[train] maps=0");
}

TEST_F(ClaimRoundTest, ARoundThatSomebodyTookSendsNothingMore) {
  bench.create_gang_with_claims(2);
  bench.commit(bench.claim_plan(2, 2));
  bench.take_over("e9");
  const std::size_t before = bench.writes().size();
  bench.confirm();
  bench.advance(seconds(60));
  EXPECT_EQ(bench.round_end(), "unavailable");
  EXPECT_EQ(message(), "another instance took the round over");
  EXPECT_EQ(bench.writes().size(), before);
  EXPECT_EQ(bench.state(), "m0:- c0=d0[m0] m1:- c1=d1[m1] maps=1") << "left to the other one";
}

TEST_F(ClaimRoundTest, ABindingThatFailedIsSentAgainOnlyWhileTheRoundIsOurs) {
  bench.create_gang_with_claims(2);
  bench.commit(bench.claim_plan(2, 2));
  bench.client.fail_next("bind", "m1", answer(Outcome::kConflict, 409, "modified"));
  bench.client.hold_next("get", "m1");
  bench.confirm();
  bench.run();
  bench.client.change("m1", [](api::Pod& pod) { pod.meta.labels = {{"a", "b"}}; });
  bench.take_over("e9");
  bench.client.release("get", "m1");
  bench.advance(seconds(60));
  EXPECT_EQ(bench.client.count("bind", "m1"), 1U);
  EXPECT_EQ(bench.round_end(), "unavailable");
  EXPECT_EQ(bench.state(), "m0:n0 c0=d0[m0] m1:- c1=d1[m1] maps=1");
}

TEST_F(ClaimRoundTest, ReadsThePodThenTheIntentBeforeItBindsAgain) {
  bench.create_gang_with_claims(1);
  bench.commit(bench.claim_plan(1, 1));
  bench.client.fail_next("bind", "m0", answer(Outcome::kConflict, 409, "modified"));
  const auto reads = [this] {
    return std::ranges::count(bench.claims.requests(), std::string("read ") + kMap);
  };
  bench.client.change("m0", [](api::Pod& pod) { pod.meta.labels = {{"a", "b"}}; });
  bench.confirm();
  bench.advance(seconds(5));
  EXPECT_EQ(bench.round_end(), "committed");
  EXPECT_EQ(reads(), 2);
  EXPECT_EQ(bench.client.count("get", "m0"), 1U);
}

TEST_F(ClaimRoundTest, AMissingRightOnClaimsIsARefusal) {
  bench.create_gang_with_claims(2);
  bench.claims.fail_next("status", ClaimFault::kLacksBinding);
  bench.carry_out(bench.claim_plan(2, 2));
  EXPECT_EQ(bench.round_end(), "refused");
  EXPECT_NE(message().find("may not write resourceclaims/binding"), std::string::npos) << message();
  EXPECT_TRUE(bench.is_consistent(2)) << bench.state();
}

TEST_F(ClaimRoundTest, AMissingRightOnIntentsIsARefusalAndNothingIsWritten) {
  bench.create_gang_with_claims(1);
  bench.claims.fail_next("create", ClaimFault::kForbidden);
  bench.carry_out(bench.claim_plan(1, 1));
  EXPECT_EQ(bench.round_end(), "refused");
  EXPECT_EQ(message(), "ConfigMap sys/intent-uid-train: no right");
  EXPECT_EQ(bench.claims.requests(), Texts{"create intent-uid-train"});
}

TEST_F(ClaimRoundTest, WhatMayNotBeGivenBackKeepsItsIntent) {
  bench.create_gang_with_claims(1);
  bench.commit(bench.claim_plan(1, 1));
  bench.claims.fail_next("status", ClaimFault::kForbidden);
  bench.confirm("no longer");
  bench.advance(seconds(60));
  EXPECT_EQ(bench.round_end(), "overtaken");
  EXPECT_EQ(bench.state(), "m0:- c0=d0[m0] maps=1");
}

TEST_F(ClaimRoundTest, ARefusedDeleteOfTheIntentIsTriedAgain) {
  bench.create_gang_with_claims(1);
  for (int i = 0; i < 3; ++i) bench.claims.fail_next("delete", ClaimFault::kForbidden);
  bench.carry_out(bench.claim_plan(1, 1));
  EXPECT_EQ(bench.round_end(), "committed");
  EXPECT_TRUE(bench.is_consistent(1)) << bench.state();
}

TEST_F(ClaimRoundTest, AnIntentThatMayNotBeDeletedIsLeft) {
  bench.create_gang_with_claims(1);
  for (int i = 0; i < 100; ++i) bench.claims.fail_next("delete", ClaimFault::kForbidden);
  bench.carry_out(bench.claim_plan(1, 1));
  EXPECT_EQ(bench.state(), "m0:n0 c0=d0[m0] maps=1");
  EXPECT_TRUE(bench.binder->idle());
}

TEST_F(ClaimRoundTest, ACreateThatMayComeLateDoesNotHoldTheGang) {
  bench.create_gang_with_claims(1);
  bench.claims.fail_next("create", ClaimFault::kLate);
  bench.commit(bench.claim_plan(1, 1));
  bench.advance(seconds(2));
  bench.confirm();
  bench.advance(seconds(2));
  EXPECT_EQ(bench.round_end(), "committed");
  EXPECT_FALSE(bench.binder->idle()) << "it may come to be there again";
  bench.run_late();
  bench.advance(seconds(60));
  EXPECT_TRUE(bench.is_consistent(1)) << bench.state();
  EXPECT_TRUE(bench.binder->idle());
}

TEST_F(ClaimRoundTest, AnIntentThatCannotBeDeletedHoldsTheNextRoundOnly) {
  bench.create_gang_with_claims(2);
  for (int i = 0; i < 100; ++i) bench.claims.fail_next("delete", ClaimFault::kFails);
  bench.carry_out(bench.claim_plan(1, 1));
  EXPECT_EQ(bench.round_end(), "committed");
  ASSERT_EQ(bench.undos.size(), 1U);
  EXPECT_EQ(bench.undos[0].trouble, "ConfigMap sys/intent-uid-train: internal error");
  engine::Plan next = bench.plan(1, 1);
  next.assignments = {bench.assignment("m1", "n1")};
  next.claims = {bench.write_of("c1", {"m1"})};
  bench.commit(next);
  bench.binder->find_intents();
  bench.advance(seconds(60));
  EXPECT_TRUE(bench.found().empty()) << "it is being deleted";
  EXPECT_EQ(bench.written.size(), 1U);
  bench.advance(seconds(600));
  ASSERT_EQ(bench.written.size(), 2U);
  ASSERT_EQ(bench.undos.size(), 2U);
  EXPECT_EQ(bench.undos[1].trouble, "") << "it is gone";
  bench.binder->drain();
  bench.advance(seconds(60));
  EXPECT_TRUE(bench.binder->idle());
}

TEST_F(ClaimRoundTest, AServerThatFailsEndsTheRoundAtTheDeadline) {
  bench.create_gang_with_claims(1);
  for (int i = 0; i < 100; ++i) bench.claims.fail_next("finalizer", ClaimFault::kNotSent);
  bench.commit(bench.claim_plan(1, 1));
  bench.advance(seconds(40));
  EXPECT_EQ(bench.round_end(), "unavailable");
  EXPECT_EQ(message(), "claim ns/c0: connection refused, until the commit deadline passed");
  EXPECT_TRUE(bench.is_consistent(1)) << bench.state();
}

TEST_F(ClaimRoundTest, ClaimsThatTakeLongAreToldOnce) {
  bench.create_gang_with_claims(1);
  for (int i = 0; i < 5; ++i) bench.claims.fail_next("finalizer", ClaimFault::kNotSent);
  for (int i = 0; i < 5; ++i) bench.claims.fail_next("status", ClaimFault::kNotSent);
  bench.commit(bench.claim_plan(1, 1));
  bench.advance(seconds(29));
  ASSERT_EQ(bench.slow.size(), 1U);
  EXPECT_EQ(bench.slow[0].message, "claim ns/c0: connection refused");
}

TEST_F(ClaimRoundTest, DrainGivesBackWhatIsNotBound) {
  bench.create_gang_with_claims(2);
  bench.commit(bench.claim_plan(2, 2));
  bench.binder->drain();
  EXPECT_FALSE(bench.binder->idle());
  bench.run();
  EXPECT_EQ(bench.round_end(), "unavailable");
  EXPECT_TRUE(bench.is_consistent(2)) << bench.state();
  EXPECT_TRUE(bench.binder->idle());
}

TEST_F(ClaimRoundTest, DrainLetsARoundBindThatBegan) {
  bench.create_gang_with_claims(1);
  bench.client.hold_all("bind");
  bench.commit(bench.claim_plan(1, 1));
  bench.confirm();
  bench.run();
  bench.binder->drain();
  bench.client.release_all();
  bench.run();
  EXPECT_EQ(bench.round_end(), "committed");
  EXPECT_TRUE(bench.is_consistent(1)) << bench.state();
}

TEST_F(ClaimRoundTest, WhatAnOlderRoundLeftIsTakenBackFirst) {
  bench.create_gang_with_claims(1);
  bench.commit(bench.claim_plan(1, 1));
  bench.restart("e2");
  bench.carry_out(bench.claim_plan(1, 1));
  EXPECT_EQ(bench.round_end(), "unavailable");
  EXPECT_EQ(message(), "what an older round of the gang left was taken back first");
  EXPECT_TRUE(bench.is_consistent(1)) << bench.state();
  bench.outcomes.clear();
  bench.carry_out(bench.claim_plan(1, 1));
  EXPECT_EQ(bench.round_end(), "committed");
}

TEST_F(ClaimRoundTest, AnIntentThatCannotBeReadIsLeftAlone) {
  bench.create_gang_with_claims(1);
  api::ConfigMap map =
      api::to_config_map({.gang = {"ns", "train"}, .gang_uid = {"uid-train"}}, "sys");
  map.data = {{"intent", R"({"format":7})"}};
  map.meta.uid = {"map-x"};
  bench.claims.maps()[kMap] = map;
  bench.carry_out(bench.claim_plan(1, 1));
  EXPECT_EQ(bench.round_end(), "refused");
  EXPECT_NE(message().find("has format 7"), std::string::npos) << message();
  EXPECT_EQ(bench.state(), "m0:- c0=-[] maps=1");
}

/// A round of "e1" that wrote its claims and no more; "e2" runs now.
class InheritedRoundTest : public ClaimRoundTest {
 protected:
  InheritedRoundTest() {
    bench.create_gang_with_claims(2);
    bench.commit(bench.claim_plan(2, 2));
    bench.restart("e2");
    bench.written.clear();
    bench.binder->find_intents();
    bench.run();
  }

  /// The claims have all that they need: they are joined.
  [[nodiscard]] engine::Plan plan() {
    engine::Plan made = bench.plan(2, 2);
    made.stamp = "round-2";
    for (const char* name : {"c0", "c1"}) {
      const api::ResourceClaim& claim = bench.claims.claim(name);
      made.claims.push_back({.claim = std::make_shared<const api::ResourceClaim>(claim),
                             .consumers = claim.reserved_for});
    }
    made.inherited = bench.found().at(0);
    return made;
  }
};

TEST_F(InheritedRoundTest, IsCommittedOnceTheVersionsOfItsClaimsHaveMoved) {
  bench.reconnect();
  bench.carry_out(plan());
  EXPECT_EQ(bench.round_end(), "committed");
  EXPECT_EQ(bench.writes().at(0), "update intent-uid-train");
  EXPECT_EQ(bench.writes().at(1), "fence c0");
  EXPECT_EQ(bench.writes().size(), 1U + 2U + 2U + 1U + 1U);
  ASSERT_EQ(bench.written.size(), 1U);
  EXPECT_EQ(bench.written[0].claims.size(), 2U);
  EXPECT_TRUE(bench.is_consistent(2)) << bench.state();
}

TEST_F(InheritedRoundTest, GivesTheInheritedClaimsBackWhenItEnds) {
  bench.commit(plan());
  EXPECT_EQ(stored().epoch, "e2");
  EXPECT_EQ(stored().claims.size(), 2U);
  EXPECT_TRUE(stored().claims[0].allocates);
  bench.confirm("no longer");
  bench.advance(seconds(60));
  EXPECT_EQ(bench.round_end(), "overtaken");
  EXPECT_TRUE(bench.is_consistent(2)) << bench.state();
  EXPECT_FALSE(bench.client.pod_condition("m0", api::kFenced).message.empty())
      << "an older Binding must fail";
}

TEST_F(InheritedRoundTest, GivesBackWhatOnlyTheOlderRoundWanted) {
  engine::Plan made = plan();
  made.assignments.pop_back();
  made.minimum = made.need = 1;
  bench.carry_out(made);
  EXPECT_EQ(bench.round_end(), "committed");
  EXPECT_TRUE(bench.is_consistent(2)) << bench.state();
}

TEST_F(InheritedRoundTest, FencesAMemberThatGoesElsewhere) {
  engine::Plan made = plan();
  made.assignments[1].node_name = "n7";
  bench.carry_out(made);
  EXPECT_EQ(bench.round_end(), "committed");
  EXPECT_FALSE(bench.client.pod_condition("m1", api::kFenced).message.empty());
  EXPECT_TRUE(bench.client.pod("m0")->conditions.size() == 1) << "this one stays where it was";
  EXPECT_EQ(bench.client.pod("m1")->node_name, "n7");
}

TEST_F(InheritedRoundTest, AnIntentThatSomebodyEndedIsNotTakenOver) {
  const engine::Plan made = plan();
  bench.claims.maps().clear();
  bench.carry_out(made);
  EXPECT_EQ(bench.round_end(), "unavailable");
  EXPECT_EQ(bench.client.count("bind"), 0U);
}

}  // namespace
}  // namespace gang::test
