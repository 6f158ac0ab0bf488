#include "binder/channel.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "gang/base/log.h"

namespace gang::binder {
namespace {

constexpr Duration kForbiddenLogInterval = std::chrono::minutes(1);
constexpr Duration kThrottledDefault = std::chrono::seconds(1);

constexpr const char* kRequestRefused =
    "the API server refuses a request: does the account have deploy/rbac.yaml?";
constexpr const char* kIntentsRefused =
    "the API server refuses the ConfigMaps of open rounds: is binder.intent_namespace right, and "
    "the Role of deploy/rbac.yaml in that namespace?";

/// Admission ended the request before the storage saw it: a webhook failed, not the server.
bool is_webhook_failure(const kube::Answer& answer) {
  return answer.reason == "InternalError" &&
         answer.message.find("failed calling webhook") != std::string::npos;
}

}  // namespace

Channel::Channel(kube::Client& client, const Clock& clock, const Options& options,
                 Executor executor)
    : client_(client), clock_(clock), options_(options), executor_(std::move(executor)) {}

void Channel::arrived(const char* request, const kube::Answer& answer) {
  --in_flight_;
  if (answer.outcome != kube::Outcome::kForbidden || is_starting(answer)) return;
  ++stats_.forbidden;
  ++forbidden_unlogged_;
  const Duration now = monotonic();
  if (forbidden_logged_ >= Duration::zero() && now - forbidden_logged_ < kForbiddenLogInterval) {
    return;
  }
  // A right on ConfigMaps is given in one namespace only.
  const bool is_of_intents = std::string_view(request).ends_with(" configmaps");
  const std::string where = is_of_intents ? " in namespace " + options_.intent_namespace : "";
  log::error(is_of_intents ? kIntentsRefused : kRequestRefused,
             {{"request", request + where},
              {"answer", answer.message},
              {"refused_since_last_line", std::to_string(forbidden_unlogged_)}});
  forbidden_logged_ = now;
  forbidden_unlogged_ = 0;
}

kube::Done Channel::returning_write(const char* request, const api::ObjectKey& object,
                                    kube::Done done) {
  last_written_ = object;
  return returning<>(request, kube::Done([this, done = std::move(done)](const kube::Answer& a) {
                       note_write(a);
                       done(a);
                     }));
}

void Channel::bind(const api::Binding& binding, kube::Done done) {
  ++stats_.bind_requests;
  client_.bind(binding, returning_write("create pods/binding", binding.pod, std::move(done)));
}

void Channel::try_bind(const api::Binding& binding, kube::Done done) {
  ++stats_.probes;
  client_.try_bind(binding, returning<>("create pods/binding", std::move(done)));
}

void Channel::patch_pod(const api::PodStatusPatch& patch, kube::Done done) {
  ++stats_.status_writes;
  client_.patch_pod_status(patch, returning_write("patch pods/status", patch.pod, std::move(done)));
}

void Channel::patch_pod_to_undo(const api::PodStatusPatch& patch, kube::Done done) {
  ++stats_.status_writes;
  client_.patch_pod_status(patch, returning<>("patch pods/status", std::move(done)));
}

void Channel::patch_group(const api::PodGroupStatusPatch& patch, kube::Done done) {
  ++stats_.status_writes;
  client_.patch_pod_group_status(
      patch, returning_write("patch podgroups/status", patch.group, std::move(done)));
}

void Channel::delete_pod(const kube::PodDelete& request, kube::Done done) {
  client_.delete_pod(request, returning_write("delete pods", request.pod, std::move(done)));
}

void Channel::create_event(const api::Event& event, kube::Done done) {
  client_.create_event(event, returning<>("create events", std::move(done)));
}

void Channel::read_pod(const api::ObjectKey& pod, kube::PodDone done) {
  ++stats_.pod_reads;
  client_.get_pod(pod, returning<std::optional<api::Pod>>("get pods", std::move(done)));
}

void Channel::read_group(const api::ObjectKey& group, kube::PodGroupDone done) {
  client_.get_pod_group(group,
                        returning<std::optional<api::PodGroup>>("get podgroups", std::move(done)));
}

void Channel::after(Duration pause, std::function<void()> function) {
  executor_.post_after(std::max(pause, Duration::zero()), std::move(function));
}

void Channel::later(std::function<void()> function) {
  executor_.post(std::move(function));
}

bool may_still_run(const kube::Answer& answer) {
  if (answer.http_status == 0 || answer.http_status == 502 || answer.http_status == 504)
    return true;
  if (answer.reason == "Timeout" || answer.reason == "ServerTimeout") return true;
  if (is_webhook_failure(answer)) return false;
  // The storage's own errors have no reason of their own, only words.
  constexpr std::string_view kStorage[] = {"timed out", "timeout", "etcdserver",
                                           "deadline exceeded"};
  return std::ranges::any_of(kStorage, [&](std::string_view words) {
    return answer.message.find(words) != std::string::npos;
  });
}

std::string trouble_text(const std::string& object, const kube::Answer& answer) {
  return object + ": " + (answer.message.empty() ? "no answer" : answer.message);
}

bool is_server_failure(const kube::Answer& answer) {
  const bool failed =
      answer.outcome == kube::Outcome::kNotSent || answer.outcome == kube::Outcome::kUnknown;
  return failed && !is_webhook_failure(answer);
}

bool is_starting(const kube::Answer& answer) {
  return answer.outcome == kube::Outcome::kForbidden &&
         answer.message.find("not yet ready to handle request") != std::string::npos;
}

UndoWord undo_word(const kube::Answer& answer, bool& was_invalid) {
  switch (answer.outcome) {
    case kube::Outcome::kOk:
      return UndoWord::kDone;
    case kube::Outcome::kNotFound:
      return UndoWord::kGone;
    case kube::Outcome::kForbidden:
      return is_starting(answer) ? UndoWord::kAgain : UndoWord::kRefused;
    case kube::Outcome::kInvalid:
      return std::exchange(was_invalid, true) ? UndoWord::kRefused : UndoWord::kAgain;
    case kube::Outcome::kConflict:
    case kube::Outcome::kNotSent:
    case kube::Outcome::kUnknown:
    case kube::Outcome::kUnauthorized:
    case kube::Outcome::kThrottled:
      break;
  }
  return UndoWord::kAgain;
}

Duration wait_after(const kube::Answer& answer, Duration pause) {
  if (answer.retry_after) return std::max(pause, *answer.retry_after);
  if (answer.outcome == kube::Outcome::kThrottled) return std::max(pause, kThrottledDefault);
  return pause;
}

}  // namespace gang::binder
