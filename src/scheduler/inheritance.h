// Inheritance: rounds over claims that were open when their process ended, or lost their intent.
//
// Problem: a crash leaves claims allocated and reserved for pods that nobody binds. Idea: the gang
// is planned around what is written, as every claim with devices is; when that succeeds the new
// round takes the old intent over and nothing moves, else the binder fences what may still come of
// the old round and gives the devices back. Nobody is planned before each intent that was found has
// gone one of both ways. Claims that are reserved for pending pods although no intent
// tells of them are given back when they do not help. An old round that cannot be taken back holds
// everybody only as long as requests of its process may be executed. Source: the commit protocol,
// chapter 6.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "scheduler/core.h"

namespace gang::scheduler {

/// What the binder has found: at start, and again later, since the last request of a process that
/// died may be executed after its successor has looked. Rounds of this process are left out.
void note_intents(Core& core, const std::vector<api::StoredIntent>& intents, Turn& turn);

/// Decides about one intent; returns whether another one may be decided at once. REQUIRES: every
/// kind is synced and changed gangs are evaluated.
bool settle_next(Core& core, Turn& turn);

/// The intent that the gang's next round takes over, if there is one.
[[nodiscard]] std::optional<api::StoredIntent> take_inherited(Core& core, const api::Uid& gang);

/// An intent of nothing yet, without a ConfigMap.
[[nodiscard]] api::StoredIntent blank_intent(const cluster::Gang& gang, const std::string& epoch);

/// Lets the binder take back what such an intent tells of. The gang might come back to it at once:
/// it is planned after a pause.
void fence_spaced(Core& core, GangRecord& record, api::StoredIntent intent, Turn& turn);

/// Whether claims for extended resources of pending members are left over, so that they are deleted
/// before the gang is planned.
bool give_back_left_over(Core& core, GangRecord& record, const cluster::Gang& gang, Turn& turn);

/// Whether the gang held claims for nothing, so that they are given back before it waits. The gang
/// was just refused.
bool give_back_instead(Core& core, GangRecord& record, const cluster::Gang& gang, Turn& turn);

/// Why the gang cannot be planned as long as an intent of it stands that cannot be read, or "".
[[nodiscard]] std::string unreadable_intent(const Core& core, const cluster::Gang& gang);

/// The binder has given back what it could.
void finish_fence(Core& core, const api::Uid& gang, Turn& turn);

/// Asks to look for open rounds where one is known that cannot be read, and it is time to.
void look_for_unreadable(Core& core, Turn& turn);

}  // namespace gang::scheduler
