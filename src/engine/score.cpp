#include "engine/score.h"

namespace gang::engine {

std::span<const PreferenceTerm> preference_terms() {
  static const PreferenceTerm list[] = {kTaintPreference, kNodePreference};
  return list;
}

std::span<const UsageTerm> usage_terms() {
  static const UsageTerm list[] = {kLeastAllocated, kBalancedAllocation, kAcceleratorPacking};
  return list;
}

std::vector<WeightedTerm> weighted_terms(const ClassRules& rules, const Options& options) {
  std::vector<WeightedTerm> terms;
  for (const UsageTerm& term : usage_terms()) {
    const std::int64_t weight = options.*term.weight;
    if (weight > 0 && term.applies(rules)) terms.push_back({.term = &term, .weight = weight});
  }
  return terms;
}

}  // namespace gang::engine
