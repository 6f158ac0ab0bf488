// ClaimCreation: makes the claim that stands behind the extended resources of a pod.
//
//   POST --201--> kWritten
//        --409, or no answer--> read by name: ours --> kWritten
//                               nobody's --> POST again;  somebody else's --> kTaken
//
// The name is made of the round's stamp and the pod's uid, so a lost answer leaves no second claim.
// What a POST that comes late makes is owned by the pod, holds nothing, and is deleted before the
// pod is planned again. Source: the devices contract, 6.4 and 6.6.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "binder/claim_step.h"

namespace gang::binder {

/// See the head of the file. Owned by a round; binder's thread only. At most one request or timer
/// is outstanding. Calls `done` once.
class ClaimCreation {
 public:
  ClaimCreation(const ClaimPort& port, engine::ClaimCreation creation, std::function<void()> done);

  void start() { send(); }
  /// Sends nothing further. Ends once no request is outstanding.
  void stop(const std::string& why);

  [[nodiscard]] ClaimEnd end() const { return end_; }
  /// Whether the claim may be there.
  [[nodiscard]] bool is_touched() const { return has_sent_; }
  [[nodiscard]] std::string name() const { return "claim " + creation_.claim.text(); }
  /// Why, for people; empty for kWritten.
  [[nodiscard]] const std::string& message() const { return message_; }
  /// What the newest request that failed said; empty while none has.
  [[nodiscard]] const std::string& trouble() const { return trouble_; }
  [[nodiscard]] const engine::ClaimCreation& creation() const { return creation_; }
  /// What is to be written to the claim. REQUIRES: end() is kWritten.
  [[nodiscard]] engine::ClaimWrite write() const;

 private:
  void send();
  void on_sent(const kube::Answer& answer, const std::optional<api::ResourceClaim>& claim);
  void read();
  void on_read(const kube::Answer& answer, const std::optional<api::ResourceClaim>& claim);
  void judge(const api::ResourceClaim& claim);
  void again(const kube::Answer& answer);
  void finish(ClaimEnd end, const std::string& message = "");

  const ClaimPort port_;
  const engine::ClaimCreation creation_;
  const std::function<void()> done_;
  Backoff backoff_;
  api::ResourceClaim claim_;
  ClaimEnd end_ = ClaimEnd::kOpen;
  std::string message_;
  std::string trouble_;
  bool is_busy_ = false;  ///< a request or a timer is outstanding
  bool has_sent_ = false;
  std::optional<std::string> stopped_;
  Lifeline lifeline_;
};

/// Whether the claim was made for the extended resources of that pod.
[[nodiscard]] bool is_made_for(const api::ResourceClaim& claim, const api::Uid& pod);

}  // namespace gang::binder
