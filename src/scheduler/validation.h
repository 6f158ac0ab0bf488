// Validation: members that contradict each other or their PodGroup. Source: gang contract 2.4.
#pragma once

#include <string>

#include "gang/cluster/gang.h"
#include "gang/scheduler/scheduler.h"

namespace gang::scheduler {

/// Empty when the gang may be planned, else the text of the first rule that it breaks: upstream's
/// words, then what to change. Lone pods break none, and an unreadable PodGroup is the engine's to
/// refuse. O(members).
[[nodiscard]] std::string validate(const cluster::Gang& gang, PriorityMismatch mismatch);

}  // namespace gang::scheduler
