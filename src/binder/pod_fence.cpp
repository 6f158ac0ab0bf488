#include "binder/pod_fence.h"

#include <utility>

namespace gang::binder {

PodFence::PodFence(Channel& channel, api::IntentMember member, std::function<void()> done)
    : channel_(channel),
      member_(std::move(member)),
      done_(std::move(done)),
      backoff_(channel.options().retry_initial, undo_retry_max(channel.options()),
               seed_of(member_.uid.text) + 3) {}

void PodFence::read() {
  channel_.read_pod(member_.pod, lifeline_.guard([this](const kube::Answer& answer,
                                                        const std::optional<api::Pod>& pod) {
    on_read(answer, pod);
  }));
}

void PodFence::on_read(const kube::Answer& answer, const std::optional<api::Pod>& pod) {
  if (answer.outcome == kube::Outcome::kNotFound) return finish(PodFenceEnd::kGone);
  if (answer.outcome == kube::Outcome::kForbidden && !is_starting(answer)) return refuse(answer);
  if (!answer.ok() || !pod) return again(answer);
  judge(*pod);
}

void PodFence::judge(const api::Pod& pod) {
  if (pod.meta.uid != member_.uid) return finish(PodFenceEnd::kGone);
  const bool is_ours = pod.scheduler_name == channel_.options().scheduler_name;
  if (!pod.node_name.empty() || !is_ours) return finish(PodFenceEnd::kBound);
  if (pod.is_terminating()) return finish(PodFenceEnd::kGone);
  if (!first_seen_) first_seen_ = pod.meta.resource_version;
  const bool has_moved = pod.meta.resource_version != *first_seen_;
  if (has_moved) return finish(PodFenceEnd::kUnbound);
  mark(pod);
}

void PodFence::mark(const api::Pod& pod) {
  const std::string& version = pod.meta.resource_version.text;
  api::PodStatusPatch patch{
      .pod = member_.pod, .uid = member_.uid, .resource_version = pod.meta.resource_version};
  patch.condition = api::Condition{
      .type = std::string(api::kFenced),
      .status = api::ConditionStatus::kTrue,
      .reason = "RoundTakenBack",
      .message = "instance " + channel_.options().epoch + " at version " + version +
                 ": what a round left unfinished is taken back, the pod is planned again",
      .last_transition_time = channel_.now()};
  channel_.patch_pod_to_undo(
      patch, lifeline_.guard([this](const kube::Answer& answer) { on_marked(answer); }));
}

void PodFence::on_marked(const kube::Answer& answer) {
  switch (undo_word(answer, was_invalid_)) {
    case UndoWord::kDone:
      return finish(PodFenceEnd::kUnbound);
    case UndoWord::kGone:
      return finish(PodFenceEnd::kGone);
    case UndoWord::kRefused:
      return refuse(answer);
    case UndoWord::kAgain:
      return again(answer);
  }
}

void PodFence::again(const kube::Answer& answer) {
  trouble_ = trouble_text("pod " + member_.pod.text(), answer);
  channel_.after(wait_after(answer, backoff_.next()), lifeline_.guard([this] { read(); }));
}

void PodFence::refuse(const kube::Answer& answer) {
  refusal_ = "pod " + member_.pod.text() + ": " + answer.message;
  finish(PodFenceEnd::kRefused);
}

void PodFence::finish(PodFenceEnd end) {
  end_ = end;
  trouble_.clear();
  done_();
}

}  // namespace gang::binder
