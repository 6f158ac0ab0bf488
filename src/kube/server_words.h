// ServerWords: what is wrong between us and an API server, in words that name the server, the
// cause and what to look at. Pure.
#pragma once

#include <optional>
#include <string>

#include "kube/credentials.h"
#include "kube/http.h"
#include "kube/server_url.h"

namespace gang::kube {

/// A trouble with the connection, as told to an operator.
struct Trouble {
  std::string what;   ///< "cannot be reached: ...": follows the server's name
  std::string again;  ///< "is reachable again": the same when it is over
};

/// What the head of an answer proves about the server.
struct HeadMeaning {
  bool is_answer = false;          ///< a Kubernetes API server that knows us has answered
  std::optional<Trouble> trouble;  ///< neither of both: it proves nothing
};

/// Owned by whoever watches the connection of one server. A value; constant.
class ServerWords {
 public:
  ServerWords(ServerUrl url, CredentialOrigin origin, std::string tls_server_name);

  /// "API server https://host:port".
  [[nodiscard]] const std::string& server() const { return server_; }

  /// Why `request` ended without an answer after `elapsed`.
  [[nodiscard]] Trouble unanswered(const HttpRequest& request, const HttpEnd& end,
                                   Duration elapsed) const;
  /// Why an answer whose head has come was not told whole; empty when it was.
  [[nodiscard]] std::string cut(const HttpRequest& request, const HttpEnd& end) const;
  [[nodiscard]] HeadMeaning meaning(const HttpRequest& request, const HttpHead& head) const;

 private:
  [[nodiscard]] std::string cause(const HttpRequest& request, const HttpEnd& end,
                                  Duration elapsed) const;

  ServerUrl url_;
  CredentialOrigin origin_;
  std::string verified_name_;
  std::string server_;
};

}  // namespace gang::kube
