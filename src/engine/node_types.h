// NodeTypes: which nodes are alike for all classes of one gang, so that one of them stands for all.
//
// Two nodes are alike when every class is refused or accepted by facts and ports in the same way,
// and the free amounts of everything that any class requests are equal, where more than the whole
// gang could use counts as enough. Scores do not matter: the search asks what is possible.
// Complexity: O(n log n) once per search.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/draft.h"

namespace gang::engine {

/// Nodes of one type, ascending by rank. A value.
using NodeType = std::vector<std::uint32_t>;

/// Whether the free amounts of the whole cluster suffice for the `need` members that ask for the
/// least of each resource. Necessary only. REQUIRES: no picks.
[[nodiscard]] bool resources_allow(const Draft& draft, std::int32_t need);

/// Types of all nodes that take at least one member of some class. REQUIRES: no picks.
[[nodiscard]] std::vector<NodeType> node_types(const Draft& draft);

}  // namespace gang::engine
