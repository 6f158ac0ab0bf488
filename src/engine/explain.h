// Texts and reasons of a gang that has no plan, from what its tables already know.
//
// Group texts: the gang contract 2.11. A lone pod, and a member that fits nowhere even alone: its
// own FitError, the scheduling contract 8.1.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "engine/draft.h"
#include "engine/refusal.h"
#include "gang/cluster/gang.h"
#include "gang/engine/explanation.h"

namespace gang::engine {

/// Which nodes an attempt with a topology constraint is told about. A value; empty: all nodes.
struct PlacementText {
  std::string best;    ///< "0/4 placements are available, best placement rack=r1: "
  std::string pinned;  ///< "running members hold rack=r1", or ""
  /// By class: whether some domain takes a member of it, so that no pod is told that it fits
  /// nowhere because this one does not.
  std::vector<bool> fits_somewhere = {};
};

/// How an attempt ended. A value.
struct Attempt {
  Verdict verdict = Verdict::kImpossibleNow;
  std::int32_t scheduled = 0;
  std::int32_t remaining = 0;
  std::vector<Reason> reasons;
  std::string detail;  ///< what the reasons count, in words; "" = nothing to add
  /// What members that fit no node are told, by their position in the gang.
  std::map<std::size_t, std::string> misfits = {};
  PlacementText placement = {};
};

/// `0/<N> nodes are available: ...` of a class with capacity nowhere.
[[nodiscard]] std::string fit_error(const CapacityTable& table);

/// The same of any reasons.
[[nodiscard]] std::string fit_text(std::int64_t node_total, const std::vector<Reason>& reasons);

/// Causes that the table counts, largest first, then bytewise.
[[nodiscard]] std::vector<Reason> reasons_of(const CapacityTable& table);

/// REQUIRES: `classes` belong to gang.classes, one by one, and nothing is booked.
[[nodiscard]] Explanation explain(const cluster::Gang& gang, Attempt attempt,
                                  const std::vector<DraftClass>& classes, const Options& options);

/// Of a gang that was not planned; every pending member is told the refusal.
[[nodiscard]] Explanation explain(const cluster::Gang& gang, const Refusal& refusal,
                                  std::int64_t node_total);

}  // namespace gang::engine
