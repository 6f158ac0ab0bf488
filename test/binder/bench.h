// BinderBench: a Binder with a FakeClient, a hand-driven executor and virtual time.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "binder/fake_claims.h"
#include "binder/fake_client.h"
#include "gang/binder/binder.h"

namespace gang::test {

/// Runs what is posted when told, in the order of its time, then of its posting. One thread.
class HandExecutor {
 public:
  explicit HandExecutor(ManualClock& clock) : clock_(clock) {}

  [[nodiscard]] binder::Executor executor();
  /// Runs everything that is due now, and what that posts.
  void run();
  /// Moves the clock on, stopping at each timer.
  void advance(Duration duration);

 private:
  using Due = std::pair<Duration, std::uint64_t>;
  void add(Duration pause, std::function<void()> function);
  bool run_next(Duration until);

  ManualClock& clock_;
  std::uint64_t next_ = 0;
  std::map<Due, std::function<void()>> waiting_;
};

/// One gang "train" of the pods m0, m1, ... in namespace "ns", and what the binder reports.
class BinderBench {
 public:
  explicit BinderBench(const binder::Options& options = {});

  /// A Binder in the place of the one before, on the same server.
  void start(const binder::Options& options);

  /// Pods m0 .. m<count - 1> and the group on the server.
  void create_gang(int count);
  /// A plan of the first `count` pods on n0, n1, ...; the first `minimum` are needed.
  [[nodiscard]] engine::Plan plan(int minimum, int count) const;
  [[nodiscard]] engine::Assignment assignment(const std::string& pod,
                                              const std::string& node) const;
  [[nodiscard]] engine::GangRef gang() const;
  /// The verdict for the pods named, in their present version and condition.
  [[nodiscard]] engine::Explanation explanation(engine::Verdict verdict, std::string message,
                                                const std::vector<std::string>& pods = {}) const;

  void commit(const engine::Plan& plan);
  void explain(const engine::Explanation& explanation);
  void rollback(const engine::Rollback& rollback);
  void advance(Duration duration) { executor.advance(duration); }
  void run() { executor.run(); }

  /// "committed", "members_lost", ... of the only round so far; "open" before.
  [[nodiscard]] std::string round_end() const;
  /// "m0=bound m1=lost ..." of that round.
  [[nodiscard]] std::string members() const;

  ManualClock clock{TimePoint(std::chrono::seconds(1000))};
  HandExecutor executor{clock};
  FakeClient client;
  FakeClaims claims;
  std::vector<engine::RoundOutcome> outcomes;
  std::vector<engine::GangRef> rollbacks_done;
  std::vector<engine::GangRef> explains_failed;
  std::vector<engine::RoundProgress> slow;  ///< what round_slow was told
  std::vector<bool> blocked;                ///< what writes_blocked was told
  std::vector<engine::ClaimsWritten> written;
  std::vector<std::vector<api::StoredIntent>> intents;  ///< what intents_found was told
  std::vector<engine::UndoReport> fenced;
  std::vector<engine::UndoReport> undos;  ///< what undo_slow was told
  std::unique_ptr<binder::Binder> binder;
};

}  // namespace gang::test
