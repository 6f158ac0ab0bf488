// Http: the private port under Client and Informer. No transport type is named here.
//
// One implementation over cpprestsdk (http_cpprest.cpp); tests may drive the code above it with
// values instead. A request has one Receiver, which hears head? data* end, all on the transport
// thread, `end` exactly once, whatever happens. Redirects are never followed; bodies are not
// decoded. The bearer token is added below this port, so that it is in no value above it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "gang/base/time.h"
#include "kube/credentials.h"

namespace gang::kube {

/// The largest object, error body or watch line that is read.
inline constexpr std::size_t kBodyBytesMax = 16U << 20U;

inline constexpr std::string_view kJsonType = "application/json";
inline constexpr std::string_view kProtobufType = "application/vnd.kubernetes.protobuf";

enum class Method { kGet, kPost, kPatch, kPut, kDelete };

/// One request to the API server of a Connection.
struct HttpRequest {
  Method method = Method::kGet;
  std::string target;        ///< path and query, encoded, begins with '/'
  std::string content_type;  ///< empty = no body
  std::string body;
  std::string_view accept = kJsonType;             ///< media type of the answer; a constant
  Duration idle_limit = std::chrono::seconds(30);  ///< no byte for so long ends it
  Duration total_limit{0};                         ///< 0 = none
};

/// Status line and the headers that are read.
struct HttpHead {
  int status = 0;
  std::string content_type;
  std::string retry_after;
};

enum class HttpEndKind {
  kComplete,   ///< the whole body was told
  kNotSent,    ///< failed before the first byte of the request: resolve, connect, handshake
  kBroken,     ///< reset, early end or garbage after the request may have been sent
  kTimeout,    ///< idle_limit or total_limit
  kCancelled,  ///< by cancel() or shutdown
};

/// What a request failed at, as far as the transport knows.
enum class HttpFault {
  kNone,         ///< at nothing, or at what the message says
  kResolve,      ///< the name of the server
  kConnect,      ///< no address of the server takes a connection
  kHandshake,    ///< TLS; the message says why
  kNoTls,        ///< the server does not speak TLS on this port
  kCertificate,  ///< the server's certificate is not trusted; the message says why
  kServerName,   ///< the server's certificate is of another name
  kSilence,      ///< nothing came in time
  kClosed,       ///< the connection was closed before the answer
  kNoHttp,       ///< what came is no HTTP
};

/// How a request ended. `message` is for people and holds no secret.
struct HttpEnd {
  HttpEndKind kind = HttpEndKind::kBroken;
  std::string message;
  HttpFault fault = HttpFault::kNone;
  /// The last end told the same trouble, and no answer has come since: no news.
  bool is_repeated = false;
};

/// Whether the transport may go on reading.
enum class Flow { kMore, kPause };

/// Hears one request. Owned by the transport until on_end() returned; called on its thread only;
/// must not block and must not throw.
class HttpReceiver {
 public:
  virtual ~HttpReceiver() = default;
  virtual void on_head(const HttpHead& head) = 0;
  /// kPause stops reading until Http::resume(); the bytes given were taken either way.
  virtual Flow on_data(std::string_view bytes) = 0;
  virtual void on_end(const HttpEnd& end) = 0;
};

enum class HttpHandle : std::uint64_t {};

/// Owned by a Connection. Any thread; nothing blocks. The destructor cancels what is in flight and
/// waits for its ends, so it must not run on the transport thread.
class Http {
 public:
  virtual ~Http() = default;
  virtual HttpHandle start(HttpRequest request, std::unique_ptr<HttpReceiver> receiver) = 0;
  /// Ends the request with kCancelled unless it has ended; unknown handles are ignored.
  virtual void cancel(HttpHandle handle) = 0;
  virtual void resume(HttpHandle handle) = 0;
};

/// The transport over cpprestsdk for one server. `tokens` must outlive it. Fails when certificate,
/// key or CA cannot be read, or when plain http is asked for beyond loopback.
/// REQUIRES: initialize_transport() has run.
[[nodiscard]] Result<std::unique_ptr<Http>> make_cpprest_http(const Credentials& credentials,
                                                              std::string user_agent,
                                                              TokenSource& tokens);

}  // namespace gang::kube
