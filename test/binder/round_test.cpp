#include "binder/round.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "binder/bench.h"

namespace gang::test {
namespace {

using kube::Outcome;
using std::chrono::seconds;
using Texts = std::vector<std::string>;

class RoundTest : public testing::Test {
 protected:
  std::string record() const {
    const api::Condition c = bench.client.group_condition("train", api::kInitiallyScheduled);
    return c.type.empty() ? "absent" : std::string(api::status_text(c.status)) + "/" + c.reason;
  }
  /// Order of binds and group patches, by object.
  Texts order() const {
    Texts order;
    for (const Request& request : bench.client.requests()) {
      if (request.verb == "bind" || request.verb == "patch-group") order.push_back(request.name);
    }
    return order;
  }

  BinderBench bench;
};

TEST_F(RoundTest, BindsTheNeededThenRecordsThenBindsTheExtras) {
  bench.create_gang(4);
  bench.client.hold_all("bind");
  bench.commit(bench.plan(2, 4));
  EXPECT_EQ(order(), (Texts{"m0", "m1"}));
  bench.client.release("bind", "m0");
  bench.run();
  EXPECT_EQ(order(), (Texts{"m0", "m1"}));
  bench.client.release("bind", "m1");
  bench.run();
  EXPECT_EQ(record(), "True/Scheduled");
  EXPECT_EQ(bench.round_end(), "open");
  bench.client.release_all();
  bench.run();
  EXPECT_EQ(bench.round_end(), "committed");
  EXPECT_TRUE(bench.outcomes[0].recorded);
  EXPECT_EQ(bench.members(), "m0=bound m1=bound m2=bound m3=bound");
}

TEST_F(RoundTest, RecordCarriesTheConditionsInOnePatch) {
  bench.create_gang(2);
  bench.commit(bench.plan(2, 2));
  EXPECT_EQ(bench.client.texts("patch-group"),
            (Texts{"patch-group train PodGroupInitiallyScheduled=True/Scheduled "
                   "Satisfied=True/Satisfied"}));
  const api::PodGroupStatusPatch& patch = bench.client.group_patches().at(0);
  EXPECT_EQ(patch.uid.text, "uid-train");
  EXPECT_EQ(patch.conditions[0].message, "");
  EXPECT_EQ(patch.conditions[0].last_transition_time, bench.clock.now());
  EXPECT_EQ(patch.conditions[0].observed_generation, 0);
  EXPECT_EQ(patch.conditions[1].message, "2 bound, minimum 2");
  EXPECT_EQ(bench.client.count("get-group"), 0u);
}

TEST_F(RoundTest, NeverHasMoreThanTheWindowInFlight) {
  bench.create_gang(40);
  bench.client.hold_all("bind");
  bench.commit(bench.plan(40, 40));
  EXPECT_EQ(bench.client.held_count(), 16u);
  while (bench.round_end() == "open" && bench.client.held_count() > 0) {
    bench.client.release("bind", bench.client.requests().back().name);
    bench.run();
    if (bench.client.count("bind") == 40) bench.client.release_all();
    bench.run();
  }
  EXPECT_EQ(bench.client.binds_in_flight_max(), 16u);
  EXPECT_EQ(bench.round_end(), "committed");
}

TEST_F(RoundTest, SharesTheWindowBetweenRounds) {
  bench.create_gang(20);
  bench.client.hold_all("bind");
  engine::Plan second = bench.plan(10, 20);
  second.assignments.erase(second.assignments.begin(), second.assignments.begin() + 10);
  second.gang = {.id = {2}, .key = {"ns", "m19"}, .uid = {"uid-m19"}};
  bench.commit(bench.plan(10, 10));
  bench.commit(second);
  EXPECT_EQ(bench.client.held_count(), 16u);
}

TEST_F(RoundTest, SendsNothingMoreOnceANeededMemberIsLost) {
  binder::Options options;
  options.writes_in_flight_max = 2;
  BinderBench small(options);
  small.create_gang(6);
  const engine::Plan plan = small.plan(5, 6);
  small.client.remove_pod("m0");
  small.client.hold_all("bind");
  small.client.hold_next("get", "m0");
  small.commit(plan);
  small.client.release("bind", "m0");
  small.run();
  small.client.release("get", "m0");
  small.run();
  EXPECT_EQ(small.round_end(), "open");  // m1 and m2 are in flight
  small.client.release_all();
  small.run();
  EXPECT_EQ(small.members(), "m0=lost m1=bound m2=bound m3=not_bound m4=not_bound m5=not_bound");
  EXPECT_EQ(small.round_end(), "members_lost");
  EXPECT_EQ(small.client.count("patch-group"), 0u);
}

TEST_F(RoundTest, GivesNoPlaceAwayToARoundThatJustLostAMember) {
  binder::Options options;
  options.writes_in_flight_max = 1;
  BinderBench small(options);
  small.create_gang(3);
  small.client.fail_next("bind", "m0", answer(Outcome::kForbidden, 403, "no"));
  small.commit(small.plan(3, 3));
  EXPECT_EQ(small.client.count("bind"), 1u);
  EXPECT_EQ(small.members(), "m0=not_bound m1=not_bound m2=not_bound");
}

TEST_F(RoundTest, LosingAnExtraDoesNotStopARound) {
  binder::Options options;
  options.writes_in_flight_max = 1;
  BinderBench small(options);
  small.create_gang(4);
  const engine::Plan plan = small.plan(2, 4);
  small.client.remove_pod("m2");
  small.client.hold_next("bind", "m3");
  small.commit(plan);
  EXPECT_EQ(small.round_end(), "open");
  small.client.release_all();
  small.run();
  EXPECT_EQ(small.round_end(), "committed");
  EXPECT_EQ(small.members(), "m0=bound m1=bound m2=lost m3=bound");
  EXPECT_EQ(small.outcomes[0].message, "");
}

TEST_F(RoundTest, NoRecordBelowTheMinimum) {
  bench.create_gang(3);
  const engine::Plan plan = bench.plan(3, 3);
  bench.client.remove_pod("m2");
  bench.commit(plan);
  EXPECT_EQ(record(), "absent");
  EXPECT_FALSE(bench.outcomes[0].recorded);
}

TEST_F(RoundTest, PlanWithoutAssignmentsOnlyWritesTheRecord) {
  bench.create_gang(0);
  engine::Plan plan = bench.plan(3, 0);
  plan.base = 3;
  plan.need = 0;
  bench.commit(plan);
  EXPECT_EQ(record(), "True/Scheduled");
  EXPECT_EQ(bench.round_end(), "committed");
  EXPECT_TRUE(bench.outcomes[0].recorded);
}

TEST_F(RoundTest, LonePodHasNoRecordAndNoGroupEvent) {
  bench.create_gang(1);
  engine::Plan plan = bench.plan(1, 1);
  plan.gang = {.id = {7}, .key = {"ns", "m0"}, .uid = {"uid-m0"}};
  plan.writes_record = false;
  bench.commit(plan);
  bench.advance(seconds(1));
  EXPECT_EQ(bench.round_end(), "committed");
  EXPECT_EQ(bench.client.count("patch-group"), 0u);
  EXPECT_EQ(bench.client.texts("event"),
            (Texts{"Normal Scheduled m0: Successfully assigned ns/m0 to n0"}));
}

TEST_F(RoundTest, WhoIsBoundIsToldOfADeviceThatWasPassedOver) {
  bench.create_gang(1);
  engine::Plan plan = bench.plan(1, 1);
  plan.passed_over = "no such key";
  bench.commit(plan);
  bench.advance(seconds(1));
  EXPECT_EQ(bench.round_end(), "committed");
  EXPECT_EQ(std::ranges::count(bench.client.texts("event"),
                               "Warning DevicePassedOver train: no such key"),
            1);
}

TEST_F(RoundTest, LaterRoundWithoutNeedWritesNoCondition) {
  bench.create_gang(2);
  engine::Plan plan = bench.plan(1, 2);
  plan.base = 2;
  plan.need = 0;
  plan.writes_record = false;
  bench.commit(plan);
  EXPECT_EQ(bench.round_end(), "committed");
  EXPECT_EQ(bench.client.count("patch-group") + bench.client.count("get-group"), 0u);
}

TEST_F(RoundTest, RoundThatBringsAGangBackSaysSoOnceAndEndsItsFlags) {
  bench.create_gang(2);
  api::PodGroup group = *bench.client.group("train");
  const TimePoint old{seconds(5)};
  group.conditions = {{.type = std::string(api::kInitiallyScheduled),
                       .status = api::ConditionStatus::kTrue,
                       .reason = "Scheduled",
                       .last_transition_time = old},
                      {.type = std::string(api::kSatisfied),
                       .status = api::ConditionStatus::kFalse,
                       .reason = "ImpossibleNow",
                       .last_transition_time = old},
                      {.type = std::string(api::kDegraded),
                       .status = api::ConditionStatus::kTrue,
                       .reason = "BelowMinCount",
                       .last_transition_time = old}};
  bench.client.put(group);
  engine::Plan plan = bench.plan(1, 1);
  plan.minimum = 3;
  plan.base = 2;
  plan.writes_record = false;
  bench.commit(plan);
  EXPECT_EQ(bench.client.texts("patch-group"),
            (Texts{"patch-group train Satisfied=True/Satisfied Degraded=False/NotDegraded"}));
  EXPECT_EQ(bench.client.group_condition("train", api::kInitiallyScheduled).last_transition_time,
            old);
}

TEST_F(RoundTest, ServerDownEndsAsUnavailableAtTheDeadline) {
  bench.create_gang(2);
  bench.client.fail_all("bind", answer(Outcome::kNotSent, 0, "connection refused"));
  bench.commit(bench.plan(2, 2));
  bench.advance(std::chrono::milliseconds(30010));
  EXPECT_EQ(bench.round_end(), "open");  // 30 s + 2 x 10 ms
  bench.advance(std::chrono::milliseconds(10));
  EXPECT_EQ(bench.round_end(), "unavailable");
  EXPECT_EQ(bench.members(), "m0=not_bound m1=not_bound");
  const std::size_t sent = bench.client.count("bind");
  bench.advance(seconds(60));
  EXPECT_EQ(bench.client.count("bind"), sent);
}

TEST_F(RoundTest, UnknownMembersAreReadBeyondTheDeadlineUntilDefinite) {
  bench.create_gang(2);
  bench.client.fail_next("bind", "m0", {answer(Outcome::kUnknown), Fault::Execution::kDone});
  bench.client.fail_all("get", answer(Outcome::kUnknown));
  bench.commit(bench.plan(2, 2));
  bench.advance(seconds(120));
  EXPECT_EQ(bench.round_end(), "open");
  bench.client.allow("get");
  bench.advance(seconds(6));
  EXPECT_EQ(bench.members(), "m0=bound m1=bound");
  EXPECT_EQ(bench.round_end(), "committed");
}

TEST_F(RoundTest, AServerThatThrottlesOrRefusesAlikeAnswers) {
  bench.create_gang(2);
  for (int i = 0; i < 100; ++i) {
    bench.client.fail_next("bind", "m1", answer(Outcome::kThrottled, 429, "too many requests"));
  }
  bench.commit(bench.plan(2, 2));
  bench.advance(seconds(60));
  EXPECT_EQ(bench.round_end(), "unavailable");
  EXPECT_TRUE(bench.outcomes[0].answered);
  EXPECT_EQ(bench.outcomes[0].message,
            "pod ns/m1: too many requests, until the commit deadline passed");
  EXPECT_TRUE(bench.outcomes[0].members[1].answered);
  EXPECT_FALSE(bench.outcomes[0].members[0].answered);
}

TEST_F(RoundTest, AServerThatIsAwayDoesNotAnswer) {
  bench.create_gang(2);
  bench.client.fail_all("bind", answer(Outcome::kNotSent, 0, "connection refused"));
  bench.commit(bench.plan(2, 2));
  bench.advance(seconds(60));
  EXPECT_EQ(bench.round_end(), "unavailable");
  EXPECT_FALSE(bench.outcomes[0].answered);
}

TEST_F(RoundTest, LackingMembersAreToldWhileTheRoundGoesOn) {
  bench.create_gang(2);
  for (int i = 0; i < 40; ++i) {
    bench.client.fail_next("bind", "m1", answer(Outcome::kNotSent, 0, "connection refused"));
  }
  bench.commit(bench.plan(2, 2));
  bench.advance(seconds(9));
  EXPECT_TRUE(bench.slow.empty());
  bench.advance(seconds(15));
  ASSERT_EQ(bench.slow.size(), 1U) << "once";
  EXPECT_EQ(bench.slow[0].bound, 1);
  EXPECT_EQ(bench.slow[0].message, "pod ns/m1: connection refused");
  EXPECT_EQ(bench.round_end(), "open");
}

TEST_F(RoundTest, RoundOfAWholeGangIsNotSlow) {
  bench.create_gang(3);
  for (int i = 0; i < 40; ++i) {
    bench.client.fail_next("bind", "m2", answer(Outcome::kNotSent, 0, "connection refused"));
  }
  bench.commit(bench.plan(2, 3));
  bench.advance(seconds(20));
  EXPECT_TRUE(bench.slow.empty()) << "only an extra lacks";
}

TEST_F(RoundTest, MemberThatWasLostIsToldApartFromThoseThatWereStopped) {
  bench.create_gang(3);
  bench.client.hold_all("bind");
  bench.commit(bench.plan(3, 3));
  bench.client.remove_pod("m1");
  bench.client.release_all();
  bench.run();
  bench.advance(seconds(60));
  for (const engine::MemberOutcome& member : bench.outcomes.at(0).members) {
    EXPECT_EQ(member.stopped, member.end == engine::MemberEnd::kNotBound);
    if (!member.stopped) continue;
    EXPECT_EQ(member.message, "pod ns/m1 was not bound: the pod is gone");
  }
}

TEST_F(RoundTest, ExtrasThatMissTheDeadlineLeaveTheRoundCommitted) {
  bench.create_gang(3);
  for (int i = 0; i < 40; ++i) bench.client.fail_next("bind", "m2", answer(Outcome::kNotSent));
  bench.commit(bench.plan(2, 3));
  bench.advance(seconds(31));
  EXPECT_EQ(bench.round_end(), "committed");
  EXPECT_EQ(bench.members(), "m0=bound m1=bound m2=not_bound");
}

TEST_F(RoundTest, EventsTellEachPodAndTheGroup) {
  bench.create_gang(3);
  bench.commit(bench.plan(2, 3));
  bench.advance(seconds(1));
  EXPECT_EQ(bench.client.texts("event"),
            (Texts{"Normal Scheduled m0: Successfully assigned ns/m0 to n0",
                   "Normal Scheduled m1: Successfully assigned ns/m1 to n1",
                   "Normal Scheduled m2: Successfully assigned ns/m2 to n2",
                   "Normal Scheduled train: Bound 3 of 3 members, minimum 2"}));
  const api::Event& event = bench.client.events().at(0);
  EXPECT_EQ(event.action, "Binding");
  EXPECT_EQ(event.reporting_controller, "gang-scheduler");
  EXPECT_EQ(bench.client.events().at(3).regarding.api_version, "scheduling.k8s.io/v1beta1");
  EXPECT_EQ(bench.client.events().at(3).regarding.kind, "PodGroup");
}

TEST_F(RoundTest, CountsWhatItDoes) {
  bench.create_gang(2);
  bench.client.fail_next("bind", "m0", {answer(Outcome::kUnknown), Fault::Execution::kDone});
  bench.client.fail_next("bind", "m1", answer(Outcome::kConflict, 409));
  bench.commit(bench.plan(2, 2));
  bench.advance(seconds(1));
  const binder::Stats& stats = bench.binder->stats();
  EXPECT_EQ(stats.bind_requests, 3);
  EXPECT_EQ(stats.bind_ok, 1);
  EXPECT_EQ(stats.bind_conflicts, 1);
  EXPECT_EQ(stats.bind_unknown, 1);
  EXPECT_EQ(stats.pod_reads, 2);
  EXPECT_EQ(stats.status_writes, 1);
  EXPECT_EQ(stats.rounds_open, 0);
  EXPECT_EQ(stats.rounds_committed, 1);
}

// Four nodes with 1 GPU, gang(4): the first Binding of members 2 and 3 is answered with 500.
TEST_F(RoundTest, B147BindingFailsForTwoOfFour) {
  bench.create_gang(4);
  bench.client.fail_next("bind", "m1", answer(Outcome::kUnknown, 500, "internal error"));
  bench.client.fail_next("bind", "m2", answer(Outcome::kUnknown, 500, "internal error"));
  bench.commit(bench.plan(4, 4));
  EXPECT_EQ(record(), "absent");
  bench.advance(seconds(1));
  EXPECT_EQ(bench.members(), "m0=bound m1=bound m2=bound m3=bound");
  EXPECT_EQ(record(), "True/Scheduled");
  for (const char* pod : {"m0", "m3"}) EXPECT_EQ(bench.client.count("bind", pod), 1u);
}

// Member 1 is deleted and replaced while all Bindings are on their way: the others are kept, the
// lost one is told, and its replacement of the same round is left to the next plan.
TEST_F(RoundTest, B150PodDeletedWhileItsBindingIsOnTheWay) {
  bench.create_gang(3);
  bench.client.hold_all("bind");
  bench.commit(bench.plan(3, 3));
  api::Pod replacement = *bench.client.pod("m1");
  bench.client.remove_pod("m1");
  replacement.meta.key.name = "m1b";
  replacement.meta.uid = {"uid-m1b"};
  bench.client.put(replacement);
  bench.client.release_all();
  bench.run();
  EXPECT_EQ(bench.members(), "m0=bound m1=lost m2=bound");
  EXPECT_EQ(bench.round_end(), "members_lost");
  EXPECT_EQ(record(), "absent");

  engine::Plan repair = bench.plan(3, 0);
  repair.base = 2;
  repair.need = 1;
  repair.assignments = {bench.assignment("m1b", "n1")};
  bench.commit(repair);
  EXPECT_EQ(bench.members(), "m1b=bound");
  EXPECT_EQ(record(), "True/Scheduled");
  EXPECT_EQ(bench.client.count("delete"), 0u);
}

}  // namespace
}  // namespace gang::test
