// Builds Gang values from the model.
#pragma once

#include <cstdint>
#include <optional>

#include "cluster/model.h"
#include "gang/cluster/gang.h"

namespace gang::cluster {

/// The gang without members and classes, in O(1); nullopt when no pod and no PodGroup is behind it.
[[nodiscard]] std::optional<Gang> gang_outline(const Model& model, std::uint64_t id);

/// The whole gang: O(members), and a sort where they are not in order already.
[[nodiscard]] std::optional<Gang> gang_value(const Model& model, std::uint64_t id);

}  // namespace gang::cluster
