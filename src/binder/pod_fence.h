// PodFence: makes sure that no older Binding of one pod can succeed any more.
//
// Problem: a Binding of a process that is gone may still be on its way, and a claim must not be
// taken from a pod that is bound a moment later. Idea: a Binding carries the version that its
// sender knew, so once the pod has changed it fails. The pod is read: bound, gone or going, it is
// settled; else a condition is patched whose message is new each time. Source: commit protocol 6
// R2.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "binder/backoff.h"
#include "binder/channel.h"
#include "binder/lifeline.h"
#include "gang/api/intent.h"

namespace gang::binder {

enum class PodFenceEnd {
  kOpen,
  kUnbound,  ///< and stays so, but for Bindings of this process
  kBound,    ///< or not ours to judge: of another scheduler
  kGone,     ///< or replaced, or being deleted without ever having had a node
  kRefused,
};

/// See the head of the file. Owned by a GiveBack or a ClaimRound; binder's thread only. At most one
/// request or timer is outstanding. Calls `done` once.
class PodFence {
 public:
  PodFence(Channel& channel, api::IntentMember member, std::function<void()> done);

  void start() { read(); }
  [[nodiscard]] PodFenceEnd end() const { return end_; }
  [[nodiscard]] const api::IntentMember& member() const { return member_; }
  /// "pod ns/p: <answer>" while a request that failed is tried again, else "".
  [[nodiscard]] const std::string& trouble() const { return trouble_; }
  /// Why it could not be fenced, for people.
  [[nodiscard]] const std::string& refusal() const { return refusal_; }

 private:
  void read();
  void on_read(const kube::Answer& answer, const std::optional<api::Pod>& pod);
  void judge(const api::Pod& pod);
  void mark(const api::Pod& pod);
  void on_marked(const kube::Answer& answer);
  void again(const kube::Answer& answer);
  void refuse(const kube::Answer& answer);
  void finish(PodFenceEnd end);

  Channel& channel_;
  const api::IntentMember member_;
  const std::function<void()> done_;
  Backoff backoff_;
  PodFenceEnd end_ = PodFenceEnd::kOpen;
  std::string refusal_;
  std::string trouble_;
  std::optional<api::ResourceVersion> first_seen_;
  bool was_invalid_ = false;
  Lifeline lifeline_;
};

}  // namespace gang::binder
