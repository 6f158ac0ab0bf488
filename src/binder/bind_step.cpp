#include "binder/bind_step.h"

#include <utility>

#include "gang/api/intent.h"
#include "gang/base/check.h"

namespace gang::binder {
namespace {

constexpr std::int32_t kConflictsMax = 5;
constexpr std::int32_t kEqualFailuresMax = 3;

}  // namespace

BindStep::BindStep(Channel& channel, WriteWindow& window, Task task, std::function<void()> done)
    : channel_(channel),
      window_(window),
      task_(std::move(task)),
      done_(std::move(done)),
      backoff_(channel.options().retry_initial, channel.options().retry_max,
               seed_of(task_.assignment.uid.text)),
      version_(task_.assignment.resource_version) {}

BindStep::~BindStep() {
  if (phase_ == Phase::kWaiting) window_.cancel(ticket_);
}

void BindStep::start() {
  CHECK(phase_ == Phase::kIdle);
  resume();
}

void BindStep::stop(const std::string& why) {
  if (phase_ == Phase::kEnded || giving_up_) return;
  give_up({.end = engine::MemberEnd::kNotBound, .stopped = true, .message = why});
}

/// Records the end to report; reports it at once when no request of ours can still change the pod.
void BindStep::give_up(BindEnd end) {
  giving_up_ = std::move(end);
  const bool awaits_answer =
      phase_ == Phase::kSending || phase_ == Phase::kReading || phase_ == Phase::kAsking;
  if (awaits_answer) return;  // it decides
  if (phase_ == Phase::kWaiting) window_.cancel(ticket_);
  if (!read_needed_ && !unknown_) return finish(*giving_up_);
  if (phase_ != Phase::kPausing) read();  // a pause ends in a read
}

void BindStep::submit() {
  if (asks_gate_ && task_.gate) return ask_gate();
  phase_ = Phase::kWaiting;
  const auto granted = lifeline_.guard([this](WriteWindow::Ticket ticket) { send(ticket); });
  const WriteWindow::Ticket ticket = window_.submit(task_.lane, granted);
  if (phase_ == Phase::kWaiting) ticket_ = ticket;
}

void BindStep::ask_gate() {
  phase_ = Phase::kAsking;
  task_.gate(lifeline_.guard([this](GateWord word) { on_gate(word); }));
}

void BindStep::on_gate(GateWord word) {
  phase_ = Phase::kIdle;
  if (word == GateWord::kShut && !giving_up_) {
    giving_up_ = BindEnd{.stopped = true, .message = kTakenBack};
  }
  if (giving_up_) return unknown_ ? pause(backoff_.next()) : finish(*giving_up_);
  if (word == GateWord::kUnanswered) return pause(backoff_.next());
  asks_gate_ = false;
  submit();
}

void BindStep::send(WriteWindow::Ticket ticket) {
  ticket_ = ticket;
  phase_ = Phase::kSending;
  sent_at_ = channel_.monotonic();
  api::Binding binding{.pod = task_.assignment.pod,
                       .uid = task_.assignment.uid,
                       .resource_version = version_,
                       .node_name = task_.assignment.node_name};
  if (!task_.stamp.empty()) {
    binding.annotations.emplace_back(std::string(api::kRoundAnnotation), task_.stamp);
  }
  channel_.bind(binding,
                lifeline_.guard([this](const kube::Answer& answer) { on_answer(answer); }));
}

void BindStep::on_answer(const kube::Answer& answer) {
  const WriteWindow::Ticket ticket = ticket_;
  phase_ = Phase::kIdle;
  judge(answer);
  // Last, so that a loss stops the other members before one of them gets this place.
  window_.finished(ticket, answer);
}

void BindStep::judge(const kube::Answer& answer) {
  last_outcome_ = answer.outcome;
  if (!answer.ok()) trouble_ = answer.message;
  read_needed_ = answer.outcome == kube::Outcome::kUnknown ||
                 answer.outcome == kube::Outcome::kConflict ||
                 answer.outcome == kube::Outcome::kNotFound;
  switch (answer.outcome) {
    case kube::Outcome::kOk:
      ++channel_.stats().bind_ok;
      return finish({.end = engine::MemberEnd::kBound});
    case kube::Outcome::kNotSent:
    case kube::Outcome::kThrottled:
      return pause(wait_after(answer, backoff_.next()));
    case kube::Outcome::kUnauthorized:
    case kube::Outcome::kForbidden:
    case kube::Outcome::kInvalid:
      return on_refusal(answer);
    case kube::Outcome::kUnknown:
      note_unknown(answer);
      return read();
    case kube::Outcome::kConflict:
      ++channel_.stats().bind_conflicts;
      [[fallthrough]];
    case kube::Outcome::kNotFound:
      ++conflicts_;
      return read();
  }
}

void BindStep::on_refusal(const kube::Answer& answer) {
  const bool stale_token = answer.outcome == kube::Outcome::kUnauthorized && !token_renewed_;
  if (stale_token || is_starting(answer)) {
    token_renewed_ = token_renewed_ || stale_token;
    return pause(wait_after(answer, backoff_.next()));
  }
  give_up({.end = engine::MemberEnd::kNotBound, .refused = true, .message = answer.message});
}

void BindStep::note_unknown(const kube::Answer& answer) {
  ++channel_.stats().bind_unknown;
  // An older one of another version is definite: this request carried the version read after it.
  const Duration executable = may_still_run(answer) ? api::kExecutableFor : Duration::zero();
  unknown_ = Unknown{.version = version_, .executable_until = sent_at_ + executable};
  const bool equal = answer.http_status == 500 && answer.message == failure_;
  equal_failures_ = equal ? equal_failures_ + 1 : 1;
  failure_ = answer.http_status == 500 ? answer.message : std::string();
}

void BindStep::read() {
  phase_ = Phase::kReading;
  read_sent_at_ = channel_.monotonic();
  channel_.read_pod(
      task_.assignment.pod,
      lifeline_.guard([this](const kube::Answer& answer, const std::optional<api::Pod>& pod) {
        on_read(answer, pod);
      }));
}

void BindStep::on_read(const kube::Answer& answer, const std::optional<api::Pod>& pod) {
  phase_ = Phase::kIdle;
  if (answer.outcome == kube::Outcome::kNotFound) {
    return finish({.end = engine::MemberEnd::kLost, .message = "the pod is gone"});
  }
  if (!answer.ok() || !pod) return pause(wait_after(answer, backoff_.next()));
  read_needed_ = false;
  if (const auto end = verdict_of(*pod)) return finish(*end);
  on_unbound(*pod);
}

/// The end that the pod itself shows, if it does.
std::optional<BindEnd> BindStep::verdict_of(const api::Pod& pod) const {
  using engine::MemberEnd;
  const auto lost = [](const char* why) {
    return BindEnd{.end = MemberEnd::kLost, .message = why};
  };
  if (pod.meta.uid != task_.assignment.uid) return lost("replaced by a pod of the same name");
  if (!pod.node_name.empty()) {
    // Nobody but us plans this uid for this node, so the stamp need not be compared.
    if (pod.node_name == task_.assignment.node_name) return BindEnd{.end = MemberEnd::kBound};
    return BindEnd{.end = MemberEnd::kElsewhere, .message = "bound to node " + pod.node_name};
  }
  if (pod.is_terminating()) return lost("the pod is being deleted");
  if (!pod.scheduling_gates.empty()) return lost("the pod has scheduling gates");
  if (pod.is_terminal()) return lost("the pod has ended");
  return std::nullopt;
}

/// What a write that came late may have left in the status, which the server never clears.
std::string BindStep::claim_problem(const api::Pod& pod) const {
  const std::string named = pod.extended_claim ? pod.extended_claim->claim_name : std::string();
  if (named == task_.claim_name) return "";
  const std::string wanted = task_.claim_name.empty() ? "none" : task_.claim_name;
  return "its status names the claim " + (named.empty() ? "-" : named) +
         " for extended resources, planned was " + wanted;
}

/// The pod is still ours to bind: settles what the version proves, then goes on or gives up.
void BindStep::on_unbound(const api::Pod& pod) {
  const bool moved = pod.meta.resource_version != version_;
  version_ = pod.meta.resource_version;
  asks_gate_ = true;
  if (moved) equal_failures_ = 0;
  if (unknown_ && (unknown_->version != version_ || read_sent_at_ >= unknown_->executable_until)) {
    unknown_.reset();
  }
  const std::string problem = claim_problem(pod);
  if (!problem.empty() && !giving_up_) giving_up_ = BindEnd{.message = problem};
  retry_after_read(moved);
}

void BindStep::retry_after_read(bool moved) {
  if (!giving_up_ && equal_failures_ >= kEqualFailuresMax) {
    giving_up_ = BindEnd{.stopped = true, .message = failure_};
  }
  if (!giving_up_ && conflicts_ > kConflictsMax) {
    giving_up_ = BindEnd{.message = "the pod changes faster than it can be bound"};
  }
  if (giving_up_) return unknown_ ? pause(backoff_.next()) : finish(*giving_up_);
  // A moved version is the whole cause of a conflict; a server that fails gets its pause.
  const bool is_first = last_outcome_ == kube::Outcome::kOk;
  if (is_first || (moved && last_outcome_ == kube::Outcome::kConflict)) return submit();
  pause(backoff_.next());
}

void BindStep::pause(Duration duration) {
  if (giving_up_ && !read_needed_ && !unknown_) return finish(*giving_up_);
  phase_ = Phase::kPausing;
  channel_.after(duration, lifeline_.guard([this] {
    if (phase_ == Phase::kPausing) resume();
  }));
}

void BindStep::resume() {
  phase_ = Phase::kIdle;
  if (read_needed_ || giving_up_ || version_.empty()) return read();
  submit();
}

void BindStep::finish(BindEnd end) {
  phase_ = Phase::kEnded;
  end_ = std::move(end);
  end_.answered =
      last_outcome_ == kube::Outcome::kThrottled || equal_failures_ >= kEqualFailuresMax;
  done_();
}

}  // namespace gang::binder
