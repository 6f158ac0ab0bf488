#include "kube/reflector.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace gang::kube {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

std::string object(const std::string& name, int version) {
  return R"({"kind":"PodGroup","metadata":{"namespace":"ns","name":")" + name + R"(","uid":"u-)" +
         name + R"(","resourceVersion":")" + std::to_string(version) +
         R"("},"spec":{"schedulingPolicy":{"gang":{"minCount":2}}}})";
}

std::string line(const std::string& type, const std::string& name, int version) {
  return R"({"type":")" + type + R"(","object":)" + object(name, version) + "}\n";
}

std::string bookmark(int version, bool end = false) {
  const std::string mark = end ? R"(,"annotations":{"k8s.io/initial-events-end":"true"})" : "";
  return R"({"type":"BOOKMARK","object":{"kind":"PodGroup","metadata":{"resourceVersion":")" +
         std::to_string(version) + "\"" + mark + "}}}\n";
}

std::string status(int code, const std::string& reason, const std::string& details = "{}") {
  return R"({"kind":"Status","status":"Failure","code":)" + std::to_string(code) +
         R"(,"reason":")" + reason + R"(","message":"told so","details":)" + details + "}";
}

std::string error_line(int code, const std::string& reason, const std::string& details = "{}") {
  return R"({"type":"ERROR","object":)" + status(code, reason, details) + "}\n";
}

std::string page(const std::string& items, int version, const std::string& next = "") {
  return R"({"kind":"PodGroupList","metadata":{"resourceVersion":")" + std::to_string(version) +
         R"(","continue":")" + next + R"("},"items":[)" + items + "]}";
}

const char* const kTooLarge = R"({"causes":[{"reason":"ResourceVersionTooLarge"}]})";

/// A reflector in virtual time, its deltas as short words: "begin", "+a", "~a", "-a", "end 7".
class ReflectorTest : public ::testing::Test {
 protected:
  /// Lets time pass until a request is asked for; its target, or "" when none comes in `patience`.
  std::string request(Duration patience = minutes(2)) {
    const Duration limit = now_ + patience;
    asked_after_ = Duration(0);
    const Duration from = now_;
    while (true) {
      reflector_.on_time(now_);
      take();
      if (start_) {
        asked_after_ = now_ - from;
        const std::string target = start_->target;
        start_.reset();
        return target;
      }
      if (reflector_.next_wake() > limit) return "";
      now_ = reflector_.next_wake();
    }
  }

  void head(int code, const std::string& retry_after = "",
            const std::string& type = "application/json") {
    reflector_.on_head(now_, {code, type, retry_after});
    take();
  }
  void data(const std::string& bytes) {
    reflector_.on_data(now_, bytes);
    take();
  }
  void end(HttpEndKind kind = HttpEndKind::kComplete) {
    cancelled_ = false;
    reflector_.on_end(now_, {kind, kind == HttpEndKind::kComplete ? "" : "broken"});
    take();
  }
  void answer(int code, const std::string& body, const std::string& retry_after = "") {
    head(code, retry_after);
    data(body);
    end();
  }

  /// Syncs by WatchList with one object "a" at version 5, resume point 10.
  void sync() {
    ASSERT_NE(request().find("sendInitialEvents=true"), std::string::npos);
    head(200);
    data(line("ADDED", "a", 5) + bookmark(10, true));
    ASSERT_EQ(told(), "begin +a end10");
  }

  std::string told() {
    std::string out;
    for (const std::string& word : told_) out += (out.empty() ? "" : " ") + word;
    told_.clear();
    return out;
  }

  void take() {
    Reflector::Command command = reflector_.take_command();
    if (command.start) start_ = std::move(command.start);
    cancelled_ = cancelled_ || command.cancel;
    refusals_ += command.refuse_token ? 1 : 0;
  }

