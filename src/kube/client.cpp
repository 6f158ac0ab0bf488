#include "gang/kube/client.h"

#include <utility>

#include "kube/answers.h"
#include "kube/connection.h"
#include "kube/resource_path.h"

namespace gang::kube {
namespace {

constexpr const char* kJson = "application/json";
constexpr const char* kStrategicMerge = "application/strategic-merge-patch+json";

/// Called once with the Answer and the whole body.
using Finish = std::function<void(Answer, std::string_view)>;

/// Collects one answer. Owned by the transport; its thread only. A body over the limit is dropped
/// and the outcome is then unknown.
class AnswerReceiver final : public HttpReceiver {
 public:
  AnswerReceiver(TokenSource& tokens, Finish finish)
      : tokens_(tokens), finish_(std::move(finish)) {}

  void on_head(const HttpHead& head) override { head_ = head; }

  Flow on_data(std::string_view bytes) override {
    too_large_ = too_large_ || body_.size() + bytes.size() > kBodyBytesMax;
    if (too_large_) {
      body_.clear();
    } else {
      body_.append(bytes);
    }
    return Flow::kMore;
  }

  void on_end(const HttpEnd& end) override {
    Answer answer = make_answer(head_, body_, end);
    if (answer.outcome == Outcome::kUnauthorized) tokens_.refuse();
    if (too_large_ && answer.ok()) {
      answer.outcome = Outcome::kUnknown;
      answer.message = "the answer is larger than " + std::to_string(kBodyBytesMax) + " bytes";
    }
    finish_(std::move(answer), body_);
  }

 private:
  TokenSource& tokens_;
  Finish finish_;
  HttpHead head_;
  std::string body_;
  bool too_large_ = false;
};

/// Hands an object to `done`; a 2xx whose body cannot be decoded is a transport error.
template <class T>
void finish_get(const std::function<void(const Answer&, std::optional<T>)>& done, Answer answer,
                Result<T> object) {
  if (!answer.ok()) return done(answer, std::nullopt);
  if (!object) {
    answer.outcome = Outcome::kUnknown;
    answer.message = object.error().message;
    return done(answer, std::nullopt);
  }
  done(answer, *std::move(object));
}

/// Client over the transport of a Connection.
///
/// Owned by the shell. Callbacks run on the transport thread and hold no reference to this, so that
/// it may be destroyed while requests are in flight. Does not retry, does not read back.
class HttpClient final : public Client {
 public:
  explicit HttpClient(std::shared_ptr<const Connection> connection)
      : connection_(std::move(connection)),
        timeout_query_("?timeout=" + format_duration(connection_->options.request_timeout)) {}

  void bind(const api::Binding& binding, Done done) override {
    send(binding_request(binding), std::move(done));
  }

  void try_bind(const api::Binding& binding, Done done) override {
    HttpRequest request = binding_request(binding);
    request.target += "&dryRun=All";
    send(std::move(request), std::move(done));
  }

  void patch_pod_status(const api::PodStatusPatch& patch, Done done) override {
    HttpRequest request =
        write(Method::kPatch, object_path(api::Kind::kPod, patch.pod) + "/status");
    request.body = api::encode_pod_status_patch(patch);
    send(std::move(request), std::move(done));
  }

  void patch_pod_group_status(const api::PodGroupStatusPatch& patch, Done done) override {
    HttpRequest request =
        write(Method::kPatch, object_path(api::Kind::kPodGroup, patch.group) + "/status");
    request.body = api::encode_pod_group_status_patch(patch);
    send(std::move(request), std::move(done));
  }

  void delete_pod(const PodDelete& removal, Done done) override {
    HttpRequest request = write(Method::kDelete, object_path(api::Kind::kPod, removal.pod));
    request.body = api::encode_delete_options(removal.uid, removal.resource_version);
    send(std::move(request), std::move(done));
  }

  void create_event(const api::Event& event, Done done) override {
    // Events about cluster-wide objects live in "default", as upstream's do.
    const std::string& name_space = event.regarding.key.name_space;
    HttpRequest request =
        write(Method::kPost, "/apis/events.k8s.io/v1/namespaces/" +
                                 encode_component(name_space.empty() ? "default" : name_space) +
                                 "/events");
    request.body = api::encode_event(event);
    send(std::move(request), std::move(done));
  }

  void get_pod(const api::ObjectKey& pod, PodDone done) override {
    get(object_path(api::Kind::kPod, pod),
        [done = std::move(done)](Answer answer, std::string_view body) {
          finish_get(done, std::move(answer), api::decode_pod(body));
        });
  }

  void get_pod_group(const api::ObjectKey& group, PodGroupDone done) override {
    get(object_path(api::Kind::kPodGroup, group),
        [done = std::move(done)](Answer answer, std::string_view body) {
          finish_get(done, std::move(answer), api::decode_pod_group(body));
        });
  }

 private:
  [[nodiscard]] HttpRequest write(Method method, const std::string& path) const {
    HttpRequest request;
    request.method = method;
    request.target = path + timeout_query_;
    request.content_type = method == Method::kPatch ? kStrategicMerge : kJson;
    return request;
  }

  [[nodiscard]] HttpRequest binding_request(const api::Binding& binding) const {
    HttpRequest request =
        write(Method::kPost, object_path(api::Kind::kPod, binding.pod) + "/binding");
    request.body = api::encode_binding(binding);
    return request;
  }

  void get(const std::string& path, Finish finish) {
    HttpRequest request;
    request.target = path + timeout_query_;
    start(std::move(request), std::move(finish));
  }

  void send(HttpRequest request, Done done) {
    start(std::move(request),
          [done = std::move(done)](const Answer& answer, std::string_view) { done(answer); });
  }

  void start(HttpRequest request, Finish finish) {
    request.idle_limit = connection_->options.request_timeout;
    request.total_limit = connection_->options.request_timeout;
    connection_->http->start(std::move(request), std::make_unique<AnswerReceiver>(
                                                     *connection_->tokens, std::move(finish)));
  }

  const std::shared_ptr<const Connection> connection_;
  const std::string timeout_query_;
};

}  // namespace

std::unique_ptr<Client> make_http_client(std::shared_ptr<const Connection> connection) {
  return std::make_unique<HttpClient>(std::move(connection));
}

}  // namespace gang::kube
