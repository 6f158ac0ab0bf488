// ClaimRound: a round that writes claims before it binds.
//
//   intent --held--> claims made for extended resources, intent read again
//          --> claims --all written--> these pods told of their claims --> claims_written ...
//          confirm() --> intent read again
//          --still ours--> a Round over the bindings, its end kept
//          --> claims of members that are not bound given back, those made for them deleted
//          --> round_done --> intent deleted --> closed
//
// The intent is read after claims were made and before they get devices: whoever took it over
// either finds them by their names, or is seen here. Until the intent was read again nothing is
// bound and every failure, a deadline or drain() ends in the last line. The intent of another
// round, found in the place of this one's, is taken back first, and this round ends with it. A
// round that finds its intent taken by somebody else sends nothing more and leaves everything to
// them. A round that inherits an older intent writes over it and keeps the claims and members that
// only the older one lists. Source: commit protocol 5.2 P3 to P10, 5.3, 5.5.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "binder/claim_creation.h"
#include "binder/fence_run.h"
#include "binder/give_back.h"
#include "binder/intent_step.h"
#include "binder/pod_claim_step.h"
#include "binder/round.h"
#include "binder/step_stage.h"

namespace gang::binder {

/// See the head of the file. Owned by the Binder; binder's thread only. Calls `done` once, not
/// inside start(), and then `closed`: between them it is busy with the intent alone, and no other
/// round of the gang may begin.
class ClaimRound {
 public:
  /// What it works with; all outlive it.
  struct Parts {
    ClaimPort claims;
    Round::Parts bindings;
    std::function<void(engine::ClaimsWritten)> written;
    FenceRun::Hear undo_slow;
    std::function<void()> closed;
  };

  ClaimRound(Parts parts, engine::Plan plan, std::function<void(engine::RoundOutcome)> done);

  void start();
  void confirm(const engine::RoundCheck& check);
  /// Ends the round unless it binds already.
  void drain(const std::string& why);
  [[nodiscard]] bool is_closed() const { return stage_ == Stage::kClosed; }
  [[nodiscard]] bool need_is_met() const { return bindings_ && bindings_->need_is_met(); }

 private:
  enum class Stage {
    kIntent,
    kMaking,
    kClaims,
    kPods,
    kWaiting,
    kChecking,
    kBinding,
    kEnding,
    kClosed
  };

  void on_intent();
  void take_back_older();
  template <class Step>
  bool is_written(const StepStage<Step>& stage, engine::RoundEnd lost);
  void on_made();
  void go_on(Stage stage, void (ClaimRound::*then)());
  void write_claims();
  void on_claims();
  void on_pods();
  void tell_written();
  void tell_awaited();
  void fence_movers();
  void check_intent();
  void bind();
  void add_claim(engine::ClaimWrite write);
  [[nodiscard]] Gate gate();
  void ask_gate(const std::function<void(GateWord)>& then);
  void on_bound(engine::RoundOutcome outcome);
  void on_overtaken();
  void tell_slow();
  [[nodiscard]] std::string trouble() const;
  void begin_deadline(std::size_t writes);
  void end_deadline() { ++deadline_number_; }
  void abort(engine::RoundEnd end, const std::string& why);
  void end_when_quiet();
  void end_with(engine::RoundOutcome outcome);
  void give_back();
  [[nodiscard]] std::string undo_trouble() const;
  void on_given_back();
  void on_intent_removed();
  void report();
  void remove_intent();
  void close();
  [[nodiscard]] std::string words_of_abort() const;
  [[nodiscard]] GiveBack::Task give_back_task() const;
  [[nodiscard]] bool is_settled(const api::IntentClaim& claim,
                                const std::set<api::Uid>& bound) const;
  [[nodiscard]] bool may_be_made(const api::ObjectKey& claim) const;
  [[nodiscard]] const ClaimStep* step_of(const api::Uid& claim) const;
  [[nodiscard]] bool inherits() const { return plan_.inherited.has_value(); }
  [[nodiscard]] bool is_aborting() const { return abort_.has_value(); }

  /// Why the round ends before it binds.
  struct Abort {
    engine::RoundEnd end = engine::RoundEnd::kUnavailable;
    std::string why;
  };

  const Parts parts_;
  engine::Plan plan_;
  const std::function<void(engine::RoundOutcome)> done_;
  Stage stage_ = Stage::kIntent;
  IntentStep intent_;
  StepStage<ClaimCreation> creations_;
  StepStage<ClaimStep> claims_;
  StepStage<PodClaimStep> pods_;                   ///< those that claims were made for
  std::vector<std::unique_ptr<PodFence>> movers_;  ///< members that go to another node than before
  std::size_t movers_open_ = 0;
  std::unique_ptr<Round> bindings_;
  std::unique_ptr<GiveBack> give_back_;
  std::unique_ptr<FenceRun> older_;
  Backoff backoff_;
  UndoWatch watch_;  ///< of what ends a round that holds an intent
  std::optional<Abort> abort_;
  std::optional<engine::RoundOutcome> outcome_;
  bool is_overtaken_ = false;  ///< the intent is somebody else's: nothing more is sent
  bool told_slow_ = false;
  bool is_reported_ = false;
  int deadline_number_ = 0;
  Lifeline lifeline_;
};

/// The intent of a round: what the plan touches, and what the inherited one lists besides.
[[nodiscard]] api::Intent intent_of(const engine::Plan& plan, const std::string& epoch);

}  // namespace gang::binder
