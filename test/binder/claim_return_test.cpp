#include "binder/claim_return.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "binder/bench.h"

namespace gang::test {
namespace {

using Fault = FakeClaims::Fault;
using Texts = std::vector<std::string>;
using std::chrono::seconds;

api::ClaimConsumer pod(const std::string& name) {
  return {.resource = "pods", .name = name, .uid = {"uid-" + name}};
}

/// A claim "c" that a round has allocated and reserved for "p", which uses it no more.
class ClaimReturnTest : public testing::Test {
 protected:
  ClaimReturnTest() {
    api::ResourceClaim claim;
    claim.meta.key = {"ns", "c"};
    claim.meta.uid = {"uid-c"};
    claim.finalizers = {std::string(api::kClaimFinalizer)};
    claim.allocation.emplace();
    claim.allocation->results.push_back(
        {.request = "gpu", .driver = "d", .pool = "n1", .device = "a"});
    claim.reserved_for = {pod("p")};
    claims_.put(claim);
  }

  void give_back(bool moves_version = false, bool allocates = true) {
    run({.claim = {{"ns", "c"}, {"uid-c"}, allocates},
         .consumers = {{"uid-p"}},
         .moves_version = moves_version});
  }

  /// Of a claim that was found reserved for nobody.
  void give_back_left(const api::ResourceVersion& version) {
    run({.claim = {.claim = {"ns", "c"}, .uid = {"uid-c"}, .allocates = true, .left_at = version},
         .consumers = {},
         .moves_version = true});
  }

  void run(binder::ClaimReturn::Task task) {
    task.gate = [this](const std::function<void(binder::GateWord)>& then) {
      ++gate_count_;
      if (at_gate_) at_gate_();
      then(gate_word_);
    };
    return_ = std::make_unique<binder::ClaimReturn>(binder::ClaimPort(claims_, channel_, window_),
                                                    std::move(task), [this] { ++end_count_; });
    return_->start();
    executor_.advance(seconds(60));
  }

  [[nodiscard]] const api::ResourceClaim& claim() const { return claims_.claim("c"); }

