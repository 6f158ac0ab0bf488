// ClaimRemoval: deletes a claim that a round made for a pod which is not bound by it.
//
//   read by name: made for that pod?
//      --> PATCH without devices and reservation --> PATCH without our finalizer --> DELETE by uid
//
// Each step is left out where there is nothing to do. A claim of the name that was not made for the
// pod is left alone, and so is one that somebody else is named in. The status of the pod may go on
// to name it, since the server keeps that field. Source: the devices contract, 1.10, 6.5 and 7.3.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "binder/backoff.h"
#include "binder/claim_port.h"
#include "binder/lifeline.h"
#include "gang/api/intent.h"

namespace gang::binder {

/// See the head of the file. Owned by a GiveBack; binder's thread only. At most one request or
/// timer is outstanding. Goes on until the server answers. Calls `done` once.
class ClaimRemoval {
 public:
  /// REQUIRES: claim.made_for is the uid of the pod.
  ClaimRemoval(const ClaimPort& port, api::IntentClaim claim, std::function<void()> done);

  void start() { read(); }
  /// "claim ns/c: <answer>" while a request that failed is tried again, else "".
  [[nodiscard]] const std::string& trouble() const { return trouble_; }
  /// Whether there was a claim to delete.
  [[nodiscard]] bool has_changed() const { return has_changed_; }
  /// Why it is still there, for people; empty: it is gone, or not the claim that was meant.
  [[nodiscard]] const std::string& refusal() const { return refusal_; }

 private:
  void read();
  void on_read(const kube::Answer& answer, const std::optional<api::ResourceClaim>& claim);
  void judge(const api::ResourceClaim& claim);
  void free_devices(const api::ResourceClaim& claim);
  void drop_finalizer(const api::ResourceClaim& claim);
  void remove(const api::ResourceClaim& claim);
  void on_written(const kube::Answer& answer, const std::optional<api::ResourceClaim>& claim);
  void on_failed(const kube::Answer& answer);
  void again(const kube::Answer& answer);
  void finish(const std::string& refusal = "");
  [[nodiscard]] kube::ClaimDone to_written();

  const ClaimPort port_;
  const api::IntentClaim claim_;
  const std::function<void()> done_;
  Backoff backoff_;
  std::string refusal_;
  std::string trouble_;
  bool was_invalid_ = false;
  bool has_changed_ = false;
  Lifeline lifeline_;
};

}  // namespace gang::binder
