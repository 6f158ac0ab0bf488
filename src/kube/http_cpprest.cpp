// The transport over cpprestsdk: the only file that knows the library and boost's sockets.
//
// The library's pool has one thread, and everything here after start(), cancel() and resume() runs
// on it: requests are begun there, cancelled there and end there. Nothing blocks on it. With more
// threads, or a cancel from another one, the library races with itself on its sockets.
#include <utility>

#include <cpprest/astreambuf.h>
#include <cpprest/http_client.h>
#include <pplx/threadpool.h>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <functional>
#include <future>
#include <map>
#include <vector>

#include "gang/kube/client.h"
#include "kube/credentials_tls.h"
#include "kube/http.h"
#include "kube/server_url.h"

namespace gang::kube {
namespace {

// --- One request -------------------------------------------------------------------------------

boost::asio::io_service& transport_service() {
  return crossplat::threadpool::shared_instance().service();
}

template <class Work>
void post(Work work) {
  boost::asio::post(transport_service().get_executor(), std::move(work));
}

/// What the library was doing when it gave up. Its codes mislead, its texts do not.
struct Stage {
  const char* text;
  HttpFault fault;
};
constexpr std::array kStages = {
    Stage{"Error resolving address", HttpFault::kResolve},
    Stage{"Failed to resolve address", HttpFault::kResolve},
    Stage{"Failed to connect to any resolved endpoint", HttpFault::kConnect},
    Stage{"Failed to set TLS SNI hostname", HttpFault::kHandshake},
    Stage{"Error in SSL handshake", HttpFault::kHandshake},
    Stage{"Failed to write request", HttpFault::kClosed},
    Stage{"Failed to read HTTP status line", HttpFault::kClosed},
    Stage{"Invalid HTTP status line", HttpFault::kNoHttp},
};

HttpFault fault_of(const std::string& text) {
  const auto found = std::ranges::find_if(
      kStages, [&text](const Stage& stage) { return text.starts_with(stage.text); });
  return found == kStages.end() ? HttpFault::kNone : found->fault;
}

/// Whether no byte of the request was written.
bool is_before_sending(HttpFault fault) {
  return fault == HttpFault::kResolve || fault == HttpFault::kConnect ||
         fault == HttpFault::kHandshake;
}

HttpEnd end_of(const std::exception& error) {
  HttpEnd end{HttpEndKind::kBroken, error.what()};
  end.fault = fault_of(end.message);
  const auto* http = dynamic_cast<const web::http::http_exception*>(&error);
  const bool is_late = http != nullptr && http->error_code() == std::errc::timed_out;
  if (is_before_sending(end.fault)) {
    end.kind = HttpEndKind::kNotSent;
  } else if (is_late) {
    end.kind = HttpEndKind::kTimeout;
    end.fault = HttpFault::kSilence;
  }
  if (is_late) end.message = "nothing came in time";
  if (http == nullptr || is_late) return end;
  if (end.fault == HttpFault::kHandshake) {
    const HandshakeFailure failure = handshake_failure(http->error_code().value());
    end.fault = failure.fault;
    end.message = failure.why;
  } else if (end.fault == HttpFault::kNone && !http->error_code().message().empty()) {
    end.message += ": " + http->error_code().message();
  }
  return end;
}

/// One request in flight: order of its callbacks, back pressure, and why it was ended early.
///
/// Shared by the library's chain of tasks, its body sink and the registry, whichever ends last: the
/// callbacks leave no single owner. Transport thread only. Always: on_head before on_data, on_end
/// once and last.
class Exchange {
 public:
  Exchange(std::unique_ptr<HttpReceiver> receiver, std::function<void()> on_finished)
      : receiver_(std::move(receiver)),
        on_finished_(std::move(on_finished)),
        timer_(transport_service()) {}

  [[nodiscard]] pplx::cancellation_token token() const { return source_.get_token(); }
  [[nodiscard]] boost::asio::steady_timer& timer() { return timer_; }

  void head(const web::http::http_response& response) {
    HttpHead head;
    head.status = response.status_code();
    response.headers().match(web::http::header_names::content_type, head.content_type);
    response.headers().match(web::http::header_names::retry_after, head.retry_after);
    head_told_ = true;
    receiver_->on_head(head);
    // The body of an answer may be there before its head was told.
    const std::string held = std::exchange(held_, {});
    if (held.empty() || receiver_->on_data(held) == Flow::kMore) resume();
  }

