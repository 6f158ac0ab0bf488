#include "engine/device_emptied.h"

namespace gang::engine {
namespace {

using End = DeviceStep::End;

/// Whether the search for more nodes is over: one serves, or it is not known.
bool is_open(const DeviceStep& step) {
  return step.is_yes() || step.end == End::kLimit;
}

}  // namespace

Emptied try_emptied(const Draft& draft, const DeviceStage& stage, const EmptiedAsk& ask,
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
  DeviceDraft devices(emptied, ask.claims, steps_max);
  const DeviceMember& member = ask.kind.members.front();
  const cluster::Snapshot& snapshot = draft.snapshot();
  bool serves_nobody = true;
  for (std::uint32_t rank = 0; serves_nobody && rank < snapshot.by_name().size(); ++rank) {
    const cluster::NodeInfo& node = *snapshot.node(snapshot.by_name()[rank]);
    const ExtendedClaim* extended = ask.extended.claim_of(ask.kind.class_index, rank);
    const bool needs_devices = extended != nullptr || !member.claims.empty();
    if (needs_devices && stage.pools_of(node.name).empty()) continue;
    const DeviceWants wants{.claims = member.claims,
                            .extended = extended == nullptr ? nullptr : &extended->claim};
    serves_nobody = !is_open(devices.place(wants, node));
  }
  return {.serves_nobody = serves_nobody, .steps = steps_max - devices.steps_left()};
}

}  // namespace gang::engine
