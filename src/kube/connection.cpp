#include "kube/connection.h"

#include "kube/kubeconfig.h"

namespace gang::kube {

Result<std::shared_ptr<const Connection>> connect(const ClientOptions& options) {
  Result<Credentials> loaded = options.kubeconfig_path.empty()
                                   ? load_in_cluster(in_cluster_paths())
                                   : load_kubeconfig(options.kubeconfig_path);
  GANG_TRY(Credentials credentials, std::move(loaded));
  auto connection = std::make_unique<Connection>();
  connection->options = options;
  connection->name_space = credentials.name_space;
  connection->tokens =
      std::make_unique<TokenSource>(credentials.token, credentials.token_file, connection->clock);
  GANG_TRY(connection->http,
           make_cpprest_http(credentials, options.user_agent, *connection->tokens));
  return std::shared_ptr<const Connection>(std::move(connection));
}

std::string default_namespace(const Connection& connection) {
  return connection.name_space;
}

}  // namespace gang::kube
