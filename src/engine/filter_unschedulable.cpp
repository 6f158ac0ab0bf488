#include "engine/filter.h"

namespace gang::engine {

const FactsFilter kNodeUnschedulable = {
    .name = "NodeUnschedulable",
    .text = "node(s) were unschedulable",
    .refuses =
        [](const ClassRules& rules, const cluster::NodeInfo& node) {
          if (!node.unschedulable) return false;
          const api::Taint cordon = {.key = "node.kubernetes.io/unschedulable",
                                     .value = "",
                                     .effect = api::TaintEffect::kNoSchedule};
          return !api::tolerates(rules.pod_class->tolerations, cordon, rules.comparison);
        },
};

}  // namespace gang::engine
