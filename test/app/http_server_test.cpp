#include "app/http_server.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>

namespace gang::app {
namespace {

/// Sends one request to a port of this machine and returns all that comes back.
std::string exchange(int port, const std::string& request) {
  const int socket_fd = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(socket_fd, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
    ::close(socket_fd);
    return "cannot connect";
  }
  EXPECT_EQ(::send(socket_fd, request.data(), request.size(), MSG_NOSIGNAL),
            static_cast<ssize_t>(request.size()));
  std::string answer;
  char buffer[4096];
  for (ssize_t n = 0; (n = ::recv(socket_fd, buffer, sizeof buffer, 0)) > 0;) {
    answer.append(buffer, static_cast<std::size_t>(n));
  }
  ::close(socket_fd);
  return answer;
}

/// A server on a free port that is live, not ready, and has one metric.
class HttpServerTest : public testing::Test {
 protected:
  void SetUp() override {
    auto server = HttpServer::start("127.0.0.1:0",
                                    {[] { return std::string("m 1\n"); },
                                     [] {
                                       return Health{true, "ok"};
                                     },
                                     [] {
                                       return Health{false, "not every kind has been listed yet"};
                                     }});
    ASSERT_TRUE(server) << server.error().message;
    server_ = *std::move(server);
  }

  [[nodiscard]] std::string ask(const std::string& method, const std::string& path) const {
    return exchange(server_->port(), method + " " + path + " HTTP/1.1\r\nHost: x\r\n\r\n");
  }

  std::unique_ptr<HttpServer> server_;
};

std::string status(const std::string& answer) {
  return answer.substr(0, answer.find("\r\n"));
}

std::string body(const std::string& answer) {
  const std::size_t end = answer.find("\r\n\r\n");
  return end == std::string::npos ? "" : answer.substr(end + 4);
}

TEST_F(HttpServerTest, GivesMetricsAsPrometheusText) {
  const std::string answer = ask("GET", "/metrics");
  EXPECT_EQ(status(answer), "HTTP/1.1 200 OK");
  EXPECT_NE(answer.find("Content-Type: text/plain; version=0.0.4; charset=utf-8\r\n"),
            std::string::npos);
  EXPECT_EQ(body(answer), "m 1\n");
}

TEST_F(HttpServerTest, AnswersHealthWithItsReason) {
  EXPECT_EQ(status(ask("GET", "/healthz")), "HTTP/1.1 200 OK");
  EXPECT_EQ(status(ask("GET", "/livez")), "HTTP/1.1 200 OK");
  const std::string ready = ask("GET", "/readyz");
  EXPECT_EQ(status(ready), "HTTP/1.1 503 Service Unavailable");
  EXPECT_EQ(body(ready), "not every kind has been listed yet\n");
}

TEST_F(HttpServerTest, LeavesTheBodyOutForHead) {
  const std::string answer = ask("HEAD", "/metrics");
  EXPECT_EQ(status(answer), "HTTP/1.1 200 OK");
  EXPECT_NE(answer.find("Content-Length: 4\r\n"), std::string::npos);
  EXPECT_EQ(body(answer), "");
}

TEST_F(HttpServerTest, KnowsNoOtherPath) {
  for (const char* path :
       {"/", "/metrics/x", "/metricsx", "/healthz/etcd", "/../etc/passwd", "/debug/pprof"}) {
    EXPECT_EQ(status(ask("GET", path)).substr(0, 12), "HTTP/1.1 404") << path;
  }
}

TEST_F(HttpServerTest, RefusesEveryOtherMethod) {
  for (const char* method : {"POST", "PUT", "DELETE", "PATCH", "OPTIONS"}) {
    EXPECT_EQ(status(ask(method, "/metrics")), "HTTP/1.1 405 Method Not Allowed") << method;
  }
}

TEST_F(HttpServerTest, LivesThroughNonsense) {
  EXPECT_EQ(exchange(server_->port(), "nonsense\r\n\r\n").find("200 OK"), std::string::npos);
  EXPECT_EQ(status(ask("GET", "/healthz")), "HTTP/1.1 200 OK");
}

TEST_F(HttpServerTest, TellsAClientThatIsTooSlow) {
  const std::string answer = exchange(server_->port(), "GET /livez HTTP/1.1\r\nHost: ");
  EXPECT_EQ(status(answer), "HTTP/1.1 408 Request Timeout");
  EXPECT_EQ(body(answer), "the request did not arrive within 1s500ms\n");
  EXPECT_EQ(exchange(server_->port(), ""), "");
}

TEST_F(HttpServerTest, TellsAClientThatSendsTooMuch) {
  const std::string much(3 * 8192, 'a');
  const std::string limit = "the head of a request may have 8192 bytes\n";
  const std::string line = exchange(server_->port(), "GET /" + much);
  EXPECT_EQ(status(line), "HTTP/1.1 414 URI Too Long");
  EXPECT_EQ(body(line), limit);
  const std::string fields = exchange(server_->port(), "GET / HTTP/1.1\r\nX: " + much);
  EXPECT_EQ(status(fields), "HTTP/1.1 431 Request Header Fields Too Large");
  EXPECT_EQ(body(fields), limit);
}

TEST_F(HttpServerTest, NamesAPortThatIsTaken) {
  const std::string listen = "127.0.0.1:" + std::to_string(server_->port());
  const auto second = HttpServer::start(listen, {});
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, Code::kUnavailable);
  EXPECT_NE(second.error().message.find("\"" + listen + "\" cannot be listened on"),
            std::string::npos);
}

TEST(HttpServer, SaysThatTheAddressIsOfAnotherMachine) {
  const auto server = HttpServer::start("192.0.2.1:10261", {});
  ASSERT_FALSE(server);
  EXPECT_EQ(server.error().message,
            "listen: \"192.0.2.1:10261\" cannot be listened on; write an address of this machine, "
            "or 0.0.0.0 for all of them (Cannot assign requested address)");
}

TEST(HttpServer, RefusesWhatIsNoAddress) {
  for (const char* listen : {"", "10261", "127.0.0.1:80s", "127.0.0.1:80r", "a:1,b:2", "a: 1"}) {
    const auto server = HttpServer::start(listen, {});
    ASSERT_FALSE(server) << listen;
    EXPECT_EQ(server.error().code, Code::kInvalidArgument) << listen;
    EXPECT_NE(server.error().message.find("write one like 127.0.0.1:10261"), std::string::npos);
  }
}

}  // namespace
}  // namespace gang::app
