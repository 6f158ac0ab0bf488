// PodStatusStep: tells one pending pod why it is not placed.
//
// The PATCH of PodScheduled=False carries uid and resourceVersion, so a pod that was bound
// meanwhile is never overwritten: the 409 is resolved by a read, and a pod that is bound, deleting,
// gated, ended or replaced is left alone. Source: commit protocol 5.3, scheduling contract 8.2.
#pragma once

#include <functional>
#include <optional>

#include "binder/backoff.h"
#include "binder/channel.h"
#include "binder/lifeline.h"
#include "binder/paced_queue.h"

namespace gang::binder {

enum class PodStatusEnd {
  kWritten,
  kNotNeeded,  ///< there already, or the pod is not to be told any more
  kDropped,    ///< superseded
  kFailed,     ///< refused, or tried too often
};

/// See the head of the file. Owned by an ExplainJob; binder's thread only. Calls `done` once.
class PodStatusStep {
 public:
  PodStatusStep(Channel& channel, PacedQueue& queue, engine::MemberText member,
                api::Condition wanted);
  PodStatusStep(const PodStatusStep&) = delete;
  PodStatusStep& operator=(const PodStatusStep&) = delete;

  void start(std::function<void()> done);
  /// Sends nothing more; ends at once unless an answer is awaited.
  void stop();

  [[nodiscard]] bool ended() const { return end_.has_value(); }
  [[nodiscard]] const engine::MemberText& member() const { return member_; }
  [[nodiscard]] const api::Condition& wanted() const { return wanted_; }
  /// REQUIRES: ended().
  [[nodiscard]] PodStatusEnd end() const { return *end_; }

 private:
  void enqueue();
  bool send();
  void on_answer(const kube::Answer& answer);
  void read();
  void on_read(const kube::Answer& answer, const std::optional<api::Pod>& pod);
  void on_refusal(const kube::Answer& answer);
  void retry(const kube::Answer& answer);
  void finish(PodStatusEnd end);

  Channel& channel_;
  PacedQueue& queue_;
  engine::MemberText member_;  ///< with the version and condition last seen
  api::Condition wanted_;
  Backoff backoff_;
  std::function<void()> done_;
  bool awaits_answer_ = false;
  bool stopped_ = false;
  bool must_read_ = false;
  bool token_renewed_ = false;
  int tries_ = 0;
  std::optional<PodStatusEnd> end_;
  Lifeline lifeline_;
};

}  // namespace gang::binder
