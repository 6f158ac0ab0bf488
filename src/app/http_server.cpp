#include "app/http_server.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <list>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "app/http_connection.h"
#include "gang/base/clock.h"

namespace gang::app {

namespace {

/// Connections at once; a new one ends the one that is next to run out of time.
constexpr std::size_t kConnectionsMax = 256;
constexpr int kAcceptsPerTurn = 64;
constexpr int kTurnMs = 100;

std::string answer_text(std::string_view status, std::string_view type, const std::string& body,
                        bool wants_body) {
  std::string text = "HTTP/1.1 " + std::string(status) + "\r\nContent-Type: text/plain; " +
                     std::string(type) +
                     "charset=utf-8\r\nContent-Length: " + std::to_string(body.size()) +
                     "\r\nX-Content-Type-Options: nosniff\r\nConnection: close\r\n";
  if (status.starts_with("405")) text += "Allow: GET, HEAD\r\n";
  return text + "\r\n" + (wants_body ? body : "");
}

std::string health_text(const Health& health, bool wants_body) {
  return answer_text(health.ok ? "200 OK" : "503 Service Unavailable", "", health.text + "\n",
                     wants_body);
}

/// The answer to a head that was not read to its end.
std::string problem_text(HeadProblem problem) {
  if (problem == HeadProblem::kTooSlow) {
    return answer_text(
        "408 Request Timeout", "",
        "the request did not arrive within " + format_duration(HttpConnection::kReadMax) + "\n",
        true);
  }
  const std::string limit = "the head of a request may have " +
                            std::to_string(HttpConnection::kHeadBytesMax) + " bytes\n";
  const bool is_line = problem == HeadProblem::kLineTooLong;
  return answer_text(is_line ? "414 URI Too Long" : "431 Request Header Fields Too Large", "",
                     limit, true);
}

/// The answer to one request.
std::string answer(const Endpoints& endpoints, const RequestHead& head) {
  if (head.problem != HeadProblem::kNone) return problem_text(head.problem);
  const std::string_view line = head.line;
  const std::size_t method_end = std::min(line.find(' '), line.size());
  const std::size_t path_end = line.find(' ', method_end + 1);
  if (path_end == std::string_view::npos || !line.substr(path_end + 1).starts_with("HTTP/1.")) {
    return answer_text("400 Bad Request", "", "this is no HTTP request\n", true);
  }
  const std::string_view method = line.substr(0, method_end);
  const std::string_view target = line.substr(method_end + 1, path_end - method_end - 1);
  const std::string_view path = target.substr(0, target.find('?'));
  const bool wants_body = method != "HEAD";
  if (method != "GET" && method != "HEAD") {
    return answer_text("405 Method Not Allowed", "", "use GET\n", true);
  }
  if (path == "/metrics") {
    return answer_text("200 OK", "version=0.0.4; ", endpoints.metrics(), wants_body);
  }
  if (path == "/livez" || path == "/healthz") return health_text(endpoints.live(), wants_body);
  if (path == "/readyz") return health_text(endpoints.ready(), wants_body);
  return answer_text("404 Not Found", "", "the paths are /metrics, /livez, /healthz, /readyz\n",
                     wants_body);
}

/// ADDRESS:PORT with a numeric IPv4 address.
Result<sockaddr_in> parse_listen(const std::string& listen) {
  const std::size_t colon = listen.rfind(':');
  sockaddr_in address{};
  address.sin_family = AF_INET;
  std::uint16_t port = 0;
  const char* const end = listen.data() + listen.size();
  const char* const begin = colon == std::string::npos ? end : listen.data() + colon + 1;
  const auto [stop, error] = std::from_chars(begin, end, port);
  const bool is_port = error == std::errc() && stop == end;
  const std::string host = listen.substr(0, std::min(colon, listen.size()));
  if (!is_port || ::inet_pton(AF_INET, host.c_str(), &address.sin_addr) != 1) {
    return fail(Code::kInvalidArgument,
                "listen: \"" + listen + "\" is no ADDRESS:PORT; write one like 127.0.0.1:10261");
  }
  address.sin_port = htons(port);
  return address;
}

/// What to do about an address that cannot be listened on.
std::string listen_mend(int error) {
  if (error == EADDRNOTAVAIL) return "write an address of this machine, or 0.0.0.0 for all of them";
  if (error == EACCES) return "choose a port from 1024 on with --listen";
  return "it may be taken, choose another with --listen";
}

Result<int> open_listener(const std::string& listen) {
  GANG_TRY(const sockaddr_in address, parse_listen(listen));
  const int made = ::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  const int on = 1;
  ::setsockopt(made, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  const bool is_good =
      made >= 0 && ::bind(made, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 &&
      ::listen(made, SOMAXCONN) == 0;
  if (is_good) return made;
  const int error = errno;
  if (made >= 0) ::close(made);
  return fail(Code::kUnavailable, "listen: \"" + listen + "\" cannot be listened on; " +
                                      listen_mend(error) + " (" + std::strerror(error) + ")");
}

}  // namespace

/// One thread that serves every connection in turn, so that none can hold another.
class HttpServer::Impl {
 public:
  Impl(int listener, Endpoints endpoints)
      : listener_(listener),
        answerer_([endpoints = std::move(endpoints)](const RequestHead& head) {
          return answer(endpoints, head);
        }),
        thread_([this] { run(); }) {}

  ~Impl() {
    is_stopping_ = true;
    thread_.join();
    ::close(listener_);
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  [[nodiscard]] int port() const {
    sockaddr_in address{};
    socklen_t size = sizeof address;
    ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
    return ntohs(address.sin_port);
  }

 private:
  void run() {
    std::vector<pollfd> polled;
    while (!is_stopping_) {
      polled.assign(1, pollfd{listener_, POLLIN, 0});
      for (const HttpConnection& connection : connections_) {
        const short events = connection.wants_to_write() ? POLLOUT : POLLIN;
        polled.push_back({connection.socket(), events, 0});
      }
      ::poll(polled.data(), polled.size(), kTurnMs);
      proceed(polled);
      if (polled[0].revents != 0) accept_some();
    }
  }

  /// `polled` has an entry for each connection, in order, after the listener's.
  void proceed(const std::vector<pollfd>& polled) {
    const Duration now = clock_.monotonic();
    std::size_t at = 1;
    for (auto it = connections_.begin(); it != connections_.end(); ++at) {
      const bool is_due = polled[at].revents != 0 || now >= it->deadline();
      const bool is_over = is_due && !it->proceed(now, answerer_);
      it = is_over ? connections_.erase(it) : std::next(it);
    }
  }

  void accept_some() {
    const Duration now = clock_.monotonic();
    for (int i = 0; i < kAcceptsPerTurn; ++i) {
      const int made = ::accept4(listener_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
      if (made < 0) return;
      if (connections_.size() >= kConnectionsMax) end_oldest();
      connections_.emplace_back(made, now);
      if (!connections_.back().proceed(now, answerer_)) connections_.pop_back();
    }
  }

  void end_oldest() {
    connections_.erase(
        std::min_element(connections_.begin(), connections_.end(),
                         [](const auto& a, const auto& b) { return a.deadline() < b.deadline(); }));
  }

  const SystemClock clock_;
  const int listener_;
  const Answerer answerer_;
  std::list<HttpConnection> connections_;
  std::atomic<bool> is_stopping_{false};
  std::thread thread_;  ///< last: it uses the others
};

Result<std::unique_ptr<HttpServer>> HttpServer::start(const std::string& listen,
                                                      Endpoints endpoints) {
  GANG_TRY(const int listener, open_listener(listen));
  auto impl = std::make_unique<Impl>(listener, std::move(endpoints));
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(impl)));
}

HttpServer::HttpServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
HttpServer::~HttpServer() = default;
int HttpServer::port() const {
  return impl_->port();
}

}  // namespace gang::app
