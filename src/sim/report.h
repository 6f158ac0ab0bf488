// What a scenario prints: traces of a run and the state of the cluster, as lines for a person.
//
// Pure functions; every list is in a stated order, so that equal runs give equal bytes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "gang/base/result.h"
#include "gang/sim/simulator.h"

namespace gang::sim {

/// `with_time`: each entry starts with the time since the start.
enum class TraceTime { kHide, kShow };

[[nodiscard]] std::vector<std::string> trace_lines(const std::vector<TraceEntry>& entries,
                                                   TraceTime time);

/// The name as scenarios write it: without the namespace where that is default or there is none.
[[nodiscard]] std::string short_name(const api::ObjectKey& key);

/// show pods | queue | conditions | events | writes | nodes | claims | intents.
[[nodiscard]] Result<std::vector<std::string>> show(Simulator& simulator, std::string_view what);

/// What the engine would answer for the gang or lone pod now; nothing on the server changes.
[[nodiscard]] Result<std::vector<std::string>> plan_lines(Simulator& simulator,
                                                          const std::string& gang,
                                                          const engine::Options& options);

}  // namespace gang::sim
