#include "binder/paced_queue.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "binder/bench.h"

namespace gang::binder {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(TokenBucket, GivesItsBurstThenItsRate) {
  TokenBucket bucket(10, 3);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(bucket.take(Duration::zero())) << i;
  EXPECT_FALSE(bucket.take(Duration::zero()));
  EXPECT_EQ(bucket.wait(Duration::zero()), milliseconds(100));
  EXPECT_FALSE(bucket.take(milliseconds(99)));
  EXPECT_TRUE(bucket.take(milliseconds(100)));
}

TEST(TokenBucket, SavesNoMoreThanItsBurst) {
  TokenBucket bucket(10, 2);
  EXPECT_TRUE(bucket.take(seconds(100)));
  EXPECT_TRUE(bucket.take(seconds(100)));
  EXPECT_FALSE(bucket.take(seconds(100)));
}

/// A queue of one request a second that notes what it sends.
class PacedQueueTest : public testing::Test {
 protected:
  PacedQueue::Send note(const std::string& name, bool sends = true) {
    return [this, name, sends] {
      sent_.push_back(name);
      return sends;
    };
  }

  ManualClock clock_{TimePoint{}};
  test::HandExecutor executor_{clock_};
  test::FakeClient client_;
  Options options_;
  Channel channel_{client_, clock_, options_, executor_.executor()};
  WriteWindow window_{1};
  PacedQueue queue_{channel_, window_, 1, 1};
  std::vector<std::string> sent_;
};

TEST_F(PacedQueueTest, SendsInOrderAtItsRate) {
  for (const char* name : {"a", "b", "c"}) queue_.submit(note(name));
  executor_.run();
  EXPECT_EQ(sent_, (std::vector<std::string>{"a"}));
  executor_.advance(seconds(2));
  EXPECT_EQ(sent_, (std::vector<std::string>{"a", "b", "c"}));
}

TEST_F(PacedQueueTest, SendsUrgentOnesFirst) {
  queue_.submit(note("a"));
  queue_.submit_urgent(note("urgent"));
  executor_.advance(seconds(3));
  EXPECT_EQ(sent_, (std::vector<std::string>{"urgent", "a"}));
}

TEST_F(PacedQueueTest, SpendsNoTokenOnNothing) {
  for (const char* name : {"a", "b"}) queue_.submit(note(name, false));
  queue_.submit(note("c"));
  executor_.run();
  EXPECT_EQ(sent_.size(), 3u);
}

TEST_F(PacedQueueTest, WaitsWhileABindingWaits) {
  WriteWindow::Ticket ticket;
  window_.submit(Lane::kNeed, [&](WriteWindow::Ticket granted) { ticket = granted; });
  window_.submit(Lane::kNeed, [&](WriteWindow::Ticket granted) { ticket = granted; });
  queue_.submit(note("a"));
  executor_.advance(seconds(5));
  EXPECT_TRUE(sent_.empty());
  window_.on_drained([this] { queue_.pump(); });
  window_.finished(ticket, test::answer(kube::Outcome::kOk));
  EXPECT_EQ(sent_.size(), 1u);
}

}  // namespace
}  // namespace gang::binder
