// HttpServer: /metrics, /healthz, /livez, /readyz over plain HTTP, on a thread of its own.
//
// Serves no other path and no other method than GET and HEAD. The callbacks run on its thread and
// must not block. Clients may be slow, silent or many: nothing waits for one of them, each has its
// time, and beyond 256 the oldest goes. Stops and joins in the destructor.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "gang/base/result.h"

namespace gang::app {

/// An answer of a health endpoint: ok = 200, else 503 with the text.
struct Health {
  bool ok = false;
  std::string text;
};

/// What the endpoints answer.
struct Endpoints {
  std::function<std::string()> metrics;
  std::function<Health()> live;
  std::function<Health()> ready;
};

/// See the head of the file.
class HttpServer {
 public:
  /// `listen` is "ADDRESS:PORT". Fails when it is malformed or taken, naming it.
  [[nodiscard]] static Result<std::unique_ptr<HttpServer>> start(const std::string& listen,
                                                                 Endpoints endpoints);
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  /// The port that is listened on; differs from the one asked for when that was 0.
  [[nodiscard]] int port() const;

 private:
  class Impl;
  explicit HttpServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace gang::app
