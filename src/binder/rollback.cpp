#include "binder/rollback.h"

#include <string>
#include <utility>

#include "gang/base/log.h"

namespace gang::binder {
namespace {

constexpr int kTriesMax = 10;
constexpr const char* kDisruptionTarget = "DisruptionTarget";
constexpr const char* kReason = "GangRollback";

bool is_bound_member(const api::Pod& pod, const api::Uid& uid) {
  return pod.meta.uid == uid && !pod.node_name.empty() && !pod.is_terminating() &&
         !pod.is_terminal();
}

bool carries(const api::Pod& pod, const std::string& stamp) {
  const std::string* annotation = api::find(pod.meta.annotations, api::kRoundAnnotation);
  return annotation != nullptr && !stamp.empty() && *annotation == stamp;
}

bool is_marked(const api::Pod& pod) {
  const api::Condition* mark = api::find_condition(pod.conditions, kDisruptionTarget);
  return mark != nullptr && mark->status == api::ConditionStatus::kTrue && mark->reason == kReason;
}

bool is_recorded(const api::PodGroup& group) {
  const api::Condition* record = api::find_condition(group.conditions, api::kInitiallyScheduled);
  return record != nullptr && record->status == api::ConditionStatus::kTrue;
}

}  // namespace

RollbackRun::RollbackRun(Channel& channel, PacedQueue& queue, engine::Rollback rollback,
                         std::function<void()> done)
    : channel_(channel),
      queue_(queue),
      rollback_(std::move(rollback)),
      done_(std::move(done)),
      backoff_(channel.options().retry_initial, channel.options().retry_max,
               seed_of(rollback_.gang.uid.text) + 2) {}

void RollbackRun::start() {
  const bool is_group = rollback_.gang.kind == cluster::GangKind::kPodGroup;
  if (!is_group || rollback_.members.empty()) return finish("there is nothing to undo");
  read_member(&RollbackRun::count_member);
}

/// Calls `next` with the pod, or with null when there is none of that name.
void RollbackRun::read_member(OnPod next) {
  channel_.read_pod(member().pod, lifeline_.guard([this, next](const kube::Answer& answer,
                                                               const std::optional<api::Pod>& pod) {
    if (answer.outcome == kube::Outcome::kNotFound) return (this->*next)(nullptr);
    if (answer.ok() && pod) return (this->*next)(&*pod);
    again(answer, [this, next] { read_member(next); });
  }));
}

void RollbackRun::count_member(const api::Pod* pod) {
  if (pod != nullptr && is_bound_member(*pod, member().uid)) ++bound_count_;
  tries_ = 0;
  if (++index_ < rollback_.members.size()) return read_member(&RollbackRun::count_member);
  if (bound_count_ >= rollback_.minimum) return finish("the gang has its minimum");
  index_ = 0;
  begin_member();
}

void RollbackRun::begin_member() {
  read_member(&RollbackRun::judge_member);
}

void RollbackRun::judge_member(const api::Pod* pod) {
  const bool may_go =
      pod != nullptr && is_bound_member(*pod, member().uid) && carries(*pod, rollback_.stamp);
  if (!may_go) return next_member();
  pod_ = *pod;
  if (is_marked(*pod)) return read_group();
  mark_member();
}

void RollbackRun::mark_member() {
  queue_.submit_urgent([this, watch = lifeline_.watch()] {
    if (watch.expired()) return false;
    api::PodStatusPatch patch{
        .pod = member().pod, .uid = member().uid, .resource_version = pod_->meta.resource_version};
    patch.condition = api::Condition{.type = kDisruptionTarget,
                                     .status = api::ConditionStatus::kTrue,
                                     .reason = kReason,
                                     .message = rollback_.message,
                                     .last_transition_time = channel_.now()};
    channel_.patch_pod(patch, lifeline_.guard([this](const kube::Answer& answer) {
      on_written(answer, /*was_delete=*/false);
    }));
    return true;
  });
}

void RollbackRun::read_group() {
  channel_.read_group(rollback_.gang.key,
                      lifeline_.guard([this](const kube::Answer& answer,
                                             const std::optional<api::PodGroup>& group) {
                        on_group(answer, group);
                      }));
}

void RollbackRun::on_group(const kube::Answer& answer, const std::optional<api::PodGroup>& group) {
  // A group that is gone or replaced has no record of this round: the listed uids are undone.
  const bool is_gone = answer.outcome == kube::Outcome::kNotFound;
  if (!is_gone && (!answer.ok() || !group)) return again(answer, [this] { begin_member(); });
  const bool is_ours = !is_gone && group->meta.uid == rollback_.gang.uid;
  if (is_ours && is_recorded(*group)) return finish("the gang is recorded as scheduled");
  delete_member();
}

/// Without waiting for a token: what was read is to be judged and deleted in one go.
void RollbackRun::delete_member() {
  channel_.delete_pod(
      {.pod = member().pod, .uid = member().uid, .resource_version = pod_->meta.resource_version},
      lifeline_.guard(
          [this](const kube::Answer& answer) { on_written(answer, /*was_delete=*/true); }));
}

void RollbackRun::on_written(const kube::Answer& answer, bool was_delete) {
  if (answer.ok() && was_delete) {
    ++deleted_count_;
    log::info("pod deleted: its gang could not be completed",
              {{"pod", member().pod.text()}, {"pod_group", rollback_.gang.key.text()}});
    return next_member();
  }
  if (answer.ok()) return begin_member();
  if (answer.outcome == kube::Outcome::kNotFound) return next_member();
  again(answer, [this] { begin_member(); });
}

void RollbackRun::next_member() {
  pod_.reset();
  tries_ = 0;
  backoff_.reset();
  if (++index_ >= rollback_.members.size()) return finish("every member is evaluated");
  begin_member();
}

/// Evaluates again after a pause: nothing is destroyed on old knowledge.
void RollbackRun::again(const kube::Answer& answer, std::function<void()> step) {
  if (answer.outcome == kube::Outcome::kForbidden) return finish("the rights do not suffice");
  if (++tries_ > kTriesMax) {
    const bool is_busy = answer.outcome == kube::Outcome::kConflict;
    return is_busy ? next_member() : finish("the server did not answer");
  }
  channel_.after(wait_after(answer, backoff_.next()), lifeline_.guard(std::move(step)));
}

void RollbackRun::finish(const char* why) {
  log::info("rollback ended", {{"pod_group", rollback_.gang.key.text()},
                               {"deleted", std::to_string(deleted_count_)},
                               {"because", why}});
  done_();
}

}  // namespace gang::binder
