#include "kube/kubeconfig.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <utility>
#include <vector>

#include "gang/kube/client.h"
#include "kube/connection.h"

namespace gang::kube {
namespace {

/// A kubeconfig with one cluster and one user; each part may be replaced.
std::string config(const std::string& cluster, const std::string& user,
                   const std::string& more = "") {
  return "apiVersion: v1\nkind: Config\ncurrent-context: here\n"
         "contexts:\n- name: other\n  context: {cluster: nowhere, user: nobody}\n"
         "- name: here\n  context: {cluster: c, user: admin, namespace: team-a}\n"
         "clusters:\n- name: c\n  cluster:\n" +
         cluster + "users:\n- name: admin\n  user:\n" + user + more;
}

const std::string kCluster =
    "    server: https://api:6443/\n    certificate-authority-data: Q0EK\n";
const std::string kUser = "    token: 12345\n";

Result<Credentials> parse(const std::string& text) {
  return parse_kubeconfig(text, "dir/config");
}

TEST(Kubeconfig, ReadsTheCurrentContext) {
  const auto credentials = parse(config(kCluster + "    tls-server-name: kubernetes\n",
                                        kUser + "    client-certificate-data: Q0VSVA==\n"
                                                "    client-key-data: S0VZ\n"));
  ASSERT_TRUE(credentials) << credentials.error().message;
  EXPECT_EQ(credentials->server, "https://api:6443");
  EXPECT_EQ(credentials->ca_pem, "CA\n");
  EXPECT_EQ(credentials->tls_server_name, "kubernetes");
  EXPECT_EQ(credentials->token.reveal(), "12345");
  EXPECT_EQ(credentials->client_cert_pem, "CERT");
  EXPECT_EQ(credentials->client_key_pem.reveal(), "KEY");
  EXPECT_EQ(credentials->name_space, "team-a");
}

TEST(Kubeconfig, ReadsJsonAsWell) {
  EXPECT_TRUE(parse(R"({"current-context":"x","contexts":[{"name":"x","context":{"cluster":"c",
      "user":"u"}}],"clusters":[{"name":"c","cluster":{"server":"http://127.0.0.1:1"}}],
      "users":[{"name":"u","user":{"token":"t"}}]})"));
}

/// One hostile or unsupported text and a word of the message it must give.
struct Refused {
  const char* name;
  std::string text;
  const char* message;
};

class RefusedKubeconfig : public ::testing::TestWithParam<Refused> {};

TEST_P(RefusedKubeconfig, FailsWithOneClearMessage) {
  const auto credentials = parse(GetParam().text);
  ASSERT_FALSE(credentials);
  EXPECT_NE(credentials.error().message.find(GetParam().message), std::string::npos)
      << credentials.error().message;
  EXPECT_NE(credentials.error().message.find("dir/config"), std::string::npos)
      << credentials.error().message;
  EXPECT_EQ(credentials.error().message.find("geheim"), std::string::npos);
}

std::string deep(std::size_t levels) {
  return "a: " + std::string(levels, '[') + std::string(levels, ']') + "\n";
}

std::string billion_laughs() {
  std::string text = "a0: &a0 [x,x,x,x,x,x,x,x,x]\n";
  for (int i = 1; i < 12; ++i) {
    const std::string last = "*a" + std::to_string(i - 1);
    text += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + last;
    for (int n = 0; n < 8; ++n) text += "," + last;
    text += "]\n";
  }
  return text;
}