  /// The task is unfinished while reading has to pause.
  pplx::task<std::size_t> body(std::string_view bytes) {
    if (forced_) return pplx::task_from_result(bytes.size());
    if (!head_told_) {
      held_.append(bytes);
    } else if (receiver_->on_data(bytes) == Flow::kMore) {
      return pplx::task_from_result(bytes.size());
    }
    paused_.emplace();
    paused_bytes_ = bytes.size();
    return pplx::create_task(*paused_);
  }

  void resume() {
    if (!paused_) return;
    const auto paused = *std::exchange(paused_, std::nullopt);
    paused.set(paused_bytes_);
  }

  void cancel(HttpEnd why) {
    if (forced_) return;
    forced_ = std::move(why);
    source_.cancel();
    resume();
  }

  void end(HttpEnd how) {
    if (!receiver_) return;
    timer_.cancel();
    receiver_->on_end(forced_ ? *forced_ : how);
    receiver_.reset();
    on_finished_();
  }

 private:
  std::unique_ptr<HttpReceiver> receiver_;
  std::function<void()> on_finished_;
  boost::asio::steady_timer timer_;
  pplx::cancellation_token_source source_;
  std::optional<pplx::task_completion_event<std::size_t>> paused_;
  std::size_t paused_bytes_ = 0;
  std::string held_;
  bool head_told_ = false;
  std::optional<HttpEnd> forced_;
};

/// Write-only stream buffer that hands the body to an Exchange as it comes.
///
/// Owned by the library for one request. Only writing is ever asked for; the rest answers
/// "nothing".
class BodySink final : public concurrency::streams::details::streambuf_state_manager<uint8_t> {
 public:
  explicit BodySink(std::shared_ptr<Exchange> exchange)
      : streambuf_state_manager(std::ios_base::out), exchange_(std::move(exchange)) {}

  bool can_seek() const override { return false; }
  bool has_size() const override { return false; }
  std::size_t buffer_size(std::ios_base::openmode) const override { return 0; }
  void set_buffer_size(std::size_t, std::ios_base::openmode) override {}
  std::size_t in_avail() const override { return 0; }
  pos_type getpos(std::ios_base::openmode) const override { return traits::eof(); }
  pos_type seekpos(pos_type, std::ios_base::openmode) override { return traits::eof(); }
  pos_type seekoff(off_type, std::ios_base::seekdir, std::ios_base::openmode) override {
    return traits::eof();
  }
  bool acquire(uint8_t*&, std::size_t&) override { return false; }
  void release(uint8_t*, std::size_t) override {}

 protected:
  pplx::task<int_type> _putc(uint8_t byte) override {
    return _putn(&byte, 1).then([byte](std::size_t) { return int_type(byte); });
  }
  pplx::task<std::size_t> _putn(const uint8_t* bytes, std::size_t count) override {
    return exchange_->body({reinterpret_cast<const char*>(bytes), count});
  }
  pplx::task<int_type> _bumpc() override { return nothing(); }
  int_type _sbumpc() override { return traits::eof(); }
  pplx::task<int_type> _getc() override { return nothing(); }
  int_type _sgetc() override { return traits::eof(); }
  pplx::task<int_type> _nextc() override { return nothing(); }
  pplx::task<int_type> _ungetc() override { return nothing(); }
  pplx::task<std::size_t> _getn(uint8_t*, std::size_t) override {
    return pplx::task_from_result<std::size_t>(0);
  }
  std::size_t _scopy(uint8_t*, std::size_t) override { return 0; }
  pplx::task<bool> _sync() override { return pplx::task_from_result(true); }
  uint8_t* _alloc(std::size_t) override { return nullptr; }
  void _commit(std::size_t) override {}

 private:
  static pplx::task<int_type> nothing() { return pplx::task_from_result<int_type>(traits::eof()); }

