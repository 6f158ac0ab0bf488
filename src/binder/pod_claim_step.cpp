#include "binder/pod_claim_step.h"

#include <utility>

namespace gang::binder {

PodClaimStep::PodClaimStep(const ClaimPort& port, Task task, std::function<void()> done)
    : port_(port),
      task_(std::move(task)),
      done_(std::move(done)),
      backoff_(port.channel().options().retry_initial, port.channel().options().retry_max,
               seed_of(task_.uid.text) + 7) {}

void PodClaimStep::stop(const std::string& why) {
  if (end_ != ClaimEnd::kOpen || stopped_) return;
  stopped_ = why;
  if (!is_busy_) finish(ClaimEnd::kStopped, why);
}

void PodClaimStep::send() {
  is_busy_ = true;
  api::PodStatusPatch patch{
      .pod = task_.pod, .uid = task_.uid, .resource_version = task_.resource_version};
  patch.extended_claim = task_.status;
  port_.channel().patch_pod(patch, lifeline_.guard([this](const kube::Answer& answer) {
    is_busy_ = false;
    on_sent(answer);
  }));
}

void PodClaimStep::on_sent(const kube::Answer& answer) {
  switch (answer.outcome) {
    case kube::Outcome::kOk:
    case kube::Outcome::kConflict:
      return read();
    case kube::Outcome::kNotFound:
      return finish(ClaimEnd::kLost, "the pod is gone");
    case kube::Outcome::kForbidden:
      if (is_starting(answer)) return again(answer);
      return finish(ClaimEnd::kRefused, answer.message);
    case kube::Outcome::kInvalid:
      // Another object of that name answers so, too: then the next read tells.
      if (!std::exchange(was_invalid_, true)) return again(answer);
      return finish(ClaimEnd::kRefused, answer.message);
    case kube::Outcome::kUnknown:
    case kube::Outcome::kNotSent:
    case kube::Outcome::kUnauthorized:
    case kube::Outcome::kThrottled:
      return again(answer);
  }
}

/// Reads after a pause, then goes on by what the pod is then.
void PodClaimStep::again(const kube::Answer& answer) {
  is_busy_ = true;
  trouble_ = answer.message;
  port_.channel().after(wait_after(answer, backoff_.next()), lifeline_.guard([this] { read(); }));
}

void PodClaimStep::read() {
  is_busy_ = true;
  port_.channel().read_pod(task_.pod, lifeline_.guard([this](const kube::Answer& answer,
                                                             const std::optional<api::Pod>& pod) {
    is_busy_ = false;
    on_read(answer, pod);
  }));
}

void PodClaimStep::on_read(const kube::Answer& answer, const std::optional<api::Pod>& pod) {
  if (answer.outcome == kube::Outcome::kNotFound) return finish(ClaimEnd::kLost, "the pod is gone");
  if (answer.outcome == kube::Outcome::kForbidden && !is_starting(answer)) {
    return finish(ClaimEnd::kRefused, answer.message);
  }
  if (answer.ok() && pod) return judge(*pod);
  if (stopped_) return finish(ClaimEnd::kStopped, *stopped_);
  again(answer);
}

void PodClaimStep::judge(const api::Pod& pod) {
  if (pod.meta.uid != task_.uid) return finish(ClaimEnd::kLost, "the pod is gone");
  if (!pod.node_name.empty()) return finish(ClaimEnd::kLost, "the pod is bound already");
  if (pod.is_terminating()) return finish(ClaimEnd::kLost, "the pod is being deleted");
  task_.resource_version = pod.meta.resource_version;
  if (pod.extended_claim == task_.status) return finish(ClaimEnd::kWritten);
  if (stopped_) return finish(ClaimEnd::kStopped, *stopped_);
  send();
}

void PodClaimStep::finish(ClaimEnd end, const std::string& message) {
  end_ = end;
  message_ = text_of_end(name(), end, trouble_, message);
  done_();
}

}  // namespace gang::binder
