#include "gang/kube/client.h"

#include "kube/kube_fixture.h"

namespace gang::kube {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using test::FakeHttpServer;
using test::FakeRequest;
using test::FakeResponder;
using test::Reports;

constexpr const char* kSuccess = R"({"kind":"Status","status":"Success","code":201})";
constexpr const char* kPodPath = "/api/v1/namespaces/ns/pods/p";

class ClientTest : public test::KubeTest {
 protected:
  void use(const std::string& server) { client_ = make_http_client(connect(server)); }

  Answer bind() {
    api::Binding binding;
    binding.pod = {"ns", "p"};
    binding.uid = {"u1"};
    binding.resource_version = {"7"};
    binding.node_name = "n1";
    binding.annotations = {{"gang-scheduler.dev/round", "r1"}};
    client_->bind(binding, [this](const Answer& answer) { answers_.add(answer); });
    return next();
  }

  Answer next() {
    ++expected_;
    EXPECT_TRUE(answers_.wait_for(expected_));
    const auto all = answers_.values();
    return all.size() < expected_ ? Answer{} : all[expected_ - 1];
  }

  void on_bind(test::FakeHandler handler) {
    server_.on(std::string(kPodPath) + "/binding", std::move(handler));
  }
  void on_bind(int status, const std::string& body, const std::string& headers = "") {
    on_bind([=](const FakeRequest&, FakeResponder& out) { out.json(status, body, headers); });
  }

