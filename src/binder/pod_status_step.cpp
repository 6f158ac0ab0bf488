#include "binder/pod_status_step.h"

#include <utility>

#include "binder/conditions.h"
#include "gang/base/log.h"

namespace gang::binder {
namespace {

constexpr int kTriesMax = 5;

bool may_be_told(const api::Pod& pod, const api::Uid& uid) {
  return pod.meta.uid == uid && pod.node_name.empty() && !pod.is_terminating() &&
         !pod.is_terminal() && pod.scheduling_gates.empty();
}

}  // namespace

PodStatusStep::PodStatusStep(Channel& channel, PacedQueue& queue, engine::MemberText member,
                             api::Condition wanted)
    : channel_(channel),
      queue_(queue),
      member_(std::move(member)),
      wanted_(std::move(wanted)),
      backoff_(channel.options().retry_initial, channel.options().retry_max,
               seed_of(member_.uid.text) + 1),
      must_read_(member_.resource_version.empty()) {}

void PodStatusStep::start(std::function<void()> done) {
  done_ = std::move(done);
  enqueue();
}

void PodStatusStep::stop() {
  stopped_ = true;
  if (!awaits_answer_ && !ended()) finish(PodStatusEnd::kDropped);
}

void PodStatusStep::enqueue() {
  if (stopped_) return finish(PodStatusEnd::kDropped);
  queue_.submit([this, watch = lifeline_.watch()] {
    if (watch.expired() || ended()) return false;
    if (!must_read_) return send();
    read();
    return true;
  });
}

bool PodStatusStep::send() {
  const bool flips = member_.current.type.empty() || member_.current.status != wanted_.status;
  wanted_.last_transition_time = flips ? channel_.now() : member_.current.last_transition_time;
  awaits_answer_ = true;
  channel_.patch_pod({.pod = member_.pod,
                      .uid = member_.uid,
                      .resource_version = member_.resource_version,
                      .condition = wanted_},
                     lifeline_.guard([this](const kube::Answer& answer) { on_answer(answer); }));
  return true;
}

void PodStatusStep::on_answer(const kube::Answer& answer) {
  awaits_answer_ = false;
  if (!answer.ok()) ++channel_.stats().status_write_failures;
  switch (answer.outcome) {
    case kube::Outcome::kOk:
      return finish(PodStatusEnd::kWritten);
    case kube::Outcome::kNotFound:
      return finish(PodStatusEnd::kNotNeeded);
    case kube::Outcome::kInvalid:
      // Another uid is answered like this, and so is a body that the server does not like.
      log::warn("the API server finds the status of a pod invalid",
                {{"pod", member_.pod.text()}, {"answer", answer.message}});
      return finish(PodStatusEnd::kNotNeeded);
    case kube::Outcome::kUnauthorized:
    case kube::Outcome::kForbidden:
      return on_refusal(answer);
    case kube::Outcome::kConflict:
      if (++tries_ > kTriesMax) return finish(PodStatusEnd::kFailed);
      return read();
    case kube::Outcome::kUnknown:
      must_read_ = true;
      [[fallthrough]];
    case kube::Outcome::kNotSent:
    case kube::Outcome::kThrottled:
      return retry(answer);
  }
}

void PodStatusStep::on_refusal(const kube::Answer& answer) {
  const bool stale_token = answer.outcome == kube::Outcome::kUnauthorized;
  if (!stale_token || std::exchange(token_renewed_, true)) return finish(PodStatusEnd::kFailed);
  retry(answer);
}

void PodStatusStep::read() {
  if (stopped_) return finish(PodStatusEnd::kDropped);
  awaits_answer_ = true;
  channel_.read_pod(member_.pod, lifeline_.guard([this](const kube::Answer& answer,
                                                        const std::optional<api::Pod>& pod) {
    on_read(answer, pod);
  }));
}

void PodStatusStep::on_read(const kube::Answer& answer, const std::optional<api::Pod>& pod) {
  awaits_answer_ = false;
  must_read_ = true;
  if (answer.outcome == kube::Outcome::kNotFound) return finish(PodStatusEnd::kNotNeeded);
  if (answer.outcome == kube::Outcome::kForbidden) return finish(PodStatusEnd::kFailed);
  if (!answer.ok() || !pod) return retry(answer);
  if (!may_be_told(*pod, member_.uid)) return finish(PodStatusEnd::kNotNeeded);
  must_read_ = false;
  member_.resource_version = pod->meta.resource_version;
  const api::Condition* current = api::find_condition(pod->conditions, wanted_.type);
  member_.current = current != nullptr ? *current : api::Condition{};
  if (current != nullptr && says_the_same(*current, wanted_)) {
    return finish(PodStatusEnd::kNotNeeded);
  }
  enqueue();
}

void PodStatusStep::retry(const kube::Answer& answer) {
  if (++tries_ > kTriesMax) return finish(PodStatusEnd::kFailed);
  if (stopped_) return finish(PodStatusEnd::kDropped);
  channel_.after(wait_after(answer, backoff_.next()), lifeline_.guard([this] {
    if (!ended()) enqueue();
  }));
}

void PodStatusStep::finish(PodStatusEnd end) {
  end_ = end;
  done_();
}

}  // namespace gang::binder
