#include "binder/claim_return.h"

#include <algorithm>
#include <utility>

#include "gang/base/log.h"

namespace gang::binder {

ClaimReturn::ClaimReturn(const ClaimPort& port, Task task, std::function<void()> done)
    : port_(port.to_undo()),
      task_(std::move(task)),
      done_(std::move(done)),
      backoff_(port.channel().options().retry_initial, undo_retry_max(port.channel().options()),
               seed_of(task_.claim.uid.text) + 1) {}

void ClaimReturn::read() {
  port_.read_claim(task_.claim.claim,
                   lifeline_.guard([this](const kube::Answer& answer,
                                          const std::optional<api::ResourceClaim>& claim) {
                     on_read(answer, claim);
                   }));
}

void ClaimReturn::on_read(const kube::Answer& answer,
                          const std::optional<api::ResourceClaim>& claim) {
  const bool is_gone =
      answer.outcome == kube::Outcome::kNotFound || (claim && claim->meta.uid != task_.claim.uid);
  if (is_gone) return finish();
  if (answer.outcome == kube::Outcome::kForbidden && !is_starting(answer)) {
    return finish(answer.message);
  }
  if (!answer.ok() || !claim) return again(answer);
  if (!first_seen_) first_seen_ = claim->meta.resource_version;
  if (!has_consumer(*claim) && !is_left(*claim) && !is_to_move(*claim)) return finish();
  task_.gate(lifeline_.guard([this, read = *claim](GateWord word) { on_gate(word, read); }));
}

void ClaimReturn::on_gate(GateWord word, const api::ResourceClaim& claim) {
  switch (word) {
    case GateWord::kOpen:
      return write(claim);
    case GateWord::kShut:
      is_overtaken_ = true;
      return finish();
    case GateWord::kUnanswered:
      trouble_ = "claim " + task_.claim.claim.text() + ": the intent of its round is not read";
      return read_later(backoff_.next());
  }
}

void ClaimReturn::write(const api::ResourceClaim& claim) {
  if (has_consumer(claim) || is_left(claim)) return take_out(claim);
  clears_ = false;
  port_.move_version(claim, lifeline_.guard([this](const kube::Answer& answer,
                                                   const std::optional<api::ResourceClaim>&) {
    on_written(answer);
  }));
}

bool ClaimReturn::has_consumer(const api::ResourceClaim& claim) const {
  return std::ranges::any_of(claim.reserved_for, [this](const api::ClaimConsumer& one) {
    return task_.consumers.contains(one.uid);
  });
}

/// Whether it is as it was when it was found to hold devices for nobody.
bool ClaimReturn::is_left(const api::ResourceClaim& claim) const {
  return claim.allocation && claim.reserved_for.empty() &&
         claim.meta.resource_version == task_.claim.left_at;
}

/// Any change since the first read has moved it.
bool ClaimReturn::is_to_move(const api::ResourceClaim& claim) const {
  return task_.moves_version && task_.claim.left_at.empty() &&
         claim.meta.resource_version == *first_seen_;
}

void ClaimReturn::take_out(const api::ResourceClaim& claim) {
  using Part = api::ClaimStatusPatch::Part;
  api::ClaimStatusPatch patch{.claim = claim.meta.key,
                              .uid = claim.meta.uid,
                              .resource_version = claim.meta.resource_version,
                              .reserved_for = claim.reserved_for};
  std::erase_if(patch.reserved_for, [this](const api::ClaimConsumer& one) {
    return task_.consumers.contains(one.uid);
  });
  clears_ = task_.claim.allocates && patch.reserved_for.empty() && claim.allocation;
  if (clears_) patch.allocation_part = Part::kClear;
  has_changed_ = true;
  port_.patch_claim_status(
      patch, lifeline_.guard([this](const kube::Answer& answer,
                                    const std::optional<api::ResourceClaim>& /*claim*/) {
        on_written(answer);
      }));
}

void ClaimReturn::on_written(const kube::Answer& answer) {
  switch (undo_word(answer, was_invalid_)) {
    case UndoWord::kDone:
      if (clears_) log_cleared();
      [[fallthrough]];
    case UndoWord::kGone:
      return finish();
    case UndoWord::kRefused:
      return finish(answer.message);
    case UndoWord::kAgain:
      return again(answer);
  }
}

void ClaimReturn::log_cleared() const {
  log::info("deallocation of ResourceClaim completed", {{"claim", task_.claim.claim.text()}});
}

/// Reads after a pause, then goes on by what the claim is then.
void ClaimReturn::again(const kube::Answer& answer) {
  trouble_ = trouble_text("claim " + task_.claim.claim.text(), answer);
  read_later(wait_after(answer, backoff_.next()));
}

void ClaimReturn::read_later(Duration time) {
  port_.channel().after(time, lifeline_.guard([this] { read(); }));
}

void ClaimReturn::finish(const std::string& refusal) {
  trouble_.clear();
  if (!refusal.empty()) refusal_ = "claim " + task_.claim.claim.text() + ": " + refusal;
  done_();
}

}  // namespace gang::binder
