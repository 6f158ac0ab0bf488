// Daemon: threads and mailboxes around the Scheduler and the Binder. No decisions of its own.
//
// Threads: one informer per kind posts Deltas; the owner thread alone runs the Scheduler; the
// binder thread alone runs the Binder; the transport's thread posts answers to it; the HTTP server
// reads metrics and health. Everything between threads is a message. run() returns after stop()
// once rounds in flight have ended, at the latest after kDrainMax.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "app/binder_loop.h"
#include "app/config.h"
#include "app/http_server.h"
#include "app/kind_notes.h"
#include "app/metrics.h"
#include "app/object_notes.h"
#include "gang/base/mailbox.h"
#include "gang/kube/informer.h"
#include "gang/scheduler/scheduler.h"

namespace gang::app {

/// See the head of the file.
class Daemon {
 public:
  /// REQUIRES: kube::initialize_transport() has run. `clock` outlives the daemon.
  Daemon(Config config, const Clock& clock);
  ~Daemon();
  Daemon(const Daemon&) = delete;
  Daemon& operator=(const Daemon&) = delete;

  /// Connects, listens and starts every thread; fails with one clear error.
  [[nodiscard]] Result<void> start();
  /// Drains and joins everything. Call once, from the thread that called start().
  void stop();
  /// The port of the HTTP server. REQUIRES: start() succeeded.
  [[nodiscard]] int port() const { return http_->port(); }

  static constexpr Duration kDrainMax = std::chrono::seconds(20);

 private:
  void run_owner();
  void handle(const scheduler::Input& input);
  void note_kind(const api::Delta& delta);
  void note_object(const api::Delta& delta);
  void perform(scheduler::Effects effects);
  void tell_trouble(const api::DoubleBooking& booking);
  void tell_trouble(const cluster::LostDevice& lost);
  void log_explanation(const engine::Explanation& explanation);
  void log_outcome(const engine::RoundOutcome& outcome);
  void log_unavailable(const engine::RoundOutcome& outcome);
  void publish();
  void publish_readiness();
  void publish_failures();
  void look_for_intents();
  [[nodiscard]] std::string awaited_text() const;
  void start_informers();
  void start_binder();
  void wait_until_drained();
  [[nodiscard]] Duration until_wake() const;
  [[nodiscard]] Health live() const;
  [[nodiscard]] Health ready() const;

  static constexpr std::size_t kMailboxCapacity = 8192;
  static constexpr std::size_t kBatchMax = 1024;

  const Config config_;
  const Clock& clock_;
  Metrics metrics_;
  std::shared_ptr<const kube::Connection> connection_;
  std::unique_ptr<kube::Client> client_;
  std::unique_ptr<kube::ClaimClient> claim_client_;
  BinderLoop binder_loop_;
  std::unique_ptr<binder::Binder> binder_;  ///< binder thread only, but for construction
  Mailbox<scheduler::Input> mailbox_;
  Mailbox<bool> drain_answers_{1};
  std::vector<std::unique_ptr<kube::Informer>> informers_;  ///< constant while owner_thread_ runs
  std::unique_ptr<HttpServer> http_;
  std::thread binder_thread_;
  std::thread owner_thread_;

  // Owner thread only.
  scheduler::Scheduler scheduler_;
  KindNotes kind_notes_;
  ObjectNotes object_notes_;
  std::optional<TimePoint> wake_at_;
  std::map<cluster::GangId, Duration> round_starts_;
  Duration last_publish_{};
  Duration last_intent_scan_{};
  std::optional<Duration> unavailable_logged_at_;
  std::int64_t unavailable_unlogged_ = 0;
  bool is_publish_due_ = false;

  std::atomic<std::shared_ptr<const Health>> health_;  ///< null before the first look
  std::atomic<bool> is_draining_{false};
  std::atomic<bool> are_intents_known_{false};
  std::atomic<std::int64_t> owner_beat_ns_{0};
};

}  // namespace gang::app
