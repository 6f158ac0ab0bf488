// The references: a plain planner that judges every node for every pod, and one read pass.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "gang/cluster/gang.h"
#include "gang/cluster/snapshot.h"
#include "gang/engine/options.h"

namespace gang::bench {

/// What the plain planner found. A value.
struct PlainAnswer {
  std::vector<std::string> node_names;  ///< per placed member, in the gang's order
  std::string message;                  ///< the group text when fewer than needed were placed
};

/// For each member, for each node: all filters, then all scores; the best by score, then name.
/// REQUIRES: a gang of one class.
[[nodiscard]] PlainAnswer plan_plainly(const cluster::Snapshot& snapshot, const cluster::Gang& gang,
                                       const engine::Options& options);

/// Reads the columns that the class needs once; the sum keeps the compiler honest.
[[nodiscard]] std::int64_t read_columns(const cluster::Snapshot& snapshot,
                                        const cluster::PodClass& pod_class);

}  // namespace gang::bench
