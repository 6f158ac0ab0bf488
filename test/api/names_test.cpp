#include "gang/api/names.h"

#include <gtest/gtest.h>

#include <string>

namespace gang::api {
namespace {

const std::string kLabelOf63(63, 'a');
const std::string kLabelOf64(64, 'a');

/// 253 bytes: three pieces of 63 and one of 61.
const std::string kNameOf253 =
    kLabelOf63 + "." + kLabelOf63 + "." + kLabelOf63 + "." + std::string(61, 'a');

TEST(Names, DnsNameIsPiecesJoinedByDots) {
  for (const std::string& good :
       {std::string("a"), std::string("0"), std::string("train-0"), std::string("n1.rack-2.x"),
        std::string("a--b"), kLabelOf64, kNameOf253}) {
    EXPECT_TRUE(is_dns_name(good)) << good;
  }
  for (const std::string& bad :
       {std::string(), std::string("A"), std::string("-a"), std::string("a-"), std::string("a..b"),
        std::string(".a"), std::string("a."), std::string("a.-b"), std::string("a-.b"),
        std::string("a_b"), std::string("a/b"), std::string("a b"), std::string("\xc3\xa9"),
        kNameOf253 + "a"}) {
    EXPECT_FALSE(is_dns_name(bad)) << bad;
  }
}

TEST(Names, DnsLabelIsOnePiece) {
  EXPECT_TRUE(is_dns_label("team-a"));
  EXPECT_TRUE(is_dns_label(kLabelOf63));
  for (const std::string& bad :
       {std::string(), std::string("a.b"), std::string("A"), std::string("a-"), kLabelOf64}) {
    EXPECT_FALSE(is_dns_label(bad)) << bad;
  }
}

TEST(Names, QualifiedNameMayHaveADomain) {
  for (const std::string& good :
       {std::string("pool"), std::string("Pool_1.x"), std::string("nvidia.com/gpu"), kLabelOf63,
        kNameOf253 + "/" + kLabelOf63}) {
    EXPECT_TRUE(is_qualified_name(good)) << good;
  }
  for (const std::string& bad :
       {std::string(), std::string("/"), std::string("a/"), std::string("/a"), std::string("a/b/c"),
        std::string("A.com/a"), std::string("-a"), std::string("a_"), std::string("a b"),
        kLabelOf64, "x/" + kLabelOf64, kNameOf253 + "a/x"}) {
    EXPECT_FALSE(is_qualified_name(bad)) << bad;
  }
}

TEST(Names, LabelValueMayBeEmpty) {
  for (const std::string& good : {std::string(), std::string("A_b.c-1"), kLabelOf63}) {
    EXPECT_TRUE(is_label_value(good)) << good;
  }
  for (const std::string& bad :
       {std::string("a/b"), std::string("-a"), std::string("a."), kLabelOf64}) {
    EXPECT_FALSE(is_label_value(bad)) << bad;
  }
}

}  // namespace
}  // namespace gang::api
