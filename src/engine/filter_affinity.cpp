// NodeAffinity in three steps: terms that name nodes restrict the candidates before any node is
// looked at (two texts of their own), then selector and required terms judge the node.
#include <algorithm>

#include "engine/filter.h"

namespace gang::engine {

namespace {

bool selector_matches(const api::StringMap& selector, const api::StringMap& labels) {
  return std::ranges::all_of(selector, [&labels](const auto& wanted) {
    const std::string* value = api::find(labels, wanted.first);
    return value != nullptr && *value == wanted.second;
  });
}

}  // namespace

const FactsFilter kNodeNamesConflict = {
    .name = "NodeAffinity",
    .text = "pod affinity terms conflict",
    .refuses =
        [](const ClassRules& rules, const cluster::NodeInfo&) {
          return rules.named_nodes && rules.named_nodes->empty();
        },
};

const FactsFilter kNodeNames = {
    .name = "NodeAffinity",
    .text = "node(s) didn't satisfy plugin(s) [NodeAffinity]",
    .refuses =
        [](const ClassRules& rules, const cluster::NodeInfo& node) {
          return rules.named_nodes && !std::ranges::binary_search(*rules.named_nodes, node.name);
        },
};

const FactsFilter kNodeAffinity = {
    .name = "NodeAffinity",
    .text = "node(s) didn't match Pod's node affinity/selector",
    .refuses =
        [](const ClassRules& rules, const cluster::NodeInfo& node) {
          const cluster::PodClass& pod_class = *rules.pod_class;
          if (!selector_matches(pod_class.node_selector, node.labels)) return true;
          if (!pod_class.required_affinity) return false;
          return !api::matches(*pod_class.required_affinity,
                               api::NodeFacts{.name = node.name, .labels = node.labels});
        },
};

}  // namespace gang::engine
