// FakeHttpServer: a small HTTP server on a loopback port that misbehaves on demand.
//
// A test says what each path does, one Handler a request; the last Handler of a path stays. The
// server records every request. With a TlsIdentity it speaks TLS. Plain sockets, one thread a
// connection; the destructor cuts all connections and joins.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "support/tls_identity.h"

namespace gang::test {

/// How long a test waits for anything before it fails.
inline constexpr std::chrono::seconds kPatience{60};

/// One request as it came. Header names are lower case.
struct FakeRequest {
  std::string method;
  std::string path;
  std::string query;
  std::map<std::string, std::string> headers;
  std::string body;
  [[nodiscard]] std::string target() const { return query.empty() ? path : path + "?" + query; }
  [[nodiscard]] bool has_query(std::string_view text) const {
    return query.find(text) != std::string::npos;
  }
};

class FakeConnection;

/// Writes one answer, well or badly. Lives while its Handler runs.
class FakeResponder {
 public:
  FakeResponder(FakeConnection& connection, const std::atomic<bool>& stopping)
      : connection_(connection), stopping_(stopping) {}

  /// A whole answer with Content-Length. `headers` are lines ending in CRLF.
  void answer(int status, std::string_view content_type, std::string_view body,
              std::string_view headers = {});
  void json(int status, std::string_view body, std::string_view headers = {}) {
    answer(status, "application/json", body, headers);
  }
  /// Begins an answer in chunks.
  void begin(int status, std::string_view content_type = "application/json");
  void chunk(std::string_view bytes);
  void end();
  void raw(std::string_view bytes);
  /// Ends the connection with RST, or with FIN.
  void reset();
  void close();
  /// Says nothing until the client or the server ends the connection.
  void hang();

 private:
  FakeConnection& connection_;
  const std::atomic<bool>& stopping_;
};

using FakeHandler = std::function<void(const FakeRequest&, FakeResponder&)>;

/// See the top of the file. Owned by a test.
class FakeHttpServer {
 public:
  FakeHttpServer() : FakeHttpServer(nullptr) {}
  explicit FakeHttpServer(const TlsIdentity* identity);
  ~FakeHttpServer();
  FakeHttpServer(const FakeHttpServer&) = delete;
  FakeHttpServer& operator=(const FakeHttpServer&) = delete;

  /// The next request of `path` not yet taken is handled so; unknown paths are a plain-text 404.
  void on(const std::string& path, FakeHandler handler);

  [[nodiscard]] int port() const { return port_; }
  /// "http://127.0.0.1:port", or https.
  [[nodiscard]] std::string url() const;
  [[nodiscard]] std::vector<FakeRequest> requests() const;
  /// Waits until so many requests came; false after kPatience.
  [[nodiscard]] bool wait_for_requests(std::size_t count) const;
  /// Bytes of requests that came through completed handshakes or plain connections.
  [[nodiscard]] std::size_t request_bytes() const { return request_bytes_; }

 private:
  void accept_loop();
  void serve(FakeConnection& connection);
  FakeHandler take_handler(const FakeRequest& request);

  const TlsIdentity* const identity_;
  int listener_ = -1;
  int port_ = 0;
  std::atomic<bool> stopping_{false};
  std::atomic<std::size_t> request_bytes_{0};
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  std::map<std::string, std::deque<FakeHandler>> handlers_;
  std::vector<FakeRequest> requests_;
  std::vector<std::unique_ptr<FakeConnection>> connections_;
  std::vector<std::thread> threads_;
  std::thread acceptor_;
};

/// Opens once; waiting is bounded by kPatience. Any thread.
class Gate {
 public:
  void open() {
    const std::lock_guard<std::mutex> lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }
  bool wait() {
    std::unique_lock<std::mutex> lock(mutex_);
    return changed_.wait_for(lock, kPatience, [this] { return open_; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = false;
};

}  // namespace gang::test
