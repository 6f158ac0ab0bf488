#include "engine/filter.h"

namespace gang::engine {

std::span<const FactsFilter> facts_filters() {
  // Names come first: upstream applies them before any node is looked at.
  static const FactsFilter list[] = {
      kNodeUnreadable,    kNodeNamesConflict, kNodeNames,
      kNodeUnschedulable, kTaintToleration,   kNodeAffinity,
  };
  return list;
}

std::span<const UsageFilter> usage_filters() {
  static const UsageFilter list[] = {kNamedClaim, kNodePorts, kNodeResourcesFit, kInterPodAffinity};
  return list;
}

LineSet facts_refusal(const ClassRules& rules, const cluster::NodeInfo& node) {
  LineSet line = 1;
  for (const FactsFilter& filter : facts_filters()) {
    if (filter.refuses(rules, node)) return line;
    line <<= 1;
  }
  return 0;
}

Room usage_room(const ClassRules& rules, const NodeUse& use) {
  Room least;
  const std::uint32_t* first_line = rules.usage_first_line.data();
  for (const UsageFilter& filter : usage_filters()) {
    const Room room = filter.room(rules, use);
    if (room.count < least.count) {
      least = {.count = room.count, .lines = room.lines << *first_line};
    }
    ++first_line;
  }
  return least;
}

}  // namespace gang::engine
