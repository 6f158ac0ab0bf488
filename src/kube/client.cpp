#include "gang/kube/client.h"

#include <utility>

#include "kube/requests.h"
#include "kube/resource_path.h"

namespace gang::kube {
namespace {

/// Client over the transport of a Connection. Owned by the shell.
class HttpClient final : public Client {
 public:
  explicit HttpClient(std::shared_ptr<const Connection> connection)
      : requests_(std::move(connection)) {}

  void bind(const api::Binding& binding, Done done) override {
    requests_.send(binding_request(binding), std::move(done));
  }

  void try_bind(const api::Binding& binding, Done done) override {
    HttpRequest request = binding_request(binding);
    request.target += "&dryRun=All";
    requests_.send(std::move(request), std::move(done));
  }

  void patch_pod_status(const api::PodStatusPatch& patch, Done done) override {
    HttpRequest request =
        requests_.write(Method::kPatch, object_path(api::Kind::kPod, patch.pod) + "/status");
    request.body = api::encode_pod_status_patch(patch);
    requests_.send(std::move(request), std::move(done));
  }

  void patch_pod_group_status(const api::PodGroupStatusPatch& patch, Done done) override {
    HttpRequest request =
        requests_.write(Method::kPatch, object_path(api::Kind::kPodGroup, patch.group) + "/status");
    request.body = api::encode_pod_group_status_patch(patch);
    requests_.send(std::move(request), std::move(done));
  }

  void delete_pod(const PodDelete& removal, Done done) override {
    HttpRequest request =
        requests_.write(Method::kDelete, object_path(api::Kind::kPod, removal.pod));
    request.body = api::encode_delete_options(removal.uid, removal.resource_version);
    requests_.send(std::move(request), std::move(done));
  }

  void create_event(const api::Event& event, Done done) override {
    // Events about cluster-wide objects live in "default", as upstream's do.
    const std::string& name_space = event.regarding.key.name_space;
    HttpRequest request = requests_.write(
        Method::kPost, "/apis/events.k8s.io/v1/namespaces/" +
                           encode_component(name_space.empty() ? "default" : name_space) +
                           "/events");
    request.body = api::encode_event(event);
    requests_.send(std::move(request), std::move(done));
  }

  void get_pod(const api::ObjectKey& pod, PodDone done) override {
    requests_.get(object_path(api::Kind::kPod, pod),
                  [done = std::move(done)](Answer answer, std::string_view body) {
                    finish_object(done, std::move(answer), api::decode_pod(body));
                  });
  }

  void get_pod_group(const api::ObjectKey& group, PodGroupDone done) override {
    requests_.get(object_path(api::Kind::kPodGroup, group),
                  [done = std::move(done)](Answer answer, std::string_view body) {
                    finish_object(done, std::move(answer), api::decode_pod_group(body));
                  });
  }

 private:
  [[nodiscard]] HttpRequest binding_request(const api::Binding& binding) const {
    HttpRequest request =
        requests_.write(Method::kPost, object_path(api::Kind::kPod, binding.pod) + "/binding");
    request.body = api::encode_binding(binding);
    return request;
  }

  const Requests requests_;
};

}  // namespace

std::unique_ptr<Client> make_http_client(std::shared_ptr<const Connection> connection) {
  return std::make_unique<HttpClient>(std::move(connection));
}

}  // namespace gang::kube
