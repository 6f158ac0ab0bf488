// Rounds that make claims for extended resources, with a fault at each of their writes.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <tuple>
#include <vector>

#include "binder/claim_bench.h"

namespace gang::test {
namespace {

using std::chrono::seconds;
using Loss = ClaimBench::Loss;
using Texts = std::vector<std::string>;
using ClaimFault = FakeClaims::Fault;

constexpr int kPods = 2;
/// Intent, and for each pod its claim, finalizer, devices, the word to the pod, its Binding; then
/// the record and the end of the intent.
constexpr int kWrites = 3 + 5 * kPods;

std::string numbered(const char* letter, int number) {
  return letter + std::to_string(number);
}

/// Pods m0 and m1, for which the round makes the claims x0 and x1.
class ExtendedBench : public ClaimBench {
 public:
  ExtendedBench() { create_gang(kPods); }

  [[nodiscard]] engine::Plan extended_plan() const {
    engine::Plan made = plan(kPods, kPods);
    for (int i = 0; i < kPods; ++i) {
      const api::Pod& pod = *client.pod(numbered("m", i));
      engine::ClaimCreation creation{.pod = pod.meta.key,
                                     .pod_uid = pod.meta.uid,
                                     .claim = {"ns", numbered("x", i)},
                                     .generate_name = pod.meta.key.name + "-extended-resources-"};
      creation.requests = {
          {.name = "container-0-request-1", .exactly = api::DeviceAsk{.class_name = "gpu"}}};
      creation.allocation.results.push_back({.request = "container-0-request-1",
                                             .driver = "d",
                                             .pool = "p",
                                             .device = numbered("d", i)});
      creation.mappings = {{"main", "nvidia.com/gpu", "container-0-request-1"}};
      made.new_claims.push_back(std::move(creation));
    }
    return made;
  }

  /// "m0:n0 x0=d0[m0] m1:- x1=none maps=0"; a bound pod that does not name its claim is "unnamed".
  [[nodiscard]] std::string extended_state() const {
    std::string text;
    for (int i = 0; i < kPods; ++i) text += state_of(i) + " ";
    return text + "maps=" + std::to_string(claims.map_count());
  }

 private:
  [[nodiscard]] std::string state_of(int i) const {
    const std::string name = numbered("m", i);
    const std::string claim_name = numbered("x", i);
    const api::Pod* pod = client.pod(name);
    std::string text = name + ":";
    if (pod == nullptr) {
      text += "gone";
    } else {
      text += pod->node_name.empty() ? "-" : pod->node_name;
      const bool is_named = pod->extended_claim && pod->extended_claim->claim_name == claim_name;
      if (!is_named && !pod->node_name.empty()) text += "unnamed";
    }
    text += " " + claim_name + "=";
    if (!claims.has(claim_name)) return text + "none";
    const api::ResourceClaim& claim = claims.claim(claim_name);
    text += claim.allocation ? claim.allocation->results[0].device : "-";
    text += "[";
    for (const api::ClaimConsumer& consumer : claim.reserved_for) text += consumer.name;
    return text + "]";
  }
};

constexpr const char* kBound = "m0:n0 x0=d0[m0] m1:n1 x1=d1[m1] maps=0";
constexpr const char* kNothing = "m0:- x0=none m1:- x1=none maps=0";

class ExtendedRoundTest : public testing::Test {
 protected:
  [[nodiscard]] const std::string& message() const { return bench.outcomes.back().message; }

