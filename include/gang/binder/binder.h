// Binder: carries decisions out against the API server. Decides nothing.
//
// A round is a state machine over asynchronous requests: Bindings with uid, resourceVersion and
// stamp, the needed members first, at most `writes_in_flight_max` at once; an answer that leaves
// the outcome open is followed by reads until it is definite; once base + bound reaches the minimum
// the record (PodGroupInitiallyScheduled=True) is written; then extras go on. Conditions and events
// are written for explanations; the reason of gang-scheduler.dev/Satisfied is "Satisfied" or
// engine::verdict_name(). Undo: rollback() deletes bound members by the rules of 5.6, re-reading
// each pod first. A plan that writes claims is carried out behind an intent: a ConfigMap that lists
// what the round touches, until it ended or everything is given back. What an older process left is
// found by find_intents() and taken back by fence(), unless a plan inherits it.
// Source: commit protocol 5, 6, 8 (plain rounds write no intent).
// No round starts before a dry-run Binding with a wrong resourceVersion was refused once (5.8 A5),
// nor while the breaker is open (5.9): more than half of the last writes failed by the server.
// A record that the server refuses (403) ends its round as kRefused with every member kBound.
// One thread: every call and callback; answers and timers come back to it through `Executor`.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "gang/api/claim.h"
#include "gang/base/clock.h"
#include "gang/engine/explanation.h"
#include "gang/engine/plan.h"
#include "gang/kube/claim_client.h"
#include "gang/kube/client.h"

namespace gang::binder {

/// Limits and times of the commit path; every one is an option of the configuration.
struct Options {
  std::string scheduler_name = "gang-scheduler";    ///< reportingController of events
  std::string instance = "gang-scheduler";          ///< reportingInstance
  std::string intent_namespace = "gang-scheduler";  ///< where the ConfigMaps of intents are
  std::string epoch;                                ///< of this process; as scheduler::Options
  std::int32_t writes_in_flight_max = 16;           ///< 8 to 32; halved on 429 and 5xx
  Duration commit_deadline = std::chrono::seconds(30);
  Duration slow_round = std::chrono::seconds(10);  ///< before the gang is told what holds it up
  Duration retry_initial = std::chrono::milliseconds(200);
  Duration retry_max = std::chrono::seconds(5);
  std::int32_t status_writes_per_second = 50;
  std::int32_t events_per_second = 25;  ///< sent only when no Binding waits
  std::int32_t event_queue_max = 4096;  ///< further events are dropped and counted
};

/// What the binder tells its shell. Called on the binder's thread.
struct Callbacks {
  std::function<void(engine::RoundOutcome)> round_done;
  std::function<void(engine::GangRef)> rollback_done;
  std::function<void(engine::GangRef)> explain_failed;
  /// A round lacks members after Options::slow_round. At most once per round.
  std::function<void(engine::RoundProgress)> round_slow;
  /// The claims of a round are written: it waits for confirm(). At most once per round.
  std::function<void(engine::ClaimsWritten)> claims_written;
  std::function<void(std::vector<api::StoredIntent>)> intents_found;
  /// With a trouble: it was refused, and some of it stands as it was.
  std::function<void(engine::UndoReport)> round_fenced;
  /// What a fence or a round that ended wrote is not taken back for long; it is tried again. Told
  /// anew when the trouble is another one; without a trouble: that of a round has ended.
  std::function<void(engine::UndoReport)> undo_slow;
  /// Rounds may not start (plans that come meanwhile end as kUnavailable), or may again.
  std::function<void(bool)> writes_blocked;
};

/// How answers and retries come back to the binder's thread. The simulator's runs in virtual time.
struct Executor {
  /// Runs the function on the binder's thread, soon. Callable from any thread.
  std::function<void(std::function<void()>)> post;
  /// Runs the function on the binder's thread after a delay.
  std::function<void(Duration, std::function<void()>)> post_after;
};

/// Counters since start, for metrics.
struct Stats {
  std::int64_t bind_requests = 0, bind_ok = 0, bind_conflicts = 0, bind_unknown = 0;
  std::int64_t pod_reads = 0, status_writes = 0, status_write_failures = 0;
  std::int64_t events_sent = 0, events_dropped = 0;
  std::int64_t rounds_open = 0, rounds_committed = 0, rounds_failed = 0, rollbacks = 0;
  std::int64_t forbidden = 0, probes = 0;
  std::int64_t claim_writes = 0, intent_writes = 0, fences = 0;
  bool breaker_open = false;
};

/// What the binder writes through: pods and groups, and the claims of rounds. Both outlive it.
struct Clients {
  kube::Client& client;
  kube::ClaimClient& claims;
};

/// How long after one find_intents() its shell asks for the next: the last request of a process
/// that died may be executed after its successor has looked.
inline constexpr Duration kIntentScanInterval = std::chrono::minutes(10);

/// Owned by the shell; `clock` outlives it.
class Binder {
 public:
  Binder(Clients clients, const Clock& clock, Options options, Callbacks callbacks,
         Executor executor);
  ~Binder();
  Binder(const Binder&) = delete;
  Binder& operator=(const Binder&) = delete;

  /// Starts a round; ends with exactly one round_done. One open round per gang.
  void commit(const engine::Plan& plan);
  /// The answer to claims_written. Ignored when no round of that stamp waits for it.
  void confirm(const engine::RoundCheck& check);
  /// Looks for what earlier processes left, until the server answers: then one intents_found.
  void find_intents();
  /// Takes back what such a round wrote, bound members aside; ends with exactly one round_fenced.
  void fence(const api::StoredIntent& intent);
  /// Writes conditions and events of an explanation; nothing when the server already has them.
  void explain(const engine::Explanation& explanation);
  /// Says of pods that they are bound: the process that bound them may not have come to it. The
  /// server keeps one such event of a pod.
  void tell_bound(const std::vector<engine::Assignment>& pods);
  /// Says of both claims that another one holds a device of theirs.
  void tell_double_booking(const api::DoubleBooking& booking);
  /// Says of the claim that no slice shows the device.
  void tell_lost_device(const api::ResourceClaim& claim, const api::DeviceName& device);
  /// Deletes what may be deleted; ends with exactly one rollback_done.
  void rollback(const engine::Rollback& rollback);

  /// Stops taking new rounds; those that bind finish or end as kUnavailable by their deadline,
  /// others give their claims back. Fences go on.
  void drain();
  [[nodiscard]] bool idle() const;  ///< nothing in flight and nothing queued but events
  [[nodiscard]] const Stats& stats() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace gang::binder
