#include "kube/connection.h"

#include <utility>

#include "kube/kubeconfig.h"
#include "kube/server_url.h"

namespace gang::kube {

Result<std::shared_ptr<const Connection>> connect(const ClientOptions& options) {
  Result<Credentials> loaded = options.kubeconfig_path.empty()
                                   ? load_in_cluster(in_cluster_paths())
                                   : load_kubeconfig(options.kubeconfig_path);
  GANG_TRY(Credentials credentials, std::move(loaded));
  Result<ServerUrl> url = parse_server_url(credentials.server);
  if (!url) return in_context(credentials.origin.server, std::move(url).error());
  auto connection = std::make_unique<Connection>();
  connection->options = options;
  connection->name_space = credentials.name_space;
  connection->tokens =
      std::make_unique<TokenSource>(credentials.token, credentials.token_file, connection->clock);
  GANG_TRY(std::unique_ptr<Http> transport,
           make_cpprest_http(credentials, options.user_agent, *connection->tokens));
  connection->http = std::make_unique<ReachabilityHttp>(
      std::move(transport),
      ServerWords(*std::move(url), credentials.origin, credentials.tls_server_name),
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
