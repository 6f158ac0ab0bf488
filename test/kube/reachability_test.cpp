#include "kube/reachability.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace gang::kube {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

const Trouble kDown{"cannot be reached: x", "is reachable again"};
const Trouble kRefused{"refuses the credentials: y", "accepts the credentials again"};

std::string told(const std::optional<ServerNote>& note) {
  return note ? (note->is_good ? "good " : "bad ") + note->message : "";
}

TEST(Reachability, TellsAnOutageOnceAfterThreeSecondsAndItsEndOnce) {
  Reachability server;
  EXPECT_EQ(told(server.answered(seconds(10))), "");
  EXPECT_EQ(told(server.failed(seconds(10), seconds(10), kDown).note), "");
  EXPECT_EQ(told(server.failed(milliseconds(12'900), milliseconds(12'999), kDown).note), "");
  EXPECT_EQ(server.trouble(), "");
  EXPECT_EQ(told(server.failed(seconds(13), seconds(13), kDown).note),
            "bad cannot be reached: x; goes on trying");
  EXPECT_EQ(server.trouble(), "cannot be reached: x");
  for (int i = 14; i < 50; ++i) {
    EXPECT_EQ(told(server.failed(seconds(i), seconds(i), kDown).note), "");
  }
  EXPECT_EQ(told(server.answered(seconds(52))), "good is reachable again after 42s");
  EXPECT_EQ(server.trouble(), "");
  EXPECT_EQ(told(server.answered(seconds(53))), "");
}

TEST(Reachability, IsSilentAboutALostRequestAndAShortRestart) {
  Reachability server;
  // One request only, although it took long.
  EXPECT_EQ(told(server.failed(seconds(0), seconds(60), kDown).note), "");
  EXPECT_EQ(told(server.answered(seconds(61))), "");
  for (int ms = 0; ms < 3000; ms += 100) {
    const Duration now = seconds(61) + milliseconds(ms);
    EXPECT_EQ(told(server.failed(now, now, kDown).note), "");
  }
  EXPECT_EQ(told(server.answered(seconds(64))), "");
}

TEST(Reachability, CountsFromTheRequestsThatWaitedInVain) {
  Reachability server;
  EXPECT_EQ(told(server.failed(seconds(0), seconds(60), kDown).note), "");
  EXPECT_EQ(told(server.failed(seconds(0), seconds(60), kDown).note),
            "bad cannot be reached: x; goes on trying");
}

TEST(Reachability, TellsEachTroubleOfAnOutageOnce) {
  Reachability server;
  EXPECT_EQ(told(server.failed(seconds(0), seconds(0), kDown).note), "");
  EXPECT_EQ(told(server.failed(seconds(3), seconds(3), kDown).note).substr(0, 3), "bad");
  EXPECT_EQ(told(server.failed(seconds(4), seconds(4), kRefused).note),
            "bad refuses the credentials: y; goes on trying");
  EXPECT_EQ(server.trouble(), "refuses the credentials: y");
  EXPECT_EQ(told(server.failed(seconds(5), seconds(5), kDown).note), "");
  EXPECT_EQ(told(server.answered(seconds(7))), "good accepts the credentials again after 7s");
}

TEST(Reachability, SaysWhatIsNoNewsForWhoeverAsked) {
  Reachability server;
  EXPECT_FALSE(server.failed(seconds(0), seconds(0), kDown).is_repeated);
  EXPECT_TRUE(server.failed(seconds(0), seconds(0), kDown).is_repeated);
  EXPECT_FALSE(server.failed(seconds(0), seconds(0), kRefused).is_repeated);
  EXPECT_EQ(told(server.answered(seconds(1))), "");
  EXPECT_FALSE(server.failed(seconds(2), seconds(2), kDown).is_repeated);
  EXPECT_FALSE(server.is_known("cut"));
  EXPECT_TRUE(server.is_known("cut"));
}

TEST(Reachability, RemembersNoEndlessNumberOfTroubles) {
  Reachability server;
  int notes = 0;
  for (int i = 0; i < 1000; ++i) {
    const Trouble trouble{"cannot be reached: " + std::to_string(i), ""};
    const auto heard = server.failed(seconds(i), seconds(i), trouble);
    notes += heard.note ? 1 : 0;
    EXPECT_EQ(heard.is_repeated, i >= static_cast<int>(Reachability::kTroublesMax)) << i;
  }
  EXPECT_EQ(notes, static_cast<int>(Reachability::kTroublesMax));
}

/// Takes requests; the test plays the server.
class FakeHttp final : public Http {
 public:
  HttpHandle start(HttpRequest request, std::unique_ptr<HttpReceiver> receiver) override {
    requests.push_back(std::move(request));
    receivers.push_back(std::move(receiver));
    return HttpHandle{receivers.size()};
  }
  void cancel(HttpHandle) override {}
  void resume(HttpHandle) override {}

  std::vector<HttpRequest> requests;
  std::vector<std::unique_ptr<HttpReceiver>> receivers;
};