  ExtendedBench bench;
};

TEST_F(ExtendedRoundTest, MakesTheClaimsAfterTheIntentAndTellsThePodsBeforeTheirBindings) {
  bench.carry_out(bench.extended_plan());
  EXPECT_EQ(bench.round_end(), "committed");
  ASSERT_EQ(bench.writes().size(), static_cast<std::size_t>(kWrites));
  const Texts head(bench.writes().begin(), bench.writes().begin() + 9);
  EXPECT_EQ(head, (Texts{"create intent-uid-train", "make x0", "make x1", "finalizer x0",
                         "finalizer x1", "set x0: m0", "set x1: m1", "patch m0 extended=x0 v2",
                         "patch m1 extended=x1 v3"}));
  EXPECT_EQ(bench.extended_state(), kBound);
  EXPECT_EQ(bench.client.count("bind"), 2U) << "no Binding names an old version";
  EXPECT_EQ(bench.client.pod("m0")->extended_claim->mappings.at(0).request_name,
            "container-0-request-1");
}

TEST_F(ExtendedRoundTest, ListsThemByNameBeforeTheyAreMade) {
  bench.claims.fail_next("make", ClaimFault::kNotSent);
  bench.commit(bench.extended_plan());
  const auto intent = api::intent_from(bench.claims.maps().at("intent-uid-train"));
  ASSERT_TRUE(intent) << intent.error().message;
  ASSERT_EQ(intent->claims.size(), 2U);
  EXPECT_EQ(intent->claims[1].claim.name, "x1");
  EXPECT_TRUE(intent->claims[1].uid.empty());
  EXPECT_EQ(intent->claims[1].made_for.text, "uid-m1");
}

TEST_F(ExtendedRoundTest, DeletesThemWhenThePlanNoLongerHolds) {
  bench.commit(bench.extended_plan());
  const std::size_t before = bench.writes().size();
  bench.confirm("device p/d0 is tainted");
  bench.run();
  EXPECT_EQ(bench.round_end(), "overtaken");
  EXPECT_EQ(bench.extended_state(), kNothing);
  const Texts undo(bench.writes().begin() + static_cast<std::ptrdiff_t>(before),
                   bench.writes().end());
  EXPECT_EQ(undo, (Texts{"clear x1:", "no finalizer x1", "remove x1",
                         "clear x0:", "no finalizer x0", "remove x0", "delete intent-uid-train"}));
  EXPECT_EQ(bench.client.pod("m0")->extended_claim->claim_name, "x0") << "the server keeps it";
}

TEST_F(ExtendedRoundTest, AnotherClaimTakesThePlaceOfTheOneThatThePodNames) {
  bench.client.change("m0", [](api::Pod& pod) {
    pod.extended_claim = api::ExtendedClaimStatus{"old", {{"main", "nvidia.com/gpu", "r"}}};
  });
  bench.carry_out(bench.extended_plan());
  EXPECT_EQ(bench.round_end(), "committed");
  EXPECT_EQ(bench.extended_state(), kBound);
}

/// A write of a round that was given back comes late, after the plan was made without a claim.
TEST_F(ExtendedRoundTest, APodThatNamesAClaimWhichIsNotOfTheRoundIsNotBound) {
  const engine::Plan without = bench.plan(kPods, kPods);
  bench.client.change("m0", [](api::Pod& pod) {
    pod.extended_claim = api::ExtendedClaimStatus{"old", {{"main", "nvidia.com/gpu", "r"}}};
  });
  bench.commit(without);
  bench.advance(seconds(60));
  EXPECT_EQ(bench.round_end(), "members_lost");
  EXPECT_EQ(message(),
            "pod ns/m0: its status names the claim old for extended resources, planned was none");
  EXPECT_TRUE(bench.client.pod("m0")->node_name.empty());
}

TEST_F(ExtendedRoundTest, AnotherClaimOfTheNameIsLeftAlone) {
  api::ResourceClaim foreign;
  foreign.meta.key = {"ns", "x1"};
  foreign.meta.uid = {"uid-foreign"};
  bench.claims.put(foreign);
  bench.carry_out(bench.extended_plan());
  EXPECT_EQ(bench.round_end(), "overtaken");
  EXPECT_EQ(message(), "claim ns/x1: another claim has the name");
  EXPECT_EQ(bench.extended_state(), "m0:- x0=none m1:- x1=-[] maps=0");
}

TEST_F(ExtendedRoundTest, ARefusalSaysWhichClaim) {
  bench.claims.fail_next("make", ClaimFault::kForbidden);
  bench.carry_out(bench.extended_plan());
  EXPECT_EQ(bench.round_end(), "refused");
  EXPECT_EQ(message(), "claim ns/x0: no right");
  EXPECT_EQ(bench.extended_state(), kNothing);
}

TEST_F(ExtendedRoundTest, AMemberThatIsLostTakesItsClaimAlong) {
  bench.commit(bench.extended_plan());
  bench.confirm();
  bench.client.remove_pod("m1");
  bench.advance(seconds(60));
  EXPECT_EQ(bench.round_end(), "members_lost");
  EXPECT_EQ(bench.extended_state(), "m0:n0 x0=d0[m0] m1:gone x1=none maps=0");
}

/// Who takes the intent over while claims are made either finds them or is seen before they get
/// devices.
TEST_F(ExtendedRoundTest, ClaimsGetNoDevicesOnceSomebodyTookTheRound) {
  bench.claims.fail_next("make", ClaimFault::kNotSent);
  bench.commit(bench.extended_plan());
  api::ConfigMap& map = bench.claims.maps().at("intent-uid-train");
  api::Intent intent = *api::intent_from(map);
  intent.epoch = "e9";
  map.data = api::to_config_map(intent, "sys").data;
  bench.advance(seconds(60));
  EXPECT_EQ(bench.round_end(), "unavailable");
  EXPECT_EQ(message(), "another instance took the round over");
  EXPECT_EQ(bench.extended_state(), "m0:- x0=-[] m1:- x1=-[] maps=1");
}

/// Which write is lost, and how.
using Fault = std::tuple<int, Loss>;

class LostExtendedWriteTest : public testing::TestWithParam<Fault> {
 protected:
  [[nodiscard]] int number() const { return std::get<0>(GetParam()); }
  [[nodiscard]] Loss loss() const { return std::get<1>(GetParam()); }
  [[nodiscard]] const char* left_over() const {
    if (loss() == Loss::kLate && number() == 1) return "m0:- x0=-[] m1:- x1=none maps=0";
    if (loss() == Loss::kLate && number() == 2) return "m0:- x0=none m1:- x1=-[] maps=0";
    return kNothing;
  }