  bool hear(const api::Delta& delta) {
    const auto name = [&delta] { return api::meta_of(delta.object).key.name; };
    switch (delta.type) {
      case api::DeltaType::kListBegin:
        told_.push_back("begin");
        break;
      case api::DeltaType::kListEnd:
        told_.push_back("end" + delta.resource_version.text);
        break;
      case api::DeltaType::kAdded:
        told_.push_back("+" + name());
        break;
      case api::DeltaType::kUpdated:
        told_.push_back("~" + name());
        break;
      case api::DeltaType::kDeleted:
        told_.push_back("-" + name());
        break;
      case api::DeltaType::kBookmark:
        told_.push_back("mark" + delta.resource_version.text);
        break;
      case api::DeltaType::kUnserved:
        told_.push_back("unserved");
        break;
      case api::DeltaType::kForbidden:
        told_.push_back("forbidden");
        break;
    }
    return goes_on_;
  }

  static Reflector make(api::Kind kind, DeltaSink sink) {
    return Reflector({.kind = kind}, ReflectorOptions{}, 1, std::move(sink));
  }

  Duration now_{0};
  Duration asked_after_{0};
  std::optional<HttpRequest> start_;
  bool cancelled_ = false;
  int refusals_ = 0;
  bool goes_on_ = true;
  std::vector<std::string> told_;
  Reflector reflector_ =
      make(api::Kind::kPodGroup, [this](const api::Delta& delta) { return hear(delta); });
};

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST_F(ReflectorTest, SyncsByWatchListAndGoesOnWithTheSameStream) {
  sync();
  EXPECT_EQ(reflector_.stats().state, "synced");
  data(line("MODIFIED", "a", 11) + line("ADDED", "b", 12) + line("DELETED", "a", 13) +
       bookmark(20));
  EXPECT_EQ(told(), "~a +b -a mark20");
  EXPECT_EQ(reflector_.stats().lists, 1);
}

TEST_F(ReflectorTest, B155HearsTheSameForACutAtEveryByte) {
  const std::string text = line("ADDED", "a", 5) + bookmark(10, true) + line("MODIFIED", "a", 11);
  for (std::size_t cut = 1; cut < text.size(); ++cut) {
    std::vector<std::string> words;
    Reflector reflector = make(api::Kind::kPodGroup, [&words](const api::Delta& delta) {
      words.push_back(std::to_string(static_cast<int>(delta.type)));
      return true;
    });
    reflector.on_time(now_);
    reflector.on_head(now_, {200, "application/json", ""});
    reflector.on_data(now_, text.substr(0, cut));
    reflector.on_data(now_, text.substr(cut));
    ASSERT_EQ(words.size(), 4U) << "cut at " << cut;
  }
}

TEST_F(ReflectorTest, B155ResumesFromTheLastVersionAfterANormalClose) {
  sync();
  data(line("MODIFIED", "a", 11) + bookmark(30));
  now_ += minutes(5);
  end();
  const std::string target = request();
  EXPECT_TRUE(has(target, "resourceVersion=30&")) << target;
  EXPECT_EQ(asked_after_, Duration(0));
  head(200);
  data(line("MODIFIED", "a", 31));
  EXPECT_EQ(told(), "~a mark30 ~a");
  EXPECT_EQ(reflector_.stats().lists, 1);
  EXPECT_EQ(reflector_.stats().watches, 1);
}

TEST_F(ReflectorTest, ResumesFromTheLastCompleteEventAfterACutInsideOne) {
  sync();
  data(line("MODIFIED", "a", 11) + line("DELETED", "a", 12).substr(0, 40));
  end(HttpEndKind::kBroken);
  EXPECT_TRUE(has(request(), "resourceVersion=11&"));
  head(200);
  data(line("DELETED", "a", 12));
  EXPECT_EQ(told(), "~a -a");
}

