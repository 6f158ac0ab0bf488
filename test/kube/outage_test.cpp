// What the transport says of servers that are not there, are somebody else's, or say nothing.
#include "kube/kube_fixture.h"

namespace gang::kube {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using test::FakeHttpServer;
using test::FakeRequest;
using test::FakeResponder;
using test::Reports;

/// Reports how a request ended.
class EndReporter final : public HttpReceiver {
 public:
  explicit EndReporter(Reports<HttpEnd>& ends) : ends_(ends) {}
  void on_head(const HttpHead&) override {}
  Flow on_data(std::string_view) override { return Flow::kMore; }
  void on_end(const HttpEnd& end) override { ends_.add(end); }

 private:
  Reports<HttpEnd>& ends_;
};

class OutageTest : public test::KubeTest {
 protected:
  HttpEnd end_of_get(const std::string& server, const std::string& cluster = "",
                     Duration idle = seconds(10)) {
    const auto connection = connect(server, cluster);
    Reports<HttpEnd> ends;
    HttpRequest request;
    request.target = "/api/v1/pods";
    request.idle_limit = idle;
    connection->http->start(request, std::make_unique<EndReporter>(ends));
    EXPECT_TRUE(ends.wait_for(1));
    return ends.values().empty() ? HttpEnd{} : ends.values().front();
  }

  std::string authority(const test::TlsIdentity& identity) {
    write("ca.crt", identity.cert_pem);
    return "    certificate-authority: ca.crt\n";
  }

  /// "server of cluster ..." and the like.
  std::string in_cluster(const std::string& field) const {
    return field + " of cluster \"c\" in " + folder_ + "/config";
  }
};

TEST_F(OutageTest, SaysThatNothingListens) {
  std::string url;
  {
    const FakeHttpServer gone;
    url = gone.url();
  }
  const HttpEnd end = end_of_get(url);
  EXPECT_EQ(end.fault, HttpFault::kConnect);
  EXPECT_EQ(end.message, "API server " + url + " cannot be reached: cannot connect to " +
                             url.substr(url.rfind('/') + 1) +
                             ", nothing is reachable there; check " + in_cluster("server") +
                             ", and whether the API server runs");
}

TEST_F(OutageTest, SaysThatANameCannotBeResolved) {
  const test::TlsIdentity identity = test::make_tls_identity("DNS:nowhere.invalid");
  const HttpEnd end = end_of_get("https://nowhere.invalid:6443", authority(identity));
  EXPECT_EQ(end.kind, HttpEndKind::kNotSent);
  EXPECT_EQ(end.fault, HttpFault::kResolve) << end.message;
}

TEST_F(OutageTest, SaysThatTheCertificateIsOfAnotherAuthority) {
  const test::TlsIdentity identity = test::make_tls_identity("IP:127.0.0.1");
  FakeHttpServer server(&identity);
  const HttpEnd end = end_of_get(server.url(), authority(test::make_tls_identity("IP:127.0.0.1")));
  EXPECT_EQ(end.fault, HttpFault::kCertificate) << end.message;
  EXPECT_NE(end.message.find("; check " + in_cluster("certificate-authority")), std::string::npos)
      << end.message;
}

TEST_F(OutageTest, SaysThatTheCertificateIsOfAnotherName) {
  const test::TlsIdentity identity = test::make_tls_identity("DNS:kubernetes,IP:127.0.0.2");
  FakeHttpServer server(&identity);
  const HttpEnd end = end_of_get(server.url(), authority(identity));
  EXPECT_EQ(end.fault, HttpFault::kServerName) << end.message;
  EXPECT_NE(end.message.find("its certificate is not for 127.0.0.1; check " +
                             in_cluster("tls-server-name")),
            std::string::npos)
      << end.message;
}

TEST_F(OutageTest, SaysThatTheHandshakeHasNoEnd) {
  FakeHttpServer server;
  std::string url = server.url();
  url.replace(0, 4, "https");
  const std::string cluster = authority(test::make_tls_identity("IP:127.0.0.1"));
  const HttpEnd end = end_of_get(url, cluster, milliseconds(200));
  EXPECT_EQ(end.kind, HttpEndKind::kNotSent);
  EXPECT_EQ(end.fault, HttpFault::kHandshake);
  EXPECT_NE(end.message.find("the TLS handshake failed, nothing came in time; check "),
            std::string::npos)
      << end.message;
}

TEST_F(OutageTest, SaysHowLongNoAnswerCame) {
  FakeHttpServer server;
  server.on("/api/v1/pods", [](const FakeRequest&, FakeResponder& out) { out.hang(); });
  const HttpEnd end = end_of_get(server.url(), "", milliseconds(200));
  EXPECT_EQ(end.kind, HttpEndKind::kTimeout);
  EXPECT_EQ(end.message, "API server " + server.url() +
                             " cannot be reached: no answer within 200ms; check " +
                             in_cluster("server"));
}

TEST_F(OutageTest, SaysThatConnectionsAreClosedOrCarryNoHttp) {
  FakeHttpServer server;
  server.on("/api/v1/pods", [](const FakeRequest&, FakeResponder& out) { out.close(); });
  EXPECT_EQ(end_of_get(server.url()).fault, HttpFault::kClosed);
  FakeHttpServer other;
  other.on("/api/v1/pods", [](const FakeRequest&, FakeResponder& out) {
    out.raw("SSH-2.0-OpenSSH_9.2\r\n\r\n");
    out.close();
  });
  EXPECT_EQ(end_of_get(other.url()).fault, HttpFault::kNoHttp);
}

}  // namespace
}  // namespace gang::kube
