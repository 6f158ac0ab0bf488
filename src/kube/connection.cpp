#include "kube/connection.h"

#include <utility>

#include "gang/base/log.h"
#include "kube/credentials_tls.h"
#include "kube/kubeconfig.h"
#include "kube/server_url.h"

namespace gang::kube {

namespace {

Result<Credentials> load_credentials(const ClientOptions& options) {
  if (options.kubeconfig_path.empty()) return load_in_cluster(in_cluster_paths());
  return load_kubeconfig(options.kubeconfig_path);
}

Result<ServerUrl> server_of(const Credentials& credentials) {
  Result<ServerUrl> url = parse_server_url(credentials.server);
  if (!url) return in_context(credentials.origin.server, std::move(url).error());
  return url;
}

}  // namespace

std::string missing_credentials(const Credentials& credentials) {
  const bool has_any = !credentials.token.empty() || !credentials.client_cert_pem.empty();
  return has_any ? std::string() : credentials.origin.identity;
}

Result<bool> check_credentials(const ClientOptions& options) {
  if (options.kubeconfig_path.empty() && in_cluster_paths().host.empty()) return false;
  GANG_TRY(const Credentials credentials, load_credentials(options));
  GANG_TRY(const ServerUrl url, server_of(credentials));
  if (!url.is_tls) return true;
  const auto tls = TlsMaterial::parse(credentials);
  if (!tls) return fail(tls.error().code, tls.error().message);
  return true;
}

Result<std::shared_ptr<const Connection>> connect(const ClientOptions& options) {
  GANG_TRY(Credentials credentials, load_credentials(options));
  GANG_TRY(ServerUrl url, server_of(credentials));
  if (const std::string missing = missing_credentials(credentials); !missing.empty()) {
    log::warn(
        "requests carry no credentials: give token, tokenFile or client-certificate with "
        "client-key",
        {{"why", missing}});
  }
  auto connection = std::make_unique<Connection>();
  connection->options = options;
  connection->name_space = credentials.name_space;
  connection->tokens =
      std::make_unique<TokenSource>(credentials.token, credentials.token_file, connection->clock);
  GANG_TRY(std::unique_ptr<Http> transport,
           make_cpprest_http(credentials, options.user_agent, *connection->tokens));
  connection->http = std::make_unique<ReachabilityHttp>(
      std::move(transport),
      ServerWords(std::move(url), credentials.origin, credentials.tls_server_name),
      connection->clock);
  return std::shared_ptr<const Connection>(std::move(connection));
}

std::string connection_trouble(const Connection& connection) {
  return connection.http->trouble();
}

std::string default_namespace(const Connection& connection) {
  return connection.name_space;
}

}  // namespace gang::kube
