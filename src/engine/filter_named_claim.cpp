#include "engine/filter.h"

namespace gang::engine {

namespace {

/// Only classes that name a claim can be refused.
std::vector<std::string> line_texts(const cluster::PodClass& pod_class,
                                    const cluster::ResourceNames&) {
  if (!pod_class.names_claim) return {};
  return {"node(s) serve the pod's extended resources without a claim, and its status names one"};
}

bool gets_claim(const ClassRules& rules, const NodeUse& use) {
  const std::vector<cluster::ResourceAmount>& requests = rules.pod_class->requests;
  for (std::size_t i = 0; rules.served >> i != 0; ++i) {
    if (rules.may_be_served(i) && use.allocatable(requests[i].resource) <= 0) return true;
  }
  return false;
}

/// A claim that is made for the pod replaces the one it names; without one the kubelet waits for
/// that.
Room room_for(const ClassRules& rules, const NodeUse& use) {
  if (!rules.pod_class->names_claim || gets_claim(rules, use)) return {};
  return {.count = 0, .lines = 1};
}

}  // namespace

const UsageFilter kNamedClaim = {
    .name = "ExtendedResourceClaim",
    .texts = line_texts,
    .room = room_for,
};

}  // namespace gang::engine
