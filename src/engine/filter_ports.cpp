#include <algorithm>

#include "engine/filter.h"

namespace gang::engine {

const UsageFilter kNodePorts = {
    .name = "NodePorts",
    .texts = [](const cluster::PodClass&,
                const cluster::ResourceNames&) -> std::vector<std::string> {
      return {"node(s) didn't have free ports for the requested pod ports"};
    },
    .room = [](const ClassRules& rules, const NodeUse& use) -> Room {
      const std::vector<api::HostPort>& wanted = rules.pod_class->host_ports;
      if (wanted.empty()) return {};
      const bool taken = std::ranges::any_of(
          wanted, [&use](const api::HostPort& port) { return use.port_taken(port); });
      return {.count = taken ? 0 : 1, .lines = 1};
    },
};

}  // namespace gang::engine
