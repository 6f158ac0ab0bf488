#include "app/http_server.h"

#include <CivetServer.h>

#include <utility>
#include <vector>

namespace gang::app {

namespace {

void send(mg_connection* connection, const char* status, const char* type,
          const std::string& body) {
  mg_printf(connection,
            "HTTP/1.1 %s\r\nContent-Type: %s\r\nContent-Length: %zu\r\n"
            "X-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n",
            status, type, body.size());
  const mg_request_info* request = mg_get_request_info(connection);
  const bool wants_body = std::string_view(request->request_method) != "HEAD";
  if (wants_body) mg_write(connection, body.data(), body.size());
}

/// Answers GET and HEAD of one exact path from a function.
class Endpoint final : public CivetHandler {
 public:
  using Answer = std::function<void(mg_connection*)>;
  Endpoint(std::string path, Answer answer) : path_(std::move(path)), answer_(std::move(answer)) {}

  bool handleGet(CivetServer*, mg_connection* connection) override { return reply(connection); }
  bool handleHead(CivetServer*, mg_connection* connection) override { return reply(connection); }
  bool handlePost(CivetServer*, mg_connection* c) override { return refuse(c); }
  bool handlePut(CivetServer*, mg_connection* c) override { return refuse(c); }
  bool handleDelete(CivetServer*, mg_connection* c) override { return refuse(c); }
  bool handlePatch(CivetServer*, mg_connection* c) override { return refuse(c); }
  bool handleOptions(CivetServer*, mg_connection* c) override { return refuse(c); }

  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  bool reply(mg_connection* connection) {
    const mg_request_info* request = mg_get_request_info(connection);
    if (path_ != request->local_uri) {
      send(connection, "404 Not Found", "text/plain; charset=utf-8", "not found\n");
      return true;
    }
    answer_(connection);
    return true;
  }

  static bool refuse(mg_connection* connection) {
    send(connection, "405 Method Not Allowed", "text/plain; charset=utf-8", "use GET\n");
    return true;
  }

  std::string path_;
  Answer answer_;
};

Endpoint::Answer health_answer(std::function<Health()> health) {
  return [health = std::move(health)](mg_connection* connection) {
    const Health state = health();
    send(connection, state.ok ? "200 OK" : "503 Service Unavailable", "text/plain; charset=utf-8",
         state.text + "\n");
  };
}

Endpoint::Answer metrics_answer(std::function<std::string()> metrics) {
  return [metrics = std::move(metrics)](mg_connection* connection) {
    send(connection, "200 OK", "text/plain; version=0.0.4; charset=utf-8", metrics());
  };
}

}  // namespace

/// The civetweb server and its handlers; handlers must outlive the server.
class HttpServer::Impl {
 public:
  Impl(const std::string& listen, Endpoints endpoints) {
    handlers_.push_back(
        std::make_unique<Endpoint>("/metrics", metrics_answer(std::move(endpoints.metrics))));
    handlers_.push_back(std::make_unique<Endpoint>("/healthz", health_answer(endpoints.live)));
    handlers_.push_back(
        std::make_unique<Endpoint>("/livez", health_answer(std::move(endpoints.live))));
    handlers_.push_back(
        std::make_unique<Endpoint>("/readyz", health_answer(std::move(endpoints.ready))));
    const std::vector<std::string> options = {
        "listening_ports",          listen, "num_threads",       "8", "request_timeout_ms", "1500",
        "enable_directory_listing", "no",   "enable_keep_alive", "no"};
    server_ = std::make_unique<CivetServer>(options);
    for (const std::unique_ptr<Endpoint>& handler : handlers_) {
      server_->addHandler(handler->path(), handler.get());
    }
  }

  [[nodiscard]] int port() const {
    const std::vector<int> ports = server_->getListeningPorts();
    return ports.empty() ? 0 : ports[0];
  }

 private:
  std::vector<std::unique_ptr<Endpoint>> handlers_;
  std::unique_ptr<CivetServer> server_;
};

Result<std::unique_ptr<HttpServer>> HttpServer::start(const std::string& listen,
                                                      Endpoints endpoints) {
  if (listen.find(':') == std::string::npos || listen.find_first_of(", sr") != std::string::npos) {
    return fail(Code::kInvalidArgument,
                "listen: \"" + listen + "\" is no ADDRESS:PORT; write one like 127.0.0.1:10261");
  }
  try {
    auto impl = std::make_unique<Impl>(listen, std::move(endpoints));
    return std::unique_ptr<HttpServer>(new HttpServer(std::move(impl)));
  } catch (const CivetException& error) {
    return fail(Code::kUnavailable, "listen: \"" + listen +
                                        "\" cannot be listened on; it may be taken, choose "
                                        "another with --listen (" +
                                        error.what() + ")");
  }
}

HttpServer::HttpServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
HttpServer::~HttpServer() = default;
int HttpServer::port() const {
  return impl_->port();
}

}  // namespace gang::app
