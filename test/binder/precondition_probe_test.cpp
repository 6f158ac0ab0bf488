// The probe of Binding preconditions as the whole binder shows it.
#include "binder/precondition_probe.h"

#include <gtest/gtest.h>

#include "binder/bench.h"

namespace gang::test {
namespace {

using binder::unfit_binding;
using kube::Outcome;
using std::chrono::seconds;

const kube::Answer kAccepted = answer(Outcome::kOk, 201);

TEST(PreconditionProbe, AsksOnceInALifeBeforeTheFirstBinding) {
  BinderBench bench;
  bench.create_gang(2);
  bench.commit(bench.plan(2, 2));
  EXPECT_EQ(bench.round_end(), "committed");
  EXPECT_EQ(bench.client.requests().front().text, "try m0 n0 v1");
  EXPECT_EQ(bench.client.count("try"), 1u);
  engine::Plan later = bench.plan(2, 0);
  later.need = 0;
  later.base = 2;
  bench.commit(later);
  EXPECT_EQ(bench.client.count("try"), 1u);
}

TEST(PreconditionProbe, NeverAsksWithTheVersionThePodHas) {
  engine::Assignment first;
  first.resource_version = {"1"};
  EXPECT_EQ(unfit_binding(first).resource_version.text, "2");
  EXPECT_EQ(unfit_binding({}).resource_version.text, "1");
}

TEST(PreconditionProbe, SendsNoBindingToAServerThatAcceptsAWrongVersion) {
  BinderBench bench;
  bench.create_gang(2);
  bench.client.fail_next("try", "m0", kAccepted);
  bench.commit(bench.plan(2, 2));
  EXPECT_EQ(bench.round_end(), "unavailable");
  EXPECT_EQ(bench.members(), "m0=not_bound m1=not_bound");
  EXPECT_EQ(bench.client.count("bind"), 0u);
  EXPECT_EQ(bench.blocked, std::vector<bool>{true});
  EXPECT_TRUE(bench.binder->idle());
}

TEST(PreconditionProbe, AsksAgainAMinuteAfterTheServerFailedIt) {
  BinderBench bench;
  bench.create_gang(2);
  bench.client.fail_next("try", "m0", kAccepted);
  bench.commit(bench.plan(2, 2));
  bench.advance(seconds(59));
  bench.commit(bench.plan(2, 2));
  EXPECT_EQ(bench.client.count("try"), 1u);
  bench.advance(seconds(1));
  EXPECT_EQ(bench.blocked, (std::vector<bool>{true, false}));
  bench.outcomes.clear();
  bench.commit(bench.plan(2, 2));
  EXPECT_EQ(bench.client.count("try"), 2u);
  EXPECT_EQ(bench.round_end(), "committed");
}

TEST(PreconditionProbe, WaitsForAServerThatFails) {
  BinderBench bench;
  bench.create_gang(2);
  bench.client.fail_all("try", answer(Outcome::kNotSent));
  bench.commit(bench.plan(2, 2));
  bench.advance(seconds(20));
  EXPECT_EQ(bench.round_end(), "open");
  EXPECT_EQ(bench.client.count("bind"), 0u);
  bench.client.allow("try");
  bench.advance(seconds(6));
  EXPECT_EQ(bench.round_end(), "committed");
}

TEST(PreconditionProbe, GivesTheRoundBackAfterTheCommitDeadline) {
  BinderBench bench;
  bench.create_gang(2);
  bench.client.fail_all("try", answer(Outcome::kUnknown, 503));
  bench.commit(bench.plan(2, 2));
  bench.advance(seconds(31));
  EXPECT_EQ(bench.round_end(), "unavailable");
  EXPECT_TRUE(bench.binder->idle());
}

TEST(PreconditionProbe, NamespaceWhoseDryRunsFailHoldsNoOther) {
  BinderBench bench;
  bench.create_gang(2);
  api::Pod lone;
  lone.meta.key = {"other", "x"};
  lone.meta.uid = {"uid-x"};
  bench.client.put(lone);
  engine::Plan other{.gang = {.id = {9}, .key = lone.meta.key, .uid = lone.meta.uid},
                     .minimum = 1,
                     .need = 1,
                     .assignments = {bench.assignment("x", "n0")}};
  other.assignments[0].pod = lone.meta.key;
  for (int i = 0; i < 100; ++i) {
    bench.client.fail_next("try", "m0", answer(Outcome::kUnknown, 500, "a webhook failed"));
  }
  bench.commit(bench.plan(2, 2));
  bench.commit(other);
  bench.advance(seconds(40));
  ASSERT_EQ(bench.outcomes.size(), 2u);
  EXPECT_EQ(bench.outcomes[0].end, engine::RoundEnd::kUnavailable);
  EXPECT_EQ(bench.outcomes[1].end, engine::RoundEnd::kCommitted);
}

TEST(PreconditionProbe, TellsAMissingRightAsTheRoundWould) {
  BinderBench bench;
  bench.create_gang(2);
  bench.client.fail_next("try", "m0", answer(Outcome::kForbidden, 403, "pods/binding forbidden"));
  bench.commit(bench.plan(2, 2));
  EXPECT_EQ(bench.round_end(), "refused");
  EXPECT_EQ(bench.outcomes.front().message, "pods/binding forbidden");
  EXPECT_EQ(bench.client.count("bind"), 0u);
  EXPECT_EQ(bench.binder->stats().forbidden, 1);
  EXPECT_TRUE(bench.blocked.empty());
}

TEST(PreconditionProbe, RenewsAStaleTokenOnce) {
  BinderBench bench;
  bench.create_gang(2);
  bench.client.fail_next("try", "m0", answer(Outcome::kUnauthorized, 401));
  bench.commit(bench.plan(2, 2));
  bench.advance(seconds(1));
  EXPECT_EQ(bench.round_end(), "committed");
}

TEST(PreconditionProbe, AsksWithTheNextMemberWhenThePodIsGone) {
  BinderBench bench;
  bench.create_gang(4);
  bench.client.hold_next("try", "m0");
  bench.commit(bench.plan(2, 2));
  engine::Plan other = bench.plan(2, 4);
  other.gang.id = {2};
  other.assignments.erase(other.assignments.begin(), other.assignments.begin() + 2);
  bench.commit(other);
  bench.client.remove_pod("m0");
  bench.client.release("try", "m0");
  bench.run();
  ASSERT_EQ(bench.outcomes.size(), 2u);
  EXPECT_EQ(bench.outcomes[0].end, engine::RoundEnd::kMembersLost);
  EXPECT_EQ(bench.outcomes[1].end, engine::RoundEnd::kCommitted);
  EXPECT_EQ(bench.client.count("try"), 2u);
}

TEST(PreconditionProbe, BeginsNoRoundWhosePodsAreAllGone) {
  BinderBench bench;
  bench.create_gang(2);
  const engine::Plan plan = bench.plan(2, 2);
  for (const char* pod : {"m0", "m1"}) bench.client.remove_pod(pod);
  bench.commit(plan);
  EXPECT_EQ(bench.round_end(), "members_lost");
  EXPECT_EQ(bench.client.count("try"), 2u);
  EXPECT_EQ(bench.client.count("bind"), 0u);
  EXPECT_TRUE(bench.binder->idle());
}

TEST(PreconditionProbe, DrainEndsWhatWaitsForIt) {
  BinderBench bench;
  bench.create_gang(2);
  bench.client.hold_all("try");
  bench.commit(bench.plan(2, 2));
  bench.binder->drain();
  bench.run();
  EXPECT_EQ(bench.round_end(), "unavailable");
  bench.client.release_all();
  bench.run();
  EXPECT_EQ(bench.client.count("bind"), 0u);
  EXPECT_TRUE(bench.binder->idle());
}

}  // namespace
}  // namespace gang::test
