#include "cluster/recount.h"

#include <cstdint>
#include <limits>
#include <map>
#include <utility>
#include <vector>

namespace gang::cluster {
namespace {

/// What the pods on one node add up to.
struct NodeSum {
  std::map<ResourceId, std::int64_t> requested;
  std::int64_t nonzero_cpu = 0;
  std::int64_t nonzero_memory = 0;
  std::map<api::HostPort, std::uint32_t> ports;
};

std::int64_t plus(std::int64_t sum, std::int64_t amount) {
  std::int64_t result = 0;
  return __builtin_add_overflow(sum, amount, &result) ? std::numeric_limits<std::int64_t>::max()
                                                      : result;
}

std::vector<NodeSum> sums_of_pods(const Model& model) {
  std::vector<NodeSum> sums(model.nodes.slot_count());
  for (PodSlot pod = 0; pod < model.pods.slot_count(); ++pod) {
    if (!model.pods.exists(pod) || model.pods.at(pod).node == FlatIndex::kNone) continue;
    NodeSum& sum = sums[model.pods.at(pod).node];
    const Footprint& footprint = model.pods.footprint(pod);
    for (const ResourceAmount& request : footprint.requests) {
      std::int64_t& total = sum.requested[request.resource];
      total = plus(total, request.amount);
    }
    sum.nonzero_cpu = plus(sum.nonzero_cpu, footprint.nonzero.cpu_milli);
    sum.nonzero_memory = plus(sum.nonzero_memory, footprint.nonzero.memory_bytes);
    for (const api::HostPort& port : footprint.host_ports) ++sum.ports[port];
  }
  return sums;
}

std::string difference(const std::string& what, std::int64_t kept, std::int64_t counted) {
  if (kept == counted) return {};
  return what + " " + std::to_string(kept) + ", its pods add up to " + std::to_string(counted);
}

std::map<api::HostPort, std::uint32_t> ports_of(const Columns& columns, NodeIndex node) {
  std::map<api::HostPort, std::uint32_t> ports;
  for (const PortUse& use : columns.usage(node).ports) {
    if (use.slot == node.value % kChunkSize) ports[use.port] = use.holders;
  }
  return ports;
}

std::string node_difference(const Model& model, NodeIndex node, const NodeSum& sum) {
  const Columns& columns = model.nodes.columns();
  for (std::uint32_t r = 0; r < columns.resource_count(node); ++r) {
    const ResourceId resource{static_cast<std::uint16_t>(r)};
    const auto counted = sum.requested.find(resource);
    std::string text = difference((*model.resources.names())[r], columns.requested(node, resource),
                                  counted == sum.requested.end() ? 0 : counted->second);
    if (!text.empty()) return text;
  }
  const api::NonZeroRequests nonzero = columns.nonzero(node);
  std::string text = difference("nonzero cpu", nonzero.cpu_milli, sum.nonzero_cpu);
  if (text.empty()) {
    text = difference("nonzero memory", nonzero.memory_bytes, sum.nonzero_memory);
  }
  if (text.empty() && ports_of(columns, node) != sum.ports) text = "host ports differ";
  return text;
}

MemberCounts counts_of_members(const Model& model, const GangEntry& entry) {
  MemberCounts counts;
  for (const PodSlot pod : entry.members) {
    const MemberState state = model.pods.at(pod).state;
    counts.pending += state == MemberState::kPending ? 1 : 0;
    counts.gated += state == MemberState::kGated ? 1 : 0;
    counts.assumed += state == MemberState::kAssumed ? 1 : 0;
    counts.bound += state == MemberState::kBound ? 1 : 0;
  }
  return counts;
}

std::string gang_difference(const Model& model) {
  std::size_t members = 0;
  for (const auto& [id, entry] : model.gangs.entries()) {
    if (entry.counts != counts_of_members(model, entry)) {
      return "gang " + std::to_string(id) + ": counts differ from its members";
    }
    for (std::size_t i = 0; i < entry.members.size(); ++i, ++members) {
      const PodRecord& record = model.pods.at(entry.members[i]);
      if (record.gang != id || record.member_index != i) {
        return "gang " + std::to_string(id) + ": member " + std::string(record.text.name()) +
               " does not know it";
      }
    }
  }
  for (PodSlot pod = 0; pod < model.pods.slot_count(); ++pod) {
    if (model.pods.exists(pod) && model.pods.at(pod).gang != 0) --members;
  }
  return members == 0 ? std::string() : "gangs and pods differ on membership";
}

}  // namespace

std::string recount_difference(const Model& model) {
  const std::vector<NodeSum> sums = sums_of_pods(model);
  for (std::uint32_t slot = 0; slot < model.nodes.slot_count(); ++slot) {
    const NodeIndex node{slot};
    const std::string text = node_difference(model, node, sums[slot]);
    if (!text.empty()) return "node " + model.nodes.name(node) + ": " + text;
  }
  return gang_difference(model);
}

}  // namespace gang::cluster