  ManualClock clock_{TimePoint(seconds(1'000))};
  HandExecutor executor_{clock_};
  FakeClient client_;
  FakeClaims claims_;
  binder::Options options_{.epoch = "e2"};
  binder::Channel channel_{client_, clock_, options_, executor_.executor()};
  binder::WriteWindow window_{16};
  std::unique_ptr<binder::ClaimReturn> return_;
  int end_count_ = 0;
  binder::GateWord gate_word_ = binder::GateWord::kOpen;
  std::function<void()> at_gate_;
  int gate_count_ = 0;
};

TEST_F(ClaimReturnTest, ClearsWhatNobodyElseUses) {
  give_back();
  EXPECT_EQ(claims_.requests(), (Texts{"read c", "clear c:"}));
  EXPECT_FALSE(claim().allocation);
  EXPECT_EQ(return_->refusal(), "");
  EXPECT_EQ(end_count_, 1);
}

TEST_F(ClaimReturnTest, LeavesTheDevicesToOthers) {
  claims_.change("c", [](api::ResourceClaim& c) { c.reserved_for.push_back(pod("o")); });
  give_back();
  EXPECT_EQ(claims_.requests(), (Texts{"read c", "keep c: o"}));
  EXPECT_TRUE(claim().allocation);
}

TEST_F(ClaimReturnTest, KeepsDevicesThatTheRoundOnlyJoined) {
  give_back(/*moves_version=*/false, /*allocates=*/false);
  EXPECT_EQ(claims_.requests(), (Texts{"read c", "keep c:"}));
  EXPECT_TRUE(claim().allocation);
}

TEST_F(ClaimReturnTest, DoesNotClearWhereNoneOfItsConsumersIsNamed) {
  claims_.change("c", [](api::ResourceClaim& c) { c.reserved_for.clear(); });
  give_back();
  EXPECT_EQ(claims_.requests(), Texts{"read c"});
  EXPECT_TRUE(claim().allocation) << "somebody else gave these devices";
}

TEST_F(ClaimReturnTest, ClearsWhatIsLeftInTheVersionThatWasLookedAt) {
  claims_.change("c", [](api::ResourceClaim& c) { c.reserved_for.clear(); });
  give_back_left(claim().meta.resource_version);
  EXPECT_EQ(claims_.requests(), (Texts{"read c", "clear c:"}));
  EXPECT_FALSE(claim().allocation);
  EXPECT_EQ(end_count_, 1);
}

TEST_F(ClaimReturnTest, LeavesWhatHasChangedSinceItWasLookedAt) {
  claims_.change("c", [](api::ResourceClaim& c) { c.reserved_for.clear(); });
  const api::ResourceVersion looked_at = claim().meta.resource_version;
  claims_.change("c", [](api::ResourceClaim& c) { c.meta.labels = {{"a", "b"}}; });
  give_back_left(looked_at);
  EXPECT_EQ(claims_.requests(), Texts{"read c"});
  EXPECT_TRUE(claim().allocation);
  EXPECT_EQ(end_count_, 1);
}

TEST_F(ClaimReturnTest, ALostAnswerOfWhatIsLeftIsReadOnce) {
  claims_.change("c", [](api::ResourceClaim& c) { c.reserved_for.clear(); });
  claims_.fail_next("status", Fault::kLost);
  give_back_left(claim().meta.resource_version);
  EXPECT_FALSE(claim().allocation) << "the answer was lost, the write was not";
  EXPECT_EQ(end_count_, 1);
}

TEST_F(ClaimReturnTest, AnOlderWriteFailsOnceTheVersionHasMoved) {
  claims_.change("c", [](api::ResourceClaim& c) {
    c.reserved_for.clear();
    c.allocation.reset();
  });
  const std::string before = claim().meta.resource_version.text;
  give_back(/*moves_version=*/true);
  EXPECT_EQ(claims_.requests(), (Texts{"read c", "fence c"}));
  EXPECT_NE(claim().meta.resource_version.text, before);
  EXPECT_EQ(claim().meta.annotations.at(0).second, "e2-" + before);
  EXPECT_EQ(claim().finalizers.size(), 1U);
}

TEST_F(ClaimReturnTest, IsRepeatedUntilItIsDefinite) {
  claims_.fail_next("read", Fault::kNotSent);
  claims_.fail_next("status", Fault::kLost);
  claims_.fail_next("read", Fault::kFails);
  give_back();
  EXPECT_FALSE(claim().allocation);
  EXPECT_EQ(end_count_, 1);
}

TEST_F(ClaimReturnTest, SaysWhatItMayNot) {
  claims_.fail_next("status", Fault::kForbidden);
  give_back();
  EXPECT_EQ(return_->refusal(), "claim ns/c: no right");
  EXPECT_EQ(end_count_, 1);
}

TEST_F(ClaimReturnTest, AsksTheGateOnceItHasRead) {
  gate_word_ = binder::GateWord::kShut;
  give_back();
  EXPECT_EQ(claims_.requests(), Texts{"read c"});
  EXPECT_TRUE(claim().allocation);
  EXPECT_TRUE(return_->is_overtaken());
  EXPECT_EQ(return_->refusal(), "");
  EXPECT_EQ(end_count_, 1);
}

/// The heir marks the intent, moves the claim and binds: here just after the intent was read.
TEST_F(ClaimReturnTest, WhoeverTookTheRoundOverAfterTheGateKeepsTheDevices) {
  at_gate_ = [this] {
    claims_.change("c", [](api::ResourceClaim& c) { c.meta.annotations = {{"fence", "heir"}}; });
    at_gate_ = [this] { gate_word_ = binder::GateWord::kShut; };
  };
  give_back();
  EXPECT_EQ(claims_.requests(), (Texts{"read c", "clear c:", "read c"}));
  EXPECT_TRUE(claim().allocation) << "refused for its version";
  EXPECT_TRUE(return_->is_overtaken());
}

TEST_F(ClaimReturnTest, AGateWithoutAnswerIsAskedAgain) {
  gate_word_ = binder::GateWord::kUnanswered;
  at_gate_ = [this] {
    if (gate_count_ == 3) gate_word_ = binder::GateWord::kOpen;
  };
  give_back();
  EXPECT_EQ(gate_count_, 3);
  EXPECT_FALSE(claim().allocation);
}

TEST_F(ClaimReturnTest, AsksNothingForWhatIsNotWritten) {
  claims_.change("c", [](api::ResourceClaim& c) { c.reserved_for = {pod("o")}; });
  give_back();
  EXPECT_EQ(gate_count_, 0);
}

TEST_F(ClaimReturnTest, AnotherClaimOfTheNameIsLeftAlone) {
  claims_.change("c", [](api::ResourceClaim& c) { c.meta.uid = {"uid-other"}; });
  give_back(/*moves_version=*/true);
  EXPECT_EQ(claims_.requests(), Texts{"read c"});
}

}  // namespace
}  // namespace gang::test
