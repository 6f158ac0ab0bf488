#include "kube/server_words.h"

#include <gtest/gtest.h>

namespace gang::kube {
namespace {

using std::chrono::seconds;

ServerWords words(const std::string& tls_server_name = "") {
  return {*parse_server_url("https://api.example:6443"),
          {.server = "server of cluster \"c\" in f",
           .authority = "certificate-authority of cluster \"c\" in f",
           .tls_server_name = "tls-server-name of cluster \"c\" in f",
           .identity = "token file t of user \"u\" in f"},
          tls_server_name};
}

HttpRequest list(const std::string& target = "/api/v1/pods?limit=500") {
  HttpRequest request;
  request.target = target;
  return request;
}

std::string told(HttpFault fault, const std::string& message = "raw") {
  return words().unanswered(list(), {HttpEndKind::kBroken, message, fault}, seconds(1)).what;
}

TEST(ServerWords, SayTheCauseAndWhatToCheck) {
  EXPECT_EQ(words().server(), "API server https://api.example:6443");
  EXPECT_EQ(told(HttpFault::kResolve),
            "cannot be reached: the name api.example cannot be resolved; check server of cluster "
            "\"c\" in f, and DNS");
  EXPECT_EQ(told(HttpFault::kConnect),
            "cannot be reached: cannot connect to api.example:6443, nothing is reachable there; "
            "check server of cluster \"c\" in f, and whether the API server runs");
  EXPECT_EQ(told(HttpFault::kHandshake, "bad certificate"),
            "cannot be reached: the TLS handshake failed, bad certificate; check server of cluster "
            "\"c\" in f, and token file t of user \"u\" in f");
  EXPECT_EQ(told(HttpFault::kNoTls, "the server does not speak TLS on this port"),
            "cannot be reached: the TLS handshake failed, the server does not speak TLS on this "
            "port; check server of cluster \"c\" in f");
  EXPECT_EQ(told(HttpFault::kCertificate, "certificate has expired"),
            "cannot be reached: the TLS handshake failed, its certificate is not trusted "
            "(certificate has expired); check certificate-authority of cluster \"c\" in f");
  EXPECT_EQ(told(HttpFault::kServerName),
            "cannot be reached: the TLS handshake failed, its certificate is not for api.example; "
            "check tls-server-name of cluster \"c\" in f");
  EXPECT_EQ(told(HttpFault::kClosed), "cannot be reached: it closes connections before it answers");
  EXPECT_EQ(told(HttpFault::kNoHttp),
            "cannot be reached: what it answers is no HTTP; check server of cluster \"c\" in f");
  EXPECT_EQ(told(HttpFault::kNone), "cannot be reached: raw");
}

TEST(ServerWords, NameTheCertificateThatIsVerified) {
  const HttpEnd end{HttpEndKind::kNotSent, "", HttpFault::kServerName};
  const std::string what = words("kubernetes").unanswered(list(), end, seconds(1)).what;
  EXPECT_NE(what.find("is not for kubernetes; "), std::string::npos) << what;
}

TEST(ServerWords, NameTheLimitOfASilentServer) {
  const HttpEnd late{HttpEndKind::kTimeout, "", HttpFault::kSilence};
  HttpRequest request = list();
  request.idle_limit = seconds(60);
  EXPECT_EQ(words().unanswered(request, late, seconds(60)).what,
            "cannot be reached: no answer within 1m; check server of cluster \"c\" in f");
  request.total_limit = seconds(5);
  EXPECT_EQ(words().unanswered(request, late, seconds(5)).what,
            "cannot be reached: no answer within 5s; check server of cluster \"c\" in f");
  const HttpEnd given_up{HttpEndKind::kCancelled, "cancelled"};
  EXPECT_EQ(words().unanswered(request, given_up, std::chrono::milliseconds(7300)).what,
            "cannot be reached: no answer within 7s; check server of cluster \"c\" in f");
}

TEST(ServerWords, SayHowAnAnswerWasCut) {
  HttpRequest request = list();
  EXPECT_EQ(words().cut(request, {HttpEndKind::kComplete, ""}), "");
  EXPECT_EQ(words().cut(request, {HttpEndKind::kBroken, "raw"}),
            "API server https://api.example:6443: the connection was lost in the middle of an "
            "answer");
  EXPECT_EQ(words().cut(request, {HttpEndKind::kTimeout, "raw"}),
            "API server https://api.example:6443: no byte for 30s");
  request.total_limit = seconds(5);
  EXPECT_EQ(words().cut(request, {HttpEndKind::kTimeout, "raw"}),
            "API server https://api.example:6443: no whole answer within 5s");
}

/// "answer", "nothing", or the trouble that a head means.
std::string meaning(const HttpRequest& request, int status, const std::string& type) {
  const HeadMeaning meant = words().meaning(request, {status, type, ""});
  if (meant.trouble) return meant.trouble->what;
  return meant.is_answer ? "answer" : "nothing";
}

TEST(ServerWords, NameTheCredentialsThatAreRefused) {
  EXPECT_EQ(meaning(list(), 401, "application/json"),
            "refuses the credentials with HTTP 401: token file t of user \"u\" in f; give valid "
            "ones");
}

TEST(ServerWords, KnowWhatIsNoApiServer) {
  const std::string page =
      "does not look like a Kubernetes API server: it answers a list with HTTP 200, text/html; "
      "check server of cluster \"c\" in f";
  EXPECT_EQ(meaning(list(), 200, "text/html; charset=utf-8"), page);
  EXPECT_EQ(meaning(list("/apis/x/v1/y"), 200, "text/html"), page);
  for (const int status : {302, 400, 403, 404}) {
    const std::string told = meaning(list(), status, "");
    EXPECT_NE(told.find("with HTTP " + std::to_string(status) + ", no content type"),
              std::string::npos)
        << told;
  }
  EXPECT_NE(meaning(list(), 404, "application/json"), "answer");
  const std::string page_404 =
      "does not look like a Kubernetes API server: it answers a list with HTTP 404, text/html; "
      "check server of cluster \"c\" in f";
  const std::string groups = "/apis/scheduling.k8s.io/v1beta1/podgroups?limit=500";
  const std::string classes = "/apis/scheduling.k8s.io/v1/priorityclasses?limit=500";
  EXPECT_EQ(meaning(list(groups), 404, "text/html;charset=utf-8"), page_404);
  EXPECT_EQ(meaning(list(classes), 404, "text/html"), page_404);
  EXPECT_NE(meaning(list(classes), 404, "text/plain; charset=utf-8"), "nothing");
}

TEST(ServerWords, SayThatHttpsIsSpokenWherePlainHttpIsRefused) {
  const ServerWords plain(*parse_server_url("http://127.0.0.1:6443"), {.server = "server of f"},
                          "");
  const HeadMeaning refused = plain.meaning(list(), {400, "", ""});
  ASSERT_TRUE(refused.trouble);
  EXPECT_EQ(refused.trouble->what,
            "refuses plain HTTP with HTTP 400: the server speaks HTTPS there; write https:// in "
            "server of f");
  EXPECT_TRUE(plain.meaning(list(), {400, "application/json", ""}).is_answer);
}

TEST(ServerWords, TakeForAnAnswerWhatAnApiServerSays) {
  EXPECT_EQ(meaning(list(), 200, "application/json"), "answer");
  EXPECT_EQ(meaning(list(), 403, "application/json"), "answer");
  EXPECT_EQ(meaning(list(), 429, "text/plain"), "answer");
  EXPECT_EQ(meaning(list(), 503, "text/plain"), "answer");
  EXPECT_EQ(meaning(list("/api/v1/namespaces/ns/pods/p"), 404, "application/json"), "answer");
}

TEST(ServerWords, TakeProtobufForAnAnswerWhereItWasAskedFor) {
  HttpRequest request = list("/apis/resource.k8s.io/v1/namespaces/ns/resourceclaims/c");
  EXPECT_NE(meaning(request, 200, "application/vnd.kubernetes.protobuf"), "answer");
  request.accept = kProtobufType;
  EXPECT_EQ(meaning(request, 200, "application/vnd.kubernetes.protobuf"), "answer");
  EXPECT_EQ(meaning(request, 404, "application/vnd.kubernetes.protobuf"), "answer");
}

TEST(ServerWords, TakeAnUnservedGroupForNothing) {
  EXPECT_EQ(meaning(list("/apis/scheduling.k8s.io/v1beta1/podgroups"), 404, "text/plain"),
            "nothing");
}

}  // namespace
}  // namespace gang::kube
