#include "binder/claim_removal.h"

#include <algorithm>
#include <utility>

#include "binder/claim_creation.h"

namespace gang::binder {

ClaimRemoval::ClaimRemoval(const ClaimPort& port, api::IntentClaim claim,
                           std::function<void()> done)
    : port_(port.to_undo()),
      claim_(std::move(claim)),
      done_(std::move(done)),
      backoff_(port.channel().options().retry_initial, undo_retry_max(port.channel().options()),
               seed_of(claim_.made_for.text) + 8) {}

void ClaimRemoval::read() {
  port_.read_claim(claim_.claim,
                   lifeline_.guard([this](const kube::Answer& answer,
                                          const std::optional<api::ResourceClaim>& claim) {
                     on_read(answer, claim);
                   }));
}

void ClaimRemoval::on_read(const kube::Answer& answer,
                           const std::optional<api::ResourceClaim>& claim) {
  if (answer.outcome == kube::Outcome::kNotFound) return finish();
  if (answer.outcome == kube::Outcome::kForbidden && !is_starting(answer)) {
    return finish(answer.message);
  }
  if (!answer.ok() || !claim) return again(answer);
  judge(*claim);
}

void ClaimRemoval::judge(const api::ResourceClaim& claim) {
  const bool is_meant =
      (claim_.uid.empty() || claim.meta.uid == claim_.uid) && is_made_for(claim, claim_.made_for);
  const bool is_ours_alone = std::ranges::all_of(
      claim.reserved_for,
      [this](const api::ClaimConsumer& consumer) { return consumer.uid == claim_.made_for; });
  if (!is_meant || !is_ours_alone) return finish();
  has_changed_ = true;
  if (claim.allocation || !claim.reserved_for.empty()) return free_devices(claim);
  if (api::has_finalizer(claim)) return drop_finalizer(claim);
  claim.meta.deletion_time ? finish() : remove(claim);
}

void ClaimRemoval::free_devices(const api::ResourceClaim& claim) {
  port_.patch_claim_status({.claim = claim.meta.key,
                            .uid = claim.meta.uid,
                            .resource_version = claim.meta.resource_version,
                            .allocation_part = api::ClaimStatusPatch::Part::kClear},
                           to_written());
}

void ClaimRemoval::drop_finalizer(const api::ResourceClaim& claim) {
  api::ClaimPatch patch{.claim = claim.meta.key,
                        .uid = claim.meta.uid,
                        .resource_version = claim.meta.resource_version,
                        .finalizers = claim.finalizers};
  std::erase(patch.finalizers, api::kClaimFinalizer);
  port_.patch_claim(patch, to_written());
}

void ClaimRemoval::remove(const api::ResourceClaim& claim) {
  port_.delete_claim({.claim = claim.meta.key, .uid = claim.meta.uid},
                     lifeline_.guard([this](const kube::Answer& answer) {
                       answer.ok() ? finish() : on_failed(answer);
                     }));
}

kube::ClaimDone ClaimRemoval::to_written() {
  return lifeline_.guard(
      [this](const kube::Answer& answer, const std::optional<api::ResourceClaim>& claim) {
        on_written(answer, claim);
      });
}

void ClaimRemoval::on_written(const kube::Answer& answer,
                              const std::optional<api::ResourceClaim>& claim) {
  if (answer.ok() && claim) return judge(*claim);
  on_failed(answer);
}

void ClaimRemoval::on_failed(const kube::Answer& answer) {
  switch (undo_word(answer, was_invalid_)) {
    case UndoWord::kGone:
      return finish();
    case UndoWord::kRefused:
      return finish(answer.message);
    case UndoWord::kDone:  // without the claim as it is then
    case UndoWord::kAgain:
      return again(answer);
  }
}

/// Reads after a pause, then goes on by what the claim is then.
void ClaimRemoval::again(const kube::Answer& answer) {
  trouble_ = trouble_text("claim " + claim_.claim.text(), answer);
  port_.channel().after(wait_after(answer, backoff_.next()), lifeline_.guard([this] { read(); }));
}

void ClaimRemoval::finish(const std::string& refusal) {
  trouble_.clear();
  if (!refusal.empty()) refusal_ = "claim " + claim_.claim.text() + ": " + refusal;
  done_();
}

}  // namespace gang::binder
