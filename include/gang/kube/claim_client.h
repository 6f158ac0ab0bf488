// ClaimClient: the port through which rounds over devices write claims and intents.
//
// As Client: asynchronous, `done` is called exactly once and must not block, nothing is retried.
// Every write of an object that exists is a compare-and-swap on its uid and version; a claim is
// deleted by its uid. Source: the devices contract, 6.4 and 7; the commit protocol, 5.1 and 5.3.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gang/api/claim_write.h"
#include "gang/kube/client.h"

namespace gang::kube {

using ClaimDone = std::function<void(const Answer&, std::optional<api::ResourceClaim>)>;
using ConfigMapDone = std::function<void(const Answer&, std::optional<api::ConfigMap>)>;
using ConfigMapsDone = std::function<void(const Answer&, std::vector<api::ConfigMap>)>;

/// A DELETE of one ConfigMap with preconditions.
struct ConfigMapDelete {
  api::ObjectKey map;
  api::Uid uid;
  api::ResourceVersion resource_version;
};

/// Owned by the shell, outlives the binder. Methods may be called from any one thread at a time.
/// Writes answer with the object as it is then, and take whatever form the server accepts.
class ClaimClient {
 public:
  virtual ~ClaimClient() = default;

  /// A name that is taken is a conflict. A lost answer is resolved by read_claim(): the claim has
  /// the name that the request says.
  virtual void create_claim(const api::NewClaim& claim, ClaimDone done) = 0;
  virtual void delete_claim(const api::ClaimDelete& request, Done done) = 0;
  virtual void patch_claim(const api::ClaimPatch& patch, ClaimDone done) = 0;
  virtual void patch_claim_status(const api::ClaimStatusPatch& patch, ClaimDone done) = 0;
  /// Quorum read.
  virtual void read_claim(const api::ObjectKey& claim, ClaimDone done) = 0;

  virtual void create_config_map(const api::ConfigMap& map, ConfigMapDone done) = 0;
  /// REQUIRES: map.meta has uid and version.
  virtual void update_config_map(const api::ConfigMap& map, ConfigMapDone done) = 0;
  virtual void read_config_map(const api::ObjectKey& map, ConfigMapDone done) = 0;
  virtual void delete_config_map(const ConfigMapDelete& request, Done done) = 0;
  /// Quorum list of those in a namespace that have a label ("key=value").
  virtual void list_config_maps(const std::string& name_space, const std::string& label,
                                ConfigMapsDone done) = 0;
};

/// A ClaimClient over HTTPS. REQUIRES: connection from connect().
[[nodiscard]] std::unique_ptr<ClaimClient> make_http_claim_client(
    std::shared_ptr<const Connection> connection);

}  // namespace gang::kube