  std::shared_ptr<Exchange> exchange_;
};

/// Carries one request out. Every chain ends in a continuation that observes its exception: one
/// that nobody observes would end the process.
void run_chain(web::http::client::http_client& client, const web::http::http_request& request,
               const std::shared_ptr<Exchange>& exchange) {
  client.request(request, exchange->token())
      .then([exchange](const pplx::task<web::http::http_response>& task) {
        const web::http::http_response response = task.get();
        exchange->head(response);
        return response.content_ready();
      })
      .then([exchange](const pplx::task<web::http::http_response>& task) {
        try {
          task.get();
          exchange->end({HttpEndKind::kComplete, ""});
        } catch (const std::exception& error) {
          exchange->end(end_of(error));
        }
      });
}

// --- All requests ------------------------------------------------------------------------------

class CpprestHttp;

/// A request in flight and whose it is.
struct Entry {
  const CpprestHttp* owner = nullptr;
  std::shared_ptr<Exchange> exchange;
};

/// Somebody who waits until no request of `owner` (null: of anybody) is in flight.
struct Waiter {
  const CpprestHttp* owner = nullptr;
  std::promise<void> drained;
};

/// What is in flight in this process. Transport thread only.
struct Registry {
  bool accepts = true;
  std::map<HttpHandle, Entry> entries;
  std::vector<Waiter> waiters;

  [[nodiscard]] bool is_idle(const CpprestHttp* owner) const {
    const auto is_owners = [owner](const auto& entry) {
      return owner == nullptr || entry.second.owner == owner;
    };
    return std::ranges::none_of(entries, is_owners);
  }
  /// Touches nothing after the last one is told: the process may then end.
  void wake_waiters() {
    const auto waits = [this](const Waiter& waiter) { return !is_idle(waiter.owner); };
    const auto first = std::partition(waiters.begin(), waiters.end(), waits);
    std::vector<Waiter> ready(std::make_move_iterator(first),
                              std::make_move_iterator(waiters.end()));
    waiters.erase(first, waiters.end());
    for (Waiter& waiter : ready) waiter.drained.set_value();
  }
  void cancel_all(const CpprestHttp* owner) {
    for (const auto& [handle, entry] : std::map(entries)) {
      if (owner == nullptr || entry.owner == owner) {
        entry.exchange->cancel({HttpEndKind::kCancelled, "cancelled: the transport shuts down"});
      }
    }
  }
};

Registry& registry() {
  static Registry instance;
  return instance;
}

/// Cancels every request of `owner` (null: of anybody) and waits for the ends.
void drain(const CpprestHttp* owner, std::function<void()> before = {}) {
  std::promise<void> promise;
  std::future<void> drained = promise.get_future();
  post([owner, before = std::move(before), promise = std::move(promise)]() mutable {
    if (before) before();
    registry().cancel_all(owner);
    registry().waiters.push_back({owner, std::move(promise)});
    registry().wake_waiters();
  });
  drained.wait();
}

/// Settings of one server that every request needs.
struct Server {
  ServerUrl url;
  std::string host_header;  ///< verified and sent instead of the host, when not empty
  std::string user_agent;
  std::shared_ptr<const TlsMaterial> tls;  ///< null for plain http on loopback
};

web::http::method method_of(Method method) {
  switch (method) {
    case Method::kGet:
      return web::http::methods::GET;
    case Method::kPost:
      return web::http::methods::POST;
    case Method::kPatch:
      return web::http::methods::PATCH;
    case Method::kPut:
      return web::http::methods::PUT;
    case Method::kDelete:
      return web::http::methods::DEL;
  }
  return web::http::methods::GET;
}

/// The library's clients for one server, one for each idle limit, and its requests.
///
/// See Http for owner and threads; clients_ belongs to the transport thread.
class CpprestHttp final : public Http {
 public:
  CpprestHttp(Server server, TokenSource& tokens) : server_(std::move(server)), tokens_(tokens) {}

  ~CpprestHttp() override {
    drain(this);
    // Pooled sockets are closed by the thread that serves them.
    drain(this, [this] { clients_.clear(); });
  }

  HttpHandle start(HttpRequest request, std::unique_ptr<HttpReceiver> receiver) override {
    static std::atomic<std::uint64_t> last{0};
    const HttpHandle handle{++last};
    post([this, handle, request = std::move(request), token = tokens_.current(),
          receiver = std::move(receiver)]() mutable {
      launch(handle, request, token, std::move(receiver));
    });
    return handle;
  }

  void cancel(HttpHandle handle) override {
    post([handle] {
      const auto found = registry().entries.find(handle);
      if (found == registry().entries.end()) return;
      const std::shared_ptr<Exchange> exchange = found->second.exchange;
      exchange->cancel({HttpEndKind::kCancelled, "cancelled"});
    });
  }

