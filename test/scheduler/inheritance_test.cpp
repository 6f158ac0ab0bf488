// What becomes of rounds that an earlier process left open.
#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <variant>

#include "scheduler/device_world.h"

namespace gang::test {
namespace {

using engine::MemberEnd;
using engine::RoundEnd;
using std::chrono::seconds;

/// A core that has lists but no word of intents yet.
class InheritanceTest : public testing::Test {
 protected:
  /// The gang a of two pods with devices on n1, whose claims are reserved as far as `written` says.
  void set_up(int written) {
    world.add_device_node("n1", 2).add_device_gang("a", 2);
    for (int i = 0; i < written; ++i) {
      const std::string name = "a-" + std::to_string(i);
      api::ResourceClaim claim = holding(world.claim(name), "n1/g" + std::to_string(1 - i));
      claim.reserved_for.push_back(
          {.resource = "pods", .name = name, .uid = world.pod_named(name).meta.uid});
      world.put_claim(claim);
    }
  }

  [[nodiscard]] api::StoredIntent intent() const {
    api::StoredIntent stored;
    stored.intent.gang = {"default", "a"};
    stored.intent.gang_uid = group_uid();
    stored.intent.minimum = 2;
    stored.intent.need = 2;
    stored.intent.epoch = "old";
    stored.intent.stamp = "round=old-1;need=2;minimum=2;plan=0";
    for (const char* name : {"a-0", "a-1"}) {
      stored.intent.members.push_back(
          {.pod = {"default", name}, .uid = world.pod_named(name).meta.uid, .node_name = "n1"});
      stored.intent.claims.push_back(
          {.claim = {"default", name}, .uid = world.claim(name).meta.uid, .allocates = true});
    }
    stored.meta.key = {"gang-scheduler", api::intent_name(stored.intent.gang_uid)};
    stored.meta.uid.text = "uid-map";
    return stored;
  }

  /// Another gang has the device that a-1 lacks: the old round is taken back.
  void begin_fence() {
    set_up(1);
    world.put_claim(holding(gpu_claim("other"), "n1/g0"));
    world.post(scheduler::IntentsFound{{intent()}}).run();
    ASSERT_EQ(world.fences.size(), 1U);
  }

  [[nodiscard]] engine::UndoReport report(const std::string& trouble = "") const {
    return {.gang = {"default", "a"}, .gang_uid = group_uid(), .trouble = trouble};
  }

  [[nodiscard]] static api::Uid group_uid() { return pod_group("a").build().meta.uid; }

