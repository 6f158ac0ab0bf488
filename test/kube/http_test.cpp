#include "kube/http.h"

#include "kube/kube_fixture.h"

namespace gang::kube {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using test::FakeHttpServer;
using test::FakeRequest;
using test::FakeResponder;
using test::Gate;
using test::Reports;

/// All that one request told.
struct Heard {
  HttpHead head;
  std::string body;
  HttpEnd end;
};

/// Reports a request when it has ended; may ask for a pause after its first piece.
class Listener final : public HttpReceiver {
 public:
  Listener(Reports<Heard>& reports, Flow first = Flow::kMore, Gate* first_data = nullptr)
      : reports_(reports), flow_(first), first_data_(first_data) {}
  void on_head(const HttpHead& head) override { heard_.head = head; }
  Flow on_data(std::string_view bytes) override {
    heard_.body.append(bytes);
    if (first_data_ != nullptr) first_data_->open();
    return std::exchange(flow_, Flow::kMore);
  }
  void on_end(const HttpEnd& end) override {
    heard_.end = end;
    reports_.add(heard_);
  }

 private:
  Reports<Heard>& reports_;
  Flow flow_;
  Gate* const first_data_;
  Heard heard_;
};

class HttpTest : public test::KubeTest {
 protected:
  /// Sends a GET and waits for its end.
  Heard get(const std::shared_ptr<const Connection>& connection, Duration idle = seconds(10),
            Duration total = Duration(0)) {
    Reports<Heard> reports;
    HttpRequest request;
    request.target = "/x?a=b%2Cc";
    request.idle_limit = idle;
    request.total_limit = total;
    connection->http->start(request, std::make_unique<Listener>(reports));
    EXPECT_TRUE(reports.wait_for(1));
    const auto all = reports.values();
    return all.empty() ? Heard{} : all.front();
  }

