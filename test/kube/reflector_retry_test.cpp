#include "kube/reflector.h"

#include "kube/reflector_fixture.h"

namespace gang::kube {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST_F(ReflectorTest, B152BacksOffWhenEveryWatchIsExpired) {
  sync();
  Duration waited{0};
  for (int i = 0; i < 12; ++i) {
    data(error_line(410, "Expired"));
    end(HttpEndKind::kCancelled);
    request();
    waited += asked_after_;
    head(200);
    data(bookmark(100 + i, true));
  }
  EXPECT_GT(waited, seconds(20));
}

TEST_F(ReflectorTest, KeepsItsVersionOnOtherErrorsInTheStream) {
  sync();
  data(error_line(500, "InternalError"));
  end(HttpEndKind::kCancelled);
  EXPECT_TRUE(has(request(), "resourceVersion=10&"));
  EXPECT_LE(asked_after_, milliseconds(800));
  EXPECT_EQ(reflector_.stats().lists, 1);
}

TEST_F(ReflectorTest, WaitsAsToldByRetryAfter) {
  request();
  answer(429, "too many requests", "17");
  request();
  EXPECT_EQ(asked_after_, seconds(17));
  answer(503, status(503, "ServiceUnavailable", R"({"retryAfterSeconds":5})"));
  request();
  EXPECT_EQ(asked_after_, seconds(5));
}

TEST_F(ReflectorTest, WaitsAtLeastASecondAfterA429WithoutRetryAfter) {
  request();
  answer(429, "too many requests");
  request();
  EXPECT_GE(asked_after_, seconds(1));
}

TEST_F(ReflectorTest, WaitsForAVersionThatIsTooLargeAndListsAfterThree) {
  sync();
  for (int i = 0; i < 3; ++i) {
    data(error_line(504, "Timeout", kTooLarge));
    end(HttpEndKind::kCancelled);
    EXPECT_TRUE(has(request(), "resourceVersion=10&"));
    EXPECT_EQ(asked_after_, seconds(1));
    head(200);
  }
  data(error_line(504, "Timeout", kTooLarge));
  end(HttpEndKind::kCancelled);
  EXPECT_TRUE(has(request(), "sendInitialEvents"));
}

TEST_F(ReflectorTest, BacksOffWhenStreamsEndAtOnceWithoutEvents) {
  sync();
  Duration waited{0};
  for (int i = 0; i < 12; ++i) {
    end();
    EXPECT_TRUE(has(request(), "resourceVersion=10&"));
    waited += asked_after_;
    head(200);
  }
  EXPECT_GT(waited, seconds(30));
}

TEST_F(ReflectorTest, BacksOffWhenStreamsEndAtOnceWithNothingNew) {
  sync();
  Duration waited{0};
  for (int i = 0; i < 12; ++i) {
    end();
    EXPECT_FALSE(request().empty());
    waited += asked_after_;
    head(200);
    data(bookmark(30) + line("MODIFIED", "a", 30));
  }
  EXPECT_GT(waited, seconds(20));
}

TEST_F(ReflectorTest, EndsAStreamThatIsSilentForTheIdleLimit) {
  sync();
  now_ += seconds(149);
  reflector_.on_time(now_);
  take();
  EXPECT_FALSE(cancelled_);
  now_ += seconds(1);
  reflector_.on_time(now_);
  take();
  EXPECT_TRUE(cancelled_);
  EXPECT_EQ(reflector_.next_wake(), Duration::max());
  end(HttpEndKind::kCancelled);
  EXPECT_TRUE(has(request(), "resourceVersion=10&"));
}

TEST_F(ReflectorTest, EndsARequestWhoseHeadDoesNotCome) {
  request();
  now_ += seconds(60);
  reflector_.on_time(now_);
  take();
  EXPECT_TRUE(cancelled_);
}

TEST_F(ReflectorTest, CountsWhatEndedWithAnError) {
  sync();
  end();
  request();
  head(200);
  EXPECT_EQ(reflector_.stats().failures, 0);
  end(HttpEndKind::kBroken);
  EXPECT_EQ(reflector_.stats().failures, 1);
}

TEST_F(ReflectorTest, RepeatsWhatTheTransportSaysOfASilentServer) {
  request();
  now_ += seconds(60);
  reflector_.on_time(now_);
  take();
  reflector_.on_end(now_, {HttpEndKind::kTimeout, "API server x cannot be reached"});
  EXPECT_EQ(reflector_.stats().last_error, "API server x cannot be reached");
}

TEST_F(ReflectorTest, RetriesOnceAtOnceAfterA401WithAFreshToken) {
  request();
  answer(401, status(401, "Unauthorized"));
  EXPECT_EQ(refusals_, 1);
  request();
  EXPECT_EQ(asked_after_, Duration(0));
  Duration waited{0};
  for (int i = 0; i < 8; ++i) {
    answer(401, status(401, "Unauthorized"));
    request();
    waited += asked_after_;
  }
  EXPECT_GT(waited, seconds(15));
  EXPECT_EQ(refusals_, 9);
}

TEST_F(ReflectorTest, TellsForbiddenAfterSomePatienceThenLooksLessAndLessOften) {
  request();
  for (int i = 0; i < 3; ++i) {
    answer(403, status(403, "Forbidden"));
    EXPECT_EQ(told(), "");
    request();
    EXPECT_LT(asked_after_, seconds(4));
  }
  for (const int step : {1, 2, 4, 8, 16, 32, 60, 60}) {
    answer(403, status(403, "Forbidden"));
    EXPECT_EQ(told(), step == 1 ? "forbidden" : "");
    EXPECT_EQ(reflector_.stats().state, "forbidden");
    request();
    EXPECT_GE(asked_after_ * 2, seconds(step));
    EXPECT_LE(asked_after_, seconds(step));
  }
  head(200);
  data(bookmark(10, true));
  EXPECT_EQ(told(), "begin end10");
}

TEST_F(ReflectorTest, B153TellsUnservedOnceLooksEachMinuteAndSyncsWhenItAppears) {
  request();
  for (int i = 0; i < 3; ++i) {
    answer(404, "404 page not found\n");
    EXPECT_EQ(told(), i == 0 ? "unserved" : "");
    EXPECT_EQ(reflector_.stats().state, "unserved");
    request();
    EXPECT_EQ(asked_after_, seconds(60));
  }
  head(200);
  data(line("ADDED", "a", 5) + bookmark(10, true));
  EXPECT_EQ(told(), "begin +a end10");
  EXPECT_EQ(reflector_.stats().state, "synced");
}

TEST_F(ReflectorTest, B153TakesAServedKindForAbsentOnlyAfterAMinute) {
  sync();
  end();
  request();
  const Duration gone_at = now_;
  while (told_.empty()) {
    answer(404, "404 page not found\n");
    if (told_.empty()) {
      EXPECT_LT(now_ - gone_at, seconds(60));
    }
    ASSERT_FALSE(request().empty());
  }
  EXPECT_EQ(told(), "unserved");
  EXPECT_GE(now_ - gone_at, seconds(60));
}

TEST_F(ReflectorTest, TakesNoKindForAbsentOnTheWordOfSomethingThatIsNoApiServer) {
  request();
  for (int i = 0; i < 3; ++i) {
    answer(404, "<!DOCTYPE HTML>\n<html><title>Error response</title></html>\n");
    EXPECT_EQ(told(), "");
    EXPECT_TRUE(has(reflector_.stats().last_error, "HTTP 404 (a page in HTML: Error response)"))
        << reflector_.stats().last_error;
    EXPECT_FALSE(request(seconds(40)).empty());
  }
  answer(404, status(404, "NotFound"));
  EXPECT_EQ(told(), "unserved");
}

TEST_F(ReflectorTest, NeverTakesAKindThatEveryServerHasForAbsent) {
  std::vector<api::DeltaType> types;
  Reflector reflector = make(api::Kind::kNode, [&types](const api::Delta& delta) {
    types.push_back(delta.type);
    return true;
  });
  for (int i = 0; i < 20; ++i) {
    now_ = reflector.next_wake();
    reflector.on_time(now_);
    reflector.on_head(now_, {404, "text/plain", ""});
    reflector.on_data(now_, "404 page not found\n");
    reflector.on_end(now_, {HttpEndKind::kComplete, ""});
  }
  EXPECT_TRUE(types.empty());
}

TEST_F(ReflectorTest, TakesAPageThatIsNoJsonForATransportError) {
  request();
  head(200, "", "text/html");
  EXPECT_TRUE(cancelled_);
  data("<html>");
  end(HttpEndKind::kCancelled);
  EXPECT_EQ(told(), "");
  EXPECT_FALSE(request().empty());
}

TEST_F(ReflectorTest, NeverFollowsARedirect) {
  request();
  answer(302, "");
  EXPECT_TRUE(has(request(), "/apis/scheduling.k8s.io/v1beta1/podgroups?"));
  EXPECT_EQ(told(), "");
}

TEST_F(ReflectorTest, StopsWhenTheSinkWantsNoMore) {
  request();
  goes_on_ = false;
  head(200);
  EXPECT_TRUE(reflector_.stopped());
  EXPECT_TRUE(cancelled_);
  end(HttpEndKind::kCancelled);
  EXPECT_EQ(request(), "");
}

}  // namespace
}  // namespace gang::kube