TEST_F(ReflectorTest, AsksForARandomTimeoutBetweenFiveAndTenMinutes) {
  const std::string target = request();
  const std::size_t at = target.find("timeoutSeconds=");
  ASSERT_NE(at, std::string::npos);
  const int timeout = std::stoi(target.substr(at + 15));
  EXPECT_GE(timeout, 300);
  EXPECT_LE(timeout, 600);
}

TEST_F(ReflectorTest, FallsBackToPagesWhenWatchListIsRefused) {
  request();
  answer(422, status(422, "Invalid"));
  EXPECT_TRUE(has(request(), "podgroups?limit=500"));
  head(200);
  data(page(object("a", 5), 50, "next/1"));
  end();
  EXPECT_TRUE(has(request(), "limit=500&continue=next%2F1"));
  answer(200, page(object("b", 6), 50));
  EXPECT_EQ(told(), "begin +a +b end50");
  EXPECT_TRUE(has(request(), "watch=1&allowWatchBookmarks=true&resourceVersion=50&"));
}

TEST_F(ReflectorTest, TriesWatchListAgainTenMinutesAfterItsRefusal) {
  request();
  answer(400, status(400, "BadRequest"));
  EXPECT_TRUE(has(request(), "limit=500"));
  now_ += minutes(10);
  end(HttpEndKind::kBroken);
  EXPECT_TRUE(has(request(), "sendInitialEvents"));
}

TEST_F(ReflectorTest, B152StartsOverWhenAContinuationHasExpired) {
  request();
  answer(422, status(422, "Invalid"));
  request();
  answer(200, page(object("a", 5), 50, "old"));
  EXPECT_TRUE(has(request(), "continue=old"));
  answer(410, status(410, "Expired", "{}"));
  EXPECT_FALSE(has(request(), "continue"));
  EXPECT_EQ(asked_after_, Duration(0));
  answer(200, page(object("b", 6), 60));
  EXPECT_EQ(told(), "begin +a begin +b end60");
}

TEST_F(ReflectorTest, B152ListsAgainAtOnceAfterA410InTheStream) {
  sync();
  data(error_line(410, "Expired"));
  EXPECT_TRUE(cancelled_);
  end(HttpEndKind::kCancelled);
  EXPECT_TRUE(has(request(), "sendInitialEvents"));
  EXPECT_EQ(asked_after_, Duration(0));
  head(200);
  data(line("ADDED", "b", 40) + bookmark(41, true));
  EXPECT_EQ(told(), "begin +b end41");
  EXPECT_EQ(reflector_.stats().lists, 2);
}

TEST_F(ReflectorTest, B152ListsAgainAfterA410BeforeTheStream) {
  sync();
  end();
  EXPECT_TRUE(has(request(), "resourceVersion=10&"));
  answer(410, status(410, "Expired"));
  EXPECT_TRUE(has(request(), "sendInitialEvents"));
}

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

