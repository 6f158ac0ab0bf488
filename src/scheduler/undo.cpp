#include "scheduler/undo.h"

#include <fmt/format.h>
#include <algorithm>
#include <utility>

#include "gang/base/list_text.h"

namespace gang::scheduler {
namespace {

using cluster::AssumedPod;
using cluster::Gang;
using cluster::GangId;
using cluster::Member;
using cluster::MemberState;

/// Of the gangs of the listed pods: the pods that may be bound.
std::set<api::Uid> pending_pods(const Core& core, const api::Intent& intent) {
  std::set<GangId> gangs;
  for (const api::IntentMember& member : intent.members) {
    if (const auto id = core.state.find_gang(member.uid)) gangs.insert(*id);
  }
  std::set<api::Uid> pending;
  for (const GangId id : gangs) {
    const auto gang = core.state.gang(id);
    if (!gang) continue;
    for (const Member& member : gang->members) {
      if (member.state == MemberState::kPending) pending.insert(member.uid);
    }
  }
  return pending;
}

std::vector<AssumedPod> pods_to_keep(Core& core, const api::Intent& intent) {
  const std::set<api::Uid> pending = pending_pods(core, intent);
  const auto snapshot = core.state.snapshot();
  std::vector<AssumedPod> pods;
  for (const api::IntentMember& member : intent.members) {
    const auto rank = snapshot->rank_of(member.node_name);
    if (!rank || !pending.contains(member.uid)) continue;
    pods.push_back({member.uid, snapshot->by_name()[*rank]});
  }
  return pods;
}

/// The gang with pods that are only planned or kept as what they are: not bound.
std::optional<Gang> gang_without_assumed(Core& core, GangId id) {
  const auto gang = core.state.gang(id);
  if (!gang) return std::nullopt;
  const auto snapshot = core.state.snapshot();
  std::vector<AssumedPod> pods;
  for (const Member& member : gang->members) {
    if (member.state != MemberState::kAssumed) continue;
    const auto rank = snapshot->rank_of(member.node_name);
    if (rank) pods.push_back({member.uid, snapshot->by_name()[*rank]});
  }
  for (const AssumedPod& pod : pods) core.state.forget(pod.uid);
  auto bare = core.state.gang(id);
  core.state.assume(pods);
  return bare;
}

void tell_trouble(Core& core, GangRecord& record, const std::string& trouble, Turn& turn) {
  auto gang = gang_without_assumed(core, record.ref.id);
  if (!gang || gang->uid != record.ref.uid) return;
  gang->minimum = record.minimum;
  tell(core, record, *gang,
       explain_to_all(*gang, engine::Verdict::kBinding,
                      fmt::format("what a round wrote is not taken back yet: {}; it is tried again "
                                  "until the API server takes it",
                                  trouble)),
       turn);
  if (const auto due = record.report.due()) core.queue.set_timer(record.ref.id, due);
}

/// The gang whose round, of this process, is under way.
std::optional<GangId> gang_in_round(const Core& core, const engine::UndoReport& report) {
  auto id = core.state.find_gang(report.gang_uid);
  if (!id) id = core.state.find_gang(report.gang);
  const auto record = id ? core.records.find(*id) : core.records.end();
  if (record == core.records.end() || record->second.ref.uid != report.gang_uid) return {};
  return record->second.is_in_flight() ? id : std::nullopt;
}

bool holds_claim(const Core& core, const api::Uid& gang, const UndoTrouble& trouble,
                 const api::Uid& claim) {
  const auto undo = core.inheritance.undos.find(gang);
  if (undo != core.inheritance.undos.end()) return undo->second.claims.contains(claim);
  const auto record = trouble.id ? core.records.find(*trouble.id) : core.records.end();
  const bool has_devices =
      record != core.records.end() && record->second.round && record->second.round->devices;
  if (!has_devices) return false;
  return std::ranges::any_of(
      record->second.round->devices->plan.claims,
      [&](const engine::ClaimWrite& write) { return write.claim->meta.uid == claim; });
}

/// Whoever waits for a claim of the round of that gang hears why.
void tell_waiting(Core& core, const GangRecord& record, TimePoint now) {
  if (!record.round || !record.round->devices) return;
  for (const engine::ClaimWrite& write : record.round->devices->plan.claims) {
    const auto waiting = core.claims_in_rounds.find(write.claim->meta.uid);
    if (waiting != core.claims_in_rounds.end()) look_again(core, waiting->second, now);
  }
}

}  // namespace

void begin_undo(Core& core, const api::Intent& intent, std::optional<GangId> id) {
  Undo undo{.id = id, .claims = {}, .pods = pods_to_keep(core, intent)};
  for (const api::IntentClaim& claim : intent.claims) {
    if (!claim.uid.empty()) undo.claims.insert(claim.uid);
  }
  core.state.assume(undo.pods);
  core.inheritance.undos.insert_or_assign(intent.gang_uid, std::move(undo));
}

std::optional<GangId> end_undo(Core& core, const api::Uid& gang, Turn& turn) {
  core.undo_troubles.erase(gang);
  auto found = core.inheritance.undos.extract(gang);
  if (found.empty()) return std::nullopt;
  for (const AssumedPod& pod : found.mapped().pods) core.state.forget(pod.uid);
  if (!found.mapped().pods.empty()) core.wakeup.note_room();
  look_again(core, found.mapped().waiting, turn.now);
  return found.mapped().id;
}

void note_undo(Core& core, const engine::UndoReport& report, Turn& turn) {
  if (report.trouble.empty()) {
    core.undo_troubles.erase(report.gang_uid);
    return;
  }
  const auto undo = core.inheritance.undos.find(report.gang_uid);
  const bool is_fence = undo != core.inheritance.undos.end();
  const auto id = is_fence ? undo->second.id : gang_in_round(core, report);
  core.undo_troubles.insert_or_assign(report.gang_uid,
                                      UndoTrouble{report.gang, id, report.trouble});
  if (is_fence) look_again(core, undo->second.waiting, turn.now);
  const auto record = id ? core.records.find(*id) : core.records.end();
  if (record == core.records.end()) return;
  if (!is_fence) tell_waiting(core, record->second, turn.now);
  tell_trouble(core, record->second, report.trouble, turn);
}

void tell_held_claim(Core& core, GangRecord& record, const Gang& gang,
                     const cluster::GangClaim& claim, Turn& turn) {
  for (const auto& [uid, trouble] : core.undo_troubles) {
    if (!holds_claim(core, uid, trouble, claim.claim->meta.uid)) continue;
    tell(core, record, gang,
         explain_to_all(gang, engine::Verdict::kBinding,
                        fmt::format("claim {} is held by a round of gang {} that is not taken back "
                                    "yet: {}",
                                    claim.key.text(), trouble.gang.text(), trouble.text)),
         turn);
    return;
  }
}

bool wait_for_undo(Core& core, GangRecord& record, const Gang& gang, Turn& turn) {
  for (auto& [uid, undo] : core.inheritance.undos) {
    const auto claim = std::ranges::find_if(gang.claims, [&](const cluster::GangClaim& one) {
      return one.claim && undo.claims.contains(one.claim->meta.uid);
    });
    if (claim == gang.claims.end()) continue;
    undo.waiting.insert(record.ref.id);
    record.not_before = turn.now + core.options.backoff_max;
    tell_held_claim(core, record, gang, *claim, turn);
    return true;
  }
  return false;
}

std::string undo_text(const Core& core) {
  std::vector<std::string> texts;
  for (const auto& [uid, trouble] : core.undo_troubles) {
    texts.push_back(fmt::format("gang {}: {}", trouble.gang.text(), trouble.text));
  }
  return list_text(texts, {.between = "; ", .more = "; and "});
}

void look_again(Core& core, const std::set<GangId>& gangs, TimePoint now) {
  for (const GangId id : gangs) {
    const auto found = core.records.find(id);
    if (found == core.records.end()) continue;
    found->second.not_before = now;
    core.dirty.insert(id);
  }
}

}  // namespace gang::scheduler
