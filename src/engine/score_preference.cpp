#include <algorithm>
#include <limits>

#include "engine/score.h"

namespace gang::engine {

namespace {

/// 100 for none, 0 for the most.
std::int32_t normalise_down(std::int32_t raw, std::int32_t raw_max) {
  if (raw_max == 0) return 100;
  return static_cast<std::int32_t>(100 - std::int64_t{100} * raw / raw_max);
}

/// 100 for the most; all 0 when nobody has any.
std::int32_t normalise_up(std::int32_t raw, std::int32_t raw_max) {
  if (raw_max == 0) return 0;
  return static_cast<std::int32_t>(std::int64_t{100} * raw / raw_max);
}

}  // namespace

const PreferenceTerm kTaintPreference = {
    .name = "TaintToleration",
    .weight = &Options::weight_taint_preference,
    .raw =
        [](const ClassRules& rules, const cluster::NodeInfo& node) {
          const auto count = std::ranges::count_if(node.taints, [&rules](const api::Taint& taint) {
            return taint.effect == api::TaintEffect::kPreferNoSchedule &&
                   !api::tolerates(rules.pod_class->tolerations, taint, rules.comparison);
          });
          return static_cast<std::int32_t>(count);
        },
    .normalise = normalise_down,
};

const PreferenceTerm kNodePreference = {
    .name = "NodeAffinity",
    .weight = &Options::weight_node_affinity,
    .raw =
        [](const ClassRules& rules, const cluster::NodeInfo& node) {
          const api::NodeFacts facts = {.name = node.name, .labels = node.labels};
          std::int64_t sum = 0;
          for (const api::PreferredTerm& preferred : rules.pod_class->preferred_affinity) {
            if (preferred.weight > 0 && api::matches(preferred.term, facts))
              sum += preferred.weight;
          }
          return static_cast<std::int32_t>(
              std::min<std::int64_t>(sum, std::numeric_limits<std::int32_t>::max()));
        },
    .normalise = normalise_up,
};

}  // namespace gang::engine
