#include "engine/device_emptied.h"

#include <algorithm>

namespace gang::engine {
namespace {

using End = DeviceStep::End;

/// Whether the search for more nodes is over: one serves, or it is not known.
bool is_open(const DeviceStep& step) {
  return step.is_yes() || step.end == End::kLimit;
}

}  // namespace

Emptied try_emptied(const Draft& draft, const DeviceStage& stage,
                    const std::vector<cluster::GangClaim>& claims, const DeviceKind& kind,
                    std::int64_t steps_max) {
  cluster::DeviceFeatures features = stage.inputs.features;
  features.device_taints = false;
  const cluster::DeviceUsage nothing;
  const DeviceInputs inputs{.features = features,
                            .classes = stage.inputs.classes,
                            .selectors = stage.inputs.selectors,
                            .answers = stage.inputs.answers,
                            .budget = stage.inputs.budget};
  const DeviceStage emptied{.inputs = inputs, .usage = nothing, .pools_of = stage.pools_of};
  DeviceDraft devices(emptied, claims, steps_max);
  const DeviceWants wants{.claims = kind.members.front().claims};
  const cluster::Snapshot& snapshot = draft.snapshot();
  const bool serves_nobody =
      std::ranges::none_of(snapshot.by_name(), [&](cluster::NodeIndex index) {
        const cluster::NodeInfo& node = *snapshot.node(index);
        return !stage.pools_of(node.name).empty() && is_open(devices.place(wants, node));
      });
  return {.serves_nobody = serves_nobody, .steps = steps_max - devices.steps_left()};
}

}  // namespace gang::engine
