#include "binder/write_window.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "binder/fake_client.h"

namespace gang::binder {
namespace {

using kube::Outcome;
using test::answer;

/// A window whose requests are answered by hand.
class WriteWindowTest : public testing::Test {
 protected:
  void submit(const std::string& name, Lane lane = Lane::kNeed) {
    last_ = window_.submit(lane, [this, name](WriteWindow::Ticket ticket) {
      sent_.push_back(name);
      open_.push_back(ticket);
    });
  }
  void answer_first(Outcome outcome, int status = 0) {
    const WriteWindow::Ticket ticket = open_.front();
    open_.erase(open_.begin());
    window_.finished(ticket, answer(outcome, status));
  }

  WriteWindow window_{4};
  WriteWindow::Ticket last_;
  std::vector<std::string> sent_;
  std::vector<WriteWindow::Ticket> open_;
};

TEST_F(WriteWindowTest, APlaceThatIsGivenBackTeachesNothing) {
  for (int i = 0; i < 5; ++i) submit(std::to_string(i));
  window_.give_back(open_.front());
  EXPECT_EQ(sent_.back(), "4");
  EXPECT_EQ(window_.limit(), 4);
}

TEST_F(WriteWindowTest, SendsNoMoreThanItsLimit) {
  for (int i = 0; i < 6; ++i) submit(std::to_string(i));
  EXPECT_EQ(sent_, (std::vector<std::string>{"0", "1", "2", "3"}));
  answer_first(Outcome::kOk, 201);
  EXPECT_EQ(sent_.back(), "4");
  EXPECT_EQ(window_.in_flight(), 4);
}

TEST_F(WriteWindowTest, ServesRecordsThenNeededThenExtras) {
  for (int i = 0; i < 4; ++i) submit("first");
  submit("extra", Lane::kExtra);
  submit("need", Lane::kNeed);
  submit("record", Lane::kRecord);
  for (int i = 0; i < 3; ++i) answer_first(Outcome::kOk, 201);
  sent_.erase(sent_.begin(), sent_.begin() + 4);
  EXPECT_EQ(sent_, (std::vector<std::string>{"record", "need", "extra"}));
}

TEST_F(WriteWindowTest, HalvesOncePerWindowOfRefusals) {
  for (int i = 0; i < 4; ++i) submit("x");
  for (int i = 0; i < 4; ++i) answer_first(Outcome::kThrottled, 429);
  EXPECT_EQ(window_.limit(), 2);
  submit("y");
  answer_first(Outcome::kUnknown, 503);
  EXPECT_EQ(window_.limit(), 1);
  submit("z");
  answer_first(Outcome::kUnknown, 500);
  EXPECT_EQ(window_.limit(), 1);
}

TEST_F(WriteWindowTest, GrowsByOneForAWindowOfSuccessesUpToItsMaximum) {
  submit("x");
  answer_first(Outcome::kThrottled, 429);
  ASSERT_EQ(window_.limit(), 2);
  for (int i = 0; i < 2; ++i) {
    submit("y");
    answer_first(Outcome::kOk, 201);
  }
  EXPECT_EQ(window_.limit(), 3);
  for (int i = 0; i < 20; ++i) {
    submit("z");
    answer_first(Outcome::kOk, 201);
  }
  EXPECT_EQ(window_.limit(), 4);
}

TEST_F(WriteWindowTest, DoesNotCountAConflictAsOverload) {
  submit("x");
  answer_first(Outcome::kConflict, 409);
  EXPECT_EQ(window_.limit(), 4);
}

TEST_F(WriteWindowTest, ForgetsWhatIsCancelled) {
  for (int i = 0; i < 4; ++i) submit("x");
  submit("cancelled");
  window_.cancel(last_);
  EXPECT_FALSE(window_.has_waiting());
  answer_first(Outcome::kOk, 201);
  EXPECT_EQ(sent_.size(), 4u);
}

TEST_F(WriteWindowTest, SaysWhenNothingWaitsAnyMore) {
  int drained = 0;
  window_.on_drained([&] { ++drained; });
  for (int i = 0; i < 5; ++i) submit("x");
  drained = 0;
  EXPECT_TRUE(window_.has_waiting());
  answer_first(Outcome::kOk, 201);
  EXPECT_EQ(drained, 1);
}

}  // namespace
}  // namespace gang::binder
