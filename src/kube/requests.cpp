#include "kube/requests.h"

#include "kube/answers.h"

namespace gang::kube {
namespace {

constexpr std::string_view kStrategicMerge = "application/strategic-merge-patch+json";

/// Collects one answer. Owned by the transport; its thread only. A body over the limit is dropped
/// and the outcome is then unknown.
class AnswerReceiver final : public HttpReceiver {
 public:
  AnswerReceiver(TokenSource& tokens, std::string_view accept, Finish finish)
      : tokens_(tokens), accept_(accept), finish_(std::move(finish)) {}

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
    Answer answer = make_answer(head_, body_, end, accept_);
    if (answer.outcome == Outcome::kUnauthorized) tokens_.refuse();
    if (too_large_ && answer.ok()) {
      answer.outcome = Outcome::kUnknown;
      answer.message = "the answer is larger than " + std::to_string(kBodyBytesMax) + " bytes";
    }
    finish_(std::move(answer), body_);
  }

 private:
  TokenSource& tokens_;
  const std::string_view accept_;
  Finish finish_;
  HttpHead head_;
  std::string body_;
  bool too_large_ = false;
};

}  // namespace

Requests::Requests(std::shared_ptr<const Connection> connection)
    : connection_(std::move(connection)),
      timeout_query_("?timeout=" + format_duration(connection_->options.request_timeout)) {}

HttpRequest Requests::write(Method method, const std::string& path) const {
  HttpRequest request;
  request.method = method;
  request.target = path + timeout_query_;
  request.content_type = method == Method::kPatch ? kStrategicMerge : kJsonType;
  return request;
}

HttpRequest Requests::read(const std::string& path, const std::string& query) const {
  HttpRequest request;
  request.target = path + timeout_query_ + query;
  return request;
}

void Requests::get(const std::string& path, Finish finish, const std::string& query) const {
  start(read(path, query), std::move(finish));
}

void Requests::send(HttpRequest request, Done done) const {
  start(std::move(request),
        [done = std::move(done)](const Answer& answer, std::string_view) { done(answer); });
}

void Requests::start(HttpRequest request, Finish finish) const {
  request.idle_limit = connection_->options.request_timeout;
  request.total_limit = connection_->options.request_timeout;
  auto receiver =
      std::make_unique<AnswerReceiver>(*connection_->tokens, request.accept, std::move(finish));
  connection_->http->start(std::move(request), std::move(receiver));
}

}  // namespace gang::kube
