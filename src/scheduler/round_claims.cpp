#include "scheduler/round_claims.h"

#include <fmt/format.h>
#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "gang/base/utf8.h"
#include "scheduler/report.h"
#include "scheduler/undo.h"

namespace gang::scheduler {
namespace {

using cluster::Gang;
using cluster::Member;
using cluster::MemberState;
using ClaimPtr = std::shared_ptr<const api::ResourceClaim>;

/// How a waiting round stands.
struct Standing {
  bool is_seen = false;                                 ///< the state has seen all writes
  std::string problem;                                  ///< the plan does not hold
  engine::RoundEnd end = engine::RoundEnd::kOvertaken;  ///< with a problem
  std::vector<UnreadyDevice> unready;                   ///< a driver says that it failed
  std::vector<UnreadyDevice> awaited;                   ///< seen; what drivers have to do yet
  std::optional<TimePoint> since;  ///< the first claim of these has its devices since then

  [[nodiscard]] bool is_waiting() const {
    return problem.empty() && unready.empty() && (!is_seen || !awaited.empty());
  }
};

bool is_older(const api::ResourceVersion& a, const api::ResourceVersion& b) {
  if (!a.comparable() || !b.comparable()) return a != b;
  return api::is_newer(b, a);
}

/// Null when the claim of that write is gone.
ClaimPtr current(const Core& core, const engine::ClaimWrite& write) {
  ClaimPtr claim = core.state.claim(write.claim->meta.key);
  return claim && claim->meta.uid == write.claim->meta.uid ? claim : nullptr;
}

/// A claim that the round has made is as all others once the state shows it.
void meet_made(const Core& core, RoundDevices& devices) {
  engine::Plan& plan = devices.plan;
  std::erase_if(plan.new_claims, [&](const engine::ClaimCreation& creation) {
    ClaimPtr claim = core.state.claim(creation.claim);
    if (!claim || !devices.versions.contains(claim->meta.uid)) return false;
    plan.claims.push_back({.claim = std::move(claim),
                           .allocation = creation.allocation,
                           .consumers = {engine::consumer_of(creation)}});
    return true;
  });
}

bool has_seen(const Core& core, const RoundDevices& devices) {
  if (!devices.plan.new_claims.empty()) return false;
  return std::ranges::all_of(devices.plan.claims, [&](const engine::ClaimWrite& write) {
    const auto written = devices.versions.find(write.claim->meta.uid);
    const ClaimPtr claim = current(core, write);
    if (written == devices.versions.end() || !claim) return true;
    return !is_older(claim->meta.resource_version, written->second);
  });
}

/// Whether the claim still is as the round has written it.
std::string claim_problem(const Core& core, const engine::ClaimWrite& write) {
  const ClaimPtr claim = current(core, write);
  const std::string name = "claim " + write.claim->meta.key.text();
  if (!claim) return name + " is gone";
  if (claim->meta.deletion_time) return name + " is being deleted";
  if (!claim->allocation) return name + " lost its devices";
  const bool is_reserved =
      std::ranges::all_of(write.consumers, [&](const api::ClaimConsumer& consumer) {
        return api::has_consumer(claim->reserved_for, consumer);
      });
  return is_reserved ? "" : name + " is not reserved for its pods any more";
}

/// Whether the gang is the planned one, and its planned members are as they were assumed.
std::string member_problem(const std::optional<Gang>& gang, const engine::Plan& plan) {
  if (!gang || gang->uid != plan.gang.uid) return "the gang is gone";
  std::int32_t needed = 0;
  for (const engine::Assignment& assignment : plan.assignments) {
    if (needed++ >= plan.need) break;
    const auto member = std::ranges::find(gang->members, assignment.uid, &Member::uid);
    if (member == gang->members.end()) return "pod " + assignment.pod.text() + " is gone";
    if (member->state == MemberState::kAssumed || member->state == MemberState::kBound) continue;
    return "pod " + assignment.pod.text() + " cannot be bound any more";
  }
  if (gang->counts.base() >= plan.minimum) return "";
  return "members that were bound before are gone";
}

/// A driver may say 32 KiB, of each of its devices.
std::string shortened(const std::string& text) {
  constexpr std::size_t kShownMax = 256;
  const std::string_view shown = cut_text(text, kShownMax);
  return std::string(shown) + (shown.size() < text.size() ? "..." : "");
}

/// " (<reason>): <message>" as far as the driver gives them.
std::string words_of(const api::Condition& condition) {
  std::string words;
  if (!condition.reason.empty()) words += " (" + shortened(condition.reason) + ")";
  if (!condition.message.empty()) words += ": " + shortened(condition.message);
  return words;
}

/// What the driver says, or has not said yet, of a device that has to be made ready.
void check_conditions(const api::ResourceClaim& claim, const api::DeviceResult& result,
                      Standing& standing) {
  const api::AllocatedDeviceStatus* status = api::find_status(claim, result);
  const api::DeviceName device{result.driver, result.pool, result.device};
  const std::string name =
      fmt::format("device {} of claim {}", device.text(), claim.meta.key.text());
  for (const std::string& type : result.binding_failure_conditions) {
    const api::Condition* failure = api::true_condition(status, type);
    if (failure == nullptr) continue;
    standing.unready.push_back({device, fmt::format("{} is {}{}", name, type, words_of(*failure))});
    return;
  }
  for (const std::string& type : result.binding_conditions) {
    if (api::true_condition(status, type) != nullptr) continue;
    standing.awaited.push_back({device, fmt::format("{} to become {}", name, type)});
    const std::optional<TimePoint>& time = claim.allocation->time;
    if (time && (!standing.since || *time < *standing.since)) standing.since = time;
    return;
  }
}

void check_devices(const Core& core, const engine::Plan& plan, Standing& standing) {
  for (const engine::ClaimWrite& write : plan.claims) {
    const ClaimPtr claim = current(core, write);
    for (const api::DeviceResult& result : claim->allocation->results) {
      check_conditions(*claim, result, standing);
    }
  }
}

Standing standing_of(Core& core, const std::optional<Gang>& gang, const RoundDevices& devices) {
  Standing standing{.is_seen = has_seen(core, devices)};
  standing.problem = member_problem(gang, devices.plan);
  if (!standing.problem.empty()) standing.end = engine::RoundEnd::kMembersGone;
  if (!standing.is_seen || !standing.problem.empty()) return standing;
  for (const engine::ClaimWrite& write : devices.plan.claims) {
    standing.problem = claim_problem(core, write);
    if (!standing.problem.empty()) return standing;
  }
  standing.problem = engine::overtaken(devices.plan, *devices.planned, *core.state.snapshot(),
                                       core.options.engine.device_features);
  if (standing.problem.empty()) check_devices(core, devices.plan, standing);
  return standing;
}

/// Until when the round waits: for its watch from its writes on, for drivers from when they could
/// begin, which may be before this process.
TimePoint deadline_of(const Options& options, const RoundDevices& devices,
                      const Standing& standing) {
  if (!standing.is_seen) return devices.written_at + options.claims_seen_deadline;
  const TimePoint since = std::min(devices.written_at, standing.since.value_or(TimePoint::max()));
  return since + options.device_ready_deadline;
}

/// What drivers have not done in time they do no more.
void give_up_awaited(const Options& options, Standing& standing) {
  for (UnreadyDevice& one : standing.awaited) {
    one.why =
        fmt::format("waited {} for {}", format_duration(options.device_ready_deadline), one.why);
  }
  standing.unready = std::move(standing.awaited);
}

/// A round that still waits at its deadline is given up.
void end_waiting(const Options& options, Standing& standing) {
  if (standing.is_seen) {
    give_up_awaited(options, standing);
  } else {
    standing.problem =
        fmt::format("the watch of ResourceClaims did not show the reserved devices within {}",
                    format_duration(options.claims_seen_deadline));
  }
}

void answer(const GangRecord& record, const RoundDevices& devices, const std::optional<Gang>& gang,
            Standing standing, Turn& turn) {
  engine::RoundCheck check{.gang = devices.plan.gang,
                           .stamp = record.round->stamp,
                           .problem = std::move(standing.problem),
                           .end = standing.end};
  if (gang) {
    for (const Member& member : gang->members) {
      check.versions.emplace(member.uid, member.resource_version);
    }
  }
  turn.effects.emplace_back(ConfirmRound{std::move(check)});
}

void tell_awaited(Core& core, GangRecord& record, const Gang& gang, const Standing& standing,
                  Turn& turn) {
  engine::Explanation explanation =
      explain_progress(gang, fmt::format("devices are reserved for {} members; waiting for {}",
                                         record.round->devices->plan.assignments.size(),
                                         standing.awaited.front().why));
  explanation.is_progress = true;
  tell(core, record, gang, std::move(explanation), turn);
}

/// Returns whether the round has its answer.
bool check_round(Core& core, GangRecord& record, Turn& turn) {
  RoundDevices& devices = *record.round->devices;
  const auto gang = core.state.gang(record.ref.id);
  meet_made(core, devices);
  Standing standing = standing_of(core, gang, devices);
  const TimePoint deadline = deadline_of(core.options, devices, standing);
  if (standing.is_waiting() && turn.now >= deadline) end_waiting(core.options, standing);
  if (!standing.is_waiting()) {
    devices.unready = std::move(standing.unready);
    if (!devices.unready.empty()) {
      standing.problem = devices.unready.front().why;
      standing.end = engine::RoundEnd::kUnready;
    }
    answer(record, devices, gang, std::move(standing), turn);
    return true;
  }
  if (standing.is_seen) tell_awaited(core, record, *gang, standing, turn);
  // What is told too soon after something else is told when that may be.
  core.queue.set_timer(record.ref.id, std::min(deadline, record.report.due().value_or(deadline)));
  return false;
}

}  // namespace

std::string unready_text(const Options& options, const api::ResourceClaim& claim, TimePoint now) {
  Standing standing;
  for (const api::DeviceResult& result : claim.allocation->results) {
    check_conditions(claim, result, standing);
  }
  const bool is_over = standing.since && now >= *standing.since + options.device_ready_deadline;
  if (standing.unready.empty() && is_over) give_up_awaited(options, standing);
  return standing.unready.empty() ? "" : standing.unready.front().why;
}

void mark_unready(const Options& options, Gang& gang, TimePoint now) {
  for (cluster::GangClaim& claim : gang.claims) {
    const bool is_shown = claim.allocation && !claim.is_assumed && claim.problem.empty();
    if (is_shown) claim.problem = unready_text(options, *claim.claim, now);
  }
}

void assume_claims(Core& core, OpenRound& round, const engine::Plan& plan) {
  round.devices = RoundDevices{.plan = plan, .planned = core.state.snapshot()};
  for (const engine::ClaimWrite& write : plan.claims) {
    core.claims_in_rounds.try_emplace(write.claim->meta.uid);
    if (!write.allocation) continue;
    core.state.assume_allocation(write.claim->meta.uid, *write.allocation);
  }
  for (const engine::ClaimCreation& creation : plan.new_claims) {
    core.state.assume_new_claim(creation.claim, creation.pod_uid, creation.allocation);
  }
}

void forget_claims(Core& core, const OpenRound& round, TimePoint now) {
  if (!round.devices) return;
  for (const engine::ClaimWrite& write : round.devices->plan.claims) {
    core.state.forget_allocation(write.claim->meta.uid);
    const auto waiting = core.claims_in_rounds.extract(write.claim->meta.uid);
    if (!waiting.empty()) look_again(core, waiting.mapped(), now);
  }
  for (const engine::ClaimCreation& creation : round.devices->plan.new_claims) {
    core.state.forget_new_claim(creation.claim);
  }
  core.wakeup.note_devices();
}

bool wait_for_claim(Core& core, GangRecord& record, const Gang& gang, Turn& turn) {
  for (const cluster::GangClaim& claim : gang.claims) {
    const auto found = claim.claim ? core.claims_in_rounds.find(claim.claim->meta.uid)
                                   : core.claims_in_rounds.end();
    if (found == core.claims_in_rounds.end()) continue;
    found->second.insert(record.ref.id);
    record.not_before = turn.now + core.options.backoff_max;
    tell_held_claim(core, record, gang, claim, turn);
    return true;
  }
  return false;
}

void note_written(Core& core, const engine::ClaimsWritten& written, TimePoint now) {
  const auto found = core.records.find(written.gang.id);
  if (found == core.records.end() || !found->second.round) return;
  OpenRound& round = *found->second.round;
  if (round.stamp != written.stamp || !round.devices) return;
  for (const auto& claim : written.claims) {
    round.devices->versions.emplace(claim.uid, claim.resource_version);
  }
  round.devices->written_at = now;
  core.unconfirmed.insert(written.gang.id);
}

void check_rounds(Core& core, Turn& turn) {
  std::erase_if(core.unconfirmed, [&](cluster::GangId id) {
    const auto found = core.records.find(id);
    const bool is_open =
        found != core.records.end() && found->second.round && found->second.round->devices;
    return !is_open || check_round(core, found->second, turn);
  });
}

}  // namespace gang::scheduler
