// BindStep: one pod from its plan to a definite end.
//
// Problem: a Binding may be executed although its answer was lost, even long after its sender gave
// up (the server cuts a request at 34 s); a pod must never be bound to two nodes, and a round must
// not report "not bound" for a pod that is bound a second later.
// Idea: every Binding carries the uid and a resourceVersion, and goes to the one planned node.
// After any answer but success or a plain refusal the pod is read. Let U be the requests of unknown
// outcome and v the version just read, the pod still unbound:
//  - U sent with a version other than v can never succeed: versions only move on. It is definite.
//  - U sent with v may still succeed. Sending again with v is safe: the first of the two that is
//    executed moves the version, so the other one fails; both name the same node, so it does not
//    matter which. A 409 is then resolved by the next read.
//  - "not bound" is reported only when no U is left: the version has moved, or the read was sent
//    40 s after the last U.
// A pod without known version is read before the first Binding, so that all of them carry one.
// In a round with an intent, a Binding with a version that the step read itself is sent only when
// the gate is open. A pod whose status names another claim for its extended
// resources than the one of the round is not bound: its kubelet would wait for that claim for ever.
// Source: commit protocol 5.2 P7, 5.3, 5.4, 8; the devices contract, 6.4.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "binder/backoff.h"
#include "binder/channel.h"
#include "binder/gate.h"
#include "binder/lifeline.h"
#include "binder/write_window.h"

namespace gang::binder {

/// The definite end of one pod's bind.
struct BindEnd {
  engine::MemberEnd end = engine::MemberEnd::kNotBound;
  bool refused = false;  ///< our rights or our request are wrong: retrying does not help
  bool stopped =
      false;  ///< the round told it to stop, or the server fails: says nothing of the pod
  bool answered = false;  ///< not bound although the server answers: it refuses this request so far
  std::string message;
};

/// See the head of the file. Owned by a Round; binder's thread only. At most one request or timer
/// of a step is outstanding. Calls `done` once, then does nothing more.
class BindStep {
 public:
  /// What to bind and in which lane.
  struct Task {
    engine::Assignment assignment;
    std::string stamp;       ///< empty = no annotation
    std::string claim_name;  ///< that its status names for extended resources; empty = none
    Lane lane = Lane::kNeed;
    Gate gate;  ///< asked before a Binding with a version that was read; empty = always open
  };

  BindStep(Channel& channel, WriteWindow& window, Task task, std::function<void()> done);
  ~BindStep();
  BindStep(const BindStep&) = delete;
  BindStep& operator=(const BindStep&) = delete;

  void start();
  /// Sends no further Binding. Ends at once when everything is definite, else once it is.
  void stop(const std::string& why);

  [[nodiscard]] bool ended() const { return phase_ == Phase::kEnded; }
  [[nodiscard]] bool bound() const { return ended() && end_.end == engine::MemberEnd::kBound; }
  [[nodiscard]] const Task& task() const { return task_; }
  /// What the newest Binding failed with; empty while none has.
  [[nodiscard]] const std::string& trouble() const { return trouble_; }
  /// REQUIRES: ended().
  [[nodiscard]] const BindEnd& end() const { return end_; }

 private:
  enum class Phase { kIdle, kAsking, kWaiting, kSending, kReading, kPausing, kEnded };

  /// The requests of unknown outcome that could still be executed: all carry this version.
  struct Unknown {
    api::ResourceVersion version;
    Duration executable_until;  ///< monotonic
  };

  void submit();
  void ask_gate();
  void on_gate(GateWord word);
  void send(WriteWindow::Ticket ticket);
  void on_answer(const kube::Answer& answer);
  void judge(const kube::Answer& answer);
  void on_refusal(const kube::Answer& answer);
  void note_unknown(const kube::Answer& answer);
  void read();
  void on_read(const kube::Answer& answer, const std::optional<api::Pod>& pod);
  [[nodiscard]] std::optional<BindEnd> verdict_of(const api::Pod& pod) const;
  void on_unbound(const api::Pod& pod);
  [[nodiscard]] std::string claim_problem(const api::Pod& pod) const;
  void retry_after_read(bool moved);
  void pause(Duration duration);
  void resume();
  void give_up(BindEnd end);
  void finish(BindEnd end);

  Channel& channel_;
  WriteWindow& window_;
  const Task task_;
  const std::function<void()> done_;
  Backoff backoff_;
  api::ResourceVersion version_;
  Phase phase_ = Phase::kIdle;
  WriteWindow::Ticket ticket_;
  bool read_needed_ = false;  ///< an answer is open until the pod has been read
  bool asks_gate_ = false;    ///< version_ was read after the round was last known to hold
  Duration sent_at_{};
  Duration read_sent_at_{};
  kube::Outcome last_outcome_ = kube::Outcome::kOk;  ///< of a Binding; kOk: none was sent yet
  std::optional<Unknown> unknown_;
  std::optional<BindEnd> giving_up_;  ///< the end to report once nothing is unknown
  bool token_renewed_ = false;
  std::int32_t conflicts_ = 0;
  std::int32_t equal_failures_ = 0;
  std::string failure_;
  std::string trouble_;
  BindEnd end_;
  Lifeline lifeline_;
};

}  // namespace gang::binder
