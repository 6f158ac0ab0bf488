// Undo: what stays kept while the binder takes a round back, and what is said when that takes long.
//
// Problem: one object whose writes fail for ever keeps a round from being taken back, and with it
// what the round may still hold. Idea: the room of its pods stays booked on the nodes of the round,
// the devices of its claims stay in use as long as the claims say so, and gangs that need one of
// these very claims wait; everybody else goes on. Source: the commit protocol, 5.5 and 6.
#pragma once

#include <optional>
#include <string>

#include "scheduler/core.h"

namespace gang::scheduler {

/// Keeps what the round may hold. REQUIRES: no undo of that gang is under way.
void begin_undo(Core& core, const api::Intent& intent, std::optional<cluster::GangId> id);

/// Gives free what was kept. Returns the gang; nothing when it is gone or no undo was under way.
std::optional<cluster::GangId> end_undo(Core& core, const api::Uid& gang, Turn& turn);

/// The undo of a fence or of a round meets something for long: its gang is told.
void note_undo(Core& core, const engine::UndoReport& report, Turn& turn);

/// Whether the gang has to wait, since an undo may still hold a claim that it needs.
bool wait_for_undo(Core& core, GangRecord& record, const cluster::Gang& gang, Turn& turn);

/// Tells a gang that waits for a claim why it is not given back, if that is known.
void tell_held_claim(Core& core, GangRecord& record, const cluster::Gang& gang,
                     const cluster::GangClaim& claim, Turn& turn);

/// "gang default/a: claim default/c: <answer>" for the first few undos that meet something, or "".
[[nodiscard]] std::string undo_text(const Core& core);

/// Gangs that waited for the end of something are looked at now.
void look_again(Core& core, const std::set<cluster::GangId>& gangs, TimePoint now);

}  // namespace gang::scheduler
