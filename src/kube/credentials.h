// Credentials: who we are and whom we trust, and the bearer token that may change while we run.
//
// Loaded in-cluster or from a kubeconfig (kubeconfig.h), checked once, then constant; only the
// token file is read again. No function here puts a secret into an error or a log line.
#pragma once

#include <optional>
#include <string>

#include "gang/base/clock.h"
#include "gang/base/result.h"
#include "gang/base/sync.h"

namespace gang::kube {

/// Text that must not be formatted, logged or compared by accident: only reveal() shows it.
class Secret {
 public:
  Secret() = default;
  explicit Secret(std::string text) : text_(std::move(text)) {}
  [[nodiscard]] bool empty() const { return text_.empty(); }
  [[nodiscard]] const std::string& reveal() const { return text_; }

 private:
  std::string text_;
};

/// Where an operator gave each part of Credentials, for messages.
struct CredentialOrigin {
  std::string server = "server";                    ///< "server of cluster \"c\" in FILE"
  std::string authority = "certificate-authority";  ///< the same of the trusted certificates
  std::string tls_server_name = "tls-server-name";  ///< where it is, or would be given
  std::string identity = "no credentials";          ///< "token file FILE of user ..."
};

/// Everything needed to reach and convince one API server. A value; constant after loading.
struct Credentials {
  std::string server;           ///< "https://host:port[/prefix]", no trailing slash
  std::string ca_pem;           ///< the only certificates trusted
  std::string tls_server_name;  ///< verified instead of the host, when not empty
  std::string client_cert_pem;
  Secret client_key_pem;
  Secret token;            ///< fixed token; ignored when token_file is set
  std::string token_file;  ///< read again when it changes
  std::string name_space;  ///< of the context or the pod; may be empty
  CredentialOrigin origin;
};

/// Where the kubelet puts a pod's own credentials, and the environment that names the server.
struct InClusterPaths {
  std::string directory = "/var/run/secrets/kubernetes.io/serviceaccount";
  std::string host;  ///< KUBERNETES_SERVICE_HOST
  std::string port;  ///< KUBERNETES_SERVICE_PORT
};

/// Paths of this process, from its environment.
[[nodiscard]] InClusterPaths in_cluster_paths();

[[nodiscard]] Result<Credentials> load_in_cluster(const InClusterPaths& paths);

/// The bearer token in a file, without blanks around it. Fails when there is none.
[[nodiscard]] Result<Secret> read_token(const std::string& path);

/// The current bearer token.
///
/// Owned by a Connection, outlives its transport. Any thread. Always: a token once read stays until
/// a newer one could be read; the file is read at most once a second. Does not judge tokens.
class TokenSource {
 public:
  TokenSource(Secret fixed, std::string file, const Clock& clock);

  /// Reads the file again when the last look is older than a minute. Empty = no token.
  [[nodiscard]] Secret current() EXCLUDES_LOCK(mutex_);
  /// After a 401: looks again at once, unless the last look is younger than a second.
  void refuse() EXCLUDES_LOCK(mutex_);

 private:
  void reload() REQUIRES_LOCK(mutex_);

  const std::string file_;
  const Clock& clock_;
  Mutex mutex_;
  Secret token_ GUARDED_BY(mutex_);
  std::optional<Duration> looked_at_ GUARDED_BY(mutex_);
};

}  // namespace gang::kube
