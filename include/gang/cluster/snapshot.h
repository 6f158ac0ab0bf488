// Snapshot: an immutable view of all nodes, in columns, and of devices, of one generation of the
// cluster.
//
// Shape: nodes sit in chunks of kChunkSize slots, a chunk holds one array per resource (structure
// of arrays). Chunks are copy-on-write and shared between snapshots, so that taking one copies a
// few pointers per chunk. Amounts are in column units (node_info.h). A slot may be empty. Any
// thread may read; readers keep it alive through shared_ptr<const Snapshot>.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gang/api/pod.h"
#include "gang/cluster/node_info.h"
#include "gang/cluster/topology.h"

namespace gang::cluster {

inline constexpr std::uint32_t kChunkSize = 64;

/// A used host port on the node in `slot` of its chunk, with the number of pods that hold it.
struct PortUse {
  std::uint32_t slot = 0;
  api::HostPort port;
  std::uint32_t holders = 0;
};

/// Columns of kChunkSize nodes that change with every pod. resources x slots, resource-major.
struct UsageChunk {
  std::vector<std::int64_t> requested;  ///< [resource * kChunkSize + slot]; kPods counts pods
  std::vector<std::int64_t> nonzero_cpu;
  std::vector<std::int64_t> nonzero_memory;
  std::vector<Generation> generation;  ///< last change of usage or facts, per slot
  std::vector<PortUse> ports;          ///< sorted by slot, then port
};

/// Columns of kChunkSize nodes that change with the Node object only.
struct FactsChunk {
  std::vector<std::int64_t> allocatable;              ///< [resource * kChunkSize + slot]
  std::vector<std::shared_ptr<const NodeInfo>> info;  ///< null = empty slot
  std::vector<Generation> generation;                 ///< last change of facts, per slot
};

/// Where pods with one required anti-affinity term are: on nodes whose label `key` has one of
/// `values`. Immutable.
struct TermDomain {
  std::string key;
  std::vector<std::string> values;  ///< ascending
};
/// Terms that match some pending pod. A term that changes gets a new object.
using TermDomains = std::map<TermId, std::shared_ptr<const TermDomain>>;

class DeviceView;
struct RequestMix;

/// Names of interned resources; grows only.
using ResourceNames = std::vector<std::string>;

/// See the head of the file. Built by ClusterState only.
class Snapshot {
 public:
  /// Everything a snapshot shares with its neighbours.
  struct Parts {
    Generation generation = 0;
    std::vector<std::shared_ptr<const UsageChunk>> usage;
    std::vector<std::shared_ptr<const FactsChunk>> facts;
    std::vector<Generation> chunk_generation;               ///< newest generation inside each chunk
    std::shared_ptr<const std::vector<NodeIndex>> by_name;  ///< existing nodes, by name
    Generation by_name_generation = 0;                      ///< when the set of nodes last changed
    std::shared_ptr<const ResourceNames> resources;
    std::shared_ptr<const TermDomains> terms;  ///< null: none
    std::shared_ptr<const DeviceView> devices;
    std::shared_ptr<const Topology> topology;
    std::shared_ptr<const RequestMix> mix;  ///< null: no request was noted
  };

  explicit Snapshot(Parts parts)
      : parts_(std::make_shared<const Parts>(std::move(parts))), by_name_(parts_->by_name) {}

  [[nodiscard]] Generation generation() const { return parts_->generation; }
  [[nodiscard]] std::uint32_t node_count() const {
    return static_cast<std::uint32_t>(by_name_->size());
  }
  /// Number of slots; every NodeIndex is below it.
  [[nodiscard]] std::uint32_t slot_count() const {
    return static_cast<std::uint32_t>(parts_->usage.size()) * kChunkSize;
  }
  [[nodiscard]] const ResourceNames& resources() const { return *parts_->resources; }
  [[nodiscard]] const std::vector<NodeIndex>& by_name() const { return *by_name_; }
  /// Position in by_name(); nothing when there is no such node.
  [[nodiscard]] std::optional<std::uint32_t> rank_of(const std::string& node_name) const;
  /// Changes whenever by_name() changes; nodes that only changed leave it alone.
  [[nodiscard]] Generation by_name_generation() const { return parts_->by_name_generation; }

  [[nodiscard]] const UsageChunk& usage(std::uint32_t chunk) const { return *parts_->usage[chunk]; }
  [[nodiscard]] const FactsChunk& facts(std::uint32_t chunk) const { return *parts_->facts[chunk]; }

  /// Snapshots between which no device, class or allocation changed share one.
  [[nodiscard]] const std::shared_ptr<const DeviceView>& devices() const { return parts_->devices; }

  /// The domains of a label key; null where no PodGroup names it.
  [[nodiscard]] std::shared_ptr<const TopologyLevel> level(const std::string& key) const;
  /// The same cluster with the nodes of that domain only: by_name(), rank_of() and node_count()
  /// know no others.
  [[nodiscard]] Snapshot within(const std::shared_ptr<const Domain>& domain) const;
  /// Whether within() made it.
  [[nodiscard]] bool is_part() const { return by_name_ != parts_->by_name; }

  /// The requests of late; null before the first. Changes from time to time only.
  [[nodiscard]] const std::shared_ptr<const RequestMix>& mix() const { return parts_->mix; }

  /// Null when it refuses nobody.
  [[nodiscard]] std::shared_ptr<const TermDomain> term(TermId term) const {
    if (parts_->terms == nullptr) return nullptr;
    const auto found = parts_->terms->find(term);
    return found == parts_->terms->end() ? nullptr : found->second;
  }

  /// Null for an empty slot.
  [[nodiscard]] const NodeInfo* node(NodeIndex node) const;
  [[nodiscard]] std::int64_t allocatable(NodeIndex node, ResourceId resource) const;
  [[nodiscard]] std::int64_t requested(NodeIndex node, ResourceId resource) const;
  [[nodiscard]] std::span<const PortUse> ports(NodeIndex node) const;
  [[nodiscard]] Generation facts_generation(NodeIndex node) const;

  /// Appends every node slot whose usage or facts changed after `since`, ascending. Costs
  /// O(chunks / SIMD + changed chunks x kChunkSize).
  void changed_since(Generation since, std::vector<NodeIndex>& out) const;

 private:
  std::shared_ptr<const Parts> parts_;                     ///< shared with those within() it
  std::shared_ptr<const std::vector<NodeIndex>> by_name_;  ///< of them, those it has
};

}  // namespace gang::cluster