  FakeHttpServer server_;
  std::unique_ptr<Client> client_;
  Reports<Answer> answers_;
  std::size_t expected_ = 0;
};

TEST_F(ClientTest, TriesABindingAsADryRun) {
  use(server_.url());
  on_bind(409, R"({"kind":"Status","status":"Failure","code":409,"reason":"Conflict"})");
  client_->try_bind({.pod = {"ns", "p"}, .resource_version = {"1"}, .node_name = "n1"},
                    [this](const Answer& answer) { answers_.add(answer); });
  const Answer answer = next();
  EXPECT_EQ(answer.outcome, Outcome::kConflict);
  EXPECT_EQ(answer.reason, "Conflict");
  EXPECT_EQ(server_.requests().front().target(),
            "/api/v1/namespaces/ns/pods/p/binding?timeout=5s&dryRun=All");
}

TEST_F(ClientTest, PostsABindingWithItsPreconditionsAndTimeout) {
  use(server_.url());
  on_bind(201, kSuccess);
  EXPECT_TRUE(bind().ok());
  const FakeRequest request = server_.requests().front();
  EXPECT_EQ(request.method, "POST");
  EXPECT_EQ(request.target(), "/api/v1/namespaces/ns/pods/p/binding?timeout=5s");
  EXPECT_EQ(request.headers.at("content-type"), "application/json");
  for (const char* part : {"\"uid\":\"u1\"", "\"resourceVersion\":\"7\"", "\"name\":\"n1\"",
                           "\"gang-scheduler.dev/round\":\"r1\""}) {
    EXPECT_NE(request.body.find(part), std::string::npos) << request.body;
  }
}

TEST_F(ClientTest, PatchesStatusByStrategicMerge) {
  use(server_.url());
  const auto ok = [](const FakeRequest&, FakeResponder& out) { out.json(200, "{}"); };
  server_.on("/api/v1/namespaces/ns/pods/p/status", ok);
  server_.on("/apis/scheduling.k8s.io/v1beta1/namespaces/ns/podgroups/g/status", ok);
  api::PodStatusPatch pod;
  pod.pod = {"ns", "p"};
  pod.uid = {"u1"};
  pod.nominated_node_name = "n1";
  client_->patch_pod_status(pod, [this](const Answer& answer) { answers_.add(answer); });
  EXPECT_TRUE(next().ok());
  api::PodGroupStatusPatch group;
  group.group = {"ns", "g"};
  group.uid = {"u2"};
  client_->patch_pod_group_status(group, [this](const Answer& answer) { answers_.add(answer); });
  EXPECT_TRUE(next().ok());
  for (const FakeRequest& request : server_.requests()) {
    EXPECT_EQ(request.method, "PATCH");
    EXPECT_EQ(request.headers.at("content-type"), "application/strategic-merge-patch+json");
  }
  EXPECT_NE(server_.requests()[1].body.find("\"uid\":\"u2\""), std::string::npos);
}

TEST_F(ClientTest, DeletesAPodWithPreconditions) {
  use(server_.url());
  server_.on(kPodPath, [](const FakeRequest&, FakeResponder& out) { out.json(200, "{}"); });
  client_->delete_pod({{"ns", "p"}, {"u1"}, {"7"}},
                      [this](const Answer& answer) { answers_.add(answer); });
  EXPECT_TRUE(next().ok());
  const FakeRequest request = server_.requests().front();
  EXPECT_EQ(request.method, "DELETE");
  EXPECT_NE(request.body.find("preconditions"), std::string::npos);
  EXPECT_NE(request.body.find("\"uid\":\"u1\""), std::string::npos);
}

TEST_F(ClientTest, CreatesEventsBesideTheirObject) {
  use(server_.url());
  const auto ok = [](const FakeRequest&, FakeResponder& out) { out.json(201, "{}"); };
  server_.on("/apis/events.k8s.io/v1/namespaces/ns/events", ok);
  server_.on("/apis/events.k8s.io/v1/namespaces/default/events", ok);
  api::Event event;
  event.name = "p.1";
  event.regarding.key = {"ns", "p"};
  client_->create_event(event, [this](const Answer& answer) { answers_.add(answer); });
  EXPECT_TRUE(next().ok());
  event.regarding.key = {"", "n1"};
  client_->create_event(event, [this](const Answer& answer) { answers_.add(answer); });
  EXPECT_TRUE(next().ok());
}

TEST_F(ClientTest, ReadsPodsAndGroupsByQuorum) {
  use(server_.url());
  server_.on(kPodPath, [](const FakeRequest&, FakeResponder& out) {
    out.json(200, R"({"metadata":{"namespace":"ns","name":"p","uid":"u1","resourceVersion":"9"},
                      "spec":{"nodeName":"n1"}})");
  });
  Reports<std::optional<api::Pod>> pods;
  client_->get_pod({"ns", "p"}, [&pods](const Answer&, std::optional<api::Pod> pod) {
    pods.add(std::move(pod));
  });
  ASSERT_TRUE(pods.wait_for(1));
  ASSERT_TRUE(pods.values()[0]);
  EXPECT_EQ(pods.values()[0]->node_name, "n1");
  EXPECT_EQ(server_.requests()[0].target(), "/api/v1/namespaces/ns/pods/p?timeout=5s");
  client_->get_pod_group({"ns", "g"}, [this](const Answer& answer, std::optional<api::PodGroup>) {
    answers_.add(answer);
  });
  EXPECT_EQ(next().outcome, Outcome::kNotFound);
}

TEST_F(ClientTest, TakesAnAnswerThatIsNoPodForUnknown) {
  use(server_.url());
  server_.on(kPodPath, [](const FakeRequest&, FakeResponder& out) { out.json(200, "[1]"); });
  client_->get_pod({"ns", "p"}, [this](const Answer& answer, std::optional<api::Pod> pod) {
    EXPECT_FALSE(pod);
    answers_.add(answer);
  });
  EXPECT_EQ(next().outcome, Outcome::kUnknown);
}