TEST_F(ReflectorTest, B141TellsAWholeNewListSoThatMissedDeletesShow) {
  sync();
  data(error_line(410, "Expired"));
  end(HttpEndKind::kCancelled);
  request();
  head(200);
  data(bookmark(60, true));
  EXPECT_EQ(told(), "begin end60");
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

TEST_F(ReflectorTest, ListsAgainAfterALineThatCannotBeDecodedAndThenPassesItOver) {
  const std::string bad = R"({"type":"ADDED","object":{"metadata":{"labels":{}}}})";
  sync();
  data(bad + "\n" + line("MODIFIED", "a", 12));
  EXPECT_TRUE(cancelled_);
  EXPECT_EQ(told(), "");
  end(HttpEndKind::kCancelled);
  EXPECT_TRUE(has(request(), "sendInitialEvents"));
  head(200);
  data(bad + "\n" + line("ADDED", "a", 12) + bookmark(20, true));
  EXPECT_EQ(told(), "begin +a end20");
  EXPECT_EQ(reflector_.stats().undecodable, 2);
}

TEST_F(ReflectorTest, ListsAgainAfterBrokenJsonAndUnknownEventTypes) {
  for (const std::string bad : {"garbage", R"({"type":"NEW","object":{}})", "{\"type\":\"ADD"}) {
    SCOPED_TRACE(bad);
    Reflector reflector = make(api::Kind::kNode, [](const api::Delta&) { return true; });
    reflector.on_time(now_);
    reflector.on_head(now_, {200, "application/json", ""});
    reflector.on_data(now_, bookmark(10, true));
    static_cast<void>(reflector.take_command());
    reflector.on_data(now_, bad + "\n");
    EXPECT_TRUE(reflector.take_command().cancel);
    EXPECT_EQ(reflector.stats().undecodable, 1);
  }
}

TEST_F(ReflectorTest, PassesOverABadItemOfAPageTheSecondTime) {
  request();
  answer(422, status(422, "Invalid"));
  for (int i = 0; i < 2; ++i) {
    EXPECT_TRUE(has(request(), "limit=500"));
    head(200);
    data(page(object("a", 5) + ",{\"metadata\":3}," + object("b", 6), 50));
    end();
  }
  EXPECT_EQ(told(), "begin +a begin +a +b end50");
}

TEST_F(ReflectorTest, ListsAgainWhenAVersionGoesBack) {
  sync();
  data(line("MODIFIED", "a", 9));
  EXPECT_TRUE(cancelled_);
  end(HttpEndKind::kCancelled);
  EXPECT_TRUE(has(request(), "sendInitialEvents"));
  EXPECT_EQ(told(), "");
}

TEST_F(ReflectorTest, IgnoresAnOldBookmarkAndTakesADuplicate) {
  sync();
  data(line("MODIFIED", "a", 11) + line("MODIFIED", "a", 11) + bookmark(4));
  EXPECT_EQ(told(), "~a ~a");
  end();
  EXPECT_TRUE(has(request(), "resourceVersion=11&"));
}

TEST_F(ReflectorTest, ComparesVersionsBeyond64Bits) {
  request();
  head(200);
  data(R"({"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"99999999999999999999",)"
       R"("annotations":{"k8s.io/initial-events-end":"true"}}}})"
       "\n"
       R"({"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"100000000000000000000"}}})"
       "\n");
  EXPECT_EQ(told(), "begin end99999999999999999999 mark100000000000000000000");
}

TEST_F(ReflectorTest, BeginsTheListAgainWhenTheInitialStreamBreaks) {
  request();
  head(200);
  data(line("ADDED", "a", 5));
  end(HttpEndKind::kBroken);
  EXPECT_TRUE(has(request(), "sendInitialEvents"));
  head(200);
  data(line("ADDED", "a", 5) + bookmark(10, true));
  EXPECT_EQ(told(), "begin +a begin +a end10");
}

TEST_F(ReflectorTest, HoldsDeletionsOfTheInitialStreamUntilItsEnd) {
  request();
  head(200);
  data(line("ADDED", "a", 5) + line("ADDED", "b", 6) + line("DELETED", "a", 7) +
       line("MODIFIED", "b", 8) + line("DELETED", "b", 9) + line("ADDED", "b", 10));
  data(bookmark(10, true));
  EXPECT_EQ(told(), "begin +a +b +b +b end10 -a");
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

TEST_F(ReflectorTest, TellsForbiddenAfterSomePatienceThenLooksEachMinute) {
  request();
  for (int i = 0; i < 3; ++i) {
    answer(403, status(403, "Forbidden"));
    EXPECT_EQ(told(), "");
    request();
    EXPECT_LT(asked_after_, seconds(4));
  }
  for (int i = 0; i < 3; ++i) {
    answer(403, status(403, "Forbidden"));
    EXPECT_EQ(told(), i == 0 ? "forbidden" : "");
    EXPECT_EQ(reflector_.stats().state, "forbidden");
    request();
    EXPECT_EQ(asked_after_, seconds(60));
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
