// Score terms: named wishes in integers 0..100, times a weight, summed. Highest wins, then node
// name.
//
// Preference terms read the node's facts and are normalised over the nodes that no facts filter of
// the class refuses (upstream: over the feasible ones). Usage terms read what is taken on the node.
// Plain pods spread as upstream does; pods that ask for accelerators are packed instead.
// To add one: its function in a file score_<noun>.cpp, a row in score.cpp, a scenario, a docs row.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/class_rules.h"
#include "engine/overlay.h"

namespace gang::engine {

/// A wish about labels and taints. Constant.
struct PreferenceTerm {
  const char* name;
  std::int32_t Options::*weight;
  std::int32_t (*raw)(const ClassRules&, const cluster::NodeInfo&);  ///< >= 0
  std::int32_t (*normalise)(std::int32_t raw, std::int32_t raw_max);
};

/// A wish about usage. Constant.
struct UsageTerm {
  const char* name;
  std::int32_t Options::*weight;
  bool (*applies)(const ClassRules&);
  /// Of the node with one more member on it.
  std::int32_t (*score)(const ClassRules&, const NodeUse&);
};

[[nodiscard]] std::span<const PreferenceTerm> preference_terms();
[[nodiscard]] std::span<const UsageTerm> usage_terms();

/// The usage terms of one class with their weights. A value.
struct WeightedTerm {
  const UsageTerm* term;
  std::int64_t weight;
};
[[nodiscard]] std::vector<WeightedTerm> weighted_terms(const ClassRules& rules,
                                                       const Options& options);

// The terms, each in the file named after its kind.
extern const PreferenceTerm kTaintPreference;
extern const PreferenceTerm kNodePreference;
extern const UsageTerm kLeastAllocated;
extern const UsageTerm kBalancedAllocation;
extern const UsageTerm kAcceleratorPacking;

}  // namespace gang::engine