  ExtendedBench bench;
};

TEST_P(LostExtendedWriteTest, EndsWhole) {
  bench.lose(number(), loss());
  bench.commit(bench.extended_plan());
  bench.advance(seconds(5));
  bench.confirm();
  bench.advance(seconds(5));
  bench.run_late();
  bench.advance(seconds(120));
  EXPECT_EQ(bench.round_end(), "committed");
  EXPECT_EQ(bench.extended_state(), kBound);
  EXPECT_TRUE(bench.binder->idle());
}

/// A claim that is made after it was deleted holds nothing, and waits for the next attempt.
TEST_P(LostExtendedWriteTest, GivesEverythingBack) {
  bench.lose(number(), loss());
  bench.commit(bench.extended_plan());
  bench.advance(seconds(20));
  bench.confirm("no longer");
  bench.advance(seconds(10));
  bench.run_late();
  bench.advance(seconds(120));
  EXPECT_EQ(bench.round_end(), "overtaken");
  EXPECT_EQ(bench.extended_state(), left_over());
}

/// The process ends with that write; the next one finds the intent and takes everything back.
TEST_P(LostExtendedWriteTest, IsTakenBackByTheNextProcess) {
  bench.cut_off_at(number(), loss());
  bench.commit(bench.extended_plan());
  bench.confirm();
  bench.run();
  bench.restart("e2");
  bench.recover();
  bench.advance(seconds(60));
  EXPECT_EQ(bench.claims.map_count(), 0U);
  for (int i = 0; i < kPods; ++i) {
    const api::Pod& pod = *bench.client.pod(numbered("m", i));
    const bool is_bound = !pod.node_name.empty();
    EXPECT_EQ(bench.claims.has(numbered("x", i)), is_bound) << bench.extended_state();
    EXPECT_TRUE(pod.extended_claim || !is_bound) << bench.extended_state();
  }
}

std::string name_of(const testing::TestParamInfo<Fault>& info) {
  const Loss loss = std::get<1>(info.param);
  const char* how = loss == Loss::kExecuted      ? "Executed"
                    : loss == Loss::kNotExecuted ? "NotExecuted"
                                                 : "Late";
  return numbered("Write", std::get<0>(info.param)) + how;
}

INSTANTIATE_TEST_SUITE_P(EachWrite, LostExtendedWriteTest,
                         testing::Combine(testing::Range(0, kWrites),
                                          testing::Values(Loss::kExecuted, Loss::kNotExecuted,
                                                          Loss::kLate)),
                         name_of);

}  // namespace
}  // namespace gang::test
