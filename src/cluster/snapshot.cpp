#include "gang/cluster/snapshot.h"

#include <algorithm>

namespace gang::cluster {
namespace {

std::uint32_t chunk_of(NodeIndex node) {
  return node.value / kChunkSize;
}
std::uint32_t slot_of(NodeIndex node) {
  return node.value % kChunkSize;
}

std::int64_t cell(const std::vector<std::int64_t>& column, NodeIndex node, ResourceId resource) {
  const std::size_t place = resource.value * std::size_t{kChunkSize} + slot_of(node);
  return place < column.size() ? column[place] : 0;
}

}  // namespace

const NodeInfo* Snapshot::node(NodeIndex node) const {
  return facts(chunk_of(node)).info[slot_of(node)].get();
}

std::optional<std::uint32_t> Snapshot::rank_of(const std::string& node_name) const {
  const auto name = [this](NodeIndex at) -> const std::string& { return node(at)->name; };
  const auto found = std::ranges::lower_bound(by_name(), node_name, {}, name);
  if (found == by_name().end() || name(*found) != node_name) return std::nullopt;
  return static_cast<std::uint32_t>(found - by_name().begin());
}

std::shared_ptr<const TopologyLevel> Snapshot::level(const std::string& key) const {
  const auto found = parts_->topology->find(key);
  return found == parts_->topology->end() ? nullptr : found->second;
}

Snapshot Snapshot::within(const std::shared_ptr<const Domain>& domain) const {
  Snapshot part = *this;
  part.by_name_ = std::shared_ptr<const std::vector<NodeIndex>>(domain, &domain->nodes);
  return part;
}

std::int64_t Snapshot::allocatable(NodeIndex node, ResourceId resource) const {
  return cell(facts(chunk_of(node)).allocatable, node, resource);
}

std::int64_t Snapshot::requested(NodeIndex node, ResourceId resource) const {
  return cell(usage(chunk_of(node)).requested, node, resource);
}

std::span<const PortUse> Snapshot::ports(NodeIndex node) const {
  const std::vector<PortUse>& ports = usage(chunk_of(node)).ports;
  const auto before = [](const PortUse& use, std::uint32_t slot) { return use.slot < slot; };
  const auto first = std::lower_bound(ports.begin(), ports.end(), slot_of(node), before);
  const auto last = std::lower_bound(first, ports.end(), slot_of(node) + 1, before);
  return {first, last};
}

Generation Snapshot::facts_generation(NodeIndex node) const {
  return facts(chunk_of(node)).generation[slot_of(node)];
}

void Snapshot::changed_since(Generation since, std::vector<NodeIndex>& out) const {
  const auto chunks = static_cast<std::uint32_t>(parts_->chunk_generation.size());
  for (std::uint32_t chunk = 0; chunk < chunks; ++chunk) {
    if (parts_->chunk_generation[chunk] <= since) continue;
    const std::vector<Generation>& generation = usage(chunk).generation;
    for (std::uint32_t slot = 0; slot < kChunkSize; ++slot) {
      if (generation[slot] > since) out.push_back(NodeIndex{chunk * kChunkSize + slot});
    }
  }
}

}  // namespace gang::cluster
