// Simulator: the production Scheduler and Binder against a SimCluster, in virtual time.
//
// The loop delivers watch deltas, ticks the scheduler when it asked for it, carries its effects out
// with the binder, executes requests, lets the claim controller act and runs timers, always in the
// same order: equal scenarios give equal bytes. Time moves only in advance(). crash() loses
// everything the daemon knew; restart() starts a new one from lists. One thread.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gang/base/clock.h"
#include "gang/binder/binder.h"
#include "gang/scheduler/scheduler.h"
#include "gang/sim/claim_controller.h"
#include "gang/sim/sim_cluster.h"

namespace gang::sim {

/// Something a person watching the run would want to read: one line, perhaps with details.
struct TraceEntry {
  Duration at{};  ///< since the start of the run
  std::string gang;
  std::string text;
  std::vector<std::string> details;
};

/// Settings of a run; the defaults are the daemon's.
struct SimulatorOptions {
  scheduler::Options scheduler;
  binder::Options binder;
  /// How long after a change the claim controller acts; nothing: there is none.
  std::optional<Duration> claim_controller_delay = Duration::zero();
};

/// A crash that comes with a write.
struct CrashAfter {
  int count = 1;
  bool all_writes = false;  ///< false: only Bindings count; events never do
};

/// See the head of the file.
class Simulator {
 public:
  explicit Simulator(SimulatorOptions options);
  ~Simulator();
  Simulator(const Simulator&) = delete;
  Simulator& operator=(const Simulator&) = delete;

  [[nodiscard]] SimCluster& cluster() { return cluster_; }
  [[nodiscard]] const SimCluster& cluster() const { return cluster_; }
  /// REQUIRES: the daemon is up.
  [[nodiscard]] scheduler::Scheduler& scheduler() { return *daemon_->scheduler; }
  [[nodiscard]] bool daemon_is_up() const { return daemon_ != nullptr; }
  /// Of the daemon; pods that name it are ours.
  [[nodiscard]] const std::string& scheduler_name() const;
  /// Tells the daemon what its watches have, as the next settle() begins. Plans nothing and changes
  /// nothing on the server. REQUIRES: the daemon is up.
  void hear();

  /// Runs everything due at the current time until nothing is left to do, at most kStepsMax steps.
  void settle();
  /// Moves time to each timer in turn and settles there, up to `step` from now.
  void advance(Duration step);
  [[nodiscard]] Duration elapsed() const { return clock_.monotonic(); }
  [[nodiscard]] TimePoint now() const { return clock_.now(); }

  /// The daemon dies: at once, or right after the server has executed further writes.
  void crash();
  void crash_after(CrashAfter crash) { crash_after_ = crash; }
  /// A new daemon starts from lists. REQUIRES: the daemon is down.
  void restart();

  /// Entries since the last call.
  [[nodiscard]] std::vector<TraceEntry> take_trace();

  static constexpr int kStepsMax = 1'000'000;

 private:
  /// Everything that a crash loses.
  struct Daemon {
    std::unique_ptr<scheduler::Scheduler> scheduler;
    std::unique_ptr<binder::Binder> binder;
    std::optional<TimePoint> wake_at;
    std::deque<std::function<void()>> posted;
    std::multimap<TimePoint, std::function<void()>> timers;
    std::map<cluster::GangId, engine::Plan> open_plans;  ///< for the trace of their outcome
  };

  bool step();
  bool run_posted();
  bool run_timer();
  bool deliver_deltas();
  bool execute_request();
  bool tick_if_due();
  void input(const scheduler::Input& input);
  void perform(scheduler::Effects effects);
  void trace_outcome(const engine::RoundOutcome& outcome);
  void trace_explanation(const engine::Explanation& explanation);
  void trace(const std::string& gang, std::string text, std::vector<std::string> details = {});
  [[nodiscard]] std::optional<TimePoint> next_event();
  void make_daemon();
  void look_for_intents(Daemon& daemon);
  [[nodiscard]] binder::Callbacks make_callbacks();

  SimulatorOptions options_;
  ManualClock clock_;
  SimCluster cluster_;
  ClaimController claim_controller_;
  std::unique_ptr<Daemon> daemon_;
  std::optional<CrashAfter> crash_after_;
  int start_count_ = 0;
  std::vector<TraceEntry> trace_;
};

}  // namespace gang::sim
