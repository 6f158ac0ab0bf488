#include "binder/group_line.h"

#include <utility>

#include "gang/api/intent.h"
#include "gang/base/log.h"
#include "gang/base/utf8.h"

namespace gang::binder {
namespace {

constexpr std::int32_t kTriesMax = 5;
constexpr std::size_t kShortMessage = 1024;

}  // namespace

GroupLine::GroupLine(Parts parts, api::ObjectKey key, api::Uid uid)
    : channel_(parts.channel),
      window_(parts.window),
      queue_(parts.queue),
      key_(std::move(key)),
      uid_(std::move(uid)),
      backoff_(channel_.options().retry_initial, channel_.options().retry_max, seed_of(uid_.text)) {
}

GroupLine::~GroupLine() {
  if (in_window_ && ticket_) window_.cancel(*ticket_);
}

void GroupLine::submit(GroupWrite write) {
  drop_explanations();
  if (write.is_record) {
    records_.push_back(std::move(write));
  } else {
    explanation_ = std::move(write);
  }
  channel_.later(lifeline_.guard([this] { begin_next(); }));
}

void GroupLine::drop_explanations() {
  superseded_ = active_ && !active_->is_record;
  if (superseded_ && is_waiting_) finish(GroupWriteEnd::kDropped);
  if (!explanation_) return;
  channel_.later(
      [done = std::move(explanation_->done)] { done({.end = GroupWriteEnd::kDropped}); });
  explanation_.reset();
}

void GroupLine::begin_next() {
  if (active_) return;
  if (!records_.empty()) {
    active_ = std::move(records_.front());
    records_.pop_front();
  } else if (explanation_) {
    active_ = std::move(explanation_);
    explanation_.reset();
  } else {
    return;
  }
  begin();
}

void GroupLine::begin() {
  superseded_ = false;
  tries_ = 0;
  token_renewed_ = checks_uid_ = shortened_ = false;
  backoff_.reset();
  if (unsettled_count_ > 0) {
    known_is_complete_ = active_->is_first = false;
    unsettled_count_ = 0;
    const Duration left = unsettled_until_ - channel_.monotonic();
    if (left > Duration::zero()) return wait(left);
  }
  if (active_->is_record) {
    decide();
    return;
  }
  is_waiting_ = true;
  queue_.submit([this, watch = lifeline_.watch(), run = run_] {
    if (watch.expired() || run != run_) return false;
    is_waiting_ = false;
    return decide();
  });
}

bool GroupLine::decide() {
  if (superseded_) {
    finish(GroupWriteEnd::kDropped);
    return false;
  }
  if (!known_is_complete_ && !active_->is_first) {
    read();
    return true;
  }
  sending_ = changes(known_, active_->wanted, channel_.now());
  if (sending_.empty()) {
    // A read shows what the one open PATCH wanted: it was executed and is not open any more.
    if (unsettled_count_ == 1) unsettled_count_ = 0;
    finish(GroupWriteEnd::kDone);
    return false;
  }
  send_when_allowed();
  return true;
}

void GroupLine::read() {
  channel_.read_group(key_, lifeline_.guard([this](const kube::Answer& answer,
                                                   const std::optional<api::PodGroup>& group) {
    on_read(answer, group);
  }));
}

void GroupLine::on_read(const kube::Answer& answer, const std::optional<api::PodGroup>& group) {
  if (answer.outcome == kube::Outcome::kNotFound) return finish(GroupWriteEnd::kGone);
  if (answer.outcome == kube::Outcome::kUnauthorized ||
      answer.outcome == kube::Outcome::kForbidden) {
    return on_refusal(answer);
  }
  if (!answer.ok() || !group) return retry(answer);
  if (group->meta.uid != uid_) return finish(GroupWriteEnd::kGone);
  if (std::exchange(checks_uid_, false)) {
    if (shortened_) return finish(GroupWriteEnd::kRefused, "the conditions are invalid");
    shortened_ = true;
    for (WantedCondition& wanted : active_->wanted) {
      std::string& message = wanted.condition.message;
      message.resize(cut_text(message, kShortMessage).size());
    }
  }
  known_ = group->conditions;
  known_is_complete_ = true;
  decide();
}

void GroupLine::send_when_allowed() {
  if (!active_->is_record) return send();
  in_window_ = true;
  const auto ticket =
      window_.submit(Lane::kRecord, lifeline_.guard([this](WriteWindow::Ticket granted) {
        in_window_ = false;
        ticket_ = granted;
        send();
      }));
  if (in_window_) ticket_ = ticket;
}

void GroupLine::send() {
  sent_at_ = channel_.monotonic();
  channel_.patch_group({.group = key_, .uid = uid_, .conditions = sending_},
                       lifeline_.guard([this](const kube::Answer& answer) {
                         if (ticket_) window_.finished(*std::exchange(ticket_, {}), answer);
                         on_answer(answer);
                       }));
}

void GroupLine::on_answer(const kube::Answer& answer) {
  if (!answer.ok()) ++channel_.stats().status_write_failures;
  switch (answer.outcome) {
    case kube::Outcome::kOk:
      merge(known_, sending_);
      return finish(GroupWriteEnd::kDone);
    case kube::Outcome::kNotFound:
      return finish(GroupWriteEnd::kGone);
    case kube::Outcome::kInvalid:
      return on_invalid(answer);
    case kube::Outcome::kUnauthorized:
    case kube::Outcome::kForbidden:
      return on_refusal(answer);
    case kube::Outcome::kUnknown:
      if (may_still_run(answer)) {
        unsettled_until_ = sent_at_ + api::kExecutableFor;
        ++unsettled_count_;
      }
      [[fallthrough]];
    case kube::Outcome::kConflict:
      known_is_complete_ = active_->is_first = false;
      [[fallthrough]];
    case kube::Outcome::kNotSent:
    case kube::Outcome::kThrottled:
      return retry(answer);
  }
}

void GroupLine::on_refusal(const kube::Answer& answer) {
  if (answer.outcome == kube::Outcome::kUnauthorized && !token_renewed_) {
    token_renewed_ = true;
    return retry(answer);
  }
  if (is_starting(answer)) return retry(answer);
  finish(GroupWriteEnd::kRefused, answer.message);
}

/// 422 is the answer to another uid, and to a body that the server does not like.
void GroupLine::on_invalid(const kube::Answer& answer) {
  log::error("the API server finds the status of a PodGroup invalid",
             {{"pod_group", key_.text()}, {"answer", answer.message}});
  checks_uid_ = true;
  read();
}

void GroupLine::retry(const kube::Answer& answer) {
  if (!active_->is_record && ++tries_ >= kTriesMax) {
    return finish(GroupWriteEnd::kFailed, answer.message);
  }
  wait(wait_after(answer, backoff_.next()));
}

void GroupLine::wait(Duration pause) {
  is_waiting_ = true;
  channel_.after(pause, lifeline_.guard([this, run = run_] {
    if (run != run_) return;
    is_waiting_ = false;
    decide();
  }));
}

void GroupLine::finish(GroupWriteEnd end, std::string message) {
  GroupWriteReport report{.end = end, .message = std::move(message)};
  if (end == GroupWriteEnd::kDone) report.written = std::move(sending_);
  if (end == GroupWriteEnd::kGone) known_is_complete_ = false;
  channel_.later([done = std::move(active_->done), report = std::move(report)] { done(report); });
  active_.reset();
  sending_.clear();
  ++run_;
  is_waiting_ = superseded_ = false;
  channel_.later(lifeline_.guard([this] { begin_next(); }));
}

}  // namespace gang::binder
