#include "kube/claim_rewrite.h"

#include <algorithm>
#include <utility>

#include "gang/base/sync.h"
#include "kube/answers.h"

namespace gang::kube {
namespace {

/// What a 422 blames when it is about bytes that a write leaves alone: spec and allocation never
/// change, devices are their driver's.
constexpr std::string_view kUntouched[] = {
    "FieldValueInvalid spec:", "FieldValueInvalid status.allocation:",
    "FieldValueForbidden status.devices:"};

bool blames_untouched(const Answer& answer, std::string_view body) {
  if (answer.http_status != 422) return false;
  const api::Status status = status_of(body);
  return std::ranges::any_of(status.causes, [](const std::string& cause) {
    return std::ranges::any_of(
        kUntouched, [&cause](std::string_view blamed) { return cause.starts_with(blamed); });
  });
}

Answer not_edited(Answer refusal, const Error& error) {
  if (error.code == Code::kConflict) {
    refusal.outcome = Outcome::kConflict;
    refusal.http_status = 409;
    refusal.reason = "Conflict";
    refusal.message = error.message;
  } else {
    refusal.message += "; nor can it be written in protobuf: " + error.message;
  }
  return refusal;
}

}  // namespace

/// The Requests of a client for callbacks that may outlive it. Any thread.
class ClaimRewriter::Link {
 public:
  explicit Link(const Requests& requests) : requests_(&requests) {}

  void cut() const EXCLUDES_LOCK(mutex_) {
    MutexLock lock(mutex_);
    requests_ = nullptr;
  }

  /// False when the client is gone: then nothing is sent and nothing called.
  bool start(HttpRequest request, Finish finish) const EXCLUDES_LOCK(mutex_) {
    MutexLock lock(mutex_);
    if (requests_ == nullptr) return false;
    requests_->start(std::move(request), std::move(finish));
    return true;
  }

 private:
  mutable Mutex mutex_;
  mutable const Requests* requests_ GUARDED_BY(mutex_);
};

ClaimRewriter::ClaimRewriter(const Requests& requests)
    : requests_(requests), link_(std::make_shared<const Link>(requests)) {}

ClaimRewriter::~ClaimRewriter() {
  link_->cut();
}

Finish ClaimRewriter::after_patch(const std::string& path, const std::string& part, Edit edit,
                                  ClaimDone done) const {
  HttpRequest read = requests_.read(path);
  read.accept = kProtobufType;
  HttpRequest replace = requests_.write(Method::kPut, path + part);
  replace.content_type = kProtobufType;
  return [link = link_, read = std::move(read), replace = std::move(replace),
          edit = std::move(edit),
          done = std::move(done)](const Answer& refusal, std::string_view body) {
    if (!blames_untouched(refusal, body)) return to_claim(done)(refusal, body);
    const auto put = [link, replace, edit, done, refusal](Answer answer, std::string_view claim) {
      if (!answer.ok()) {
        answer.message = "the claim cannot be read in protobuf: " + answer.message;
        return done(answer, std::nullopt);
      }
      HttpRequest request = replace;
      Result<std::string> edited = edit(claim);
      if (!edited) return done(not_edited(refusal, edited.error()), std::nullopt);
      request.body = *std::move(edited);
      if (!link->start(std::move(request), to_claim(done))) done(refusal, std::nullopt);
    };
    if (!link->start(read, put)) done(refusal, std::nullopt);
  };
}

Finish to_claim(ClaimDone done) {
  return [done = std::move(done)](Answer answer, std::string_view body) {
    finish_object(done, std::move(answer), api::decode_resource_claim(body));
  };
}

}  // namespace gang::kube
