#include "binder/events.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "binder/bench.h"

namespace gang::binder {
namespace {

using kube::Outcome;
using std::chrono::minutes;
using std::chrono::seconds;
using test::answer;

class EventsTest : public testing::Test {
 protected:
  EventsTest() {
    options_.events_per_second = 10;
    options_.event_queue_max = 20;
  }
  EventSink& sink() {
    if (!channel_) {
      channel_ = std::make_unique<Channel>(client_, clock_, options_, executor_.executor());
      sink_ = std::make_unique<EventSink>(*channel_, window_);
    }
    return *sink_;
  }
  void tell(const std::string& pod, const std::string& note, const char* kind = "Pod") {
    api::EventTarget target{.api_version = "v1", .kind = kind, .key = {"ns", pod}, .uid = {pod}};
    sink().submit(target, {"Warning", "FailedScheduling", "Scheduling", note});
  }

  ManualClock clock_{TimePoint(seconds(1000))};
  test::HandExecutor executor_{clock_};
  test::FakeClient client_;
  Options options_;
  WriteWindow window_{1};
  std::unique_ptr<Channel> channel_;
  std::unique_ptr<EventSink> sink_;
};

TEST_F(EventsTest, ThatAPodIsBoundHasTheSameNameWhoeverSaysIt) {
  const engine::Assignment pod{.pod = {"ns", "m0"}, .uid = {"u0"}, .node_name = "n1"};
  sink().submit(event_target(pod), bound_text(pod));
  executor_.advance(minutes(10));
  sink().submit(event_target(pod), bound_text(pod));
  executor_.run();
  ASSERT_EQ(client_.events().size(), 2u);
  EXPECT_EQ(client_.events()[0].note, "Successfully assigned ns/m0 to n1");
  EXPECT_EQ(client_.events()[0].name, client_.events()[1].name);
}

TEST_F(EventsTest, CarriesWhoWhenAndAUniqueName) {
  options_.scheduler_name = "ours";
  options_.instance = "ours-host";
  for (const char* note : {"a", "b", "c"}) tell("m0", note);
  executor_.run();
  std::set<std::string> names;
  for (const api::Event& event : client_.events()) {
    names.insert(event.name);
    EXPECT_EQ(event.reporting_controller, "ours");
    EXPECT_EQ(event.reporting_instance, "ours-host");
    EXPECT_EQ(event.time, clock_.now());
    EXPECT_EQ(event.name.rfind("m0.", 0), 0u);
  }
  EXPECT_EQ(names.size(), 3u);
  EXPECT_TRUE(names.contains("m0.e8d4a51000"));  // 1000 s in hexadecimal nanoseconds
}

TEST_F(EventsTest, EqualOnesWithinSixMinutesAreSentOnce) {
  tell("m0", "a");
  executor_.advance(minutes(5));
  tell("m0", "a");
  tell("m0", "b");
  tell("m1", "a");
  executor_.run();
  EXPECT_EQ(client_.count("event"), 3u);
  executor_.advance(minutes(2));
  tell("m0", "a");
  executor_.run();
  EXPECT_EQ(client_.count("event"), 4u);
}

TEST_F(EventsTest, AGroupHasOneEventOfAReasonInTenSeconds) {
  tell("train", "a", "PodGroup");
  executor_.advance(seconds(9));
  tell("train", "b", "PodGroup");
  executor_.advance(seconds(2));
  tell("train", "c", "PodGroup");
  executor_.run();
  EXPECT_EQ(client_.texts("event"),
            (std::vector<std::string>{"Warning FailedScheduling train: a",
                                      "Warning FailedScheduling train: c"}));
}

TEST_F(EventsTest, SendsNoFasterThanItsRate) {
  for (int i = 0; i < 20; ++i) tell("m" + std::to_string(i), "x");
  executor_.run();
  EXPECT_EQ(client_.count("event"), 10u);
  executor_.advance(seconds(1));
  EXPECT_EQ(client_.count("event"), 20u);
}

TEST_F(EventsTest, DropsAndCountsWhatDoesNotFitTheQueue) {
  for (int i = 0; i < 50; ++i) tell("m" + std::to_string(i), "x");
  EXPECT_EQ(channel_->stats().events_dropped, 30);
  executor_.advance(seconds(10));
  EXPECT_EQ(channel_->stats().events_sent, 20);
}

TEST_F(EventsTest, WaitsWhileABindingWaits) {
  window_.submit(Lane::kNeed, [](WriteWindow::Ticket) {});
  window_.submit(Lane::kNeed, [](WriteWindow::Ticket) {});
  tell("m0", "a");
  executor_.advance(seconds(5));
  EXPECT_EQ(client_.count("event"), 0u);
}

TEST_F(EventsTest, IsTriedAgainOnlyWhenItWasNotExecuted) {
  client_.fail_next("event", "m0", answer(Outcome::kThrottled, 429));
  client_.fail_next("event", "m1", answer(Outcome::kUnknown, 500));
  client_.fail_next("event", "m2", answer(Outcome::kForbidden, 403));
  for (const char* pod : {"m0", "m1", "m2"}) tell(pod, "x");
  executor_.advance(seconds(60));
  EXPECT_EQ(client_.count("event", "m0"), 2u);
  EXPECT_EQ(client_.count("event", "m1"), 1u);
  EXPECT_EQ(client_.count("event", "m2"), 1u);
  EXPECT_EQ(channel_->stats().events_dropped, 2);
}

TEST_F(EventsTest, GivesUpAfterThreeTries) {
  client_.fail_all("event", answer(Outcome::kNotSent));
  tell("m0", "x");
  executor_.advance(minutes(2));
  EXPECT_EQ(client_.count("event"), 3u);
}

}  // namespace
}  // namespace gang::binder
