// ClaimPort: the ClaimClient as the steps of the binder see it.
#pragma once

#include <functional>

#include "binder/channel.h"
#include "binder/write_window.h"
#include "gang/kube/claim_client.h"

namespace gang::binder {

/// Sends requests about claims and intents through a Channel, which brings the answers back to the
/// binder's thread and lets the watcher of writes hear them; counts. A missing right to reserve
/// devices, which the server answers as invalid, is handed on as a missing right. Writes wait for
/// their turn in the window of all rounds. What takes something back is sent through to_undo(): one
/// object whose writes fail for ever slows nobody else down. A value: what it refers to outlives
/// it. Does not retry and judges no answer.
class ClaimPort {
 public:
  ClaimPort(kube::ClaimClient& client, Channel& channel, WriteWindow& window)
      : client_(client), channel_(channel), window_(window) {}

  void create_claim(const api::NewClaim& claim, kube::ClaimDone done) const;
  void delete_claim(const api::ClaimDelete& request, kube::Done done) const;
  void patch_claim(const api::ClaimPatch& patch, kube::ClaimDone done) const;
  void patch_claim_status(const api::ClaimStatusPatch& patch, kube::ClaimDone done) const;
  /// Changes nothing of the claim but an annotation: every write with its version fails then.
  void move_version(const api::ResourceClaim& claim, kube::ClaimDone done) const;
  void read_claim(const api::ObjectKey& claim, kube::ClaimDone done) const;
  void create_intent(const api::ConfigMap& map, kube::ConfigMapDone done) const;
  void update_intent(const api::ConfigMap& map, kube::ConfigMapDone done) const;
  void read_intent(const api::ObjectKey& map, kube::ConfigMapDone done) const;
  void delete_intent(const kube::ConfigMapDelete& request, kube::Done done) const;
  /// All of Options::intent_namespace.
  void list_intents(kube::ConfigMapsDone done) const;

  /// The same, but the answers to its writes neither move the window nor reach the watcher of
  /// writes.
  [[nodiscard]] ClaimPort to_undo() const;

  [[nodiscard]] Channel& channel() const { return channel_; }

 private:
  template <class... Object, class Send>
  void in_turn(std::function<void(const kube::Answer&, Object...)> done, Send send) const;
  void note_answer(WriteWindow::Ticket ticket, const kube::Answer& answer) const;

  kube::ClaimClient& client_;
  Channel& channel_;
  WriteWindow& window_;
  bool is_undo_ = false;
};

}  // namespace gang::binder
