#include "app/daemon.h"

#include <algorithm>
#include <utility>

#include "gang/base/log.h"

namespace gang::app {

namespace {

constexpr Duration kPublishInterval = std::chrono::milliseconds(200);
constexpr Duration kBeatInterval = std::chrono::seconds(1);
constexpr Duration kBeatMax = std::chrono::seconds(10);
constexpr Duration kUnavailableLogInterval = std::chrono::minutes(1);
constexpr Duration kDrainPoll = std::chrono::milliseconds(20);

const char* gang_kind(const engine::GangRef& gang) {
  return gang.kind == cluster::GangKind::kPodGroup ? "PodGroup" : "Pod";
}

const char* round_text(const engine::RoundOutcome& outcome) {
  switch (outcome.end) {
    case engine::RoundEnd::kCommitted:
      return outcome.members.empty() ? "recorded a gang that was bound before" : "bound a gang";
    case engine::RoundEnd::kMembersGone:
    case engine::RoundEnd::kGroupGone:
      return "a round ended: pods or the PodGroup of its gang went away";
    case engine::RoundEnd::kMembersLost:
    case engine::RoundEnd::kUnavailable:
    case engine::RoundEnd::kRefused:
    case engine::RoundEnd::kOvertaken:
    case engine::RoundEnd::kUnready:
      break;
  }
  return "a round failed and is tried again";
}

/// The rounds of a process are named by the time of its start: no stamp of an earlier one is alike.
Config with_epoch(Config config, TimePoint start) {
  const auto start_ms = std::chrono::floor<std::chrono::milliseconds>(start.time_since_epoch());
  config.scheduler.epoch = std::to_string(start_ms.count());
  config.binder.epoch = config.scheduler.epoch;
  return config;
}

/// The address that is listened on; the port asked for may have been 0.
std::string address_of(const std::string& listen, int port) {
  return listen.substr(0, listen.rfind(':') + 1) + std::to_string(port);
}

}  // namespace

// --- start and stop -----------------------------------------------------------------------------

Daemon::Daemon(Config config, const Clock& clock)
    : config_(with_epoch(std::move(config), clock.now())),
      clock_(clock),
      metrics_(config_.scheduler.scheduler_name),
      binder_loop_(clock),
      mailbox_(kMailboxCapacity),
      scheduler_(config_.scheduler),
      object_notes_(config_.scheduler.scheduler_name) {}

Daemon::~Daemon() = default;

Result<void> Daemon::start() {
  auto connection = kube::connect(config_.client);
  if (!connection) return at_option(config_, "client.kubeconfig", std::move(connection).error());
  connection_ = *std::move(connection);
  Endpoints endpoints{[this] { return metrics_.text(); }, [this] { return live(); },
                      [this] { return ready(); }};
  owner_beat_ns_ = clock_.monotonic().count();
  auto server = HttpServer::start(config_.listen, std::move(endpoints));
  if (!server) return at_option(config_, "listen", std::move(server).error());
  http_ = *std::move(server);
  client_ = kube::make_http_client(connection_);
  claim_client_ = kube::make_http_claim_client(connection_);
  start_binder();
  start_informers();
  owner_thread_ = std::thread([this] { run_owner(); });
  log::info("started", {{"scheduler_name", config_.scheduler.scheduler_name},
                        {"listen", address_of(config_.listen, http_->port())}});
  return {};
}

void Daemon::start_binder() {
  binder::Callbacks callbacks;
  callbacks.round_done = [this](engine::RoundOutcome outcome) {
    mailbox_.post_unbounded(scheduler::RoundDone{std::move(outcome)});
  };
  callbacks.rollback_done = [this](engine::GangRef gang) {
    mailbox_.post_unbounded(scheduler::RollbackDone{std::move(gang)});
  };
  callbacks.explain_failed = [this](engine::GangRef gang) {
    mailbox_.post_unbounded(scheduler::ExplainFailed{std::move(gang)});
  };
  callbacks.round_slow = [this](engine::RoundProgress progress) {
    mailbox_.post_unbounded(scheduler::RoundSlow{std::move(progress)});
  };
  callbacks.claims_written = [this](engine::ClaimsWritten written) {
    mailbox_.post_unbounded(scheduler::ClaimsWritten{std::move(written)});
  };
  callbacks.intents_found = [this](std::vector<api::StoredIntent> intents) {
    if (!are_intents_known_.exchange(true) && !intents.empty()) {
      log::info("rounds of an earlier daemon are open",
                {{"count", std::to_string(intents.size())}});
    }
    mailbox_.post_unbounded(scheduler::IntentsFound{std::move(intents)});
  };
  callbacks.round_fenced = [this](engine::UndoReport report) {
    mailbox_.post_unbounded(scheduler::RoundFenced{std::move(report)});
  };
  callbacks.undo_slow = [this](engine::UndoReport report) {
    mailbox_.post_unbounded(scheduler::UndoSlow{std::move(report)});
  };
  callbacks.writes_blocked = [this](bool blocked) {
    mailbox_.post_unbounded(scheduler::WritesBlocked{blocked});
  };
  binder::Executor executor;
  executor.post = [this](std::function<void()> f) { binder_loop_.post(std::move(f)); };
  executor.post_after = [this](Duration delay, std::function<void()> f) {
    binder_loop_.post_after(delay, std::move(f));
  };
  binder_ =
      std::make_unique<binder::Binder>(binder::Clients{*client_, *claim_client_}, clock_,
                                       config_.binder, std::move(callbacks), std::move(executor));
  last_intent_scan_ = clock_.monotonic();
  binder_loop_.post([this] { binder_->find_intents(); });
  binder_thread_ = std::thread([this] { binder_loop_.run(); });
}

void Daemon::start_informers() {
  for (int i = 0; i < api::kKindCount; ++i) {
    kube::InformerScope scope;
    scope.kind = static_cast<api::Kind>(i);
    scope.name_space = config_.name_space;
    scope.scheduler_name = config_.scheduler.scheduler_name;
    informers_.push_back(kube::start_informer(
        connection_, scope, [this](api::Delta delta) { return mailbox_.post(std::move(delta)); }));
  }
}

void Daemon::wait_until_drained() {
  const Duration deadline = clock_.monotonic() + kDrainMax;
  std::vector<bool> taken;
  while (clock_.monotonic() < deadline) {
    binder_loop_.post([this] { drain_answers_.post_unbounded(binder_->idle()); });
    drain_answers_.take(taken, 1, deadline - clock_.monotonic());
    if (!taken.empty() && taken[0]) return;
    std::this_thread::sleep_for(kDrainPoll);
  }
  log::warn("rounds were still open at the drain deadline; the next start recovers them");
}

void Daemon::stop() {
  log::info("stopping");
  is_draining_ = true;
  binder_loop_.post([this] { binder_->drain(); });
  wait_until_drained();
  mailbox_.close();
  owner_thread_.join();
  informers_.clear();
  binder_loop_.close();
  binder_thread_.join();
  binder_.reset();
  client_.reset();
  claim_client_.reset();
  connection_.reset();
  kube::shutdown_transport();
  http_.reset();
  log::info("stopped");
}

// --- owner thread -------------------------------------------------------------------------------

Duration Daemon::until_wake() const {
  const Duration longest = is_publish_due_ ? kPublishInterval : kBeatInterval;
  if (!wake_at_) return longest;
  return std::clamp(Duration(*wake_at_ - clock_.now()), Duration::zero(), longest);
}

void Daemon::run_owner() {
  std::vector<scheduler::Input> batch;
  while (mailbox_.take(batch, kBatchMax, until_wake())) {
    owner_beat_ns_ = clock_.monotonic().count();
    for (const scheduler::Input& input : batch) handle(input);
    if (wake_at_ && *wake_at_ <= clock_.now() && !is_draining_) {
      wake_at_.reset();
      handle(scheduler::Tick{});
    }
    look_for_intents();
    publish();
  }
}

/// Again and again: the last write of a daemon that died may be executed late.
void Daemon::look_for_intents() {
  const Duration now = clock_.monotonic();
  if (now - last_intent_scan_ < binder::kIntentScanInterval || is_draining_) return;
  last_intent_scan_ = now;
  binder_loop_.post([this] { binder_->find_intents(); });
}

void Daemon::handle(const scheduler::Input& input) {
  if (const auto* delta = std::get_if<api::Delta>(&input)) {
    note_kind(*delta);
    note_object(*delta);
  }
  if (const auto* done = std::get_if<scheduler::RoundDone>(&input)) log_outcome(done->outcome);
  const Duration before = clock_.monotonic();
  scheduler::Effects effects = scheduler_.handle(input, clock_.now());
  const Duration spent = clock_.monotonic() - before;
  for (const scheduler::Effect& effect : effects) {
    if (const auto* attempt = std::get_if<scheduler::AttemptDone>(&effect)) {
      metrics_.attempt(*attempt, spent);
    } else if (const auto* charged = std::get_if<scheduler::AttemptCharged>(&effect)) {
      metrics_.charge(*charged);
    }
  }
  perform(std::move(effects));
}

void Daemon::note_kind(const api::Delta& delta) {
  for (const KindNote& note : kind_notes_.observe(delta)) {
    const std::string_view kind = api::kind_name(note.kind);
    metrics_.set_kind_state(kind, kind_notes_.state(kind));
    if (note.message.empty()) continue;
    const bool is_good = note.state == KindState::kServed;
    // The refusals before the one that is told have left their words, which name the account.
    const bool is_refused = note.state == KindState::kForbidden;
    const auto at = static_cast<std::size_t>(note.kind);
    log::write(is_good ? log::Level::kInfo : log::Level::kWarn, note.message,
               {{"kind", std::string(kind)},
                {"answer", is_refused ? informers_.at(at)->stats().last_error : std::string()}});
  }
}

void Daemon::note_object(const api::Delta& delta) {
  const std::optional<ObjectNote> note = object_notes_.observe(delta);
  if (note)
    log::warn("an object needs mending", {{"object", note->object}, {"why", note->message}});
}

void Daemon::perform(scheduler::Effects effects) {
  for (scheduler::Effect& effect : effects) {
    if (auto* bind = std::get_if<scheduler::BindGang>(&effect)) {
      round_starts_[bind->plan.gang.id] = clock_.monotonic();
      binder_loop_.post([this, plan = std::move(bind->plan)] { binder_->commit(plan); });
    } else if (auto* confirm = std::get_if<scheduler::ConfirmRound>(&effect)) {
      binder_loop_.post([this, check = std::move(confirm->check)] { binder_->confirm(check); });
    } else if (auto* fence = std::get_if<scheduler::FenceRound>(&effect)) {
      log::info(fence->intent.meta.uid.empty()
                    ? "giving back claims that nobody uses"
                    : "ending an open round: what no bound member uses is given back",
                {{"gang", fence->intent.intent.gang.text()},
                 {"round", fence->intent.intent.stamp},
                 {"claims", std::to_string(fence->intent.intent.claims.size())}});
      binder_loop_.post([this, intent = std::move(fence->intent)] { binder_->fence(intent); });
    } else if (std::holds_alternative<scheduler::FindIntents>(effect)) {
      binder_loop_.post([this] { binder_->find_intents(); });
    } else if (auto* bound = std::get_if<scheduler::TellBound>(&effect)) {
      binder_loop_.post([this, pods = std::move(bound->pods)] { binder_->tell_bound(pods); });
    } else if (auto* explain = std::get_if<scheduler::ExplainGang>(&effect)) {
      log_explanation(explain->explanation);
      binder_loop_.post(
          [this, explanation = std::move(explain->explanation)] { binder_->explain(explanation); });
    } else if (auto* rollback = std::get_if<scheduler::RollBackGang>(&effect)) {
      log::warn("rolling back a gang that cannot be completed",
                {{"gang", rollback->rollback.gang.key.text()},
                 {"members", std::to_string(rollback->rollback.members.size())},
                 {"why", rollback->rollback.message}});
      binder_loop_.post(
          [this, order = std::move(rollback->rollback)] { binder_->rollback(order); });
    } else if (const auto* wake = std::get_if<scheduler::WakeAt>(&effect)) {
      wake_at_ = wake->time;
    } else if (const auto* notice = std::get_if<scheduler::Notice>(&effect)) {
      log::info("notice", {{"message", notice->message}});
    } else if (auto* wrong = std::get_if<scheduler::TellDeviceTrouble>(&effect)) {
      std::visit([this](auto& trouble) { tell_trouble(trouble); }, wrong->trouble);
    }
  }
}

void Daemon::tell_trouble(const api::DoubleBooking& booking) {
  log::warn("two claims hold one device", {{"device", booking.device.text()},
                                           {"claim", booking.claim->meta.key.text()},
                                           {"other", booking.other->meta.key.text()}});
  binder_loop_.post([this, booking] { binder_->tell_double_booking(booking); });
}

void Daemon::tell_trouble(const cluster::LostDevice& lost) {
  log::warn("no slice shows a device of a claim",
            {{"device", lost.device.text()}, {"claim", lost.claim->meta.key.text()}});
  binder_loop_.post([this, lost] { binder_->tell_lost_device(*lost.claim, lost.device); });
}

void Daemon::log_explanation(const engine::Explanation& explanation) {
  // Objects that contradict each other are for people to mend; everything else is the day's work.
  const bool is_mistake = explanation.verdict == engine::Verdict::kInvalid;
  (is_mistake ? log::warn : log::info)("unable to schedule a gang",
                                       {{"kind", gang_kind(explanation.gang)},
                                        {"gang", explanation.gang.key.text()},
                                        {"verdict", engine::verdict_name(explanation.verdict)},
                                        {"message", explanation.message}});
}

void Daemon::log_outcome(const engine::RoundOutcome& outcome) {
  const auto start = round_starts_.find(outcome.gang.id);
  if (start != round_starts_.end()) {
    metrics_.round(outcome.end, clock_.monotonic() - start->second);
    round_starts_.erase(start);
  }
  const auto bound = std::count_if(
      outcome.members.begin(), outcome.members.end(),
      [](const engine::MemberOutcome& m) { return m.end == engine::MemberEnd::kBound; });
  const bool committed = outcome.end == engine::RoundEnd::kCommitted;
  if (outcome.end == engine::RoundEnd::kUnavailable) return log_unavailable(outcome);
  // A missing right is told by the binder, once a minute for all gangs.
  const bool is_refused = outcome.end == engine::RoundEnd::kRefused;
  const log::Level failure = is_refused ? log::Level::kDebug : log::Level::kWarn;
  const log::Level level = committed ? log::Level::kInfo : failure;
  if (outcome.members.empty()) {
    return log::write(level, round_text(outcome),
                      {{"kind", gang_kind(outcome.gang)},
                       {"gang", outcome.gang.key.text()},
                       {"message", outcome.message}});
  }
  log::write(level, round_text(outcome),
             {{"kind", gang_kind(outcome.gang)},
              {"gang", outcome.gang.key.text()},
              {"bound", std::to_string(bound)},
              {"of", std::to_string(outcome.members.size())},
              {"message", outcome.message}});
}

/// One line a minute for all gangs: the cause is the server, not they.
void Daemon::log_unavailable(const engine::RoundOutcome& outcome) {
  ++unavailable_unlogged_;
  const Duration now = clock_.monotonic();
  if (unavailable_logged_at_ && now - *unavailable_logged_at_ < kUnavailableLogInterval) return;
  log::warn(round_text(outcome), {{"kind", gang_kind(outcome.gang)},
                                  {"gang", outcome.gang.key.text()},
                                  {"failed_since_last_line", std::to_string(unavailable_unlogged_)},
                                  {"message", outcome.message}});
  unavailable_logged_at_ = now;
  unavailable_unlogged_ = 0;
}

void Daemon::publish() {
  publish_readiness();
  const Duration now = clock_.monotonic();
  is_publish_due_ = now - last_publish_ < kPublishInterval;
  if (is_publish_due_) return;
  last_publish_ = now;
  metrics_.set(Gauges{scheduler_.pod_counts(), scheduler_.entity_counts(),
                      scheduler_.state().counts(), scheduler_.planner_stats()});
  publish_failures();
  binder_loop_.post([this] { metrics_.set(binder_->stats()); });
}

void Daemon::publish_failures() {
  std::map<std::string_view, std::int64_t> failures;
  for (std::size_t i = 0; i < informers_.size(); ++i) {
    failures[api::kind_name(static_cast<api::Kind>(i))] += informers_[i]->stats().failures;
  }
  for (const auto& [kind, count] : failures) metrics_.set_kind_failures(kind, count);
}

std::string Daemon::awaited_text() const {
  const std::string trouble = kube::connection_trouble(*connection_);
  const std::string missing = kind_notes_.missing();
  if (missing.empty() && !are_intents_known_) {
    return "looking for open rounds in the ConfigMaps of namespace " +
           config_.binder.intent_namespace +
           " (binder.intent_namespace); where that does not end, the account may not list them";
  }
  if (missing.empty()) return "recovering what an earlier daemon began";
  return trouble + (trouble.empty() ? "" : "; ") + missing;
}

void Daemon::publish_readiness() {
  if (is_draining_) return;
  Health health{scheduler_.ready(), "ok"};
  if (!health.ok) health.text = awaited_text();
  const std::string kept = scheduler_.undo_text();
  if (!kept.empty()) health.text += "; what a round wrote is not taken back yet: " + kept;
  health_ = std::make_shared<const Health>(std::move(health));
}

// --- health -------------------------------------------------------------------------------------

Health Daemon::live() const {
  const Duration silence = clock_.monotonic() - Duration(owner_beat_ns_.load());
  if (silence > kBeatMax) {
    return {false, "the owner thread has not answered for " + format_duration(silence)};
  }
  return {true, "ok"};
}

Health Daemon::ready() const {
  if (is_draining_) return {false, "stopping"};
  const std::shared_ptr<const Health> health = health_;
  return health ? *health : Health{false, "starting"};
}

}  // namespace gang::app
