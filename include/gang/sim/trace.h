// Traces: the production engine and plain references on the fleets and loads of public traces.
//
// play_pods() is the protocol of "Beware of Fragmentation" (USENIX ATC 2023): pods come one by one
// in random order, stay, and are dropped where they fit nowhere; once all of the list have come,
// more are drawn from it, until 130 % of the fleet's GPUs were asked for. Every placement is
// checked against plain books. Same texts and options, same bytes. One thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "gang/base/result.h"

namespace gang::sim {

/// How a trace is played.
struct TraceOptions {
  std::int32_t seeds = 10;                 ///< arrival orders; what is told is their mean
  std::uint64_t first_seed = 42;           ///< of the first one
  std::vector<std::string> policies = {};  ///< of pod_policies(); empty: all
};

/// Texts of one list of pods on one fleet.
struct PodTrace {
  std::string name;  ///< as the published figures name the list
  std::string_view nodes;
  std::string_view pods;
  std::string_view published = {};  ///< allocation by list, policy and seed; may be empty
};

/// "engine", then the references.
[[nodiscard]] std::vector<std::string> pod_policies();
[[nodiscard]] std::vector<std::string> gang_policies();
/// The wanted ones, or all where none is. Fails on one that is not known.
[[nodiscard]] Result<std::vector<std::string>> chosen_policies(
    const std::vector<std::string>& known, const std::vector<std::string>& wanted);

/// The lines that stand above those of play_pods().
[[nodiscard]] std::string pod_trace_head();
/// A line for each policy, with the allocation and the fragments in % of the fleet's GPUs when
/// 100 % and when 130 % of them were asked for; then the published figures. Fails with the row of a
/// table that cannot be read.
[[nodiscard]] Result<std::string> play_pods(const PodTrace& trace, const TraceOptions& options);

/// Jobs on a fleet of equal nodes with 8 GPUs.
struct GangTrace {
  std::string_view jobs;
  std::uint32_t node_count = 64;
  std::int32_t load_percent = 95;  ///< durations are scaled so that so much of the fleet is wanted
};

/// The lines that stand above those of play_gangs().
[[nodiscard]] std::string gang_trace_head();
/// A line for each policy: how many jobs were started and how many never fit, how long jobs wait,
/// and GPUs idle while somebody waits. Fails with the row of a table that cannot be read.
[[nodiscard]] Result<std::string> play_gangs(const GangTrace& trace,
                                             const std::vector<std::string>& policies);

}  // namespace gang::sim
