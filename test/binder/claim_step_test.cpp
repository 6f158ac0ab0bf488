#include "binder/claim_step.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "binder/bench.h"
#include "binder/fake_claims.h"

namespace gang::test {
namespace {

using binder::ClaimEnd;
using Fault = FakeClaims::Fault;
using Texts = std::vector<std::string>;
using std::chrono::seconds;

api::ClaimConsumer pod(const std::string& name) {
  return {.resource = "pods", .name = name, .uid = {"uid-" + name}};
}

api::Allocation device(const std::string& name) {
  api::Allocation allocation;
  allocation.results.push_back({.request = "gpu", .driver = "d", .pool = "n1", .device = name});
  return allocation;
}

/// A claim "c" that is to get the device "a" for the pod "p".
class ClaimStepTest : public testing::Test {
 protected:
  ClaimStepTest() : channel_(client_, clock_, options_, executor_.executor()) {
    api::ResourceClaim claim;
    claim.meta.key = {"ns", "c"};
    claim.meta.uid = {"uid-c"};
    claims_.put(claim);
  }

  /// The claim as it is now is what was planned with.
  void make_step(std::optional<api::Allocation> allocation = device("a")) {
    engine::ClaimWrite write{
        .claim = std::make_shared<const api::ResourceClaim>(claims_.claim("c")),
        .allocation = std::move(allocation),
        .consumers = {pod("p")}};
    step_ = std::make_unique<binder::ClaimStep>(binder::ClaimPort{claims_, channel_, window_},
                                                std::move(write), "round=1", gate(),
                                                [this] { ++end_count_; });
  }

  /// Says what was set last.
  [[nodiscard]] binder::Gate gate() {
    return [this](const std::function<void(binder::GateWord)>& then) {
      ++asked_count_;
      then(word_);
    };
  }

  void start() {
    if (!step_) make_step();
    step_->start();
    executor_.advance(seconds(60));
  }

  [[nodiscard]] Texts requests() const { return claims_.requests(); }

