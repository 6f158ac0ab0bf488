#include "engine/filter.h"

namespace gang::engine {

const FactsFilter kNodeUnreadable = {
    .name = "NodeReadable",
    .text = "node(s) could not be read",
    .refuses = [](const ClassRules&,
                  const cluster::NodeInfo& node) { return !node.unreadable.empty(); },
};

}  // namespace gang::engine
