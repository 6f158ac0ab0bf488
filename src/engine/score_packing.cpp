#include <algorithm>

#include "engine/score.h"

namespace gang::engine {

namespace {

/// Partly used nodes before empty ones, then the one that is fuller afterwards.
std::int32_t accelerator_packing(const ClassRules& rules, const NodeUse& use) {
  std::int64_t sum = 0;
  for (const cluster::ResourceAmount& request : rules.accelerators) {
    const std::int64_t whole = use.allocatable(request.resource);
    const std::int64_t used = use.requested(request.resource);
    if (whole <= 0) continue;
    const std::int64_t after = std::min(used + request.amount, whole);
    // Device counts are small; a resource counted in bytes is scaled down to keep the product.
    const std::int64_t unit = whole / 1'000'000'000 + 1;
    sum += (used > 0 ? 50 : 0) + (after / unit) * 50 / std::max<std::int64_t>(1, whole / unit);
  }
  return static_cast<std::int32_t>(sum / static_cast<std::int64_t>(rules.accelerators.size()));
}

}  // namespace

const UsageTerm kAcceleratorPacking = {
    .name = "AcceleratorPacking",
    .weight = &Options::weight_accelerator_packing,
    .applies = [](const ClassRules& rules) { return !rules.accelerators.empty(); },
    .score = accelerator_packing,
};

}  // namespace gang::engine
