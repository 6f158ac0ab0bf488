#include "binder/claim_creation.h"

#include <algorithm>
#include <memory>
#include <utility>

namespace gang::binder {

bool is_made_for(const api::ResourceClaim& claim, const api::Uid& pod) {
  const std::string* mark = api::find(claim.meta.annotations, api::kExtendedClaim);
  const std::optional<api::ControllerRef>& owner = claim.meta.controller;
  return mark != nullptr && *mark == "true" && owner && owner->kind == "Pod" && owner->uid == pod;
}

ClaimCreation::ClaimCreation(const ClaimPort& port, engine::ClaimCreation creation,
                             std::function<void()> done)
    : port_(port),
      creation_(std::move(creation)),
      done_(std::move(done)),
      backoff_(port.channel().options().retry_initial, port.channel().options().retry_max,
               seed_of(creation_.pod_uid.text) + 6) {}

void ClaimCreation::stop(const std::string& why) {
  if (end_ != ClaimEnd::kOpen || stopped_) return;
  stopped_ = why;
  if (!is_busy_) finish(ClaimEnd::kStopped, why);
}

engine::ClaimWrite ClaimCreation::write() const {
  return {.claim = std::make_shared<const api::ResourceClaim>(claim_),
          .allocation = creation_.allocation,
          .consumers = {engine::consumer_of(creation_)}};
}

void ClaimCreation::send() {
  is_busy_ = true;
  has_sent_ = true;
  port_.create_claim({.claim = creation_.claim,
                      .generate_name = creation_.generate_name,
                      .pod = creation_.pod.name,
                      .pod_uid = creation_.pod_uid,
                      .requests = creation_.requests},
                     lifeline_.guard([this](const kube::Answer& answer,
                                            const std::optional<api::ResourceClaim>& claim) {
                       is_busy_ = false;
                       on_sent(answer, claim);
                     }));
}

void ClaimCreation::on_sent(const kube::Answer& answer,
                            const std::optional<api::ResourceClaim>& claim) {
  if (answer.ok() && claim) return judge(*claim);
  switch (answer.outcome) {
    case kube::Outcome::kConflict:
      return read();
    case kube::Outcome::kNotFound:
      return finish(ClaimEnd::kLost, "there is no namespace " + creation_.claim.name_space);
    case kube::Outcome::kForbidden:
      if (is_starting(answer)) return again(answer);
      [[fallthrough]];
    case kube::Outcome::kInvalid:
      return finish(ClaimEnd::kRefused, answer.message);
    case kube::Outcome::kOk:
    case kube::Outcome::kUnknown:
    case kube::Outcome::kNotSent:
    case kube::Outcome::kUnauthorized:
    case kube::Outcome::kThrottled:
      return again(answer);
  }
}

/// Reads after a pause, then goes on by what is there.
void ClaimCreation::again(const kube::Answer& answer) {
  is_busy_ = true;
  trouble_ = answer.message;
  port_.channel().after(wait_after(answer, backoff_.next()), lifeline_.guard([this] { read(); }));
}

void ClaimCreation::read() {
  is_busy_ = true;
  port_.read_claim(creation_.claim,
                   lifeline_.guard([this](const kube::Answer& answer,
                                          const std::optional<api::ResourceClaim>& claim) {
                     is_busy_ = false;
                     on_read(answer, claim);
                   }));
}

void ClaimCreation::on_read(const kube::Answer& answer,
                            const std::optional<api::ResourceClaim>& claim) {
  if (answer.ok() && claim) return judge(*claim);
  if (answer.outcome == kube::Outcome::kForbidden && !is_starting(answer)) {
    return finish(ClaimEnd::kRefused, answer.message);
  }
  if (stopped_) return finish(ClaimEnd::kStopped, *stopped_);
  if (answer.outcome == kube::Outcome::kNotFound) return send();
  again(answer);
}

void ClaimCreation::judge(const api::ResourceClaim& claim) {
  const bool is_asked_for =
      std::ranges::equal(claim.spec.requests, creation_.requests, {}, &api::DeviceRequest::name,
                         &api::DeviceRequest::name);
  if (!is_made_for(claim, creation_.pod_uid) || !is_asked_for) {
    return finish(ClaimEnd::kTaken, "another claim has the name");
  }
  if (claim.meta.deletion_time) return finish(ClaimEnd::kLost, "it is being deleted");
  claim_ = claim;
  finish(ClaimEnd::kWritten);
}

void ClaimCreation::finish(ClaimEnd end, const std::string& message) {
  end_ = end;
  message_ = text_of_end(name(), end, trouble_, message);
  done_();
}

}  // namespace gang::binder