  FakeHttpServer server_;
};

TEST_F(HttpTest, SendsTokenAgentAndTargetAsTheyAre) {
  server_.on("/x", [](const FakeRequest&, FakeResponder& out) { out.json(200, "{}"); });
  const auto connection = connect(server_.url());
  const Heard heard = get(connection);
  EXPECT_EQ(heard.head.status, 200);
  EXPECT_EQ(heard.head.content_type, "application/json");
  EXPECT_EQ(heard.body, "{}");
  EXPECT_EQ(heard.end.kind, HttpEndKind::kComplete);
  const FakeRequest request = server_.requests().front();
  EXPECT_EQ(request.target(), "/x?a=b%2Cc");
  EXPECT_EQ(request.headers.at("authorization"), "Bearer secret-token-1");
  EXPECT_EQ(request.headers.at("user-agent"), "gang-scheduler");
  EXPECT_EQ(request.headers.at("accept"), "application/json");
}

TEST_F(HttpTest, PutsTheServersPathBeforeTheTarget) {
  server_.on("/k8s/c1/x", [](const FakeRequest&, FakeResponder& out) { out.json(200, "{}"); });
  EXPECT_EQ(get(connect(server_.url() + "/k8s/c1/")).head.status, 200);
}

TEST_F(HttpTest, NeverFollowsARedirectSoThatTheTokenStays) {
  FakeHttpServer other;
  server_.on("/x", [&other](const FakeRequest&, FakeResponder& out) {
    out.answer(302, "text/plain", "", "Location: " + other.url() + "/x\r\n");
  });
  EXPECT_EQ(get(connect(server_.url())).head.status, 302);
  EXPECT_TRUE(other.requests().empty());
}

TEST_F(HttpTest, TellsRetryAfterAndTheBodyOfAnError) {
  server_.on("/x", [](const FakeRequest&, FakeResponder& out) {
    out.answer(429, "text/plain", "too many", "Retry-After: 3\r\n");
  });
  const Heard heard = get(connect(server_.url()));
  EXPECT_EQ(heard.head.status, 429);
  EXPECT_EQ(heard.head.retry_after, "3");
  EXPECT_EQ(heard.body, "too many");
}

TEST_F(HttpTest, TellsSlowBytesAsOneBody) {
  server_.on("/x", [](const FakeRequest&, FakeResponder& out) {
    out.begin(200);
    for (const char c : std::string("slowly")) out.chunk(std::string(1, c));
    out.end();
  });
  EXPECT_EQ(get(connect(server_.url())).body, "slowly");
}

TEST_F(HttpTest, TakesAResetInTheMiddleOfABodyForBroken) {
  server_.on("/x", [](const FakeRequest&, FakeResponder& out) {
    out.begin(200);
    out.chunk("half");
    out.raw("ff\r\nmore");
    out.close();
  });
  const Heard heard = get(connect(server_.url()));
  EXPECT_EQ(heard.head.status, 200);
  EXPECT_EQ(heard.body, "half");
  EXPECT_EQ(heard.end.kind, HttpEndKind::kBroken);
}

TEST_F(HttpTest, TakesAResetBeforeTheHeadForBroken) {
  server_.on("/x", [](const FakeRequest&, FakeResponder& out) { out.reset(); });
  const Heard heard = get(connect(server_.url()));
  EXPECT_EQ(heard.head.status, 0);
  EXPECT_EQ(heard.end.kind, HttpEndKind::kBroken);
}

TEST_F(HttpTest, TakesARefusedConnectionForNotSent) {
  std::string url;
  {
    const FakeHttpServer gone;
    url = gone.url();
  }
  EXPECT_EQ(get(connect(url)).end.kind, HttpEndKind::kNotSent);
}

TEST_F(HttpTest, EndsAHangingRequestAtItsIdleLimit) {
  server_.on("/x", [](const FakeRequest&, FakeResponder& out) { out.hang(); });
  EXPECT_EQ(get(connect(server_.url()), milliseconds(200)).end.kind, HttpEndKind::kTimeout);
}

TEST_F(HttpTest, EndsAnEndlessAnswerAtItsTotalLimit) {
  server_.on("/x", [](const FakeRequest&, FakeResponder& out) {
    out.begin(200);
    out.chunk("{");
    out.hang();
  });
  const Heard heard = get(connect(server_.url()), seconds(60), milliseconds(200));
  EXPECT_EQ(heard.end.kind, HttpEndKind::kTimeout);
  EXPECT_EQ(heard.end.message, "API server " + server_.url() + ": no whole answer within 200ms");
}

TEST_F(HttpTest, StopsReadingWhilePausedAndGoesOnAfterResume) {
  const std::string chunk(64U << 10U, 'x');
  constexpr std::size_t kChunks = 400;
  server_.on("/x", [&](const FakeRequest&, FakeResponder& out) {
    out.begin(200);
    for (std::size_t i = 0; i < kChunks; ++i) out.chunk(chunk);
    out.end();
  });
  const auto connection = connect(server_.url());
  Reports<Heard> reports;
  Gate first_data;
  HttpRequest request;
  request.target = "/x";
  const HttpHandle handle = connection->http->start(
      request, std::make_unique<Listener>(reports, Flow::kPause, &first_data));
  ASSERT_TRUE(first_data.wait());
  EXPECT_TRUE(reports.values().empty());
  connection->http->resume(handle);
  ASSERT_TRUE(reports.wait_for(1));
  EXPECT_EQ(reports.values().front().body.size(), kChunks * chunk.size());
}

TEST_F(HttpTest, CancelsInEveryState) {
  server_.on("/x", [](const FakeRequest&, FakeResponder& out) {
    out.begin(200);
    out.chunk("x");
    out.hang();
  });
  const auto connection = connect(server_.url());
  for (const Flow flow : {Flow::kMore, Flow::kPause}) {
    Reports<Heard> reports;
    Gate first_data;
    HttpRequest request;
    request.target = "/x";
    const HttpHandle handle =
        connection->http->start(request, std::make_unique<Listener>(reports, flow, &first_data));
    ASSERT_TRUE(first_data.wait());
    connection->http->cancel(handle);
    ASSERT_TRUE(reports.wait_for(1));
    EXPECT_EQ(reports.values().front().end.kind, HttpEndKind::kCancelled);
    connection->http->cancel(handle);
  }
  Reports<Heard> reports;
  HttpRequest request;
  request.target = "/x";
  for (int i = 0; i < 200; ++i) {
    connection->http->cancel(connection->http->start(request, std::make_unique<Listener>(reports)));
  }
  ASSERT_TRUE(reports.wait_for(200));
}

TEST_F(HttpTest, EndsWhatIsInFlightWhenTheConnectionGoes) {
  server_.on("/x", [](const FakeRequest&, FakeResponder& out) { out.hang(); });
  Reports<Heard> reports;
  {
    const auto connection = connect(server_.url());
    HttpRequest request;
    request.target = "/x";
    connection->http->start(request, std::make_unique<Listener>(reports));
  }
  ASSERT_EQ(reports.values().size(), 1U);
  EXPECT_EQ(reports.values().front().end.kind, HttpEndKind::kCancelled);
}

TEST_F(HttpTest, EndsEverythingAtShutdownAndRefusesMore) {
  server_.on("/x", [](const FakeRequest&, FakeResponder& out) { out.hang(); });
  const auto connection = connect(server_.url());
  Reports<Heard> reports;
  HttpRequest request;
  request.target = "/x";
  connection->http->start(request, std::make_unique<Listener>(reports));
  ASSERT_TRUE(server_.wait_for_requests(1));
  shutdown_transport();
  ASSERT_EQ(reports.values().size(), 1U);
  EXPECT_EQ(get(connection).end.kind, HttpEndKind::kCancelled);
  EXPECT_EQ(server_.requests().size(), 1U);
  initialize_transport();
}

TEST_F(HttpTest, ReadsATokenThatWasReplacedAfterARefusal) {
  server_.on("/x", [](const FakeRequest&, FakeResponder& out) { out.json(200, "{}"); });
  const auto connection = connect(server_.url());
  get(connection);
  write("token", "secret-token-2");
  const auto sent_token = [&] {
    connection->tokens->refuse();
    get(connection);
    return server_.requests().back().headers.at("authorization");
  };
  // A look each second at most: until then the old one is sent.
  const auto deadline = std::chrono::steady_clock::now() + test::kPatience;
  while (sent_token() != "Bearer secret-token-2" && std::chrono::steady_clock::now() < deadline) {
  }
  EXPECT_EQ(sent_token(), "Bearer secret-token-2");
}

/// The same over TLS.
class HttpsTest : public HttpTest {
 protected:
  std::string authority(const test::TlsIdentity& identity) {
    write("ca.crt", identity.cert_pem);
    return "    certificate-authority: ca.crt\n";
  }
};

TEST_F(HttpsTest, TakesAServerOfItsOwnAuthority) {
  const test::TlsIdentity identity = test::make_tls_identity("IP:127.0.0.1");
  FakeHttpServer server(&identity);
  server.on("/x", [](const FakeRequest&, FakeResponder& out) { out.json(200, "{}"); });
  const Heard heard = get(connect(server.url(), authority(identity)));
  EXPECT_EQ(heard.head.status, 200) << heard.end.message;
}

TEST_F(HttpsTest, SendsNothingToAServerOfAnotherAuthority) {
  const test::TlsIdentity identity = test::make_tls_identity("IP:127.0.0.1");
  FakeHttpServer server(&identity);
  const auto connection = connect(server.url(), authority(test::make_tls_identity("IP:127.0.0.1")));
  const Heard heard = get(connection);
  EXPECT_EQ(heard.end.kind, HttpEndKind::kNotSent);
  EXPECT_EQ(server.request_bytes(), 0U);
}

TEST_F(HttpsTest, SendsNothingToAServerOfAnotherName) {
  const test::TlsIdentity identity = test::make_tls_identity("DNS:kubernetes,IP:127.0.0.2");
  FakeHttpServer server(&identity);
  EXPECT_EQ(get(connect(server.url(), authority(identity))).end.kind, HttpEndKind::kNotSent);
  EXPECT_EQ(server.request_bytes(), 0U);
}

TEST_F(HttpsTest, VerifiesTheTlsServerNameInsteadOfTheHost) {
  const test::TlsIdentity identity = test::make_tls_identity("DNS:kubernetes");
  FakeHttpServer server(&identity);
  server.on("/x", [](const FakeRequest&, FakeResponder& out) { out.json(200, "{}"); });
  const std::string cluster = authority(identity);
  EXPECT_EQ(get(connect(server.url(), cluster + "    tls-server-name: kubernetes\n")).head.status,
            200);
  EXPECT_EQ(get(connect(server.url(), cluster + "    tls-server-name: other\n")).end.kind,
            HttpEndKind::kNotSent);
}

TEST_F(HttpsTest, RefusesAnAuthorityThatIsNoCertificate) {
  write("ca.crt", "no certificate");
  options_.kubeconfig_path =
      write("bad",
            "current-context: x\ncontexts:\n- {name: x, context: {cluster: c}}\n"
            "clusters:\n- name: c\n  cluster:\n    server: https://127.0.0.1:1\n"
            "    certificate-authority: ca.crt\n");
  std::filesystem::permissions(options_.kubeconfig_path, std::filesystem::perms::owner_all);
  const auto connection = kube::connect(options_);
  ASSERT_FALSE(connection);
  EXPECT_EQ(connection.error().message,
            "certificate-authority of cluster \"c\" in " + options_.kubeconfig_path +
                " holds no PEM certificate; give the one that has signed the API server's "
                "certificate");
}

}  // namespace
}  // namespace gang::kube
