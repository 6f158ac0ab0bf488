#include "binder/precondition_probe.h"

#include <utility>

#include "gang/base/log.h"

namespace gang::binder {
namespace {

constexpr Duration kBrokenPause = std::chrono::seconds(60);
constexpr const char* kBroken =
    "the API server does not keep the preconditions of Bindings: no gang is bound";

}  // namespace

api::Binding unfit_binding(const engine::Assignment& assignment) {
  api::Binding binding{
      .pod = assignment.pod, .uid = assignment.uid, .node_name = assignment.node_name};
  binding.resource_version.text = assignment.resource_version.text == "1" ? "2" : "1";
  return binding;
}

PreconditionProbe::PreconditionProbe(Channel& channel, std::function<void(const Finding&)> found,
                                     std::function<void()> changed)
    : channel_(channel),
      found_(std::move(found)),
      changed_(std::move(changed)),
      backoff_(channel.options().retry_initial, channel.options().retry_max, /*seed=*/1) {}

void PreconditionProbe::ask(const engine::Assignment& assignment) {
  if (state_ != State::kUnproven) return;
  state_ = State::kAsking;
  binding_ = unfit_binding(assignment);
  asked_at_ = channel_.monotonic();
  token_renewed_ = false;
  send();
}

void PreconditionProbe::send() {
  channel_.try_bind(binding_,
                    lifeline_.guard([this](const kube::Answer& answer) { judge(answer); }));
}

void PreconditionProbe::judge(const kube::Answer& answer) {
  switch (answer.outcome) {
    case kube::Outcome::kConflict:
      log::info("the API server keeps the preconditions of Bindings: rounds may begin");
      return end(State::kProven, Kind::kProven, "");
    case kube::Outcome::kOk:
      return on_broken();
    case kube::Outcome::kNotFound:
      return end(State::kUnproven, Kind::kPodGone, "the pod is gone");
    case kube::Outcome::kUnauthorized:
      // The token was read anew.
      if (!std::exchange(token_renewed_, true)) return again(answer);
      break;
    case kube::Outcome::kForbidden:
      if (is_starting(answer)) return again(answer);
      break;
    case kube::Outcome::kInvalid:
      log::error(
          "the API server refuses a dry run of a Binding: no gang is bound until it answers 409; "
          "does a webhook on pods/binding lack sideEffects: None?",
          {{"pod", binding_.pod.text()}, {"answer", answer.message}});
      break;
    case kube::Outcome::kNotSent:
    case kube::Outcome::kUnknown:
    case kube::Outcome::kThrottled:
      return again(answer);
  }
  end(State::kUnproven, Kind::kRefused, answer.message);
}

void PreconditionProbe::on_broken() {
  log::error(kBroken, {{"means",
                        "a Binding with a wrong resourceVersion was accepted, so a pod could be "
                        "bound by a plan for another one"},
                       {"mend",
                        "use a kube-apiserver of a supported release, and no proxy or webhook that "
                        "drops metadata.resourceVersion of Bindings"},
                       {"pod", binding_.pod.text()}});
  end(State::kBroken, Kind::kBroken, kBroken);
  changed_();
  channel_.after(kBrokenPause, lifeline_.guard([this] {
    state_ = State::kUnproven;
    changed_();
  }));
}

void PreconditionProbe::again(const kube::Answer& answer) {
  const Duration pause = wait_after(answer, backoff_.next());
  const Duration deadline = asked_at_ + channel_.options().commit_deadline;
  if (channel_.monotonic() + pause > deadline) {
    return end(State::kUnproven, Kind::kUnavailable, answer.message);
  }
  channel_.after(pause, lifeline_.guard([this] { send(); }));
}

void PreconditionProbe::end(State state, Kind kind, std::string message) {
  state_ = state;
  found_({kind, std::move(message)});
}

}  // namespace gang::binder
