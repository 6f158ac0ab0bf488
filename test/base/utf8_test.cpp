#include "gang/base/utf8.h"

#include <gtest/gtest.h>

#include <string_view>

namespace gang {
namespace {

TEST(Utf8, TellsTheLengthOfASequence) {
  EXPECT_EQ(utf8_length(std::string_view("\0", 1)), 1U);
  EXPECT_EQ(utf8_length("ab"), 1U);
  EXPECT_EQ(utf8_length("\xC3\xBC|"), 2U);
  EXPECT_EQ(utf8_length("\xE6\x9D\xB1"), 3U);
  EXPECT_EQ(utf8_length("\xF0\x9F\x9A\x80"), 4U);
}

TEST(Utf8, RefusesWhatIsCutOverlongOrNoCodePoint) {
  for (const std::string_view text : {"\xFF\xFE", "\x80", "\xC0\xAF", "\xE0\x80\x80",
                                      "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xE6\x9D", "\xC3|"}) {
    EXPECT_EQ(utf8_length(text), 0U);
  }
}

TEST(Utf8, CutsAtACodePoint) {
  EXPECT_EQ(cut_text("abc", 3), "abc");
  EXPECT_EQ(cut_text("abcd", 3), "abc");
  EXPECT_EQ(cut_text("a\xC3\xA9", 3), "a\xC3\xA9");
  EXPECT_EQ(cut_text("a\xC3\xA9", 2), "a");
  EXPECT_EQ(cut_text("\xE2\x82\xAC!", 2), "");
}

}  // namespace
}  // namespace gang