/// Remembers the last end it heard.
class EndListener final : public HttpReceiver {
 public:
  explicit EndListener(HttpEnd& end) : end_(end) {}
  void on_head(const HttpHead&) override {}
  Flow on_data(std::string_view) override { return Flow::kMore; }
  void on_end(const HttpEnd& end) override { end_ = end; }

 private:
  HttpEnd& end_;
};

class ReachabilityHttpTest : public ::testing::Test {
 protected:
  ReachabilityHttpTest() {
    auto fake = std::make_unique<FakeHttp>();
    fake_ = fake.get();
    http_ = std::make_unique<ReachabilityHttp>(
        std::move(fake), ServerWords(*parse_server_url("https://api:6443"), {}, ""), clock_);
  }

  /// Starts a request and lets `passes` go by.
  HttpReceiver& ask(Duration passes = Duration(0)) {
    HttpRequest request;
    request.target = "/api/v1/pods";
    request.body = "body";
    http_->start(request, std::make_unique<EndListener>(end_));
    clock_.advance(passes);
    return *fake_->receivers.back();
  }

  ManualClock clock_{TimePoint{}};
  FakeHttp* fake_ = nullptr;
  std::unique_ptr<ReachabilityHttp> http_;
  HttpEnd end_;
};

TEST_F(ReachabilityHttpTest, PassesRequestsOnAsTheyAre) {
  ask();
  EXPECT_EQ(fake_->requests.front().target, "/api/v1/pods");
  EXPECT_EQ(fake_->requests.front().body, "body");
}

TEST_F(ReachabilityHttpTest, RewordsWhatEndedWithoutAnAnswer) {
  ask().on_end({HttpEndKind::kNotSent, "No route to host", HttpFault::kConnect});
  EXPECT_EQ(end_.kind, HttpEndKind::kNotSent);
  EXPECT_EQ(end_.message.find("API server https://api:6443 cannot be reached: cannot connect to "
                              "api:6443, nothing is reachable there"),
            0U)
      << end_.message;
  EXPECT_FALSE(end_.is_repeated);
  ask().on_end({HttpEndKind::kNotSent, "No route to host", HttpFault::kConnect});
  EXPECT_TRUE(end_.is_repeated);
}

TEST_F(ReachabilityHttpTest, TellsTheTroubleUntilAnAnswerComes) {
  for (int i = 0; i < 4; ++i) {
    ask(seconds(1)).on_end({HttpEndKind::kNotSent, "", HttpFault::kConnect});
  }
  EXPECT_EQ(http_->trouble().find("API server https://api:6443 cannot be reached: "), 0U);
  HttpReceiver& list = ask();
  list.on_head({200, "application/json", ""});
  EXPECT_EQ(http_->trouble(), "");
  list.on_end({HttpEndKind::kComplete, ""});
  EXPECT_EQ(end_.message, "");
}

TEST_F(ReachabilityHttpTest, TakesBytesOfAnOpenStreamForAnAnswerButNotThoseOfAnErrorPage) {
  HttpReceiver& stream = ask();
  stream.on_head({200, "application/json", ""});
  HttpReceiver& page = ask(seconds(4));
  page.on_head({200, "text/html", ""});
  ask().on_head({200, "text/html", ""});
  EXPECT_NE(http_->trouble().find("does not look like a Kubernetes API server"), std::string::npos);
  EXPECT_EQ(page.on_data("<html>"), Flow::kMore);
  EXPECT_NE(http_->trouble(), "");
  page.on_end({HttpEndKind::kCancelled, "cancelled"});
  stream.on_data("{}");
  EXPECT_EQ(http_->trouble(), "");
}

TEST_F(ReachabilityHttpTest, CountsARequestThatWasGivenUpForSilence) {
  HttpReceiver& first = ask();
  HttpReceiver& second = ask(seconds(60));
  first.on_end({HttpEndKind::kCancelled, "cancelled"});
  EXPECT_EQ(end_.kind, HttpEndKind::kTimeout);
  second.on_end({HttpEndKind::kCancelled, "cancelled"});
  EXPECT_EQ(http_->trouble(),
            "API server https://api:6443 cannot be reached: no answer within 1m; check server");
}

TEST_F(ReachabilityHttpTest, CountsNoRequestThatIsCancelledSoon) {
  for (int i = 0; i < 10; ++i) {
    ask(seconds(4)).on_end({HttpEndKind::kCancelled, "cancelled"});
    EXPECT_EQ(end_.kind, HttpEndKind::kCancelled);
    EXPECT_EQ(end_.message, "cancelled");
  }
  EXPECT_EQ(http_->trouble(), "");
}

TEST_F(ReachabilityHttpTest, KnowsARefusalAgain) {
  ask().on_head({401, "application/json", ""});
  HttpReceiver& second = ask();
  second.on_head({401, "application/json", ""});
  second.on_end({HttpEndKind::kComplete, ""});
  EXPECT_TRUE(end_.is_repeated);
}

}  // namespace
}  // namespace gang::kube
