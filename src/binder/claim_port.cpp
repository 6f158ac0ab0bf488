#include "binder/claim_port.h"

#include <optional>
#include <string>
#include <utility>

#include "gang/api/intent.h"

namespace gang::binder {
namespace {

using MaybeClaim = std::optional<api::ResourceClaim>;
using MaybeMap = std::optional<api::ConfigMap>;

/// Changing reservations and allocations needs a right on a resource that does not exist.
constexpr const char* kBindingRight = "resourceclaims/binding";

kube::ClaimDone naming_the_right(kube::ClaimDone done) {
  return [done = std::move(done)](kube::Answer answer, MaybeClaim claim) {
    const bool lacks_right = answer.outcome == kube::Outcome::kInvalid &&
                             answer.message.find(kBindingRight) != std::string::npos;
    if (lacks_right) {
      answer.outcome = kube::Outcome::kForbidden;
      answer.message = std::string("the account may not write ") + kBindingRight +
                       " in the whole cluster: " + answer.message;
    }
    done(answer, std::move(claim));
  };
}

}  // namespace

ClaimPort ClaimPort::to_undo() const {
  ClaimPort port = *this;
  port.is_undo_ = true;
  return port;
}

/// Sends a write when it is its turn; `send` gets what is to be called with the answer.
template <class... Object, class Send>
void ClaimPort::in_turn(std::function<void(const kube::Answer&, Object...)> done, Send send) const {
  window_.submit(Lane::kNeed, [port = *this, done = std::move(done),
                               send = std::move(send)](WriteWindow::Ticket ticket) {
    send(std::function<void(const kube::Answer&, Object...)>(
        [port, ticket, done](const kube::Answer& answer, Object... object) {
          port.note_answer(ticket, answer);
          done(answer, std::move(object)...);
        }));
  });
}

void ClaimPort::note_answer(WriteWindow::Ticket ticket, const kube::Answer& answer) const {
  if (is_undo_) return window_.give_back(ticket);
  window_.finished(ticket, answer);
  channel_.note_write(answer);
}

void ClaimPort::create_claim(const api::NewClaim& claim, kube::ClaimDone done) const {
  in_turn(std::move(done), [port = *this, claim](kube::ClaimDone answered) {
    ++port.channel_.stats().claim_writes;
    port.channel_.note_target(claim.claim);
    port.client_.create_claim(
        claim, port.channel_.returning<MaybeClaim>("create resourceclaims", std::move(answered)));
  });
}

void ClaimPort::delete_claim(const api::ClaimDelete& request, kube::Done done) const {
  in_turn(std::move(done), [port = *this, request](kube::Done answered) {
    ++port.channel_.stats().claim_writes;
    port.channel_.note_target(request.claim);
    port.client_.delete_claim(
        request, port.channel_.returning<>("delete resourceclaims", std::move(answered)));
  });
}

void ClaimPort::patch_claim(const api::ClaimPatch& patch, kube::ClaimDone done) const {
  in_turn(std::move(done), [port = *this, patch](kube::ClaimDone answered) {
    ++port.channel_.stats().claim_writes;
    port.channel_.note_target(patch.claim);
    port.client_.patch_claim(
        patch, port.channel_.returning<MaybeClaim>("patch resourceclaims", std::move(answered)));
  });
}

void ClaimPort::move_version(const api::ResourceClaim& claim, kube::ClaimDone done) const {
  patch_claim({.claim = claim.meta.key,
               .uid = claim.meta.uid,
               .resource_version = claim.meta.resource_version,
               .finalizers = claim.finalizers,
               .fence = channel_.options().epoch + "-" + claim.meta.resource_version.text},
              std::move(done));
}

void ClaimPort::patch_claim_status(const api::ClaimStatusPatch& patch, kube::ClaimDone done) const {
  in_turn(std::move(done), [port = *this, patch](kube::ClaimDone answered) {
    ++port.channel_.stats().claim_writes;
    port.channel_.note_target(patch.claim);
    port.client_.patch_claim_status(
        patch, naming_the_right(port.channel_.returning<MaybeClaim>("patch resourceclaims/status",
                                                                    std::move(answered))));
  });
}

void ClaimPort::read_claim(const api::ObjectKey& claim, kube::ClaimDone done) const {
  client_.read_claim(claim, channel_.returning<MaybeClaim>("get resourceclaims", std::move(done)));
}

void ClaimPort::create_intent(const api::ConfigMap& map, kube::ConfigMapDone done) const {
  in_turn(std::move(done), [port = *this, map](kube::ConfigMapDone answered) {
    ++port.channel_.stats().intent_writes;
    port.channel_.note_target(map.meta.key);
    port.client_.create_config_map(
        map, port.channel_.returning<MaybeMap>("create configmaps", std::move(answered)));
  });
}

void ClaimPort::update_intent(const api::ConfigMap& map, kube::ConfigMapDone done) const {
  in_turn(std::move(done), [port = *this, map](kube::ConfigMapDone answered) {
    ++port.channel_.stats().intent_writes;
    port.client_.update_config_map(
        map, port.channel_.returning<MaybeMap>("update configmaps", std::move(answered)));
  });
}

void ClaimPort::read_intent(const api::ObjectKey& map, kube::ConfigMapDone done) const {
  client_.read_config_map(map, channel_.returning<MaybeMap>("get configmaps", std::move(done)));
}

void ClaimPort::delete_intent(const kube::ConfigMapDelete& request, kube::Done done) const {
  in_turn(std::move(done), [port = *this, request](kube::Done answered) {
    ++port.channel_.stats().intent_writes;
    port.client_.delete_config_map(
        request, port.channel_.returning<>("delete configmaps", std::move(answered)));
  });
}

void ClaimPort::list_intents(kube::ConfigMapsDone done) const {
  const std::string label =
      std::string(api::kIntentLabel) + "=" + std::string(api::kIntentLabelValue);
  client_.list_config_maps(
      channel_.options().intent_namespace, label,
      channel_.returning<std::vector<api::ConfigMap>>("list configmaps", std::move(done)));
}

}  // namespace gang::binder
