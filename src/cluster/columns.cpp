#include "cluster/columns.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "gang/base/check.h"

namespace gang::cluster {
namespace {

std::size_t cell(ResourceId resource, NodeIndex node) {
  return resource.value * std::size_t{kChunkSize} + node.value % kChunkSize;
}

std::int64_t at(const std::vector<std::int64_t>& column, std::size_t place) {
  return place < column.size() ? column[place] : 0;
}

/// Grows a resource-major column block so that `resource` has its column.
void widen(std::vector<std::int64_t>& columns, std::size_t resource) {
  const std::size_t size = (resource + 1) * kChunkSize;
  if (columns.size() < size) columns.resize(size, 0);
}

bool add_to(std::int64_t& sum, std::int64_t amount) {
  if (!__builtin_add_overflow(sum, amount, &sum)) return true;
  sum = amount > 0 ? std::numeric_limits<std::int64_t>::max()
                   : std::numeric_limits<std::int64_t>::min();
  return false;
}

auto find_port(std::vector<PortUse>& ports, std::uint32_t slot, const api::HostPort& port) {
  return std::lower_bound(ports.begin(), ports.end(), port,
                          [slot](const PortUse& use, const api::HostPort& wanted) {
                            if (use.slot != slot) return use.slot < slot;
                            return use.port < wanted;
                          });
}

void hold_port(std::vector<PortUse>& ports, std::uint32_t slot, const api::HostPort& port) {
  const auto place = find_port(ports, slot, port);
  if (place != ports.end() && place->slot == slot && place->port == port) {
    ++place->holders;
  } else {
    ports.insert(place, PortUse{slot, port, 1});
  }
}

void drop_port(std::vector<PortUse>& ports, std::uint32_t slot, const api::HostPort& port) {
  const auto place = find_port(ports, slot, port);
  CHECK(place != ports.end() && place->slot == slot && place->port == port);
  if (--place->holders == 0) ports.erase(place);
}

}  // namespace

void Columns::add_chunk() {
  usage_.emplace_back();
  facts_.emplace_back();
  chunk_generation_.push_back(0);
  const std::size_t columns = (std::size_t{kPods.value} + 1) * kChunkSize;
  UsageChunk& usage = usage_.back().write();
  usage.requested.assign(columns, 0);
  usage.nonzero_cpu.assign(kChunkSize, 0);
  usage.nonzero_memory.assign(kChunkSize, 0);
  usage.generation.assign(kChunkSize, 0);
  FactsChunk& facts = facts_.back().write();
  facts.allocatable.assign(columns, 0);
  facts.info.assign(kChunkSize, nullptr);
  facts.generation.assign(kChunkSize, 0);
}

UsageChunk& Columns::touch(NodeIndex node) {
  const std::uint32_t chunk = node.value / kChunkSize;
  UsageChunk& usage = usage_[chunk].write();
  chunk_generation_[chunk] = ++generation_;
  usage.generation[node.value % kChunkSize] = generation_;
  return usage;
}

bool Columns::add_amounts(NodeIndex node, const Footprint& footprint) {
  UsageChunk& usage = touch(node);
  const std::uint32_t slot = node.value % kChunkSize;
  bool exact = add_to(usage.nonzero_cpu[slot], footprint.nonzero.cpu_milli);
  exact &= add_to(usage.nonzero_memory[slot], footprint.nonzero.memory_bytes);
  if (!footprint.requests.empty()) {
    widen(usage.requested, footprint.requests.back().resource.value);
  }
  for (const ResourceAmount& request : footprint.requests) {
    exact &= add_to(usage.requested[cell(request.resource, node)], request.amount);
  }
  return exact;
}

bool Columns::add(NodeIndex node, const Footprint& footprint) {
  const bool exact = add_amounts(node, footprint);
  UsageChunk& usage = usage_[node.value / kChunkSize].write();
  for (const api::HostPort& port : footprint.host_ports) {
    hold_port(usage.ports, node.value % kChunkSize, port);
  }
  return exact;
}

void Columns::subtract(NodeIndex node, const Footprint& footprint) {
  UsageChunk& usage = touch(node);
  const std::uint32_t slot = node.value % kChunkSize;
  add_to(usage.nonzero_cpu[slot], -footprint.nonzero.cpu_milli);
  add_to(usage.nonzero_memory[slot], -footprint.nonzero.memory_bytes);
  for (const ResourceAmount& request : footprint.requests) {
    add_to(usage.requested[cell(request.resource, node)], -request.amount);
  }
  for (const api::HostPort& port : footprint.host_ports) drop_port(usage.ports, slot, port);
}

void Columns::clear_amounts(NodeIndex node) {
  UsageChunk& usage = touch(node);
  const std::uint32_t slot = node.value % kChunkSize;
  usage.nonzero_cpu[slot] = 0;
  usage.nonzero_memory[slot] = 0;
  for (std::size_t i = slot; i < usage.requested.size(); i += kChunkSize) usage.requested[i] = 0;
}

void Columns::set_facts(NodeIndex node, std::shared_ptr<const NodeInfo> info,
                        const std::vector<std::int64_t>& allocatable) {
  touch(node);
  FactsChunk& facts = facts_[node.value / kChunkSize].write();
  const std::uint32_t slot = node.value % kChunkSize;
  facts.info[slot] = std::move(info);
  facts.generation[slot] = generation_;
  if (!allocatable.empty()) widen(facts.allocatable, allocatable.size() - 1);
  for (std::size_t i = slot, r = 0; i < facts.allocatable.size(); i += kChunkSize, ++r) {
    facts.allocatable[i] = r < allocatable.size() ? allocatable[r] : 0;
  }
}

const NodeInfo* Columns::info(NodeIndex node) const {
  return facts_[node.value / kChunkSize].read().info[node.value % kChunkSize].get();
}

std::int64_t Columns::allocatable(NodeIndex node, ResourceId resource) const {
  return at(facts_[node.value / kChunkSize].read().allocatable, cell(resource, node));
}

std::int64_t Columns::requested(NodeIndex node, ResourceId resource) const {
  return at(usage(node).requested, cell(resource, node));
}

api::NonZeroRequests Columns::nonzero(NodeIndex node) const {
  const UsageChunk& chunk = usage(node);
  const std::uint32_t slot = node.value % kChunkSize;
  return {chunk.nonzero_cpu[slot], chunk.nonzero_memory[slot]};
}

std::uint32_t Columns::resource_count(NodeIndex node) const {
  const std::size_t used = usage(node).requested.size();
  const std::size_t offered = facts_[node.value / kChunkSize].read().allocatable.size();
  return static_cast<std::uint32_t>(std::max(used, offered) / kChunkSize);
}

const UsageChunk& Columns::usage(NodeIndex node) const {
  return usage_[node.value / kChunkSize].read();
}

void Columns::share(Snapshot::Parts& parts) {
  parts.generation = generation_;
  parts.usage.reserve(usage_.size());
  for (SharedChunk<UsageChunk>& chunk : usage_) parts.usage.push_back(chunk.share());
  parts.facts.reserve(facts_.size());
  for (SharedChunk<FactsChunk>& chunk : facts_) parts.facts.push_back(chunk.share());
  parts.chunk_generation = chunk_generation_;
}

}  // namespace gang::cluster
