#include "gang/kube/claim_client.h"

#include <utility>

#include "gang/api/claim_edit.h"
#include "kube/claim_rewrite.h"
#include "kube/requests.h"
#include "kube/resource_path.h"
#include "kube/watch_stream.h"

namespace gang::kube {
namespace {

constexpr const char* kMergePatch = "application/merge-patch+json";

std::string maps_path(const std::string& name_space) {
  return "/api/v1/namespaces/" + encode_component(name_space) + "/configmaps";
}

std::string map_path(const api::ObjectKey& map) {
  return maps_path(map.name_space) + "/" + encode_component(map.name);
}

std::string claims_path(const std::string& name_space) {
  return collection_path(api::Kind::kResourceClaim, name_space);
}

Finish to_map(ConfigMapDone done) {
  return [done = std::move(done)](Answer answer, std::string_view body) {
    finish_object(done, std::move(answer), api::decode_config_map(body));
  };
}

/// The items of a list; those of a list carry no kind.
Result<std::vector<api::ConfigMap>> decode_maps(std::string_view body) {
  std::vector<api::ConfigMap> maps;
  Result<void> decoded;
  ListSplitter splitter(body.size());
  GANG_TRY_VOID(splitter.feed(body, [&](std::string_view item) {
    Result<api::ConfigMap> map = api::decode_config_map(item);
    if (!map) {
      decoded = tl::unexpected(map.error());
      return false;
    }
    maps.push_back(*std::move(map));
    return true;
  }));
  GANG_TRY_VOID(decoded);
  if (!splitter.complete()) return fail(Code::kInvalidArgument, "the list of ConfigMaps is cut");
  return maps;
}

Finish to_maps(ConfigMapsDone done) {
  const auto hand_on = [done = std::move(done)](const Answer& answer,
                                                std::optional<std::vector<api::ConfigMap>> maps) {
    done(answer, maps ? *std::move(maps) : std::vector<api::ConfigMap>());
  };
  return [hand_on](Answer answer, std::string_view body) {
    finish_object<std::vector<api::ConfigMap>>(hand_on, std::move(answer), decode_maps(body));
  };
}

/// ClaimClient over the transport of a Connection. Owned by the shell.
class HttpClaimClient final : public ClaimClient {
 public:
  explicit HttpClaimClient(std::shared_ptr<const Connection> connection)
      : requests_(std::move(connection)) {}

  void create_claim(const api::NewClaim& claim, ClaimDone done) override {
    HttpRequest request = requests_.write(Method::kPost, claims_path(claim.claim.name_space));
    request.body = api::encode_new_claim(claim);
    requests_.start(std::move(request), to_claim(std::move(done)));
  }

  void delete_claim(const api::ClaimDelete& removal, Done done) override {
    HttpRequest request =
        requests_.write(Method::kDelete, object_path(api::Kind::kResourceClaim, removal.claim));
    request.body = api::encode_delete_options(removal.uid, {});
    requests_.send(std::move(request), std::move(done));
  }

  void patch_claim(const api::ClaimPatch& patch, ClaimDone done) override {
    const std::string path = object_path(api::Kind::kResourceClaim, patch.claim);
    const auto edit = [patch](std::string_view claim) { return api::edit_claim(claim, patch); };
    patch_object(path, api::encode_claim_patch(patch),
                 rewriter_.after_patch(path, "", edit, std::move(done)));
  }

  void patch_claim_status(const api::ClaimStatusPatch& patch, ClaimDone done) override {
    using Part = api::ClaimStatusPatch::Part;
    const std::string path = object_path(api::Kind::kResourceClaim, patch.claim);
    const auto edit = [patch](std::string_view claim) {
      return api::edit_claim_status(claim, patch);
    };
    const bool keeps = patch.allocation_part == Part::kKeep;
    patch_object(path + "/status", api::encode_claim_status_patch(patch),
                 keeps ? rewriter_.after_patch(path, "/status", edit, std::move(done))
                       : to_claim(std::move(done)));
  }

  void read_claim(const api::ObjectKey& claim, ClaimDone done) override {
    requests_.get(object_path(api::Kind::kResourceClaim, claim), to_claim(std::move(done)));
  }

  void create_config_map(const api::ConfigMap& map, ConfigMapDone done) override {
    HttpRequest request = requests_.write(Method::kPost, maps_path(map.meta.key.name_space));
    request.body = api::encode_config_map(map);
    requests_.start(std::move(request), to_map(std::move(done)));
  }

  void update_config_map(const api::ConfigMap& map, ConfigMapDone done) override {
    HttpRequest request = requests_.write(Method::kPut, map_path(map.meta.key));
    request.body = api::encode_config_map(map);
    requests_.start(std::move(request), to_map(std::move(done)));
  }

  void read_config_map(const api::ObjectKey& map, ConfigMapDone done) override {
    requests_.get(map_path(map), to_map(std::move(done)));
  }

  void delete_config_map(const ConfigMapDelete& removal, Done done) override {
    HttpRequest request = requests_.write(Method::kDelete, map_path(removal.map));
    request.body = api::encode_delete_options(removal.uid, removal.resource_version);
    requests_.send(std::move(request), std::move(done));
  }

  void list_config_maps(const std::string& name_space, const std::string& label,
                        ConfigMapsDone done) override {
    requests_.get(maps_path(name_space), to_maps(std::move(done)),
                  "&labelSelector=" + encode_component(label));
  }

 private:
  void patch_object(const std::string& path, std::string body, Finish finish) {
    HttpRequest request = requests_.write(Method::kPatch, path);
    request.content_type = kMergePatch;
    request.body = std::move(body);
    requests_.start(std::move(request), std::move(finish));
  }

  const Requests requests_;
  const ClaimRewriter rewriter_{requests_};
};

}  // namespace

std::unique_ptr<ClaimClient> make_http_claim_client(std::shared_ptr<const Connection> connection) {
  return std::make_unique<HttpClaimClient>(std::move(connection));
}

}  // namespace gang::kube
