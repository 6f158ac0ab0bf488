#include "gang/base/time.h"

#include <gtest/gtest.h>

#include <vector>

namespace gang {
namespace {

using std::chrono::hours;
using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::nanoseconds;
using std::chrono::seconds;

TEST(Rfc3339, ReadsOffsetsAndFractions) {
  struct Row {
    std::string text;
    std::int64_t nanos;
  };
  const std::vector<Row> rows = {
      {"1970-01-01T00:00:00Z", 0},
      {"1970-01-01T00:00:00.000000001Z", 1},
      {"1970-01-01T00:00:01.5Z", 1'500'000'000},
      {"1970-01-01T01:00:00+01:00", 0},
      {"1969-12-31T16:30:00-07:30", 0},
      {"1969-12-31T23:59:59Z", -1'000'000'000},
      {"1969-12-31T23:59:59.25Z", -750'000'000},
      {"2026-11-30T01:02:03Z", 1'796'000'523'000'000'000},
      {"2024-02-29T00:00:00Z", 1'709'164'800'000'000'000},
  };
  for (const Row& row : rows) {
    const auto time = parse_rfc3339(row.text);
    ASSERT_TRUE(time) << row.text;
    EXPECT_EQ(time->time_since_epoch().count(), row.nanos) << row.text;
  }
}

TEST(Rfc3339, RefusesWhatIsNoTimeAndNamesTheForm) {
  for (const std::string text :
       {"", "2026-11-30", "2026-11-30T01:02:03", "2026-11-30 01:02:03Z", "2026-02-29T00:00:00Z",
        "2026-13-01T00:00:00Z", "2026-11-30T24:00:00Z", "2026-11-30T01:02:60Z",
        "2026-11-30T01:02:03.Z", "2026-11-30T01:02:03.0000000001Z", "2026-11-30T01:02:03+1:00",
        "2026-11-30T01:02:03Zx", "1677-01-01T00:00:00Z", "2262-01-01T00:00:00Z",
        "20260-1-30T01:02:03Z", "-026-11-30T01:02:03Z"}) {
    const auto time = parse_rfc3339(text);
    ASSERT_FALSE(time) << text;
    EXPECT_EQ(time.error().message,
              "\"" + text + "\" is not a time; write RFC 3339 like 2026-11-30T01:02:03Z");
  }
}

TEST(Rfc3339, WritesSecondsAndMicrosecondsDownwards) {
  const TimePoint time = *parse_rfc3339("2026-11-30T01:02:03.987654999Z");
  EXPECT_EQ(format_rfc3339(time), "2026-11-30T01:02:03Z");
  EXPECT_EQ(format_rfc3339_micro(time), "2026-11-30T01:02:03.987654Z");
  EXPECT_EQ(format_rfc3339_micro(TimePoint(nanoseconds(-1))), "1969-12-31T23:59:59.999999Z");
}

TEST(Rfc3339, ReadsBackWhatItWrites) {
  for (const std::string text : {"1678-01-01T00:00:00Z", "1970-01-01T00:00:00Z",
                                 "2000-02-29T23:59:59Z", "2261-12-31T23:59:59Z"}) {
    EXPECT_EQ(format_rfc3339(*parse_rfc3339(text)), text);
  }
}

TEST(Duration, ReadsWholeNumbersWithUnits) {
  struct Row {
    std::string text;
    Duration duration;
  };
  const std::vector<Row> rows = {{"0s", seconds(0)},      {"250ms", milliseconds(250)},
                                 {"30s", seconds(30)},    {"5m", minutes(5)},
                                 {"1h30m", minutes(90)},  {"1us", microseconds(1)},
                                 {"1ns", nanoseconds(1)}, {"1h1m1s", seconds(3661)},
                                 {"90s", seconds(90)},    {"2562047h", hours(2562047)}};
  for (const Row& row : rows) {
    const auto duration = parse_duration(row.text);
    ASSERT_TRUE(duration) << row.text;
    EXPECT_EQ(*duration, row.duration) << row.text;
  }
}

TEST(Duration, RefusesSignsFractionsAndOverflow) {
  for (const std::string text :
       {"", "5", "s", "-5s", "1.5s", "5 s", "5S", "5d", "5s5", "2562048h", "99999999999999999999s",
        "1m1h", "1h1h", "010s", "00s", "1h05m", "1ms1s"}) {
    EXPECT_FALSE(parse_duration(text)) << text;
  }
  EXPECT_EQ(parse_duration("5d").error().message,
            "\"5d\" is not a duration; write whole numbers with the units h, m, s, ms, us or ns "
            "like 1h30m or 250ms");
}

TEST(Duration, WritesTheLargestExactUnits) {
  EXPECT_EQ(format_duration(Duration(0)), "0s");
  EXPECT_EQ(format_duration(milliseconds(250)), "250ms");
  EXPECT_EQ(format_duration(seconds(90)), "1m30s");
  EXPECT_EQ(format_duration(minutes(90)), "1h30m");
  EXPECT_EQ(format_duration(nanoseconds(1'000'001'001)), "1s1us1ns");
  EXPECT_EQ(format_duration(-seconds(90)), "-1m30s");
  EXPECT_EQ(*parse_duration(format_duration(nanoseconds(123'456'789'012'345))),
            nanoseconds(123'456'789'012'345));
}

}  // namespace
}  // namespace gang