  DeviceWorld world{scheduler::Options{}, DeviceWorld::Start::kUninformed};
};

TEST_F(InheritanceTest, NothingIsPlannedBeforeIntentsAreKnown) {
  set_up(0);
  world.pass(seconds(60));
  EXPECT_TRUE(world.plans.empty());
  EXPECT_FALSE(world.core.ready());
  world.post(scheduler::IntentsFound{}).run();
  EXPECT_EQ(world.plans.size(), 1U);
  EXPECT_TRUE(world.core.ready());
}

TEST_F(InheritanceTest, EmptyClusterIsReadyWhicheverComesFirst) {
  scheduler::Scheduler core(scheduler::Options{});
  const auto asks_for_tick = [&](const scheduler::Input& input) {
    const scheduler::Effects effects = core.handle(input, world.now);
    return std::ranges::any_of(effects, [](const scheduler::Effect& effect) {
      return std::holds_alternative<scheduler::WakeAt>(effect);
    });
  };
  EXPECT_FALSE(asks_for_tick(scheduler::IntentsFound{}));
  bool is_asked = false;
  for (const api::Delta& delta : empty_lists()) is_asked |= asks_for_tick(delta);
  EXPECT_TRUE(is_asked);
  EXPECT_FALSE(core.ready());
  core.handle(scheduler::Tick{}, world.now);
  EXPECT_TRUE(core.ready());
}

TEST_F(InheritanceTest, WrittenDevicesAreKeptByTheNextRound) {
  set_up(1);
  world.post(scheduler::IntentsFound{{intent()}}).run();
  ASSERT_EQ(world.plans.size(), 1U);
  EXPECT_TRUE(world.fences.empty());
  EXPECT_EQ(world.plans[0].inherited, intent());
  EXPECT_EQ(world.devices(), "a-1=n1/g0") << "g1 stays with a-0";
}

TEST_F(InheritanceTest, RoundOfWrittenClaimsOnlyIsConfirmed) {
  set_up(2);
  world.post(scheduler::IntentsFound{{intent()}}).run();
  ASSERT_EQ(world.plans.size(), 1U);
  ASSERT_EQ(world.plans[0].claims.size(), 2U) << "each is read again before anybody is bound";
  EXPECT_FALSE(world.plans[0].claims[0].allocation);
  world.claims_written().run();
  EXPECT_EQ(world.problem(), "");
  world.end_round(RoundEnd::kCommitted);
  EXPECT_TRUE(world.is_true("a"));
}

TEST_F(InheritanceTest, WhatHelpsNobodyIsTakenBackBeforeOthersArePlanned) {
  set_up(1);
  world.put_claim(holding(gpu_claim("other"), "n1/g0"));
  world.put_claim(gpu_claim("b"));
  api::Pod other = pod("b").cpu("1").rules({.resource_claims = true}).build();
  other.claims = {{.name = "gpu", .claim_name = "b"}};
  world.add(other);
  world.post(scheduler::IntentsFound{{intent()}}).run();
  ASSERT_EQ(world.fences.size(), 1U);
  EXPECT_EQ(world.fences[0], intent());
  EXPECT_TRUE(world.plans.empty());
  EXPECT_FALSE(world.core.ready());
  world.put_claim(gpu_claim("a-0"))
      .post(scheduler::RoundFenced{{.gang = {}, .gang_uid = group_uid()}})
      .run();
  EXPECT_TRUE(world.core.ready());
  ASSERT_EQ(world.plans.size(), 1U);
  EXPECT_EQ(world.planned(), std::vector<std::string>{"b"});
}

TEST_F(InheritanceTest, IntentOfAGangThatIsGoneIsTakenBack) {
  set_up(1);
  world.remove_pod("a-0");
  world.remove_pod("a-1");
  api::StoredIntent gone;
  gone.intent.gang = {"default", "gone"};
  gone.intent.gang_uid.text = "uid-gone";
  gone.meta.uid.text = "uid-map";
  world.post(scheduler::IntentsFound{{gone}}).run();
  ASSERT_EQ(world.fences.size(), 1U);
  world.post(scheduler::RoundFenced{{.gang = {}, .gang_uid = gone.intent.gang_uid}}).run();
  EXPECT_TRUE(world.core.ready());
}

TEST_F(InheritanceTest, IntentsOfGangsThatAreGoneAreTakenBackAtOnce) {
  set_up(0);
  std::vector<api::StoredIntent> intents;
  for (const char* gone : {"x", "y", "z"}) {
    api::StoredIntent one = intent();
    one.intent.gang.name = gone;
    one.intent.gang_uid.text = std::string("uid-of-") + gone;
    intents.push_back(std::move(one));
  }
  world.post(scheduler::IntentsFound{intents}).run();
  ASSERT_EQ(world.fences.size(), 3U) << "not one each time that something else happens";
  for (const api::StoredIntent& one : intents) {
    world.post(scheduler::RoundFenced{{.gang = one.intent.gang, .gang_uid = one.intent.gang_uid}});
  }
  world.run();
  EXPECT_EQ(world.planned(), (std::vector<std::string>{"a-0", "a-1"})) << "nobody is held";
}

TEST_F(InheritanceTest, HalfBoundRoundIsFencedAndRepaired) {
  set_up(2);
  const api::StoredIntent old = intent();
  api::Pod bound = world.pod_named("a-0");
  bound.node_name = "n1";
  bound.meta.annotations = {{std::string(api::kRoundAnnotation), old.intent.stamp}};
  world.add(bound);
  world.post(scheduler::IntentsFound{{old}}).run();
  ASSERT_EQ(world.fences.size(), 1U);
  EXPECT_TRUE(world.plans.empty());
  EXPECT_EQ(world.told_bound.at(0), "a-0 n1") << "the old process may not have come to say it";
  api::ResourceClaim freed = gpu_claim("a-1");
  world.put_claim(freed).post(scheduler::RoundFenced{{.gang = {}, .gang_uid = group_uid()}}).run();
  ASSERT_EQ(world.plans.size(), 1U);
  EXPECT_EQ(world.planned(), std::vector<std::string>{"a-1"});
  EXPECT_FALSE(world.plans[0].inherited);
}

TEST_F(InheritanceTest, RoundThatCannotBeTakenBackHoldsOthersForFortySecondsOnly) {
  begin_fence();
  world.add(pod("plain").cpu("1").build()).pass(seconds(39));
  EXPECT_TRUE(world.plans.empty()) << "its last write may yet be executed";
  EXPECT_FALSE(world.core.ready());
  world.pass(seconds(2));
  EXPECT_EQ(world.planned(), std::vector<std::string>{"plain"});
  EXPECT_TRUE(world.core.ready());
}

TEST_F(InheritanceTest, RoundThatCannotBeTakenBackKeepsTheRoomOfItsPods) {
  begin_fence();
  world.add(pod("large").cpu("63").build()).pass(seconds(50));
  EXPECT_TRUE(world.plans.empty()) << "64 less 1 for each of two pods";
  EXPECT_EQ(world.core.state().recompute(), "");
  world.add(pod("small").cpu("62").build()).run();
  EXPECT_EQ(world.planned(), std::vector<std::string>{"small"});
  world.end_round(RoundEnd::kCommitted).remove_pod("small");
  world.post(scheduler::RoundFenced{report()}).run();
  EXPECT_EQ(world.planned(), std::vector<std::string>{"large"});
  EXPECT_EQ(world.core.state().recompute(), "");
}

TEST_F(InheritanceTest, GangOfARoundThatCannotBeTakenBackIsToldWhy) {
  begin_fence();
  world.pass(seconds(10));
  EXPECT_EQ(world.core.undo_text(), "");
  world.post(scheduler::UndoSlow{report("claim default/a-0: a webhook failed")}).run();
  EXPECT_EQ(world.core.undo_text(), "gang default/a: claim default/a-0: a webhook failed");
  EXPECT_EQ(world.told().gang.key.name, "a");
  EXPECT_EQ(world.told().message,
            "what a round wrote is not taken back yet: claim default/a-0: a webhook failed; it is "
            "tried again until the API server takes it");
  EXPECT_EQ(world.told().bound, 0);
  EXPECT_TRUE(world.told().writes_condition);
  EXPECT_EQ(world.told().members.size(), 2U) << "its pods as well";
  world.post(scheduler::RoundFenced{report()}).run();
  EXPECT_EQ(world.core.undo_text(), "");
}

TEST_F(InheritanceTest, WhatIsToldSoonAfterAnotherThingWaits) {
  begin_fence();
  world.post(scheduler::UndoSlow{report("claim default/a-0: first")}).run().clear();
  world.post(scheduler::UndoSlow{report("claim default/a-0: second")}).pass(seconds(9));
  EXPECT_TRUE(world.explanations.empty());
  world.pass(seconds(1));
  EXPECT_NE(world.told().message.find("second"), std::string::npos);
}

TEST_F(InheritanceTest, GangThatNeedsAClaimOfThatRoundWaitsAndIsToldWhy) {
  begin_fence();
  world.add(pod_group("b").min(1).build());
  api::Pod sharing = pod("b-0").group("b").cpu("1").rules({.resource_claims = true}).build();
  sharing.claims = {{.name = "gpu", .claim_name = "a-0"}};
  world.add(sharing).post(scheduler::UndoSlow{report("claim default/a-0: no")}).pass(seconds(60));
  EXPECT_TRUE(world.plans.empty());
  EXPECT_EQ(world.told().gang.key.name, "b");
  EXPECT_EQ(world.told().message,
            "claim default/a-0 is held by a round of gang default/a that is not taken back yet: "
            "claim default/a-0: no");
  world.put_claim(gpu_claim("a-0")).post(scheduler::RoundFenced{report()}).run();
  ASSERT_EQ(world.plans.size(), 1U);
  EXPECT_EQ(world.planned(), std::vector<std::string>{"b-0"});
}

TEST_F(InheritanceTest, OwnRoundThatIsNotTakenBackIsToldToo) {
  set_up(0);
  world.post(scheduler::IntentsFound{}).run();
  ASSERT_EQ(world.plans.size(), 1U);
  api::Pod sharing = pod("sharing").cpu("1").rules({.resource_claims = true}).build();
  sharing.claims = {{.name = "gpu", .claim_name = "a-0"}};
  world.add(sharing).run();
  world.post(scheduler::UndoSlow{report("claim default/a-0: no")}).run();
  ASSERT_EQ(world.explanations.size(), 2U);
  EXPECT_EQ(world.explanations[0].gang.key.name, "a");
  EXPECT_EQ(world.explanations[0].members.size(), 2U) << "nothing is bound: its pods hear it too";
  EXPECT_EQ(world.explanations[1].gang.key.name, "sharing");
  EXPECT_EQ(world.core.undo_text(), "gang default/a: claim default/a-0: no");
  world.end_round(RoundEnd::kUnavailable, {"a-0", "a-1"}, MemberEnd::kNotBound).run();
  EXPECT_EQ(world.core.undo_text(), "");
}

TEST_F(InheritanceTest, LonePodWhoseRoundIsNotTakenBackIsTold) {
  world.add_device_node("n1", 2).put_claim(gpu_claim("c"));
  api::Pod lone = pod("lone").cpu("1").rules({.resource_claims = true}).build();
  lone.claims = {{.name = "gpu", .claim_name = "c"}};
  world.add(lone).post(scheduler::IntentsFound{}).run();
  ASSERT_EQ(world.plans.size(), 1U);
  const api::Uid uid = world.pod_named("lone").meta.uid;
  world
      .post(scheduler::UndoSlow{{.gang = {"default", "lone"},
                                 .gang_uid = uid,
                                 .trouble = "claim default/c: a webhook failed"}})
      .run();
  ASSERT_EQ(world.told().members.size(), 1U);
  EXPECT_EQ(world.told().members[0].message,
            "what a round wrote is not taken back yet: claim default/c: a webhook failed; it is "
            "tried again until the API server takes it");
  EXPECT_EQ(world.core.state().recompute(), "");
}

TEST_F(InheritanceTest, IntentThatThisProcessCouldNotDeleteIsEnded) {
  set_up(0);
  world.post(scheduler::IntentsFound{}).run();
  world.write_claims();
  world.end_round(RoundEnd::kCommitted).run();
  api::StoredIntent own = intent();
  own.intent.epoch = scheduler::Options{}.epoch;
  world.post(scheduler::IntentsFound{{own}}).run();
  EXPECT_EQ(world.fences.size(), 1U);
}

TEST_F(InheritanceTest, GangGoesOnOnceItsUnreadableIntentIsDeleted) {
  set_up(0);
  api::StoredIntent odd;
  odd.intent.gang_uid = group_uid();
  odd.meta.key = {"gang-scheduler", "intent-x"};
  odd.problem = "format 7 is not known";
  world.post(scheduler::IntentsFound{{odd}}).pass(seconds(29));
  EXPECT_EQ(world.looks, 0);
  world.pass(seconds(2));
  EXPECT_EQ(world.looks, 1);
  world.clear().post(scheduler::IntentsFound{{odd}}).run();
  EXPECT_TRUE(world.notices.empty()) << "it was told before";
  EXPECT_TRUE(world.plans.empty());
  world.pass(seconds(31)).post(scheduler::IntentsFound{}).run();
  EXPECT_EQ(world.looks, 1);
  EXPECT_EQ(world.plans.size(), 1U);
  world.pass(seconds(600));
  EXPECT_EQ(world.looks, 1) << "there is nothing to look for any more";
}

TEST_F(InheritanceTest, UnreadableIntentHoldsItsGangOnly) {
  set_up(0);
  api::StoredIntent odd;
  odd.intent.gang_uid = group_uid();
  odd.meta.key = {"gang-scheduler", "intent-x"};
  odd.problem = "format 7 is not known";
  world.add_device_gang("b", 1);
  world.post(scheduler::IntentsFound{{odd}}).run();
  EXPECT_EQ(world.planned(), std::vector<std::string>{"b-0"});
  EXPECT_TRUE(world.fences.empty());
  EXPECT_TRUE(world.core.ready());
  bool is_told = false;
  for (const engine::Explanation& told : world.explanations) {
    is_told |= told.message.find("format 7 is not known") != std::string::npos;
  }
  EXPECT_TRUE(is_told);
}

TEST_F(InheritanceTest, ReservationsWithoutIntentAreUsedWhereTheyHelp) {
  set_up(2);
  world.post(scheduler::IntentsFound{}).run();
  ASSERT_EQ(world.plans.size(), 1U);
  EXPECT_TRUE(world.fences.empty());
}

TEST_F(InheritanceTest, ReservationsWithoutIntentAreGivenBackWhereTheyDoNot) {
  set_up(1);
  world.put_claim(holding(gpu_claim("other"), "n1/g0"));
  world.post(scheduler::IntentsFound{}).run();
  ASSERT_EQ(world.fences.size(), 1U);
  const api::Intent& found = world.fences[0].intent;
  EXPECT_TRUE(world.fences[0].meta.uid.empty());
  ASSERT_EQ(found.members.size(), 1U);
  EXPECT_EQ(found.members[0].pod.name, "a-0");
  ASSERT_EQ(found.claims.size(), 1U);
  EXPECT_EQ(found.claims[0].claim.name, "a-0");
  EXPECT_TRUE(found.claims[0].allocates);
  world.put_claim(gpu_claim("a-0"))
      .post(scheduler::RoundFenced{{.gang = {}, .gang_uid = group_uid()}})
      .pass(seconds(3));
  EXPECT_EQ(world.told().verdict, engine::Verdict::kImpossibleNow);
}

TEST_F(InheritanceTest, IntentThatAppearsLateIsTakenBack) {
  set_up(0);
  world.post(scheduler::IntentsFound{}).run();
  ASSERT_EQ(world.plans.size(), 1U);
  api::StoredIntent own = intent();
  own.intent.epoch = scheduler::Options{}.epoch;
  world.post(scheduler::IntentsFound{{own}}).run();
  EXPECT_TRUE(world.fences.empty()) << "the round is under way";
  world.write_claims();
  world.end_round(RoundEnd::kCommitted).run();
  world.post(scheduler::IntentsFound{{intent()}}).run();
  ASSERT_EQ(world.fences.size(), 1U);
  EXPECT_TRUE(world.core.ready());
  world.post(scheduler::RoundFenced{{.gang = {}, .gang_uid = group_uid()}}).run();
  world.add_device_node("n2", 1).add_device_gang("b", 1).run();
  EXPECT_EQ(world.planned(), std::vector<std::string>{"b-0"});
}

}  // namespace
}  // namespace gang::test
