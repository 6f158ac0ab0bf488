// Search: puts all of `need` members of a gang on nodes, or proves that it cannot be done.
//
// Problem: classes with member counts; place at least `need` members in all, then every further one
// that fits as well.
// Idea: bounds by capacity sums refuse without a search. One class: the sum decides, nodes are
// taken by score. Unlike classes: greedily, scarcest class first; if that falls short, exact
// depth-first search over the same choices, in which a node that failed for a class is not tried
// again below (a set of nodes is met in one order only), of nodes that are alike only as many as
// the gang has members are looked at and one failure speaks for all with the same picks, and
// capacity sums cut what cannot reach `need`. Ties: score, then node name; classes by scarcity,
// then size, then the gang's order. Complexity: O(members x classes x log nodes) until the exact
// part, whose node trials are counted against a limit. Cannot find: nothing it has not proved,
// unless it says kLimit.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/draft.h"
#include "engine/node_types.h"

namespace gang::engine {

enum class SearchEnd { kPlaced, kImpossible, kLimit };

/// How far a search may and did go. A value.
struct SearchBudget {
  std::int64_t steps_max = 0;
  std::int64_t steps = 0;
};

/// Leaves the picks in the draft: a maximal plan when kPlaced, else the most members that any tried
/// order could place. Picks of one class come in the order of choice.
[[nodiscard]] SearchEnd search(Draft& draft, std::int32_t need, SearchBudget& budget);

/// Whether sums alone allow `need` members now, or on the emptied fleet. Necessary; with one class
/// also sufficient.
[[nodiscard]] bool sums_allow(const std::vector<DraftClass>& classes, std::int64_t need);
[[nodiscard]] bool fleet_allows(const std::vector<DraftClass>& classes, std::int64_t need);

}  // namespace gang::engine
