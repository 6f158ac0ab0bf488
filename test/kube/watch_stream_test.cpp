#include "kube/watch_stream.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace gang::kube {
namespace {

constexpr std::size_t kLimit = 1000;

/// What a splitter handed out, and how it ended.
struct Pieces {
  std::vector<std::string> texts;
  std::string rest;
  bool ok = true;
  bool complete = false;
  friend bool operator==(const Pieces&, const Pieces&) = default;
};

Pieces split_lines(const std::vector<std::string>& cuts, std::size_t limit = kLimit) {
  Pieces out;
  LineSplitter splitter(limit);
  for (const std::string& bytes : cuts) {
    const auto fed = splitter.feed(bytes, [&out](std::string_view line) {
      out.texts.emplace_back(line);
      return true;
    });
    if (!fed) {
      out.ok = false;
      break;
    }
  }
  out.complete = !splitter.has_partial();
  return out;
}

Pieces split_list(const std::vector<std::string>& cuts, std::size_t limit = kLimit) {
  Pieces out;
  ListSplitter splitter(limit);
  for (const std::string& bytes : cuts) {
    const auto fed = splitter.feed(bytes, [&out](std::string_view item) {
      out.texts.emplace_back(item);
      return true;
    });
    if (!fed) {
      out.ok = false;
      return out;
    }
  }
  out.complete = splitter.complete();
  if (out.complete) out.rest = splitter.rest();
  return out;
}

std::vector<std::string> bytes_of(const std::string& text) {
  std::vector<std::string> out;
  for (const char c : text) out.emplace_back(1, c);
  return out;
}

const char* const kList =
    "{\"kind\":\"items\", \"a\\\"items\":[{\"x\":1}],\n"
    " \"metadata\":{\"resourceVersion\":\"7\",\"items\":[1,2]},\n"
    " \"items\" : [ {\"name\":\"a]}\\\"\",\"l\":[{},[]]},\r\n{\"name\":\"b\"} , null,\"s,]\", 3 "
    "],\n"
    " \"extra\":[{\"items\":[4]}] }\n";

TEST(ListSplitter, HandsOutEachElementOfItemsAndTheListWithoutThem) {
  const Pieces pieces = split_list({kList});
  EXPECT_TRUE(pieces.complete);
  EXPECT_EQ(pieces.texts, (std::vector<std::string>{"{\"name\":\"a]}\\\"\",\"l\":[{},[]]}",
                                                    "{\"name\":\"b\"}", "null", "\"s,]\"", "3 "}));
  EXPECT_EQ(pieces.rest,
            "{\"kind\":\"items\", \"a\\\"items\":[{\"x\":1}],\n"
            " \"metadata\":{\"resourceVersion\":\"7\",\"items\":[1,2]},\n"
            " \"items\" : [],\n \"extra\":[{\"items\":[4]}] }");
}

TEST(ListSplitter, B155GivesTheSameItemsForACutAtEveryByte) {
  const std::string text = kList;
  const Pieces whole = split_list({text});
  for (std::size_t cut = 0; cut <= text.size(); ++cut) {
    EXPECT_EQ(split_list({text.substr(0, cut), text.substr(cut)}), whole) << "cut at " << cut;
  }
  EXPECT_EQ(split_list(bytes_of(text)), whole);
}

TEST(ListSplitter, TakesAnEmptyListAndOneWithoutItems) {
  EXPECT_TRUE(split_list({"{\"items\":[]}"}).complete);
  EXPECT_TRUE(split_list({"{\"items\":null,\"x\":[1]}"}).complete);
  EXPECT_TRUE(split_list({"{}"}).complete);
  EXPECT_TRUE(split_list({"{\"items\":null,\"x\":[1]}"}).texts.empty());
}

TEST(ListSplitter, RefusesBrokenBracketsAndWhatFollowsTheList) {
  for (const char* text :
       {"[]", "nothing", "{]", "{\"items\":[}", "{} {}", "{\"a\":[}]", "{\"items\":[1}"}) {
    const Pieces pieces = split_list({text});
    EXPECT_FALSE(pieces.ok && pieces.complete) << text;
  }
}

TEST(ListSplitter, IsNotCompleteWhenTheListWasCut) {
  const Pieces pieces = split_list({"{\"items\":[{\"a\":1},{\"b\""});
  EXPECT_TRUE(pieces.ok);
  EXPECT_FALSE(pieces.complete);
  EXPECT_EQ(pieces.texts.size(), 1U);
}

TEST(ListSplitter, RefusesAnItemOverTheLimitButTakesOneAtIt) {
  const std::string fits = "\"" + std::string(18, 'x') + "\"";
  const std::string over = "\"" + std::string(19, 'x') + "\"";
  EXPECT_TRUE(split_list({"{\"items\":[" + fits + "]}"}, 20).ok);
  EXPECT_FALSE(split_list({"{\"items\":[" + over + "]}"}, 20).ok);
  EXPECT_FALSE(split_list({"{\"metadata\":\"" + std::string(50, 'x') + "\"}"}, 20).ok);
}

TEST(ListSplitter, TakesDeepNestingWithoutRecursion) {
  const std::string deep = std::string(400'000, '[') + std::string(400'000, ']');
  const Pieces pieces = split_list({"{\"items\":[" + deep + "]}"}, 1'000'000);
  EXPECT_TRUE(pieces.complete);
  EXPECT_EQ(pieces.texts, std::vector<std::string>{deep});
}

TEST(ListSplitter, StopsWhenTheSinkHasHeardEnough) {
  ListSplitter splitter(kLimit);
  int count = 0;
  ASSERT_TRUE(splitter.feed("{\"items\":[1,2,3]}", [&count](std::string_view) {
    ++count;
    return false;
  }));
  EXPECT_EQ(count, 1);
}

TEST(ListSplitter, BeginsAgainAfterReset) {
  ListSplitter splitter(kLimit);
  const PieceSink ignore = [](std::string_view) { return true; };
  ASSERT_TRUE(splitter.feed("{\"items\":[{\"a\":\"", ignore));
  splitter.reset();
  ASSERT_TRUE(splitter.feed("{\"items\":[]}", ignore));
  EXPECT_TRUE(splitter.complete());
  EXPECT_EQ(splitter.rest(), "{\"items\":[]}");
}

TEST(LineSplitter, B155GivesTheSameLinesForACutAtEveryByte) {
  const std::string text = "{\"a\":1}\n\n{\"b\":2}\r\n \n{\"c\":3}\n{\"partial\"";
  const Pieces whole = split_lines({text});
  EXPECT_EQ(whole.texts, (std::vector<std::string>{"{\"a\":1}", "{\"b\":2}\r", "{\"c\":3}"}));
  EXPECT_FALSE(whole.complete);
  for (std::size_t cut = 0; cut <= text.size(); ++cut) {
    EXPECT_EQ(split_lines({text.substr(0, cut), text.substr(cut)}), whole) << "cut at " << cut;
  }
  EXPECT_EQ(split_lines(bytes_of(text)), whole);
}

TEST(LineSplitter, RefusesALineOverTheLimitEvenWithoutItsEnd) {
  EXPECT_TRUE(split_lines({"12345\n"}, 5).ok);
  EXPECT_FALSE(split_lines({"123456\n"}, 5).ok);
  EXPECT_FALSE(split_lines({"123", "456"}, 5).ok);
}

TEST(LineSplitter, ForgetsAnUnfinishedLineOnReset) {
  LineSplitter splitter(kLimit);
  std::vector<std::string> lines;
  const PieceSink keep = [&lines](std::string_view line) {
    lines.emplace_back(line);
    return true;
  };
  ASSERT_TRUE(splitter.feed("{\"half\":", keep));
  splitter.reset();
  ASSERT_TRUE(splitter.feed("{}\n", keep));
  EXPECT_EQ(lines, std::vector<std::string>{"{}"});
}

}  // namespace
}  // namespace gang::kube
