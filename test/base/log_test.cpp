#include "gang/base/log.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/log_line.h"
#include "gang/base/time.h"

namespace gang::log {
namespace {

TEST(LogLine, QuotesOnlyValuesThatNeedIt) {
  EXPECT_EQ(text_line(Level::kInfo, "gang bound",
                      {{"gang", "ml/train"}, {"took", "5ms"}, {"why", "two words"}, {"note", ""}}),
            "info  gang bound gang=ml/train took=5ms why=\"two words\"");
  EXPECT_EQ(text_line(Level::kError, "refused", {{"selector", "a=b"}}),
            "error refused selector=\"a=b\"");
}

TEST(LogLine, JsonMembersAreStrings) {
  EXPECT_EQ(json_members(Level::kWarn, "relist", {{"kind", "Pod"}, {"why", "say \"hi\""}}),
            R"("level":"warn","message":"relist","kind":"Pod","why":"say \"hi\"")");
}

TEST(LogLine, NothingFromTheClusterCanEndARecord) {
  EXPECT_EQ(escaped("a\nb\rc\td"), "a\\nb\\u000dc\\td");
  EXPECT_EQ(escaped(std::string_view("\0\x1b[2J\x7f", 6)), "\\u0000\\u001b[2J\\u007f");
  EXPECT_EQ(escaped("\xC2\x9B"
                    "31m"),
            "\\u009b31m");
  EXPECT_EQ(escaped("\xE2\x80\xA8|\xE2\x80\xA9"), "\\u2028|\\u2029");
  EXPECT_EQ(escaped(R"(C:\ "x")"), R"(C:\\ \"x\")");
}

TEST(LogLine, KeepsUtf8AndEscapesBytesThatAreNone) {
  EXPECT_EQ(escaped("Zürich 東京 \xF0\x9F\x9A\x80"), "Zürich 東京 \xF0\x9F\x9A\x80");
  EXPECT_EQ(escaped("\x80"), "\\ufffd");
  EXPECT_EQ(escaped("\xC0\xAF"), "\\ufffd\\ufffd");
  EXPECT_EQ(escaped("\xE0\x80\x80"), "\\ufffd\\ufffd\\ufffd");
  EXPECT_EQ(escaped("\xED\xA0\x80"), "\\ufffd\\ufffd\\ufffd");
  EXPECT_EQ(escaped("\xF4\x90\x80\x80"), "\\ufffd\\ufffd\\ufffd\\ufffd");
  EXPECT_EQ(escaped("ok\xE6\x9D"), "ok\\ufffd\\ufffd");
}

TEST(LogLine, CutsLongValuesAtACodePoint) {
  EXPECT_EQ(escaped(std::string(1'024, 'x')).size(), 1'024u);
  EXPECT_EQ(escaped(std::string(5'000, 'x')).size(), 1'024u);
  EXPECT_EQ(escaped(std::string(1'023, 'x') + "\xC3\xBC").size(), 1'023u);
  EXPECT_EQ(escaped(std::string(1'021, 'x') + "\xF0\x9F\x9A\x80").size(), 1'021u);
}

class LogStream : public ::testing::Test {
 protected:
  ~LogStream() override { configure(Level::kInfo, Format::kText); }

  static std::string record(Level level, std::string_view message,
                            std::initializer_list<Field> fields) {
    testing::internal::CaptureStderr();
    write(level, message, fields);
    return testing::internal::GetCapturedStderr();
  }
};

TEST_F(LogStream, TextRecordsStartWithTheTimeInUtc) {
  configure(Level::kInfo, Format::kText);
  const std::string line = record(Level::kInfo, "100% {} bound", {{"pod", "ml/a\nb"}});
  ASSERT_GT(line.size(), 25u);
  EXPECT_TRUE(parse_rfc3339(line.substr(0, 24))) << line;
  EXPECT_EQ(line.substr(24), " info  100% {} bound pod=\"ml/a\\nb\"\n");
}

TEST_F(LogStream, JsonRecordsAreOneObjectALine) {
  configure(Level::kDebug, Format::kJson);
  const std::string line = record(Level::kDebug, "watch ended", {{"kind", "Node"}});
  EXPECT_EQ(line.substr(0, 9), "{\"time\":\"");
  EXPECT_EQ(line.substr(line.find("Z\",") + 3),
            "\"level\":\"debug\",\"message\":\"watch ended\",\"kind\":\"Node\"}\n");
  EXPECT_EQ(std::count(line.begin(), line.end(), '\n'), 1);
}

TEST_F(LogStream, LowerLevelsAreNotWritten) {
  configure(Level::kWarn, Format::kText);
  EXPECT_EQ(record(Level::kInfo, "quiet", {}), "");
  EXPECT_NE(record(Level::kWarn, "loud", {}), "");
  configure(Level::kOff, Format::kText);
  EXPECT_EQ(record(Level::kError, "quiet", {}), "");
  EXPECT_EQ(record(Level::kOff, "never", {}), "");
}

}  // namespace
}  // namespace gang::log
