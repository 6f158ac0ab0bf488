// Rounds over devices with a fault at each of their writes. What must hold afterwards, whatever
// happened: a claim is allocated and reserved exactly for a pod that is bound, and no intent is
// left.
#include <gtest/gtest.h>

#include <string>

#include "binder/claim_bench.h"

namespace gang::test {
namespace {

using std::chrono::seconds;
using Loss = ClaimBench::Loss;

constexpr int kPods = 2;
/// Intent, two finalizers, two claims, two binds, the record, and the end of the intent.
constexpr int kWrites = 9;

std::string name_of(Loss loss) {
  switch (loss) {
    case Loss::kExecuted:
      return "Executed";
    case Loss::kNotExecuted:
      return "NotExecuted";
    case Loss::kLate:
      return "Late";
  }
  return "";
}

/// Which write is lost, and how.
using Fault = std::tuple<int, Loss>;

class LostWriteTest : public testing::TestWithParam<Fault> {
 protected:
  LostWriteTest() { bench.create_gang_with_claims(kPods); }
  [[nodiscard]] int number() const { return std::get<0>(GetParam()); }
  [[nodiscard]] Loss loss() const { return std::get<1>(GetParam()); }

  ClaimBench bench;
};

TEST_P(LostWriteTest, EndsWhole) {
  bench.lose(number(), loss());
  bench.commit(bench.claim_plan(kPods, kPods));
  bench.advance(seconds(5));
  bench.confirm();
  bench.advance(seconds(5));
  bench.run_late();
  bench.advance(seconds(120));
  EXPECT_GT(bench.writes().size(), static_cast<std::size_t>(number()));
  EXPECT_EQ(bench.outcomes.size(), 1U);
  EXPECT_EQ(bench.round_end(), "committed");
  EXPECT_TRUE(bench.is_consistent(kPods)) << bench.state();
  EXPECT_TRUE(bench.binder->idle());
}

TEST_P(LostWriteTest, EndsWholeWhenTheWriteArrivesBeforeItIsLookedFor) {
  bench.lose(number(), loss());
  bench.commit(bench.claim_plan(kPods, kPods));
  bench.run_late();
  bench.advance(seconds(20));
  bench.confirm();
  bench.run_late();
  bench.advance(seconds(1));
  bench.run_late();
  bench.advance(seconds(120));
  EXPECT_EQ(bench.round_end(), "committed");
  EXPECT_TRUE(bench.is_consistent(kPods)) << bench.state();
}

/// The plan no longer holds: everything is given back, whichever write was lost before.
TEST_P(LostWriteTest, GivesEverythingBack) {
  bench.lose(number(), loss());
  bench.commit(bench.claim_plan(kPods, kPods));
  bench.advance(seconds(20));
  bench.confirm("no longer");
  bench.advance(seconds(10));
  bench.run_late();
  bench.advance(seconds(120));
  EXPECT_EQ(bench.round_end(), "overtaken");
  EXPECT_TRUE(bench.is_consistent(kPods)) << bench.state();
  EXPECT_EQ(bench.client.count("bind"), 0U);
}

/// The server is away from that write on, until after the deadline.
TEST_P(LostWriteTest, OutlivesAServerThatIsAwayFromThereOn) {
  bench.cut_off_at(number(), loss());
  bench.commit(bench.claim_plan(kPods, kPods));
  bench.confirm();
  bench.advance(seconds(38));
  bench.run_late();
  bench.advance(seconds(12));
  bench.reconnect();
  bench.advance(seconds(10));
  if (bench.round_end() == "open") bench.confirm();
  bench.advance(seconds(120));
  EXPECT_EQ(bench.outcomes.size(), 1U);
  EXPECT_TRUE(bench.is_consistent(kPods)) << bench.state();
}

/// The process ends at that write; the next one takes back what it left. A write that comes late
/// comes before, while or after it does so.
TEST_P(LostWriteTest, IsTakenBackAfterTheProcessEnded) {
  for (int late_at = 0; late_at < 3; ++late_at) {
    ClaimBench killed;
    killed.create_gang_with_claims(kPods);
    killed.cut_off_at(number(), loss());
    killed.commit(killed.claim_plan(kPods, kPods));
    killed.confirm();
    killed.run();
    killed.restart("e2");
    if (late_at == 0) killed.run_late();
    killed.binder->find_intents();
    killed.run();
    if (late_at == 1) killed.run_late();
    for (const api::StoredIntent& intent : killed.found()) killed.binder->fence(intent);
    killed.advance(seconds(5));
    killed.run_late();
    if (number() == 0) killed.recover();  // an intent may have come late
    EXPECT_TRUE(killed.is_consistent(kPods)) << "late at " << late_at << ": " << killed.state();
    EXPECT_TRUE(killed.binder->idle());
  }
}

/// As before, and the process that takes it back loses its own writes, too.
TEST_P(LostWriteTest, IsTakenBackThroughFurtherLosses) {
  for (int second = 0; second < 6; ++second) {
    ClaimBench twice;
    twice.create_gang_with_claims(kPods);
    twice.cut_off_at(number(), loss());
    twice.commit(twice.claim_plan(kPods, kPods));
    twice.confirm();
    twice.run();
    twice.restart("e2");
    twice.lose(second, loss());
    twice.recover();
    twice.run_late();
    if (number() == 0) twice.recover();
    EXPECT_TRUE(twice.is_consistent(kPods)) << "second loss at " << second << ": " << twice.state();
  }
}

INSTANTIATE_TEST_SUITE_P(EachWrite, LostWriteTest,
                         testing::Combine(testing::Range(0, kWrites),
                                          testing::Values(Loss::kExecuted, Loss::kNotExecuted,
                                                          Loss::kLate)),
                         [](const testing::TestParamInfo<Fault>& param) {
                           return "W" + std::to_string(std::get<0>(param.param)) +
                                  name_of(std::get<1>(param.param));
                         });

TEST(TakenOverRound, AClaimThatMovedIsNotWritten) {
  ClaimBench bench;
  bench.create_gang_with_claims(2);
  const engine::Plan plan = bench.claim_plan(2, 2);
  bench.claims.change("c1", [](api::ResourceClaim& claim) { claim.meta.labels = {}; });
  bench.claims.intercept([&bench](const std::string& request) {
    if (request == "read c1") bench.take_over("e9");
    return std::optional<FakeClaims::Fault>();
  });
  bench.commit(plan);
  bench.advance(seconds(60));
  EXPECT_EQ(bench.round_end(), "unavailable");
  EXPECT_EQ(bench.outcomes.back().message, "another instance took the round over");
  EXPECT_EQ(bench.state(), "m0:- c0=d0[m0] m1:- c1=-[] maps=1") << "left to the other one";
}

}  // namespace
}  // namespace gang::test