INSTANTIATE_TEST_SUITE_P(
    Table, RefusedKubeconfig,
    ::testing::Values(
        Refused{"exec", config(kCluster, "    exec: {command: /bin/geheim}\n"),
                "user \"admin\": exec is not supported"},
        Refused{"auth_provider", config(kCluster, "    auth-provider: {name: gcp}\n"),
                "user \"admin\": auth-provider is not supported"},
        Refused{"password", config(kCluster, "    username: a\n    password: geheim\n"),
                "user \"admin\": username is not supported"},
        Refused{"impersonation", config(kCluster, "    as: root\n"), "impersonation"},
        Refused{"insecure",
                config("    server: https://api\n    insecure-skip-tls-verify: true\n", kUser),
                "insecure-skip-tls-verify is not supported"},
        Refused{"insecure_yes",
                config("    server: https://api\n    insecure-skip-tls-verify: yes\n", kUser),
                "insecure-skip-tls-verify is not supported"},
        Refused{"no_ca", config("    server: https://api\n", kUser), "no certificate authority"},
        Refused{"no_server", config("    x: y\n", kUser), "server is missing"},
        Refused{"proxy", config(kCluster + "    proxy-url: http://p\n", kUser), "proxy-url"},
        Refused{"bad_base64",
                config("    server: https://api\n    certificate-authority-data: '*'\n", kUser),
                "certificate-authority-data is no base64"},
        Refused{"half_pair", config(kCluster, "    client-certificate-data: Q0VSVA==\n"),
                "need each other"},
        Refused{"missing_file", config(kCluster, "    tokenFile: nothing/here\n"),
                "dir/nothing/here"},
        Refused{"token_lines", config(kCluster, "    token: \"geheim\\r\\nX: y\"\n"),
                "token holds"},
        Refused{"twice", config(kCluster + "    server: https://evil\n", kUser), "given twice"},
        Refused{"merge", config("    <<: {server: https://evil}\n", kUser), "merge keys"},
        Refused{"list_as_text", config("    server: [https://api]\n", kUser), "must be a text"},
        Refused{"two_documents", config(kCluster, kUser) + "---\nx: y\n", "one YAML document"},
        Refused{"broken_second", config(kCluster, kUser) + "---\n{\n", "config:"},
        Refused{"empty", "", "one YAML document"}, Refused{"no_mapping", "- a\n", "no mapping"},
        Refused{"no_context", "current-context: x\ncontexts: []\n", "no context called \"x\""},
        Refused{"no_current", "contexts: []\n", "current-context is missing"},
        Refused{"no_anchor", config(kCluster, "    token: *geheim\n"), "anchor"},
        Refused{"tab", "a:\n\t- b\n", "config:2:1: a tab indents the line"},
        Refused{"deep", deep(200) + config(kCluster, kUser), "nested too deeply"},
        Refused{"deeper", deep(100'000), "dir/config"},
        Refused{"aliases", billion_laughs() + config(kCluster, kUser), "too large"}),
    [](const auto& row) { return std::string(row.param.name); });

TEST(Kubeconfig, NamesLineAndColumn) {
  const auto credentials = parse(config(kCluster, "    exec:\n      command: x\n"));
  ASSERT_FALSE(credentials);
  EXPECT_EQ(credentials.error().message.substr(0, 17), "dir/config:18:7: ");
}

TEST(Kubeconfig, RefusesATextOverOneMebibyte) {
  EXPECT_EQ(parse("a: " + std::string(1U << 20U, 'x')).error().code, Code::kResourceExhausted);
}

/// Files on disk, for rights and relative paths.
class KubeconfigFile : public ::testing::Test {
 protected:
  KubeconfigFile() {
    std::string pattern = (std::filesystem::temp_directory_path() / "gang-kube-XXXXXX").string();
    path_ = mkdtemp(pattern.data());
  }
  ~KubeconfigFile() override { std::filesystem::remove_all(path_); }

  std::string write(const std::string& name, const std::string& text, mode_t mode = 0600) const {
    const std::string path = path_ + "/" + name;
    std::ofstream(path) << text;
    chmod(path.c_str(), mode);
    return path;
  }

  std::string path_;
};

TEST_F(KubeconfigFile, ResolvesRelativePathsFromItsOwnFolder) {
  std::filesystem::create_directory(path_ + "/pki");
  write("pki/ca.crt", "CA");
  write("pki/token", "tok\n");
  const std::string path =
      write("config", config("    server: https://api\n    certificate-authority: pki/ca.crt\n",
                             "    tokenFile: pki/token\n"));
  const auto credentials = load_kubeconfig(path);
  ASSERT_TRUE(credentials) << credentials.error().message;
  EXPECT_EQ(credentials->ca_pem, "CA");
  EXPECT_EQ(credentials->token.reveal(), "tok");
  EXPECT_EQ(credentials->token_file, path_ + "/pki/token");
}

TEST_F(KubeconfigFile, IsRefusedWhenOthersMayWriteIt) {
  for (const mode_t mode : {0620, 0602, 0666}) {
    const auto credentials = load_kubeconfig(write("config", config(kCluster, kUser), mode));
    ASSERT_FALSE(credentials);
    EXPECT_EQ(credentials.error().code, Code::kPermissionDenied);
    EXPECT_NE(credentials.error().message.find("chmod go-w"), std::string::npos);
  }
  EXPECT_TRUE(load_kubeconfig(write("config", config(kCluster, kUser), 0644)));
}

TEST_F(KubeconfigFile, IsNotFoundOrNoFile) {
  EXPECT_EQ(load_kubeconfig(path_ + "/nothing").error().code, Code::kNotFound);
  const auto folder = load_kubeconfig(path_);
  ASSERT_FALSE(folder);
  EXPECT_EQ(folder.error().message, "kubeconfig " + path_ + ": is a directory; name a file in it");
  EXPECT_EQ(
      load_kubeconfig("/dev/null").error().message,
      "kubeconfig /dev/null: is no regular file; name a regular file, or /dev/stdin and give the "
      "text there");
}

TEST(Kubeconfig, RemembersWhereEachPartWasGiven) {
  const auto inline_parts = parse(config(kCluster, kUser));
  ASSERT_TRUE(inline_parts) << inline_parts.error().message;
  const CredentialOrigin& origin = inline_parts->origin;
  EXPECT_EQ(origin.server, "server of cluster \"c\" in dir/config");
  EXPECT_EQ(origin.authority, "certificate-authority-data of cluster \"c\" in dir/config");
  EXPECT_EQ(origin.tls_server_name, "tls-server-name of cluster \"c\" in dir/config");
  EXPECT_EQ(origin.identity, "token of user \"admin\" in dir/config");
  const auto pair =
      parse(config(kCluster, "    client-certificate-data: Q0VSVA==\n    client-key-data: S0VZ\n"));
  ASSERT_TRUE(pair) << pair.error().message;
  EXPECT_EQ(pair->origin.identity, "client-certificate of user \"admin\" in dir/config");
  const auto nothing = parse(config(kCluster, "    {}\n"));
  ASSERT_TRUE(nothing) << nothing.error().message;
  EXPECT_EQ(nothing->origin.identity,
            "no token and no client-certificate of user \"admin\" in dir/config");
  EXPECT_EQ(missing_credentials(*nothing), nothing->origin.identity);
  EXPECT_EQ(missing_credentials(*pair), "");
  EXPECT_EQ(missing_credentials(*inline_parts), "");
}

TEST(Kubeconfig, SaysHowToMendEveryError) {
  const std::vector<std::pair<std::string, std::string>> rows = {
      {"contexts: []\n", "kubeconfig: current-context is missing; set it to"},
      {"current-context: x\n", "kubeconfig: contexts is missing; add the list"},
      {"current-context: x\ncontexts: []\n",
       "kubeconfig: there is no context called \"x\"; correct the name that current-context "
       "gives,"},
      {"current-context: x\ncontexts: [{name: x}]\n", "context \"x\": context is missing; add it"},
      {"current-context: x\ncontexts: [{name: x, context: {user: u}}]\n",
       "context \"x\": cluster is missing; name an entry of clusters"},
      {"current-context: x\ncontexts: [{name: x, context: {cluster: c}}]\nclusters: []\n",
       "there is no cluster called \"c\"; correct the name that the context gives, or add the "
       "entry to clusters"},
      {config(kCluster, "    tokenFile: nothing\n"),
       "user \"admin\": tokenFile: dir/nothing: cannot be read: No such file or directory; check "
       "the path"},
      {config("    server: https://api\n    certificate-authority: nothing\n", kUser),
       "cluster \"c\": certificate-authority: dir/nothing: cannot be read: No such file or "
       "directory; check the path"},
      {config(kCluster, "    token: [\n"), "; mend the YAML"},
  };
  for (const auto& [text, problem] : rows) {
    const auto credentials = parse(text);
    ASSERT_FALSE(credentials) << text;
    EXPECT_NE(credentials.error().message.find(problem), std::string::npos)
        << credentials.error().message;
  }
}

TEST_F(KubeconfigFile, IsCheckedWithAllThatItNames) {
  ClientOptions options;
  options.kubeconfig_path = write("config", config(kCluster, kUser));
  const auto no_certificate = check_credentials(options);
  ASSERT_FALSE(no_certificate);
  EXPECT_EQ(no_certificate.error().message,
            "certificate-authority-data of cluster \"c\" in " + options.kubeconfig_path +
                " holds no PEM certificate; give the one that has signed the API server's "
                "certificate");
  write("config", config("    server: http://127.0.0.1:1\n", kUser));
  const auto good = check_credentials(options);
  ASSERT_TRUE(good) << good.error().message;
  EXPECT_TRUE(*good);
  write("config", config("    server: api:6443\n", kUser));
  const auto no_url = check_credentials(options);
  ASSERT_FALSE(no_url);
  EXPECT_EQ(no_url.error().message.find("server of cluster \"c\" in " + options.kubeconfig_path),
            0U);
  EXPECT_FALSE(check_credentials({.kubeconfig_path = path_ + "/nothing"}));
}

}  // namespace
}  // namespace gang::kube
