#include "scheduler/inheritance.h"

#include <fmt/format.h>
#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "scheduler/attempt.h"
#include "scheduler/recovery.h"
#include "scheduler/undo.h"

namespace gang::scheduler {
namespace {

using cluster::Gang;
using cluster::GangClaim;
using cluster::GangId;
using cluster::GangKind;
using cluster::Member;
using cluster::MemberState;

/// How soon it is seen that an intent which cannot be read was deleted.
constexpr Duration kMendedAfter = std::chrono::seconds(30);

/// The gang that the intent is of; nothing when it is gone or was made anew.
std::optional<GangId> gang_of(const Core& core, const api::Intent& intent) {
  if (const auto lone = core.state.find_gang(intent.gang_uid)) return lone;
  const auto group = core.state.find_gang(intent.gang);
  if (!group) return std::nullopt;
  const auto outline = core.state.gang_outline(*group);
  return outline && outline->uid == intent.gang_uid ? group : std::nullopt;
}

void fence(Core& core, api::StoredIntent intent, std::optional<GangId> id, Turn& turn) {
  const api::Uid uid = intent.intent.gang_uid;
  core.inheritance.open.erase(uid);
  begin_undo(core, intent.intent, id);
  if (id) {
    GangRecord& record = core.records.at(*id);
    core.queue.take_out(*id);
    core.queue.set_timer(*id, std::nullopt);
    record.parking.reset();
    record.stage = Stage::kFencing;
  }
  turn.effects.emplace_back(FenceRound{std::move(intent)});
}

bool is_reserved_for(const GangClaim& claim, const Member& member) {
  return claim.claim &&
         std::ranges::any_of(claim.claim->reserved_for, [&](const api::ClaimConsumer& consumer) {
           return consumer.uid == member.uid;
         });
}

api::IntentClaim* find_claim(api::Intent& intent, const api::Uid& uid) {
  const auto found = std::ranges::find(intent.claims, uid, &api::IntentClaim::uid);
  return found != intent.claims.end() ? &*found : nullptr;
}

/// What an intent would say of claims that were made for members which nobody binds.
api::StoredIntent left_over_of(const Core& core, const Gang& gang) {
  api::StoredIntent found = blank_intent(gang, core.options.epoch);
  for (const Member& member : gang.members) {
    if (member.state != MemberState::kPending) continue;
    const auto claims = core.state.extended_claims(member.uid);
    for (const auto& claim : claims) {
      found.intent.claims.push_back({.claim = claim->meta.key,
                                     .uid = claim->meta.uid,
                                     .allocates = true,
                                     .made_for = member.uid});
    }
    if (!claims.empty()) found.intent.members.push_back({.pod = member.key, .uid = member.uid});
  }
  return found;
}

/// What an intent would say of claims that are reserved for members which nobody binds.
api::StoredIntent orphans_of(const Gang& gang, const std::string& epoch) {
  api::StoredIntent found = blank_intent(gang, epoch);
  api::Intent& intent = found.intent;
  for (const Member& member : gang.members) {
    if (member.state != MemberState::kPending) continue;
    bool holds = false;
    for (const std::int32_t index : member.claims) {
      const GangClaim& claim = gang.claims[static_cast<std::size_t>(index)];
      if (claim.of_group || !is_reserved_for(claim, member)) continue;
      holds = true;
      if (find_claim(intent, claim.claim->meta.uid) != nullptr) continue;
      intent.claims.push_back(
          {.claim = claim.key, .uid = claim.claim->meta.uid, .allocates = true});
    }
    if (holds) intent.members.push_back({.pod = member.key, .uid = member.uid});
  }
  return found;
}

std::string text_of(const api::StoredIntent& intent) {
  return fmt::format(
      "ConfigMap {} holds an open round of this gang that cannot be read ({}); run the version "
      "that "
      "wrote it, or delete the ConfigMap and free the claims of pods without a node",
      intent.meta.key.text(), intent.problem);
}

/// Whether this process is busy with the intent: it writes its round, or takes it back.
bool is_under_way(const Core& core, const api::Intent& intent) {
  if (core.inheritance.undos.contains(intent.gang_uid)) return true;
  if (intent.epoch != core.options.epoch) return false;
  return std::ranges::any_of(core.records, [&](const auto& entry) {
    return entry.second.ref.uid == intent.gang_uid && entry.second.is_in_flight();
  });
}

/// A gang that was refused since an intent of it cannot be read.
void wake_gang(Core& core, const api::Uid& uid, TimePoint now) {
  for (auto& [id, record] : core.records) {
    if (record.ref.uid != uid || record.stage != Stage::kParked) continue;
    record.stage = Stage::kIdle;
    record.parking.reset();
    record.not_before = now;
    core.dirty.insert(id);
  }
}

/// What cannot be read is told once, and its gang goes on once it is gone.
void note_unreadable(Core& core, const std::vector<api::StoredIntent>& intents, Turn& turn) {
  Inheritance& inheritance = core.inheritance;
  std::map<api::Uid, api::StoredIntent> known;
  for (const api::StoredIntent& intent : intents) {
    if (intent.problem.empty()) continue;
    const auto old = inheritance.unreadable.find(intent.intent.gang_uid);
    const bool is_told = old != inheritance.unreadable.end() && old->second == intent;
    if (!is_told) turn.effects.emplace_back(Notice{text_of(intent)});
    known.emplace(intent.intent.gang_uid, intent);
  }
  for (const auto& [uid, intent] : std::exchange(inheritance.unreadable, std::move(known))) {
    if (!inheritance.unreadable.contains(uid)) wake_gang(core, uid, turn.now);
  }
  inheritance.look_at.reset();
  if (!inheritance.unreadable.empty()) inheritance.look_at = turn.now + kMendedAfter;
}

/// Decides about one intent; returns false while its gang is in flight.
bool settle(Core& core, const api::StoredIntent& intent, Turn& turn) {
  const auto id = gang_of(core, intent.intent);
  const auto found = id ? core.records.find(*id) : core.records.end();
  if (found == core.records.end()) {
    fence(core, intent, std::nullopt, turn);
    return true;
  }
  const GangRecord& record = found->second;
  if (record.is_in_flight()) return false;
  const bool may_stand =
      std::ranges::all_of(intent.intent.claims, &api::Uid::empty, &api::IntentClaim::made_for);
  if (may_stand && record.stage == Stage::kActive && record.counts.base() == 0) {
    attempt(core, *id, turn);
  } else {
    const auto gang = core.state.gang(*id);
    auto pods = gang ? bound_before(*gang, core.options.epoch) : std::vector<engine::Assignment>();
    if (!pods.empty()) turn.effects.emplace_back(TellBound{std::move(pods)});
    fence(core, intent, id, turn);
  }
  return true;
}

}  // namespace

void note_intents(Core& core, const std::vector<api::StoredIntent>& intents, Turn& turn) {
  Inheritance& inheritance = core.inheritance;
  inheritance.is_known = true;
  for (const api::StoredIntent& intent : intents) {
    if (!intent.problem.empty() || is_under_way(core, intent.intent)) continue;
    inheritance.open.emplace(intent.intent.gang_uid, intent);
    const bool is_ours = intent.intent.epoch == core.options.epoch;
    if (!is_ours) inheritance.holds_until = turn.now + api::kExecutableFor;
  }
  note_unreadable(core, intents, turn);
}

void look_for_unreadable(Core& core, Turn& turn) {
  std::optional<TimePoint>& look_at = core.inheritance.look_at;
  if (!look_at || turn.now < *look_at) return;
  look_at.reset();
  turn.effects.emplace_back(FindIntents{});
}

bool settle_next(Core& core, Turn& turn) {
  Inheritance& inheritance = core.inheritance;
  bool has_decided = false;
  for (const auto& [uid, intent] : inheritance.open) {
    const api::StoredIntent copy = intent;
    has_decided = settle(core, copy, turn);
    if (has_decided) break;
  }
  return has_decided && !inheritance.open.empty();
}

std::optional<api::StoredIntent> take_inherited(Core& core, const api::Uid& gang) {
  auto found = core.inheritance.open.extract(gang);
  if (found.empty()) return std::nullopt;
  return std::move(found.mapped());
}

api::StoredIntent blank_intent(const Gang& gang, const std::string& epoch) {
  return {.intent = {.gang = gang.key,
                     .gang_uid = gang.uid,
                     .minimum = gang.minimum,
                     .base = gang.counts.base(),
                     .need = gang.need(),
                     .epoch = epoch}};
}

void fence_spaced(Core& core, GangRecord& record, api::StoredIntent intent, Turn& turn) {
  record.not_before = turn.now + backoff(core.options, ++record.failures);
  fence(core, std::move(intent), record.ref.id, turn);
}

bool give_back_left_over(Core& core, GangRecord& record, const Gang& gang, Turn& turn) {
  api::StoredIntent found = left_over_of(core, gang);
  if (found.intent.claims.empty()) return false;
  const auto open = core.inheritance.open.find(gang.uid);
  if (open != core.inheritance.open.end()) found = open->second;
  fence_spaced(core, record, std::move(found), turn);
  return true;
}

bool give_back_instead(Core& core, GangRecord& record, const Gang& gang, Turn& turn) {
  const auto found = core.inheritance.open.find(gang.uid);
  if (found != core.inheritance.open.end()) {
    fence(core, found->second, record.ref.id, turn);
    return true;
  }
  api::StoredIntent orphans = orphans_of(gang, core.options.epoch);
  if (orphans.intent.claims.empty()) return false;
  fence_spaced(core, record, std::move(orphans), turn);
  return true;
}

std::string unreadable_intent(const Core& core, const Gang& gang) {
  const auto found = core.inheritance.unreadable.find(gang.uid);
  return found != core.inheritance.unreadable.end() ? text_of(found->second) : "";
}

void finish_fence(Core& core, const api::Uid& gang, Turn& turn) {
  const std::optional<GangId> id = end_undo(core, gang, turn);
  const auto record = id ? core.records.find(*id) : core.records.end();
  if (record == core.records.end()) return;
  record->second.stage = Stage::kIdle;
  record->second.report.drop_waiting();
  core.dirty.insert(*id);
}

}  // namespace gang::scheduler
