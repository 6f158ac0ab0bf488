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

template <class... Object>
std::function<void(const kube::Answer&, Object...)> noting(
    Channel& channel, std::function<void(const kube::Answer&, Object...)> done) {
  return [&channel, done = std::move(done)](const kube::Answer& answer, Object... object) {
    channel.note_write(answer);
    done(answer, std::move(object)...);
  };
}

kube::ClaimDone naming_the_right(kube::ClaimDone done) {
  return [done = std::move(done)](kube::Answer answer, MaybeClaim claim) {
    const bool lacks_right = answer.outcome == kube::Outcome::kInvalid &&
                             answer.message.find(kBindingRight) != std::string::npos;
    if (lacks_right) {
      answer.outcome = kube::Outcome::kForbidden;
      answer.message = std::string("the account may not patch ") + kBindingRight +
                       " in the whole cluster: " + answer.message;
    }
    done(answer, std::move(claim));
  };
}

}  // namespace

void ClaimPort::patch_claim(const api::ClaimPatch& patch, kube::ClaimDone done) const {
  ++channel_.stats().claim_writes;
  channel_.note_target(patch.claim);
  client_.patch_claim(patch, channel_.returning<MaybeClaim>("patch resourceclaims",
                                                            noting(channel_, std::move(done))));
}

void ClaimPort::patch_claim_status(const api::ClaimStatusPatch& patch, kube::ClaimDone done) const {
  ++channel_.stats().claim_writes;
  channel_.note_target(patch.claim);
  client_.patch_claim_status(
      patch, naming_the_right(channel_.returning<MaybeClaim>("patch resourceclaims/status",
                                                             noting(channel_, std::move(done)))));
}

void ClaimPort::read_claim(const api::ObjectKey& claim, kube::ClaimDone done) const {
  client_.read_claim(claim, channel_.returning<MaybeClaim>("get resourceclaims", std::move(done)));
}

void ClaimPort::create_intent(const api::ConfigMap& map, kube::ConfigMapDone done) const {
  ++channel_.stats().intent_writes;
  channel_.note_target(map.meta.key);
  client_.create_config_map(
      map, channel_.returning<MaybeMap>("create configmaps", noting(channel_, std::move(done))));
}

void ClaimPort::update_intent(const api::ConfigMap& map, kube::ConfigMapDone done) const {
  ++channel_.stats().intent_writes;
  client_.update_config_map(
      map, channel_.returning<MaybeMap>("update configmaps", noting(channel_, std::move(done))));
}

void ClaimPort::read_intent(const api::ObjectKey& map, kube::ConfigMapDone done) const {
  client_.read_config_map(map, channel_.returning<MaybeMap>("get configmaps", std::move(done)));
}

void ClaimPort::delete_intent(const kube::ConfigMapDelete& request, kube::Done done) const {
  ++channel_.stats().intent_writes;
  client_.delete_config_map(
      request, channel_.returning<>("delete configmaps", noting<>(channel_, std::move(done))));
}

void ClaimPort::list_intents(kube::ConfigMapsDone done) const {
  const std::string label =
      std::string(api::kIntentLabel) + "=" + std::string(api::kIntentLabelValue);
  client_.list_config_maps(
      channel_.options().intent_namespace, label,
      channel_.returning<std::vector<api::ConfigMap>>("list configmaps", std::move(done)));
}

}  // namespace gang::binder
