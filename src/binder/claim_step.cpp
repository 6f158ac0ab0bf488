#include "binder/claim_step.h"

#include <fmt/format.h>
#include <algorithm>
#include <string_view>
#include <utility>

namespace gang::binder {
namespace {

constexpr std::int32_t kConflictsMax = 5;

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

}  // namespace

bool same_devices(const api::Allocation& a, const api::Allocation& b) {
  return comparable(a.results) == comparable(b.results) && a.node_selector == b.node_selector;
}

ClaimStep::ClaimStep(const ClaimPort& port, engine::ClaimWrite write, std::string stamp, Gate gate,
                     std::function<void()> done)
    : port_(port),
      write_(std::move(write)),
      stamp_(std::move(stamp)),
      gate_(std::move(gate)),
      done_(std::move(done)),
      backoff_(port.channel().options().retry_initial, port.channel().options().retry_max,
               seed_of(write_.claim->meta.uid.text)),
      claim_(*write_.claim) {}

void ClaimStep::start() {
  // What was planned with may be old: nothing counts as written, or lost, without the server.
  if (judge()) return read();
  proceed();
}

void ClaimStep::stop(const std::string& why) {
  if (end_ != ClaimEnd::kOpen || stopped_) return;
  stopped_ = why;
  if (!is_busy_) finish(ClaimEnd::kStopped, why);
}

/// What the claim as it is now asks for.
void ClaimStep::proceed() {
  const std::optional<ClaimEnd> end = judge();
  if (end == ClaimEnd::kWritten && is_to_move() && !stopped_) {
    return port_.move_version(claim_, returning(&ClaimStep::on_written));
  }
  if (end) return finish(*end);
  if (stopped_) return finish(ClaimEnd::kStopped, *stopped_);
  if (!claim_.allocation && !api::has_finalizer(claim_)) return add_finalizer();
  write_status();
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
    return api::has_consumer(claim_.reserved_for, consumer);
  });
}

api::Allocation ClaimStep::allocation_to_write() const {
  api::Allocation allocation = *write_.allocation;
  allocation.time = port_.channel().now();
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
  port_.patch_claim(patch, returning(&ClaimStep::on_written));
}

/// Devices and reservation at once, or the reservation alone.
void ClaimStep::write_status() {
  using Part = api::ClaimStatusPatch::Part;
  api::ClaimStatusPatch patch{.claim = claim_.meta.key,
                              .uid = claim_.meta.uid,
                              .resource_version = claim_.meta.resource_version,
                              .allocation_part = claim_.allocation ? Part::kKeep : Part::kSet,
                              .reserved_for = claim_.reserved_for};
  for (const api::ClaimConsumer& consumer : write_.consumers) {
    if (!api::has_consumer(patch.reserved_for, consumer)) patch.reserved_for.push_back(consumer);
  }
  if (!claim_.allocation) patch.allocation = allocation_to_write();
  has_sent_ = true;
  port_.patch_claim_status(patch, returning(&ClaimStep::on_written));
}

kube::ClaimDone ClaimStep::returning(
    void (ClaimStep::*then)(const kube::Answer&, const std::optional<api::ResourceClaim>&)) {
  is_busy_ = true;
  return lifeline_.guard(
      [this, then](const kube::Answer& answer, const std::optional<api::ResourceClaim>& claim) {
        is_busy_ = false;
        (this->*then)(answer, claim);
      });
}

void ClaimStep::on_written(const kube::Answer& answer,
                           const std::optional<api::ResourceClaim>& claim) {
  if (answer.ok() && claim) {
    claim_ = *claim;
    has_moved_ = true;
    return proceed();
  }
  switch (answer.outcome) {
    case kube::Outcome::kOk:
    case kube::Outcome::kUnknown:
      is_unknown_ = true;
      return again(answer);
    case kube::Outcome::kConflict:
      if (++conflicts_ <= kConflictsMax) return read();
      return finish(ClaimEnd::kTaken, "the claim changes faster than it can be written");
    case kube::Outcome::kNotFound:
      return finish(ClaimEnd::kLost, "the claim is gone");
    case kube::Outcome::kNotSent:
    case kube::Outcome::kThrottled:
      return again(answer);
    case kube::Outcome::kUnauthorized:
      if (!std::exchange(token_renewed_, true)) return again(answer);
      return finish(ClaimEnd::kRefused, answer.message);
    case kube::Outcome::kForbidden:
      if (is_starting(answer)) return again(answer);
      [[fallthrough]];
    case kube::Outcome::kInvalid:
      return finish(ClaimEnd::kRefused, answer.message);
  }
}

/// Reads after a pause, then goes on by what the claim is then.
void ClaimStep::again(const kube::Answer& answer) {
  trouble_ = answer.message;
  pause(wait_after(answer, backoff_.next()));
}

void ClaimStep::pause(Duration time) {
  is_busy_ = true;
  port_.channel().after(time, lifeline_.guard([this] {
    is_busy_ = false;
    read();
  }));
}

void ClaimStep::read() {
  port_.read_claim(claim_.meta.key, returning(&ClaimStep::on_read));
}

void ClaimStep::on_read(const kube::Answer& answer,
                        const std::optional<api::ResourceClaim>& claim) {
  const bool is_gone = answer.outcome == kube::Outcome::kNotFound ||
                       (claim && claim->meta.uid != write_.claim->meta.uid);
  if (is_gone) return finish(ClaimEnd::kLost, "the claim is gone");
  if (answer.outcome == kube::Outcome::kForbidden && !is_starting(answer)) {
    return finish(ClaimEnd::kRefused, answer.message);
  }
  if (!answer.ok() || !claim) {
    if (stopped_) return finish(ClaimEnd::kStopped, *stopped_);
    return again(answer);
  }
  claim_ = *claim;
  const std::optional<ClaimEnd> end = judge();
  const bool is_to_end = end && (end != ClaimEnd::kWritten || !is_to_move());
  if (is_to_end || stopped_) return proceed();
  ask_gate();
}

void ClaimStep::ask_gate() {
  is_busy_ = true;
  gate_(lifeline_.guard([this](GateWord word) {
    is_busy_ = false;
    on_gate(word);
  }));
}

void ClaimStep::on_gate(GateWord word) {
  if (stopped_) return finish(ClaimEnd::kStopped, *stopped_);
  switch (word) {
    case GateWord::kOpen:
      return proceed();
    case GateWord::kShut:
      return finish(ClaimEnd::kStopped, kTakenBack);
    case GateWord::kUnanswered:
      return pause(backoff_.next());
  }
}

void ClaimStep::finish(ClaimEnd end, std::string message) {
  end_ = end;
  if (message.empty() && end == ClaimEnd::kLost) message = "it is deleted or lost its devices";
  if (message.empty() && end == ClaimEnd::kTaken) message = "it got other devices meanwhile";
  message_ = text_of_end(name(), end, trouble_, message);
  done_();
}

std::string text_of_end(const std::string& name, ClaimEnd end, const std::string& trouble,
                        const std::string& why) {
  if (end == ClaimEnd::kOpen || end == ClaimEnd::kWritten) return "";
  const bool tells_trouble = end == ClaimEnd::kStopped && !trouble.empty();
  return name + ": " + (tells_trouble ? trouble + ", until " : "") + why;
}

}  // namespace gang::binder
