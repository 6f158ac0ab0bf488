#include "kube/server_words.h"

#include <algorithm>
#include <utility>

#include "kube/answers.h"

namespace gang::kube {
namespace {

constexpr std::size_t kTypeBytesMax = 60;

std::string seconds_text(Duration duration) {
  return format_duration(std::chrono::duration_cast<std::chrono::seconds>(duration));
}

std::string type_text(const std::string& content_type) {
  const std::string type = content_type.substr(0, content_type.find(';'));
  return type.empty() ? "no content type" : type.substr(0, kTypeBytesMax);
}

/// Whether every API server has the collection that is asked for.
bool is_core_collection(const std::string& target) {
  const std::string path = target.substr(0, target.find('?'));
  if (path == "/apis/scheduling.k8s.io/v1/priorityclasses") return true;
  return path.starts_with("/api/v1/") &&
         (path.ends_with("/pods") || path.ends_with("/nodes") || path.ends_with("/namespaces"));
}

/// The limit that a request without a byte has run into; its owner may have given it up earlier.
std::string silence_text(const HttpRequest& request, const HttpEnd& end, Duration elapsed) {
  if (end.kind == HttpEndKind::kCancelled) return seconds_text(elapsed);
  const bool has_total = request.total_limit != Duration(0);
  return format_duration(has_total ? std::min(request.total_limit, request.idle_limit)
                                   : request.idle_limit);
}

}  // namespace

ServerWords::ServerWords(ServerUrl url, CredentialOrigin origin, std::string tls_server_name)
    : url_(std::move(url)),
      origin_(std::move(origin)),
      verified_name_(tls_server_name.empty() ? url_.host : std::move(tls_server_name)),
      server_("API server " + url_.base + url_.prefix) {}

Trouble ServerWords::unanswered(const HttpRequest& request, const HttpEnd& end,
                                Duration elapsed) const {
  return {"cannot be reached: " + cause(request, end, elapsed), "is reachable again"};
}

std::string ServerWords::cause(const HttpRequest& request, const HttpEnd& end,
                               Duration elapsed) const {
  if (end.kind == HttpEndKind::kCancelled) {
    return "no answer within " + silence_text(request, end, elapsed) + "; check " + origin_.server;
  }
  switch (end.fault) {
    case HttpFault::kResolve:
      return "the name " + url_.host + " cannot be resolved; check " + origin_.server + ", and DNS";
    case HttpFault::kConnect:
      return "cannot connect to " + url_.host + ":" + url_.port +
             ", nothing is reachable there; check " + origin_.server +
             ", and whether the API server runs";
    case HttpFault::kHandshake:
      return "the TLS handshake failed, " + end.message + "; check " + origin_.server + ", and " +
             origin_.identity;
    case HttpFault::kNoTls:
      return "the TLS handshake failed, " + end.message + "; check " + origin_.server;
    case HttpFault::kCertificate:
      return "the TLS handshake failed, its certificate is not trusted (" + end.message +
             "); check " + origin_.authority;
    case HttpFault::kServerName:
      return "the TLS handshake failed, its certificate is not for " + verified_name_ + "; check " +
             origin_.tls_server_name;
    case HttpFault::kSilence:
      return "no answer within " + silence_text(request, end, elapsed) + "; check " +
             origin_.server;
    case HttpFault::kClosed:
      return "it closes connections before it answers";
    case HttpFault::kNoHttp:
      return "what it answers is no HTTP; check " + origin_.server;
    case HttpFault::kNone:
      break;
  }
  return end.message;
}

std::string ServerWords::cut(const HttpRequest& request, const HttpEnd& end) const {
  switch (end.kind) {
    case HttpEndKind::kComplete:
      return "";
    case HttpEndKind::kCancelled:
      return end.message;
    case HttpEndKind::kTimeout:
      if (request.total_limit == Duration(0)) {
        return server_ + ": no byte for " + format_duration(request.idle_limit);
      }
      return server_ + ": no whole answer within " + format_duration(request.total_limit);
    case HttpEndKind::kNotSent:
    case HttpEndKind::kBroken:
      break;
  }
  return server_ + ": the connection was lost in the middle of an answer";
}

HeadMeaning ServerWords::meaning(const HttpRequest& request, const HttpHead& head) const {
  if (head.status == 401) {
    return {false, Trouble{"refuses the credentials with HTTP 401: " + origin_.identity +
                               "; give valid ones",
                           "accepts the credentials again"}};
  }
  if (request.method != Method::kGet || head.status >= 500 || head.status == 429) return {true, {}};
  const bool is_core = is_core_collection(request.target);
  const bool is_redirect = head.status >= 300 && head.status < 400;
  const bool is_absent = head.status == 404;
  const bool is_api =
      is_json_type(head.content_type) || has_media_type(head.content_type, request.accept);
  const bool is_plain = is_api || type_text(head.content_type) == "text/plain";
  if (is_absent && !is_core && is_plain) return {is_api, {}};
  if (is_api && !is_redirect && !is_absent) return {true, {}};
  constexpr const char* kAgain = "answers as a Kubernetes API server again";
  if (!url_.is_tls && head.status == 400 && !is_api) {
    return {false, Trouble{"refuses plain HTTP with HTTP 400: the server speaks HTTPS there; write "
                           "https:// in " +
                               origin_.server,
                           kAgain}};
  }
  return {false,
          Trouble{"does not look like a Kubernetes API server: it answers a list with HTTP " +
                      std::to_string(head.status) + ", " + type_text(head.content_type) +
                      "; check " + origin_.server,
                  kAgain}};
}

}  // namespace gang::kube
