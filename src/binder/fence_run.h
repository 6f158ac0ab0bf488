// FenceRun: ends a round of which only its intent is left.
//
//   intent marked Aborting with our epoch --> GiveBack, every pod and claim changed --> intent
//   deleted
//
// Whoever wrote the round and still runs finds the mark before it binds, or finds that what it knew
// of the pods and claims is old. An intent that somebody else took meanwhile is left to them.
// Source: commit protocol 6 R2.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "binder/give_back.h"
#include "binder/intent_step.h"
#include "binder/undo_watch.h"
#include "gang/engine/explanation.h"

namespace gang::binder {

/// See the head of the file. Owned by the Binder or a ClaimRound; binder's thread only. Goes on
/// until the server answers. Calls `done` once, not inside start().
class FenceRun {
 public:
  using Hear = std::function<void(const engine::UndoReport&)>;

  /// An intent without uid has no ConfigMap: only pods and claims are changed. `slow` hears what it
  /// meets for long, `done` how it ended.
  FenceRun(const ClaimPort& port, api::StoredIntent stored, Hear slow, Hear done);

  void start();

 private:
  [[nodiscard]] engine::UndoReport report(const std::string& trouble) const;
  [[nodiscard]] bool is_round() const { return !stored_.meta.uid.empty(); }
  [[nodiscard]] std::string trouble() const;
  void on_intent();
  [[nodiscard]] Gate gate();
  void give_back();
  void on_given_back();
  void finish(const std::string& refusal = "");
  void give_up(const std::string& why);

  const ClaimPort port_;
  const api::StoredIntent stored_;
  const Hear done_;
  IntentStep intent_;
  std::unique_ptr<GiveBack> give_back_;
  bool is_overtaken_ = false;  ///< somebody else took the intent
  UndoWatch watch_;
  Lifeline lifeline_;
};

}  // namespace gang::binder
