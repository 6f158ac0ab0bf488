#include "kube/reflector.h"

#include "kube/reflector_fixture.h"

namespace gang::kube {
namespace {

using std::chrono::minutes;

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

TEST_F(ReflectorTest, B141TellsAWholeNewListSoThatMissedDeletesShow) {
  sync();
  data(error_line(410, "Expired"));
  end(HttpEndKind::kCancelled);
  request();
  head(200);
  data(bookmark(60, true));
  EXPECT_EQ(told(), "begin end60");
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

}  // namespace
}  // namespace gang::kube
