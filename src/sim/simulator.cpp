#include "gang/sim/simulator.h"

#include <map>
#include <string_view>
#include <utility>
#include <variant>

#include "gang/base/check.h"
#include "sim/report.h"

namespace gang::sim {

namespace {

constexpr std::size_t kPodsPerLine = 4;

/// 2026-01-01T00:00:00Z: a fixed start, so that equal scenarios give equal bytes.
constexpr TimePoint kStart{std::chrono::seconds(1'767'225'600)};

/// "pod node   pod node" lines of the members that were bound.
std::vector<std::string> bound_lines(const engine::Plan& plan,
                                     const engine::RoundOutcome& outcome) {
  std::map<std::string_view, std::string_view> node_of;
  for (const engine::Assignment& assignment : plan.assignments) {
    node_of[assignment.uid.text] = assignment.node_name;
  }
  std::vector<std::string> lines;
  std::size_t count = 0;
  for (const engine::MemberOutcome& member : outcome.members) {
    if (member.end != engine::MemberEnd::kBound) continue;
    const auto node = node_of.find(member.uid.text);
    const std::string cell =
        short_name(member.pod) + " " + (node == node_of.end() ? "?" : std::string(node->second));
    if (count++ % kPodsPerLine == 0) {
      lines.push_back(cell);
    } else {
      lines.back() += "   " + cell;
    }
  }
  return lines;
}

void tell(binder::Binder& binder, const api::DoubleBooking& booking) {
  binder.tell_double_booking(booking);
}

void tell(binder::Binder& binder, const cluster::LostDevice& lost) {
  binder.tell_lost_device(*lost.claim, lost.device);
}

bool counts(const CrashAfter& crash, RequestKind request) {
  if (request == RequestKind::kOther) return false;
  return crash.all_writes || request == RequestKind::kBinding;
}

const char* member_end_text(engine::MemberEnd end) {
  switch (end) {
    case engine::MemberEnd::kBound:
      return "bound";
    case engine::MemberEnd::kElsewhere:
      return "bound elsewhere";
    case engine::MemberEnd::kLost:
      return "lost";
    case engine::MemberEnd::kNotBound:
      return "not bound";
  }
  return "?";
}

std::string counted(std::int32_t count, const std::string& what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

/// How the binder has ended an open round.
std::string text_of_end(const engine::UndoReport& report) {
  const std::string gang = short_name(report.gang);
  if (!report.is_round && report.trouble.empty()) {
    return gang + ": " + counted(report.given_back, "claim") + " that nobody uses given back";
  }
  const std::string whose = "the open round of " + gang;
  if (!report.trouble.empty()) return whose + " is not taken back: " + report.trouble;
  std::string text = whose + " is ended: " + counted(report.given_back, "claim") + " given back";
  if (report.bound > 0) text += ", " + counted(report.bound, "member") + " bound before";
  return text;
}

}  // namespace

Simulator::Simulator(SimulatorOptions options)
    : options_(std::move(options)),
      clock_(kStart),
      cluster_(clock_),
      claim_controller_(cluster_, clock_, options_.claim_controller_delay) {
  make_daemon();
}

Simulator::~Simulator() = default;

binder::Callbacks Simulator::make_callbacks() {
  binder::Callbacks callbacks;
  callbacks.round_done = [this](engine::RoundOutcome outcome) {
    trace_outcome(outcome);
    input(scheduler::RoundDone{std::move(outcome)});
  };
  callbacks.rollback_done = [this](engine::GangRef gang) {
    trace(short_name(gang.key), "rolled back");
    input(scheduler::RollbackDone{std::move(gang)});
  };
  callbacks.explain_failed = [this](engine::GangRef gang) {
    input(scheduler::ExplainFailed{std::move(gang)});
  };
  callbacks.round_slow = [this](engine::RoundProgress progress) {
    input(scheduler::RoundSlow{std::move(progress)});
  };
  callbacks.writes_blocked = [this](bool blocked) { input(scheduler::WritesBlocked{blocked}); };
  callbacks.claims_written = [this](engine::ClaimsWritten written) {
    input(scheduler::ClaimsWritten{std::move(written)});
  };
  callbacks.intents_found = [this](std::vector<api::StoredIntent> intents) {
    input(scheduler::IntentsFound{std::move(intents)});
  };
  callbacks.round_fenced = [this](engine::UndoReport report) {
    trace("notice", text_of_end(report));
    input(scheduler::RoundFenced{std::move(report)});
  };
  callbacks.undo_slow = [this](engine::UndoReport report) {
    const std::string what = "what a round of " + short_name(report.gang) + " wrote is ";
    const std::string& trouble = report.trouble;
    trace("notice", what + (trouble.empty() ? "taken back now" : "not taken back yet: " + trouble));
    input(scheduler::UndoSlow{std::move(report)});
  };
  return callbacks;
}

/// At start and again and again, as the real daemon does.
void Simulator::look_for_intents(Daemon& daemon) {
  daemon.binder->find_intents();
  daemon.timers.emplace(clock_.now() + binder::kIntentScanInterval,
                        [this, &daemon] { look_for_intents(daemon); });
}

void Simulator::make_daemon() {
  daemon_ = std::make_unique<Daemon>();
  Daemon* daemon = daemon_.get();
  scheduler::Options scheduler_options = options_.scheduler;
  scheduler_options.epoch = std::to_string(++start_count_);
  binder::Options binder_options = options_.binder;
  binder_options.epoch = scheduler_options.epoch;
  daemon->scheduler = std::make_unique<scheduler::Scheduler>(std::move(scheduler_options));
  binder::Executor executor;
  executor.post = [daemon](std::function<void()> f) { daemon->posted.push_back(std::move(f)); };
  executor.post_after = [this, daemon](Duration delay, std::function<void()> f) {
    daemon->timers.emplace(clock_.now() + delay, std::move(f));
  };
  daemon->binder = std::make_unique<binder::Binder>(binder::Clients{cluster_, cluster_}, clock_,
                                                    std::move(binder_options), make_callbacks(),
                                                    std::move(executor));
  daemon->posted.push_back([this, daemon] { look_for_intents(*daemon); });
  for (api::Delta& delta : cluster_.list_all(options_.scheduler.scheduler_name)) {
    input(std::move(delta));
  }
}

void Simulator::input(const scheduler::Input& input) {
  perform(daemon_->scheduler->handle(input, clock_.now()));
}

void Simulator::perform(scheduler::Effects effects) {
  for (scheduler::Effect& effect : effects) {
    if (auto* bind = std::get_if<scheduler::BindGang>(&effect)) {
      daemon_->open_plans[bind->plan.gang.id] = bind->plan;
      daemon_->binder->commit(bind->plan);
    } else if (auto* confirm = std::get_if<scheduler::ConfirmRound>(&effect)) {
      daemon_->binder->confirm(confirm->check);
    } else if (auto* fence = std::get_if<scheduler::FenceRound>(&effect)) {
      daemon_->binder->fence(fence->intent);
    } else if (std::holds_alternative<scheduler::FindIntents>(effect)) {
      daemon_->binder->find_intents();
    } else if (const auto* bound = std::get_if<scheduler::TellBound>(&effect)) {
      daemon_->binder->tell_bound(bound->pods);
    } else if (auto* explain = std::get_if<scheduler::ExplainGang>(&effect)) {
      trace_explanation(explain->explanation);
      daemon_->binder->explain(explain->explanation);
    } else if (auto* rollback = std::get_if<scheduler::RollBackGang>(&effect)) {
      trace(short_name(rollback->rollback.gang.key), "rolls back", {rollback->rollback.message});
      daemon_->binder->rollback(rollback->rollback);
    } else if (auto* wake = std::get_if<scheduler::WakeAt>(&effect)) {
      daemon_->wake_at = wake->time;
    } else if (auto* notice = std::get_if<scheduler::Notice>(&effect)) {
      trace("notice", notice->message);
    } else if (const auto* wrong = std::get_if<scheduler::TellDeviceTrouble>(&effect)) {
      trace("notice", wrong->text);
      std::visit([&](const auto& trouble) { tell(*daemon_->binder, trouble); }, wrong->trouble);
    }
  }
}

// --- trace --------------------------------------------------------------------------------------

void Simulator::trace(const std::string& gang, std::string text, std::vector<std::string> details) {
  trace_.push_back({clock_.monotonic(), gang, std::move(text), std::move(details)});
}

std::vector<TraceEntry> Simulator::take_trace() {
  return std::exchange(trace_, {});
}

void Simulator::trace_outcome(const engine::RoundOutcome& outcome) {
  const engine::Plan& plan = daemon_->open_plans[outcome.gang.id];
  std::vector<std::string> details = bound_lines(plan, outcome);
  for (const engine::MemberOutcome& member : outcome.members) {
    if (member.end == engine::MemberEnd::kBound) continue;
    details.push_back(short_name(member.pod) + " " + member_end_text(member.end) +
                      (member.message.empty() ? "" : ": " + member.message));
  }
  const bool committed = outcome.end == engine::RoundEnd::kCommitted;
  std::string text =
      committed ? "bound" : std::string("round ended, ") + engine::round_end_name(outcome.end);
  if (outcome.members.empty()) text += ", record written";
  trace(short_name(outcome.gang.key), std::move(text), std::move(details));
}

void Simulator::trace_explanation(const engine::Explanation& explanation) {
  std::vector<std::string> details{explanation.message};
  for (const engine::MemberText& member : explanation.members) {
    if (member.message == explanation.message) continue;
    details.push_back(short_name(member.pod) + ": " + member.message);
  }
  std::string text = engine::verdict_name(explanation.verdict);
  if (explanation.degraded) text += ", degraded";
  if (explanation.partially_bound) text += ", partially bound";
  trace(short_name(explanation.gang.key), std::move(text), std::move(details));
}

const std::string& Simulator::scheduler_name() const {
  return options_.scheduler.scheduler_name;
}

// --- the loop -----------------------------------------------------------------------------------

void Simulator::settle() {
  for (int count = 0; step(); ++count) CHECK(count < kStepsMax);
}

bool Simulator::step() {
  const std::optional<TimePoint> due = cluster_.next_due();
  if (due && *due <= clock_.now()) {
    cluster_.run_due();
    return true;
  }
  if (!daemon_) return claim_controller_.run();
  return run_posted() || deliver_deltas() || execute_request() || claim_controller_.run() ||
         run_timer() || tick_if_due();
}

bool Simulator::run_posted() {
  if (daemon_->posted.empty()) return false;
  const std::function<void()> function = std::move(daemon_->posted.front());
  daemon_->posted.pop_front();
  function();
  return true;
}

void Simulator::hear() {
  CHECK(daemon_ != nullptr);
  deliver_deltas();
}

bool Simulator::deliver_deltas() {
  if (!cluster_.has_deltas()) return false;
  for (api::Delta& delta : cluster_.take_deltas()) input(std::move(delta));
  return true;
}

bool Simulator::execute_request() {
  if (!cluster_.has_requests()) return false;
  if (crash_after_ && counts(*crash_after_, cluster_.next_request()) &&
      --crash_after_->count == 0) {
    cluster_.execute_next_unanswered();
    crash();
    return true;
  }
  cluster_.execute_next();
  return true;
}

bool Simulator::run_timer() {
  const auto first = daemon_->timers.begin();
  if (first == daemon_->timers.end() || first->first > clock_.now()) return false;
  const std::function<void()> function = std::move(first->second);
  daemon_->timers.erase(first);
  function();
  return true;
}

bool Simulator::tick_if_due() {
  if (!daemon_->wake_at || *daemon_->wake_at > clock_.now()) return false;
  daemon_->wake_at.reset();
  input(scheduler::Tick{});
  return true;
}

std::optional<TimePoint> Simulator::next_event() {
  std::optional<TimePoint> next = cluster_.next_due();
  const auto sooner = [&](TimePoint time) {
    if (!next || time < *next) next = time;
  };
  if (const std::optional<TimePoint> time = claim_controller_.next()) sooner(*time);
  if (daemon_) {
    if (daemon_->wake_at) sooner(*daemon_->wake_at);
    if (!daemon_->timers.empty()) sooner(daemon_->timers.begin()->first);
  }
  return next;
}

void Simulator::advance(Duration step) {
  const TimePoint end = clock_.now() + step;
  settle();
  while (true) {
    const std::optional<TimePoint> next = next_event();
    if (!next || *next > end) break;
    if (*next > clock_.now()) clock_.advance(*next - clock_.now());
    settle();
  }
  if (clock_.now() < end) clock_.advance(end - clock_.now());
  settle();
}

void Simulator::crash() {
  CHECK(daemon_ != nullptr);
  cluster_.drop_requests();
  daemon_.reset();
  crash_after_.reset();
  trace("daemon", "killed");
}

void Simulator::restart() {
  CHECK(daemon_ == nullptr);
  trace("daemon", "started");
  make_daemon();
}

}  // namespace gang::sim
