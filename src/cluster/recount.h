// Checks the ledger: every node's sums against its pods.
#pragma once

#include <string>

#include "cluster/model.h"

namespace gang::cluster {

/// Empty when the sums, ports and counts of every node and gang equal a recount from the pods, else
/// the first difference. O(nodes x resources + pods). For tests.
[[nodiscard]] std::string recount_difference(const Model& model);

}  // namespace gang::cluster
