#include "binder/claim_step.h"

#include <fmt/format.h>
#include <algorithm>
#include <string_view>
#include <utility>

namespace gang::binder {
namespace {

constexpr std::int32_t kConflictsMax = 10;

std::vector<api::DeviceResult> comparable(std::vector<api::DeviceResult> results) {
  for (api::DeviceResult& result : results) result.share_id.reset();
  std::ranges::sort(results, {}, [](const api::DeviceResult& result) {
    return std::tie(result.request, result.driver, result.pool, result.device);
  });
  return results;
}

/// A UUID that equal seeds make equal, so that a write that is repeated says the same.
std::string uuid_of(const std::string& seed) {
  const std::uint64_t high = seed_of(seed);
  const std::uint64_t low = seed_of(seed + "/");
  return fmt::format("{:08x}-{:04x}-4{:03x}-{:04x}-{:012x}", high >> 32, (high >> 16) & 0xffff,
                     high & 0xfff, 0x8000 | ((low >> 48) & 0x3fff), low & 0xffffffffffff);
}

bool has_consumer(const std::vector<api::ClaimConsumer>& consumers,
                  const api::ClaimConsumer& wanted) {
  return std::ranges::any_of(consumers, [&](const api::ClaimConsumer& one) {
    return one.uid == wanted.uid && one.resource == wanted.resource;
  });
}

}  // namespace

bool same_devices(const api::Allocation& a, const api::Allocation& b) {
  return comparable(a.results) == comparable(b.results) && a.node_selector == b.node_selector;
}

ClaimStep::ClaimStep(const ClaimPort& port, engine::ClaimWrite write, std::string stamp,
                     std::function<void()> done)
    : port_(port),
      write_(std::move(write)),
      stamp_(std::move(stamp)),
      done_(std::move(done)),
      backoff_(port.channel.options().retry_initial, port.channel.options().retry_max,
               seed_of(write_.claim->meta.uid.text)),
      claim_(*write_.claim) {}

void ClaimStep::start() {
  way_ = Way::kForward;
  proceed();
}

void ClaimStep::stop(const std::string& why) {
  if (end_ != ClaimEnd::kOpen || stopped_) return;
  stopped_ = why;
  if (!is_busy_) finish(ClaimEnd::kStopped, why);
}

void ClaimStep::release() {
  way_ = Way::kBack;
  end_ = ClaimEnd::kOpen;
  stopped_.reset();
  conflicts_ = 0;
  backoff_.reset();
  if (!has_sent_) return finish(ClaimEnd::kReleased);
  read();
}

/// What the claim as it is now asks for.
void ClaimStep::proceed() {
  if (way_ == Way::kBack) return write_back();
  if (const auto end = judge()) return finish(*end, message_);
  if (stopped_) return finish(ClaimEnd::kStopped, *stopped_);
  write_forward();
}

std::optional<ClaimEnd> ClaimStep::judge() const {
  if (claim_.allocation && has_planned_devices() && names_consumers()) return ClaimEnd::kWritten;
  if (claim_.meta.deletion_time) return ClaimEnd::kLost;
  if (claim_.allocation && !has_planned_devices()) return ClaimEnd::kTaken;
  if (!claim_.allocation && !write_.allocation) return ClaimEnd::kLost;
  return std::nullopt;
}

bool ClaimStep::has_planned_devices() const {
  const std::optional<api::Allocation>& planned =
      write_.allocation ? write_.allocation : write_.claim->allocation;
  return planned && same_devices(*claim_.allocation, *planned);
}

bool ClaimStep::names_consumers() const {
  return std::ranges::all_of(write_.consumers, [this](const api::ClaimConsumer& consumer) {
    return has_consumer(claim_.reserved_for, consumer);
  });
}

void ClaimStep::write_forward() {
  const bool has_finalizer =
      std::ranges::find(claim_.finalizers, api::kClaimFinalizer) != claim_.finalizers.end();
  if (!claim_.allocation && !has_finalizer) return add_finalizer();
  std::vector<api::ClaimConsumer> consumers = claim_.reserved_for;
  for (const api::ClaimConsumer& consumer : write_.consumers) {
    if (!has_consumer(consumers, consumer)) consumers.push_back(consumer);
  }
  has_sent_ = true;
  using Part = api::ClaimStatusPatch::Part;
  write_status(claim_.allocation ? Part::kKeep : Part::kSet, std::move(consumers));
}

/// Only what this round wrote, judged by the claim as it was read just now.
void ClaimStep::write_back() {
  std::vector<api::ClaimConsumer> others = claim_.reserved_for;
  std::erase_if(others, [this](const api::ClaimConsumer& one) {
    return has_consumer(write_.consumers, one);
  });
  const bool is_named = others.size() < claim_.reserved_for.size();
  const bool is_ours = claim_.allocation && write_.allocation && has_planned_devices();
  using Part = api::ClaimStatusPatch::Part;
  if (is_ours && others.empty()) return write_status(Part::kClear, {});
  if (is_named && claim_.allocation) return write_status(Part::kKeep, std::move(others));
  if (is_unknown_ && !claim_.allocation && !claim_.meta.deletion_time) return move_version();
  finish(ClaimEnd::kReleased);
}

api::Allocation ClaimStep::allocation_to_write() const {
  api::Allocation allocation = *write_.allocation;
  allocation.time = port_.channel.now();
  std::size_t number = 0;
  for (api::DeviceResult& result : allocation.results) {
    const std::string seed = fmt::format("{}/{}/{}", stamp_, claim_.meta.uid.text, number++);
    if (result.share_id && result.share_id->empty()) result.share_id = uuid_of(seed);
  }
  return allocation;
}

void ClaimStep::add_finalizer() {
  api::ClaimPatch patch{.claim = claim_.meta.key,
                        .uid = claim_.meta.uid,
                        .resource_version = claim_.meta.resource_version,
                        .finalizers = claim_.finalizers};
  patch.finalizers.emplace_back(api::kClaimFinalizer);
  port_.client.patch_claim(patch, returning("patch resourceclaims", &ClaimStep::on_written));
}

/// A finalizer on a claim without devices is of no use: taking it away is the change that makes
/// every older write fail.
void ClaimStep::move_version() {
  api::ClaimPatch patch{.claim = claim_.meta.key,
                        .uid = claim_.meta.uid,
                        .resource_version = claim_.meta.resource_version,
                        .finalizers = claim_.finalizers};
  std::erase(patch.finalizers, std::string(api::kClaimFinalizer));
  is_unknown_ = patch.finalizers == claim_.finalizers;
  if (is_unknown_) patch.finalizers.emplace_back(api::kClaimFinalizer);
  port_.client.patch_claim(patch, returning("patch resourceclaims", &ClaimStep::on_written));
}

void ClaimStep::write_status(api::ClaimStatusPatch::Part part,
                             std::vector<api::ClaimConsumer> consumers) {
  api::ClaimStatusPatch patch{.claim = claim_.meta.key,
                              .uid = claim_.meta.uid,
                              .resource_version = claim_.meta.resource_version,
                              .allocation_part = part,
                              .reserved_for = std::move(consumers)};
  if (part == api::ClaimStatusPatch::Part::kSet) patch.allocation = allocation_to_write();
  port_.client.patch_claim_status(patch,
                                  returning("patch resourceclaims/status", &ClaimStep::on_written));
}

kube::ClaimDone ClaimStep::returning(
    const char* request,
    void (ClaimStep::*then)(const kube::Answer&, const std::optional<api::ResourceClaim>&)) {
  is_busy_ = true;
  return port_.channel.returning<std::optional<api::ResourceClaim>>(
      request,
      kube::ClaimDone(lifeline_.guard(
          [this, then](const kube::Answer& answer, const std::optional<api::ResourceClaim>& claim) {
            is_busy_ = false;
            (this->*then)(answer, claim);
          })));
}

void ClaimStep::on_written(const kube::Answer& answer,
                           const std::optional<api::ResourceClaim>& claim) {
  port_.channel.note_write(answer);
  if (answer.ok() && claim) {
    claim_ = *claim;
    return proceed();
  }
  switch (answer.outcome) {
    case kube::Outcome::kOk:
    case kube::Outcome::kUnknown:
      is_unknown_ = is_unknown_ || way_ == Way::kForward;
      return again(answer);
    case kube::Outcome::kConflict:
      if (++conflicts_ <= kConflictsMax) return read();
      return finish(ClaimEnd::kTaken, "the claim changes faster than it can be written");
    case kube::Outcome::kNotFound:
      return finish(way_ == Way::kBack ? ClaimEnd::kReleased : ClaimEnd::kLost,
                    "the claim is gone");
    case kube::Outcome::kNotSent:
    case kube::Outcome::kThrottled:
      return again(answer);
    case kube::Outcome::kUnauthorized:
      if (!std::exchange(token_renewed_, true)) return again(answer);
      return finish(ClaimEnd::kRefused, answer.message);
    case kube::Outcome::kForbidden:
    case kube::Outcome::kInvalid:
      return finish(ClaimEnd::kRefused, answer.message);
  }
}

/// Reads after a pause, then goes on by what the claim is then.
void ClaimStep::again(const kube::Answer& answer) {
  is_busy_ = true;
  port_.channel.after(wait_after(answer, backoff_.next()), lifeline_.guard([this] {
    is_busy_ = false;
    read();
  }));
}

void ClaimStep::read() {
  port_.client.read_claim(claim_.meta.key, returning("get resourceclaims", &ClaimStep::on_read));
}

void ClaimStep::on_read(const kube::Answer& answer,
                        const std::optional<api::ResourceClaim>& claim) {
  const bool is_gone = answer.outcome == kube::Outcome::kNotFound ||
                       (claim && claim->meta.uid != write_.claim->meta.uid);
  if (is_gone) {
    return finish(way_ == Way::kBack ? ClaimEnd::kReleased : ClaimEnd::kLost, "the claim is gone");
  }
  if (answer.outcome == kube::Outcome::kForbidden) {
    return finish(ClaimEnd::kRefused, answer.message);
  }
  if (!answer.ok() || !claim) {
    if (stopped_) return finish(ClaimEnd::kStopped, *stopped_);
    return again(answer);
  }
  claim_ = *claim;
  proceed();
}

void ClaimStep::finish(ClaimEnd end, std::string message) {
  const std::string name = "claim " + claim_.meta.key.text();
  end_ = end;
  switch (end) {
    case ClaimEnd::kOpen:
    case ClaimEnd::kWritten:
    case ClaimEnd::kReleased:
      message_.clear();
      break;
    case ClaimEnd::kLost:
      message_ = name + ": " + (message.empty() ? "it is deleted or lost its devices" : message);
      break;
    case ClaimEnd::kTaken:
      message_ = name + ": " + (message.empty() ? "it got other devices meanwhile" : message);
      break;
    case ClaimEnd::kRefused:
    case ClaimEnd::kStopped:
      message_ = name + ": " + message;
      break;
  }
  done_();
}

}  // namespace gang::binder
