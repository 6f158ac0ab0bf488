#include <algorithm>

#include "engine/filter.h"

namespace gang::engine {

const FactsFilter kTaintToleration = {
    .name = "TaintToleration",
    .text = "node(s) had untolerated taint(s)",
    .refuses =
        [](const ClassRules& rules, const cluster::NodeInfo& node) {
          return std::ranges::any_of(node.taints, [&rules](const api::Taint& taint) {
            const bool repels = taint.effect == api::TaintEffect::kNoSchedule ||
                                taint.effect == api::TaintEffect::kNoExecute;
            return repels && !api::tolerates(rules.pod_class->tolerations, taint, rules.comparison);
          });
        },
};

}  // namespace gang::engine
