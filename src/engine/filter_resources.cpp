#include <algorithm>

#include "engine/filter.h"

namespace gang::engine {

namespace {

/// One line per request, in the order of PodClass::requests.
std::vector<std::string> line_texts(const cluster::PodClass& pod_class,
                                    const cluster::ResourceNames& names) {
  std::vector<std::string> texts;
  for (const cluster::ResourceAmount& request : pod_class.requests) {
    const bool slot = request.resource == cluster::kPods;
    texts.push_back(slot ? "Too many pods" : "Insufficient " + names[request.resource.value]);
  }
  return texts;
}

/// The scarcest requests decide; those that run out together are all named. What devices serve
/// counts only where the node offers it itself.
Room room_for(const ClassRules& rules, const NodeUse& use) {
  Room least;
  const std::vector<cluster::ResourceAmount>& requests = rules.pod_class->requests;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const cluster::ResourceAmount& request = requests[i];
    const std::int64_t offered = use.allocatable(request.resource);
    if (offered <= 0 && rules.may_be_served(i)) continue;
    const std::int64_t free = offered - use.requested(request.resource);
    const std::int64_t count = std::max<std::int64_t>(0, free) / request.amount;
    if (count < least.count) least = {.count = count, .lines = 0};
    if (count == least.count) least.lines |= LineSet{1} << i;
  }
  return least;
}

}  // namespace

const UsageFilter kNodeResourcesFit = {
    .name = "NodeResourcesFit",
    .texts = line_texts,
    .room = room_for,
};

}  // namespace gang::engine
