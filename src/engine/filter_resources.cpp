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

/// The scarcest requests decide; those that run out together are all named.
Room room_for(const ClassRules& rules, const NodeUse& use) {
  Room least;
  LineSet line = 1;
  for (const cluster::ResourceAmount& request : rules.pod_class->requests) {
    const std::int64_t free = use.allocatable(request.resource) - use.requested(request.resource);
    const std::int64_t count = std::max<std::int64_t>(0, free) / request.amount;
    if (count < least.count) least = {.count = count, .lines = 0};
    if (count == least.count) least.lines |= line;
    line <<= 1;
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
