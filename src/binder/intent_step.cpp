#include "binder/intent_step.h"

#include <utility>

namespace gang::binder {
namespace {

constexpr int kRefusalsMax = 5;  ///< of its DELETE, before it is left where it is

bool same_round(const api::Intent& a, const api::Intent& b) {
  return a.epoch == b.epoch && a.stamp == b.stamp;
}

}  // namespace

IntentStep::IntentStep(const ClaimPort& port, api::Intent intent, api::StoredIntent replaced,
                       std::function<void()> done)
    : port_(port),
      intent_(std::move(intent)),
      replaced_(std::move(replaced)),
      done_(std::move(done)),
      backoff_(port.channel().options().retry_initial, port.channel().options().retry_max,
               seed_of(intent_.gang_uid.text) + 4),
      meta_(replaced_.meta) {}

void IntentStep::write() {
  send();
}

void IntentStep::stop(const std::string& why) {
  if (end_ != IntentEnd::kOpen || stopped_) return;
  stopped_ = why;
  if (!is_busy_) finish(IntentEnd::kStopped, why);
}

void IntentStep::remove() {
  const bool is_known = end_ == IntentEnd::kHeld;
  end_ = IntentEnd::kOpen;
  removes_ = true;
  stopped_.reset();
  trouble_.clear();
  backoff_.reset();
  is_known ? send_delete() : read();
}

void IntentStep::check(std::function<void(GateWord)> then) {
  port_.read_intent(key(), lifeline_.guard([this, then = std::move(then)](
                                               const kube::Answer& answer,
                                               const std::optional<api::ConfigMap>& map) {
    if (answer.outcome == kube::Outcome::kNotFound) return then(GateWord::kShut);
    if (!answer.ok() || !map) return then(GateWord::kUnanswered);
    const api::StoredIntent stored = api::stored_intent_from(*map);
    const bool holds = is_ours(stored) && stored.intent.phase == intent_.phase;
    then(holds ? GateWord::kOpen : GateWord::kShut);
  }));
}

void IntentStep::check_absent(std::function<void(GateWord)> then) {
  port_.read_intent(key(),
                    lifeline_.guard([then = std::move(then)](const kube::Answer& answer,
                                                             const std::optional<api::ConfigMap>&) {
                      if (answer.outcome == kube::Outcome::kNotFound) return then(GateWord::kOpen);
                      then(answer.ok() ? GateWord::kShut : GateWord::kUnanswered);
                    }));
}

bool IntentStep::is_ours(const api::StoredIntent& stored) const {
  return stored.problem.empty() && same_round(stored.intent, intent_);
}

api::ObjectKey IntentStep::key() const {
  return {port_.channel().options().intent_namespace, api::intent_name(intent_.gang_uid)};
}

void IntentStep::send() {
  is_busy_ = true;
  sent_at_ = port_.channel().monotonic();
  api::ConfigMap map = api::to_config_map(intent_, key().name_space, meta_.resource_version);
  map.meta.uid = meta_.uid;
  auto done = lifeline_.guard(
      [this](const kube::Answer& answer, const std::optional<api::ConfigMap>& stored) {
        is_busy_ = false;
        on_written(answer, stored);
      });
  if (replaces()) return port_.update_intent(map, std::move(done));
  ++creates_sent_;
  port_.create_intent(map, std::move(done));
}

void IntentStep::on_written(const kube::Answer& answer, const std::optional<api::ConfigMap>& map) {
  if (answer.ok() && map) return hold(map->meta);
  switch (answer.outcome) {
    case kube::Outcome::kOk:
    case kube::Outcome::kUnknown:
      note_unknown(answer);
      return again(answer);
    case kube::Outcome::kConflict:
      return read();
    case kube::Outcome::kNotFound:
      return on_nowhere();
    case kube::Outcome::kForbidden:
      if (is_starting(answer)) return again(answer);
      [[fallthrough]];
    case kube::Outcome::kInvalid:
      return finish(IntentEnd::kRefused, answer.message);
    case kube::Outcome::kNotSent:
    case kube::Outcome::kUnauthorized:
    case kube::Outcome::kThrottled:
      return again(answer);
  }
}

/// 404: the one to be replaced is gone, or there is no namespace to create it in.
void IntentStep::on_nowhere() {
  if (replaces()) return finish(IntentEnd::kGone, "the intent is gone");
  finish(IntentEnd::kRefused, "there is no namespace " + key().name_space +
                                  "; name the right one as binder.intent_namespace");
}

void IntentStep::note_unknown(const kube::Answer& answer) {
  if (replaces()) return;
  is_unknown_ = true;
  if (may_still_run(answer)) executable_until_ = sent_at_ + api::kExecutableFor;
}

/// What is stored is what was to be written. If it was sent once, nothing else is under way.
void IntentStep::hold(const api::ObjectMeta& meta) {
  if (creates_sent_ == 1) executable_until_ = {};
  meta_ = meta;
  finish(IntentEnd::kHeld);
}

void IntentStep::again(const kube::Answer& answer) {
  is_busy_ = true;
  trouble_ = answer.message;
  port_.channel().after(wait_after(answer, backoff_.next()), lifeline_.guard([this] { read(); }));
}

void IntentStep::read() {
  is_busy_ = true;
  port_.read_intent(key(), lifeline_.guard([this](const kube::Answer& answer,
                                                  const std::optional<api::ConfigMap>& map) {
    is_busy_ = false;
    on_read(answer, map);
  }));
}

void IntentStep::on_read(const kube::Answer& answer, const std::optional<api::ConfigMap>& map) {
  if (answer.outcome == kube::Outcome::kNotFound) return on_missing();
  if (answer.outcome == kube::Outcome::kForbidden && !is_starting(answer)) {
    return finish(IntentEnd::kRefused, answer.message);
  }
  if (!answer.ok() || !map) {
    if (stopped_) return finish(IntentEnd::kStopped, *stopped_);
    return again(answer);
  }
  const api::StoredIntent stored = api::stored_intent_from(*map);
  removes_ ? judge_removal(stored) : judge(stored);
}

void IntentStep::on_missing() {
  if (removes_) return on_removed();
  if (replaces()) return finish(IntentEnd::kGone, "the intent is gone");
  if (stopped_) return finish(IntentEnd::kStopped, *stopped_);
  send();
}

void IntentStep::judge(const api::StoredIntent& stored) {
  if (stored.problem.empty() && stored.intent == intent_) return hold(stored.meta);
  const bool is_replaced =
      replaces() && stored.problem.empty() && same_round(stored.intent, replaced_.intent);
  if (!is_replaced) {
    found_ = stored;
    return finish(IntentEnd::kForeign, "the intent is of another round");
  }
  if (stopped_) return finish(IntentEnd::kStopped, *stopped_);
  meta_ = stored.meta;
  send();
}

/// One of another round is left to whoever wrote it.
void IntentStep::judge_removal(const api::StoredIntent& stored) {
  if (!is_ours(stored) || stored.meta.deletion_time) return on_removed();
  if (creates_sent_ == 1) executable_until_ = {};
  meta_ = stored.meta;
  send_delete();
}

void IntentStep::send_delete() {
  is_busy_ = true;
  port_.delete_intent({.map = key(), .uid = meta_.uid, .resource_version = meta_.resource_version},
                      lifeline_.guard([this](const kube::Answer& answer) {
                        is_busy_ = false;
                        on_deleted(answer);
                      }));
}

void IntentStep::on_deleted(const kube::Answer& answer) {
  switch (answer.outcome) {
    case kube::Outcome::kOk:
    case kube::Outcome::kNotFound:
      return on_removed();
    case kube::Outcome::kForbidden:
      // Rights that were just given, or taken and given back, take a moment.
      if (is_starting(answer) || ++refusals_ <= kRefusalsMax) return again(answer);
      [[fallthrough]];
    case kube::Outcome::kInvalid:
      return finish(IntentEnd::kRefused, answer.message);
    case kube::Outcome::kConflict:
    case kube::Outcome::kNotSent:
    case kube::Outcome::kUnknown:
    case kube::Outcome::kUnauthorized:
    case kube::Outcome::kThrottled:
      return again(answer);
  }
}

void IntentStep::on_removed() {
  const Duration now = port_.channel().monotonic();
  if (now >= executable_until_) return finish(IntentEnd::kRemoved);
  is_busy_ = true;
  port_.channel().after(executable_until_ - now, lifeline_.guard([this] { read(); }));
}

void IntentStep::finish(IntentEnd end, std::string message) {
  end_ = end;
  message_.clear();
  if (end == IntentEnd::kStopped && !trouble_.empty()) message = trouble_ + ", until " + message;
  if (!message.empty()) message_ = name() + ": " + message;
  done_();
}

}  // namespace gang::binder
