#include "scheduler/stamp.h"

#include <gtest/gtest.h>

namespace gang::scheduler {
namespace {

TEST(Stamp, TextReadsBack) {
  const Stamp stamp{.round = "7_host-12", .need = 3, .minimum = 4, .plan = "00ff"};
  EXPECT_EQ(stamp.text(), "round=7_host-12;need=3;minimum=4;plan=00ff");
  EXPECT_EQ(parse_stamp(stamp.text()), stamp);
}

TEST(Stamp, BeganFromNothingWhenItNeededTheWholeMinimum) {
  EXPECT_TRUE((Stamp{.need = 4, .minimum = 4}).from_nothing());
  EXPECT_FALSE((Stamp{.need = 3, .minimum = 4}).from_nothing());
}

/// A text that is no stamp.
struct BadStamp {
  const char* name;
  const char* text;
};

class BadStampTest : public testing::TestWithParam<BadStamp> {};

TEST_P(BadStampTest, IsRefused) {
  EXPECT_EQ(parse_stamp(GetParam().text), std::nullopt);
}

INSTANTIATE_TEST_SUITE_P(
    Stamp, BadStampTest,
    testing::Values(BadStamp{"Empty", ""}, BadStamp{"Free", "hello"},
                    BadStamp{"NoRound", "round=;need=1;minimum=1;plan=a"},
                    BadStamp{"NoPlan", "round=1;need=1;minimum=1"},
                    BadStamp{"EmptyPlan", "round=1;need=1;minimum=1;plan="},
                    BadStamp{"OtherOrder", "need=1;round=1;minimum=1;plan=a"},
                    BadStamp{"WordForNumber", "round=1;need=x;minimum=1;plan=a"},
                    BadStamp{"NumberAndMore", "round=1;need=1x;minimum=1;plan=a"},
                    BadStamp{"Negative", "round=1;need=-1;minimum=1;plan=a"},
                    BadStamp{"TooLarge", "round=1;need=1;minimum=99999999999;plan=a"},
                    BadStamp{"MinimumZero", "round=1;need=0;minimum=0;plan=a"},
                    BadStamp{"NeedOverMinimum", "round=1;need=3;minimum=2;plan=a"},
                    BadStamp{"Longer", "round=1;need=1;minimum=1;plan=a;more=b"}),
    [](const auto& row) { return row.param.name; });

}  // namespace
}  // namespace gang::scheduler
