#include "gang/base/base64.h"

#include <gtest/gtest.h>

namespace gang {
namespace {

TEST(Base64, EncodesEveryPadding) {
  EXPECT_EQ(encode_base64(""), "");
  EXPECT_EQ(encode_base64("A"), "QQ==");
  EXPECT_EQ(encode_base64("AB"), "QUI=");
  EXPECT_EQ(encode_base64("ABCDEF"), "QUJDREVG");
  EXPECT_EQ(encode_base64("\xff\xfe\xfd"), "//79");
}

TEST(Base64, DecodesEveryPaddingAndRefusesTheRest) {
  EXPECT_EQ(decode_base64("").value(), "");
  EXPECT_EQ(decode_base64("QQ==").value(), "A");
  EXPECT_EQ(decode_base64("QUI=").value(), "AB");
  EXPECT_EQ(decode_base64("QUJD\nREVG").value(), "ABCDEF");
  EXPECT_EQ(decode_base64("//79").value(), "\xff\xfe\xfd");
  for (const char* bad : {"Q", "QQ", "QQ=", "Q===", "Q=Q=", "QU-D", "QQ==Q"}) {
    EXPECT_FALSE(decode_base64(bad)) << bad;
  }
}

}  // namespace
}  // namespace gang