TEST_F(ClientTest, TellsConflictThrottlingAndRefusals) {
  use(server_.url());
  on_bind(409, R"({"kind":"Status","code":409,"reason":"Conflict","message":"moved"})");
  on_bind(429, "{}", "Retry-After: 4\r\n");
  on_bind(403, R"({"kind":"Status","code":403,"reason":"Forbidden","message":"no right"})");
  on_bind(503, R"({"kind":"Status","code":503,"details":{"retryAfterSeconds":2}})");
  on_bind(302, "", "Location: http://127.0.0.1:1/\r\n");
  const Answer conflict = bind();
  EXPECT_EQ(conflict.outcome, Outcome::kConflict);
  EXPECT_NE(conflict.message.find("moved"), std::string::npos);
  const Answer throttled = bind();
  EXPECT_EQ(throttled.outcome, Outcome::kThrottled);
  EXPECT_EQ(throttled.retry_after, Duration(seconds(4)));
  EXPECT_EQ(bind().outcome, Outcome::kForbidden);
  const Answer unavailable = bind();
  EXPECT_EQ(unavailable.outcome, Outcome::kUnknown);
  EXPECT_EQ(unavailable.retry_after, Duration(seconds(2)));
  EXPECT_EQ(bind().outcome, Outcome::kInvalid);
}

TEST_F(ClientTest, DoesNotKnowTheOutcomeOfATimeoutAResetOrAHalfAnswer) {
  options_.request_timeout = milliseconds(300);
  use(server_.url());
  on_bind([](const FakeRequest&, FakeResponder& out) { out.hang(); });
  on_bind([](const FakeRequest&, FakeResponder& out) { out.reset(); });
  on_bind([](const FakeRequest&, FakeResponder& out) {
    out.raw("HTTP/1.1 201 x\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{");
    out.close();
  });
  for (int i = 0; i < 3; ++i) EXPECT_EQ(bind().outcome, Outcome::kUnknown) << i;
  EXPECT_EQ(server_.requests().front().query, "timeout=300ms");
}

TEST_F(ClientTest, SaysNotSentWhenNobodyListens) {
  std::string url;
  {
    const FakeHttpServer gone;
    url = gone.url();
  }
  use(url);
  EXPECT_EQ(bind().outcome, Outcome::kNotSent);
}

TEST_F(ClientTest, ReloadsTheTokenAfterA401AndDoesNotRetryByItself) {
  use(server_.url());
  on_bind([](const FakeRequest& request, FakeResponder& out) {
    const bool good = request.headers.at("authorization") == "Bearer secret-token-2";
    out.json(good ? 201 : 401, good ? kSuccess : R"({"kind":"Status","code":401})");
  });
  EXPECT_EQ(bind().outcome, Outcome::kUnauthorized);
  EXPECT_EQ(server_.requests().size(), 1U);
  write("token", "secret-token-2");
  const auto deadline = std::chrono::steady_clock::now() + test::kPatience;
  Answer answer = bind();
  while (!answer.ok() && std::chrono::steady_clock::now() < deadline) answer = bind();
  EXPECT_TRUE(answer.ok());
}

TEST_F(ClientTest, CarriesManyBindingsAtOnce) {
  use(server_.url());
  on_bind(201, kSuccess);
  api::Binding binding;
  binding.pod = {"ns", "p"};
  binding.node_name = "n1";
  for (int i = 0; i < 64; ++i) {
    client_->bind(binding, [this](const Answer& answer) { answers_.add(answer); });
  }
  for (int i = 0; i < 64; ++i) EXPECT_TRUE(next().ok());
}

TEST_F(ClientTest, AnswersEvenAfterTheClientIsGone) {
  server_.on(std::string(kPodPath) + "/binding",
             [](const FakeRequest&, FakeResponder& out) { out.hang(); });
  use(server_.url());
  client_->bind({.pod = {"ns", "p"}}, [this](const Answer& answer) { answers_.add(answer); });
  client_.reset();
  EXPECT_EQ(next().outcome, Outcome::kUnknown);
}

TEST_F(ClientTest, NeverShowsTheTokenInAMessage) {
  use(server_.url());
  on_bind(400, R"({"kind":"Status","code":400,"message":"bad"})");
  EXPECT_EQ(bind().message.find("secret-token"), std::string::npos);
}

}  // namespace
}  // namespace gang::kube