  void resume(HttpHandle handle) override {
    post([handle] {
      const auto found = registry().entries.find(handle);
      if (found != registry().entries.end()) found->second.exchange->resume();
    });
  }

 private:
  void launch(HttpHandle handle, const HttpRequest& request, const Secret& token,
              std::unique_ptr<HttpReceiver> receiver) {
    auto exchange = std::make_shared<Exchange>(std::move(receiver), [handle] {
      registry().entries.erase(handle);
      registry().wake_waiters();
    });
    registry().entries[handle] = {this, exchange};
    if (!registry().accepts) {
      exchange->end({HttpEndKind::kCancelled, "cancelled: the transport is shut down"});
      return;
    }
    limit_total(request, exchange);
    try {
      run_chain(client_for(request.idle_limit), message_for(request, token, exchange), exchange);
    } catch (const std::exception& error) {
      exchange->end({HttpEndKind::kNotSent, error.what()});
    }
  }

  static void limit_total(const HttpRequest& request, const std::shared_ptr<Exchange>& exchange) {
    if (request.total_limit == Duration(0)) return;
    exchange->timer().expires_after(request.total_limit);
    exchange->timer().async_wait([weak = std::weak_ptr(exchange), limit = request.total_limit](
                                     const boost::system::error_code& error) {
      const std::shared_ptr<Exchange> alive = weak.lock();
      if (error || !alive) return;
      alive->cancel({HttpEndKind::kTimeout, "no whole answer within " + format_duration(limit),
                     HttpFault::kSilence});
    });
  }

  web::http::http_request message_for(const HttpRequest& request, const Secret& token,
                                      const std::shared_ptr<Exchange>& exchange) const {
    using names = web::http::header_names;
    web::http::http_request message(method_of(request.method));
    message.set_request_uri(web::uri(server_.url.prefix + request.target));
    if (!request.content_type.empty()) message.set_body(request.body, request.content_type);
    message.headers().add(names::accept, std::string(request.accept));
    message.headers().add(names::user_agent, server_.user_agent);
    if (!server_.host_header.empty()) message.headers().add(names::host, server_.host_header);
    if (!token.empty()) message.headers().add(names::authorization, "Bearer " + token.reveal());
    message.set_response_stream(concurrency::streams::ostream(
        concurrency::streams::streambuf<uint8_t>(std::make_shared<BodySink>(exchange))));
    return message;
  }

  web::http::client::http_client& client_for(Duration idle_limit) {
    const auto found = clients_.find(idle_limit);
    if (found != clients_.end()) return found->second;
    web::http::client::http_client_config config;
    config.set_timeout(std::chrono::duration_cast<std::chrono::microseconds>(idle_limit));
    config.set_max_redirects(0);
    if (server_.tls) {
      config.set_ssl_context_callback([tls = server_.tls](boost::asio::ssl::context& context) {
        tls->set_on(context.native_handle());
      });
    }
    return clients_.try_emplace(idle_limit, web::uri(server_.url.base), config).first->second;
  }

  const Server server_;
  TokenSource& tokens_;
  std::map<Duration, web::http::client::http_client> clients_;
};

}  // namespace

Result<std::unique_ptr<Http>> make_cpprest_http(const Credentials& credentials,
                                                std::string user_agent, TokenSource& tokens) {
  GANG_TRY(ServerUrl url, parse_server_url(credentials.server));
  Server server{std::move(url), "", std::move(user_agent), nullptr};
  if (server.url.is_tls) {
    server.host_header = credentials.tls_server_name;
    GANG_TRY(server.tls, TlsMaterial::parse(credentials));
  }
  return std::make_unique<CpprestHttp>(std::move(server), tokens);
}

void initialize_transport() {
  [[maybe_unused]] static const bool is_first = [] {
    // The library would load the system's trust store for every connection; ours replaces it.
    setenv("SSL_CERT_FILE", "/nonexistent/gang-scheduler/ca.pem", 1);
    setenv("SSL_CERT_DIR", "/nonexistent/gang-scheduler", 1);
    crossplat::threadpool::initialize_with_threads(1);
    return true;
  }();
  post([] { registry().accepts = true; });
}

void shutdown_transport() {
  drain(nullptr, [] { registry().accepts = false; });
}

}  // namespace gang::kube