  ManualClock clock_{TimePoint(seconds(1'000))};
  HandExecutor executor_{clock_};
  FakeClient client_;
  FakeClaims claims_;
  binder::Options options_;
  binder::Channel channel_;
  binder::WriteWindow window_{16};
  std::unique_ptr<binder::ClaimStep> step_;
  binder::GateWord word_ = binder::GateWord::kOpen;
  int asked_count_ = 0;
  int end_count_ = 0;
};

TEST_F(ClaimStepTest, WritesTheFinalizerThenDevicesAndReservationAtOnce) {
  start();
  EXPECT_EQ(step_->end(), ClaimEnd::kWritten);
  EXPECT_EQ(requests(), (Texts{"finalizer c", "set c: p"}));
  EXPECT_EQ(claims_.claim("c").finalizers, Texts{std::string(api::kClaimFinalizer)});
  EXPECT_TRUE(claims_.claim("c").allocation->time) << "no claim can be shared without it";
  EXPECT_EQ(end_count_, 1);
}

TEST_F(ClaimStepTest, JoinsAClaimThatHasItsDevices) {
  claims_.change("c", [](api::ResourceClaim& claim) {
    claim.allocation = device("x");
    claim.reserved_for = {pod("other")};
  });
  make_step(std::nullopt);
  start();
  EXPECT_EQ(step_->end(), ClaimEnd::kWritten);
  EXPECT_EQ(requests(), Texts{"keep c: other p"});
}

/// An older process read it before, and would give back what it has.
TEST_F(ClaimStepTest, MovesTheVersionOfWhatAnotherProcessHasWritten) {
  claims_.change("c", [](api::ResourceClaim& claim) {
    claim.allocation = device("x");
    claim.reserved_for = {pod("p")};
  });
  const api::ResourceVersion before = claims_.claim("c").meta.resource_version;
  make_step(std::nullopt);
  start();
  EXPECT_EQ(step_->end(), ClaimEnd::kWritten);
  EXPECT_EQ(requests(), (Texts{"read c", "fence c"}));
  EXPECT_TRUE(api::is_newer(step_->claim().meta.resource_version, before));
  EXPECT_EQ(asked_count_, 1);

  word_ = binder::GateWord::kShut;
  make_step(std::nullopt);
  start();
  EXPECT_EQ(step_->end(), ClaimEnd::kStopped);
}

TEST_F(ClaimStepTest, ReadsWhatSeemsWrittenAlready) {
  claims_.change("c", [](api::ResourceClaim& claim) {
    claim.allocation = device("x");
    claim.reserved_for = {pod("p")};
  });
  make_step(std::nullopt);
  claims_.change("c", [](api::ResourceClaim& claim) {
    claim.allocation.reset();
    claim.reserved_for.clear();
  });
  start();
  EXPECT_EQ(step_->end(), ClaimEnd::kLost) << "what was planned with is old";
}

TEST_F(ClaimStepTest, GivesSharesAnIdThatARepetitionRepeats) {
  api::Allocation share = device("a");
  share.results[0].share_id.emplace();
  make_step(share);
  claims_.fail_next("status", Fault::kLostNotDone);
  start();
  const std::string id = *claims_.claim("c").allocation->results[0].share_id;
  EXPECT_EQ(id.size(), 36U);
  EXPECT_EQ(id[14], '4');
  EXPECT_EQ(step_->end(), ClaimEnd::kWritten);
}

TEST_F(ClaimStepTest, ReadsAfterALostAnswerAndWritesNothingTwice) {
  claims_.fail_next("status", Fault::kLost);
  start();
  EXPECT_EQ(step_->end(), ClaimEnd::kWritten);
  EXPECT_EQ(requests(), (Texts{"finalizer c", "set c: p", "read c"}));
}

TEST_F(ClaimStepTest, GoesOnWhenOnlyTheVersionMoved) {
  make_step();
  claims_.change("c", [](api::ResourceClaim& claim) { claim.meta.labels = {{"a", "b"}}; });
  start();
  EXPECT_EQ(step_->end(), ClaimEnd::kWritten);
  EXPECT_EQ(requests(), (Texts{"finalizer c", "read c", "finalizer c", "set c: p"}));
}

TEST_F(ClaimStepTest, AClaimThatKeepsChangingIsTriedFiveTimesMore) {
  const auto change_ahead_of = [this](int writes) {
    claims_.intercept([this, writes, seen = 0](const std::string& request) mutable {
      const bool changes = request.starts_with("finalizer") && seen++ < writes;
      if (changes) claims_.change("c", [](api::ResourceClaim& claim) { claim.meta.labels = {}; });
      return std::nullopt;
    });
  };
  make_step();
  change_ahead_of(5);
  start();
  EXPECT_EQ(step_->end(), ClaimEnd::kWritten);

  claims_.change("c", [](api::ResourceClaim& claim) {
    claim.allocation.reset();
    claim.reserved_for.clear();
    claim.finalizers.clear();
  });
  make_step();
  change_ahead_of(6);
  start();
  EXPECT_EQ(step_->end(), ClaimEnd::kTaken);
  EXPECT_EQ(step_->message(), "claim ns/c: the claim changes faster than it can be written");
}

TEST_F(ClaimStepTest, AsksWhetherTheRoundHoldsBeforeItWritesWithAVersionThatItRead) {
  start();
  EXPECT_EQ(asked_count_, 0) << "the version is that of the plan";

  make_step();
  claims_.change("c", [](api::ResourceClaim& claim) {
    claim.allocation.reset();
    claim.reserved_for.clear();
  });
  word_ = binder::GateWord::kUnanswered;
  step_->start();
  executor_.run();
  EXPECT_EQ(asked_count_, 1);
  EXPECT_EQ(step_->end(), ClaimEnd::kOpen) << "asked again after a pause";
  word_ = binder::GateWord::kShut;
  executor_.advance(seconds(60));
  EXPECT_EQ(step_->end(), ClaimEnd::kStopped);
  EXPECT_EQ(step_->message(), "claim ns/c: the round was taken back");
  EXPECT_FALSE(claims_.claim("c").allocation);
}

TEST_F(ClaimStepTest, TakesTheSameDevicesFromSomebodyElseAsItsOwn) {
  make_step();
  claims_.change("c", [](api::ResourceClaim& claim) {
    claim.allocation = device("a");
    claim.reserved_for = {pod("other")};
  });
  start();
  EXPECT_EQ(step_->end(), ClaimEnd::kWritten);
  EXPECT_EQ(requests(), (Texts{"finalizer c", "read c", "keep c: other p"}));
}

TEST_F(ClaimStepTest, OtherDevicesAreAnEnd) {
  make_step();
  claims_.change("c", [](api::ResourceClaim& claim) { claim.allocation = device("x"); });
  start();
  EXPECT_EQ(step_->end(), ClaimEnd::kTaken);
  EXPECT_EQ(step_->message(), "claim ns/c: it got other devices meanwhile");
}

TEST_F(ClaimStepTest, AClaimThatIsGoneOrGoingIsLost) {
  make_step();
  claims_.remove("c");
  start();
  EXPECT_EQ(step_->end(), ClaimEnd::kLost);
  EXPECT_EQ(step_->message(), "claim ns/c: the claim is gone");
}

TEST_F(ClaimStepTest, AMissingRightIsARefusal) {
  claims_.fail_next("status", Fault::kForbidden);
  start();
  EXPECT_EQ(step_->end(), ClaimEnd::kRefused);
  EXPECT_EQ(step_->message(), "claim ns/c: no right");
}

TEST_F(ClaimStepTest, AMissingRightToReserveIsToldByItsName) {
  claims_.fail_next("status", Fault::kLacksBinding);
  start();
  EXPECT_EQ(step_->end(), ClaimEnd::kRefused);
  EXPECT_EQ(step_->message().find("claim ns/c: the account may not write resourceclaims/binding"),
            0U)
      << step_->message();
  EXPECT_EQ(channel_.stats().forbidden, 1);
}

TEST_F(ClaimStepTest, StoppedBeforeItIsWrittenItWritesNothingMore) {
  make_step();
  claims_.fail_next("finalizer", Fault::kNotSent);
  step_->start();
  executor_.run();
  step_->stop("the round ends");
  executor_.advance(seconds(60));
  EXPECT_EQ(step_->end(), ClaimEnd::kStopped);
  EXPECT_EQ(requests(), (Texts{"finalizer c", "read c"}));
  EXPECT_FALSE(step_->is_touched());
}

}  // namespace
}  // namespace gang::test
