// InterPodAffinity, the part that pods on nodes decide: a required anti-affinity term of theirs
// that matches a pending pod closes every node with the same value of the term's topology key.
#include <algorithm>

#include "engine/filter.h"

namespace gang::engine {

bool is_repelled(const ClassRules& rules, const NodeUse& use) {
  return std::ranges::any_of(rules.domains, [&use](const auto& domain) {
    if (domain == nullptr) return false;
    const std::string* value = api::find(use.info().labels, domain->key);
    return value != nullptr && std::ranges::binary_search(domain->values, *value);
  });
}

const UsageFilter kInterPodAffinity = {
    .name = "InterPodAffinity",
    .texts = [](const cluster::PodClass&,
                const cluster::ResourceNames&) -> std::vector<std::string> {
      return {"node(s) didn't satisfy existing pods anti-affinity rules"};
    },
    .room = [](const ClassRules& rules, const NodeUse& use) -> Room {
      // With every pod gone the terms are gone as well.
      if (rules.domains.empty() || use.is_emptied() || !is_repelled(rules, use)) return {};
      return {.count = 0, .lines = 1};
    },
};

}  // namespace gang::engine
