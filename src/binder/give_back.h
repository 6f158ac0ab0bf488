// GiveBack: takes back what a round wrote to claims for members that are not bound.
//
//   pods that an older process may still bind: a PodFence each
//   then, in reverse order, one claim after the other: a ClaimReturn without the members that are
//   not bound, and without the PodGroup where no member is; a ClaimRemoval for those that the round
//   made for one of them
//
// Pods before claims: the reverse order ends in a pod that is bound without its devices. Whoever
// aborts a round and whoever ends what another process left run the same steps; they differ in what
// they know of the pods. Once a gate is shut no claim is written any more. Source: commit
// protocol 5.5, 6 R2.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "binder/claim_removal.h"
#include "binder/claim_return.h"
#include "binder/pod_fence.h"

namespace gang::binder {

/// See the head of the file. Owned by a ClaimRound or a FenceRun; binder's thread only. Calls
/// `done` once, maybe inside start().
class GiveBack {
 public:
  /// What a round touched, and what is known of it.
  struct Task {
    api::Intent intent;
    std::set<api::Uid> bound;   ///< members that are known to be bound
    bool fences_pods = false;   ///< the others may still be bound by an older process
    std::set<api::Uid> unsure;  ///< claims of which an older write may still be executed
  };

  /// `gate` is asked for each claim that is to be written.
  GiveBack(const ClaimPort& port, Task task, Gate gate, std::function<void()> done);

  void start();
  /// Members that are bound, and claims that had something to give back.
  [[nodiscard]] std::int32_t bound_count() const;
  [[nodiscard]] std::int32_t given_back_count() const;
  /// What it meets now and tries again, for people; empty: it goes on.
  [[nodiscard]] std::string trouble() const;
  /// Why something is still as it was, for people; empty: everything is given back, or somebody
  /// else has the round and what was not given back is theirs.
  [[nodiscard]] const std::string& refusal() const { return refusal_; }

 private:
  void fence_pods();
  void on_fenced(const PodFence& fence);
  void return_claims();
  void next_claim();
  void remove_claim(const api::IntentClaim& claim);
  void return_claim(const api::IntentClaim& claim);
  void on_returned(const ClaimReturn& step);
  void go_on(const std::string& refusal);
  [[nodiscard]] std::set<api::Uid> idle_consumers() const;

  const ClaimPort port_;
  Task task_;
  const Gate gate_;
  const std::function<void()> done_;
  std::vector<std::unique_ptr<PodFence>> fences_;
  std::size_t fences_started_ = 0;
  std::size_t fences_running_ = 0;
  std::size_t claims_left_ = 0;
  std::vector<std::unique_ptr<ClaimReturn>> returns_;  ///< of both the last one may be under way
  std::vector<std::unique_ptr<ClaimRemoval>> removals_;
  std::string refusal_;
};

}  // namespace gang::binder
