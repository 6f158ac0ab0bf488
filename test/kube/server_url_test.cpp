#include "kube/server_url.h"

#include <gtest/gtest.h>

namespace gang::kube {
namespace {

TEST(ServerUrl, TakesHttpsWithPortAndPrefix) {
  const Result<ServerUrl> url = parse_server_url("https://api.example.com:6443/k8s/clusters/c-1/");
  ASSERT_TRUE(url) << url.error().message;
  EXPECT_EQ(url->base, "https://api.example.com:6443");
  EXPECT_EQ(url->prefix, "/k8s/clusters/c-1");
  EXPECT_EQ(url->host, "api.example.com");
  EXPECT_EQ(url->port, "6443");
  EXPECT_TRUE(url->is_tls);
}

TEST(ServerUrl, KnowsThePortOfTheScheme) {
  EXPECT_EQ(parse_server_url("https://api")->port, "443");
  EXPECT_EQ(parse_server_url("http://localhost")->port, "80");
}

TEST(ServerUrl, TakesPlainHttpOnLoopbackOnly) {
  EXPECT_TRUE(parse_server_url("http://127.0.0.1:8080"));
  EXPECT_TRUE(parse_server_url("http://localhost:8080"));
  for (const char* text : {"http://10.0.0.1:8080", "http://127.evil.example", "http://api:80"}) {
    const Result<ServerUrl> url = parse_server_url(text);
    ASSERT_FALSE(url) << text;
    EXPECT_NE(url.error().message.find("without TLS"), std::string::npos);
  }
}

TEST(ServerUrl, RefusesWhatIsNoAddressOfAnApiServer) {
  for (const char* text :
       {"", "api:6443", "https://", "https://:6443", "https://api:0", "https://api:65536",
        "https://api:x", "https://[::1]:6443", "https://user:pw@api", "https://api/?x=1",
        "https://api\r\nX: y", "ftp://api", "https://api/a b"}) {
    EXPECT_FALSE(parse_server_url(text)) << text;
  }
  EXPECT_EQ(parse_server_url("https://user:geheim@api").error().message.find("geheim"),
            std::string::npos);
}

}  // namespace
}  // namespace gang::kube
