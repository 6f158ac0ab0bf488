#include "kube/credentials.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace gang::kube {
namespace {

using std::chrono::seconds;

/// A folder that lives as long as its test.
class Folder : public ::testing::Test {
 protected:
  Folder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "gang-kube-XXXXXX").string();
    path_ = mkdtemp(pattern.data());
  }
  ~Folder() override { std::filesystem::remove_all(path_); }

  std::string write(const std::string& name, const std::string& text) const {
    const std::string path = path_ + "/" + name;
    std::ofstream(path, std::ios::binary) << text;
    return path;
  }

  std::string path_;
  ManualClock clock_{TimePoint{}};
};

using InCluster = Folder;
using Tokens = Folder;

TEST_F(InCluster, ReadsTokenCaAndNamespaceOfThePod) {
  write("token", "abc\n");
  write("ca.crt", "CA");
  write("namespace", "gang-system\n");
  const auto credentials = load_in_cluster({path_, "10.0.0.1", "443"});
  ASSERT_TRUE(credentials) << credentials.error().message;
  EXPECT_EQ(credentials->server, "https://10.0.0.1:443");
  EXPECT_EQ(credentials->token.reveal(), "abc");
  EXPECT_EQ(credentials->ca_pem, "CA");
  EXPECT_EQ(credentials->name_space, "gang-system");
  EXPECT_EQ(credentials->token_file, path_ + "/token");
  EXPECT_EQ(credentials->origin.identity,
            "token file " + path_ + "/token of the pod's service account");
}

TEST_F(InCluster, GoesByDnsNameWhereTheServiceHasAnIpv6Address) {
  write("token", "abc");
  write("ca.crt", "CA");
  write("namespace", "x");
  EXPECT_EQ(load_in_cluster({path_, "fd00::1", "443"})->server,
            "https://kubernetes.default.svc:443");
}

TEST_F(InCluster, SaysWhatIsMissingAndHowToMendIt) {
  const auto outside = load_in_cluster({path_, "", ""});
  ASSERT_FALSE(outside);
  EXPECT_NE(outside.error().message.find("--kubeconfig"), std::string::npos);
  const auto no_ca = load_in_cluster({path_, "10.0.0.1", "443"});
  ASSERT_FALSE(no_ca);
  EXPECT_NE(no_ca.error().message.find("ca.crt"), std::string::npos);
  write("ca.crt", "CA");
  write("token", "  \n");
  EXPECT_EQ(load_in_cluster({path_, "10.0.0.1", "443"}).error().code, Code::kUnauthenticated);
}

TEST_F(Tokens, ReadsTheFileAgainAfterAMinute) {
  const std::string file = write("token", "old");
  TokenSource tokens(Secret(), file, clock_);
  EXPECT_EQ(tokens.current().reveal(), "old");
  write("token", "new");
  clock_.advance(seconds(59));
  EXPECT_EQ(tokens.current().reveal(), "old");
  clock_.advance(seconds(1));
  EXPECT_EQ(tokens.current().reveal(), "new");
}

TEST_F(Tokens, ReadsTheFileAtOnceAfterARefusalButAtMostOnceASecond) {
  const std::string file = write("token", "a");
  TokenSource tokens(Secret(), file, clock_);
  EXPECT_EQ(tokens.current().reveal(), "a");
  write("token", "b");
  clock_.advance(std::chrono::milliseconds(999));
  tokens.refuse();
  EXPECT_EQ(tokens.current().reveal(), "a");
  clock_.advance(std::chrono::milliseconds(1));
  tokens.refuse();
  EXPECT_EQ(tokens.current().reveal(), "b");
}

TEST_F(Tokens, KeepsTheOldTokenWhenTheFileIsEmptyMissingOrGarbage) {
  const std::string file = write("token", "good");
  TokenSource tokens(Secret(), file, clock_);
  EXPECT_EQ(tokens.current().reveal(), "good");
  for (const char* bad : {"", "\n", "a\r\nX-Evil: 1", "a b"}) {
    write("token", bad);
    clock_.advance(seconds(60));
    EXPECT_EQ(tokens.current().reveal(), "good") << bad;
  }
  std::filesystem::remove(file);
  clock_.advance(seconds(60));
  EXPECT_EQ(tokens.current().reveal(), "good");
}

TEST_F(Tokens, KeepsAFixedTokenThatHasNoFile) {
  TokenSource tokens(Secret("fixed"), "", clock_);
  clock_.advance(seconds(600));
  tokens.refuse();
  EXPECT_EQ(tokens.current().reveal(), "fixed");
}

TEST_F(Tokens, NeverPutsTheTokenIntoAnError) {
  const std::string file = write("token", "geheim mit blank");
  const Result<Secret> token = read_token(file);
  ASSERT_FALSE(token);
  EXPECT_EQ(token.error().message.find("geheim"), std::string::npos);
}

}  // namespace
}  // namespace gang::kube
