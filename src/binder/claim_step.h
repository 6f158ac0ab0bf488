// ClaimStep: one claim from its plan to a definite end.
//
// Problem: a claim is written in two steps (finalizer, then allocation and reservation at once),
// the answers may be lost, others write it meanwhile, and devices must not be given twice.
// Idea: every write carries uid and version, so at most one of several writers succeeds; after any
// answer that is not definite the claim is read and judged anew: ours already, still to be written
// if the gate is open, or lost. A claim that says everything already is written all the same: who
// wrote it may be a process that was stopped and gives it back when it goes on, and what that knew
// of the claim has to be old before a pod is bound. What was written is given back by ClaimReturn.
// Source: the devices contract, 7; the commit protocol, 5.3.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "binder/backoff.h"
#include "binder/claim_port.h"
#include "binder/gate.h"
#include "binder/lifeline.h"
#include "gang/engine/plan.h"

namespace gang::binder {

enum class ClaimEnd {
  kOpen,
  kWritten,  ///< it has the planned devices and names every consumer
  kLost,     ///< gone, replaced, being deleted, or without the devices that it had
  kTaken,    ///< it has other devices than planned
  kRefused,  ///< our rights or our request are wrong
  kStopped,  ///< told to stop
};

/// See the head of the file. Owned by a round; binder's thread only. At most one request or timer
/// is outstanding. Calls `done` once.
class ClaimStep {
 public:
  /// `gate` is asked before a write with a version that was read.
  ClaimStep(const ClaimPort& port, engine::ClaimWrite write, std::string stamp, Gate gate,
            std::function<void()> done);

  void start();
  /// Sends nothing further. Ends once no request is outstanding.
  void stop(const std::string& why);

  [[nodiscard]] ClaimEnd end() const { return end_; }
  /// Whether the claim may name this round's consumers.
  [[nodiscard]] bool is_touched() const { return has_sent_ || end_ == ClaimEnd::kWritten; }
  /// Whether a write of this step may still be executed.
  [[nodiscard]] bool is_unknown() const { return is_unknown_; }
  [[nodiscard]] std::string name() const { return "claim " + claim_.meta.key.text(); }
  /// Why, for people; empty for kWritten.
  [[nodiscard]] const std::string& message() const { return message_; }
  /// What the newest request that failed said; empty while none has.
  [[nodiscard]] const std::string& trouble() const { return trouble_; }
  [[nodiscard]] const engine::ClaimWrite& write() const { return write_; }
  /// As it was seen last.
  [[nodiscard]] const api::ResourceClaim& claim() const { return claim_; }

 private:
  void proceed();
  void add_finalizer();
  void write_status();
  void on_written(const kube::Answer& answer, const std::optional<api::ResourceClaim>& claim);
  void read();
  void on_read(const kube::Answer& answer, const std::optional<api::ResourceClaim>& claim);
  void ask_gate();
  void on_gate(GateWord word);
  void again(const kube::Answer& answer);
  void pause(Duration time);
  void finish(ClaimEnd end, std::string message = {});
  [[nodiscard]] std::optional<ClaimEnd> judge() const;
  [[nodiscard]] bool is_to_move() const { return !has_moved_ && !has_sent_; }
  [[nodiscard]] bool has_planned_devices() const;
  [[nodiscard]] bool names_consumers() const;
  [[nodiscard]] api::Allocation allocation_to_write() const;
  [[nodiscard]] kube::ClaimDone returning(
      void (ClaimStep::*then)(const kube::Answer&, const std::optional<api::ResourceClaim>&));

  const ClaimPort port_;
  const engine::ClaimWrite write_;
  const std::string stamp_;
  const Gate gate_;
  const std::function<void()> done_;
  Backoff backoff_;
  api::ResourceClaim claim_;
  ClaimEnd end_ = ClaimEnd::kOpen;
  std::string message_;
  std::string trouble_;
  bool is_busy_ = false;     ///< a request or a timer is outstanding
  bool has_sent_ = false;    ///< a status was sent, whatever became of it
  bool is_unknown_ = false;  ///< a write may still be executed
  bool has_moved_ = false;   ///< a write of this step was answered as executed
  bool token_renewed_ = false;
  std::optional<std::string> stopped_;
  std::int32_t conflicts_ = 0;
  Lifeline lifeline_;
};

/// "claim ns/c: <why>" of a step that has not written; `trouble` is what its newest request failed
/// with, and says more than that it was stopped.
[[nodiscard]] std::string text_of_end(const std::string& name, ClaimEnd end,
                                      const std::string& trouble, const std::string& why);

/// Whether both give the same devices on the same terms; share ids and times aside, in any order.
[[nodiscard]] bool same_devices(const api::Allocation& a, const api::Allocation& b);

}  // namespace gang::binder
