// DeviceView: the devices of the cluster at one moment: pools, classes, and what claims hold.
//
// Immutable; two snapshots between which nothing of devices changed share one. Pools sit in slots
// of chunks that views share, as what is taken of them does, so that a slice or a claim costs the
// next view what it touches and not the cluster. A node sees its own pools, found by its name, and
// those of the shared list whose slices choose nodes in another way. Any thread. Built by
// ClusterState only. Source: the devices contract, 2.1 to 2.4.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gang/api/claim.h"
#include "gang/cluster/device_pool.h"
#include "gang/cluster/device_usage.h"
#include "gang/cluster/node_info.h"

namespace gang::cluster {

inline constexpr std::uint32_t kPoolsPerChunk = 64;

/// Position of a pool: its own as long as it has slices or devices in use, then another's.
struct PoolIndex {
  std::uint32_t value = 0;
  friend auto operator<=>(const PoolIndex&, const PoolIndex&) = default;
};

/// Pools by index; null where none has slices. Equal pointers in two views: nothing changed.
using PoolChunk = std::array<std::shared_ptr<const DevicePool>, kPoolsPerChunk>;

/// Pools by node name, of the nodes that share a bucket.
using PoolsByNode = std::map<std::string, std::vector<PoolIndex>, std::less<>>;

/// What views share as long as no slice and no rule changes.
using PoolChunks = std::vector<std::shared_ptr<const PoolChunk>>;
using NodeBuckets = std::vector<std::shared_ptr<const PoolsByNode>>;

using DeviceClasses = std::map<std::string, std::shared_ptr<const api::DeviceClass>>;

/// Names of the classes whose devices stand behind extended resources, by resource.
using ExtendedResources = std::map<std::string, std::string, std::less<>>;
/// The youngest class that names a resource wins, then the smaller name; and each class has the
/// resource of its own name. Source: the devices contract, 6.1.
[[nodiscard]] ExtendedResources extended_resources_of(const DeviceClasses& classes);

/// See the head of the file.
class DeviceView {
 public:
  /// Everything a view shares with its neighbours.
  struct Parts {
    Generation generation = 0;
    std::shared_ptr<const PoolChunks> chunks;
    std::shared_ptr<const std::vector<PoolIndex>> by_name;
    std::shared_ptr<const std::vector<PoolIndex>> shared;
    std::shared_ptr<const NodeBuckets> by_node;  ///< a power of two of buckets
    std::shared_ptr<const DeviceClasses> classes;
    std::shared_ptr<const ExtendedResources> extended;
    DeviceUsage usage;
  };

  explicit DeviceView(Parts parts) : parts_(std::move(parts)) {}

  /// Grows with every change; views of equal generation are one object.
  [[nodiscard]] Generation generation() const { return parts_.generation; }

  /// Every pool that has slices, by driver, then name.
  [[nodiscard]] const std::vector<PoolIndex>& by_name() const { return *parts_.by_name; }
  /// Pools with slices that name this node, by driver, then name; none of them is shared.
  [[nodiscard]] std::span<const PoolIndex> local_pools(std::string_view node_name) const;
  /// Pools with slices that name no node, by driver, then name.
  [[nodiscard]] const std::vector<PoolIndex>& shared_pools() const { return *parts_.shared; }

  /// Null when no slice is of that pool. O(log pools).
  [[nodiscard]] const DevicePool* find(std::string_view driver, std::string_view pool) const;
  /// REQUIRES: a pool of by_name(), local_pools() or shared_pools().
  [[nodiscard]] const DevicePool& pool(PoolIndex index) const {
    return *(*(*parts_.chunks)[index.value / kPoolsPerChunk])[index.value % kPoolsPerChunk];
  }
  /// Null when no slice is of a pool there.
  [[nodiscard]] const DevicePool* find(PoolIndex index) const;
  /// All that may have devices for the node: its own, then the shared ones.
  [[nodiscard]] std::vector<const DevicePool*> pools_of(std::string_view node_name) const;

  /// Adds the pools of this view whose slices or rules differ from those of `other`.
  void changed_pools(const DeviceView& other, std::vector<PoolIndex>& out) const;
  /// Whether the same pools are there, for the same nodes; pools themselves may differ.
  [[nodiscard]] bool has_same_places(const DeviceView& other) const;

  /// What claims hold of the devices of all pools, also of devices that no slice has any more.
  [[nodiscard]] const DeviceUsage& usage() const { return parts_.usage; }
  [[nodiscard]] const DeviceClasses& classes() const { return *parts_.classes; }
  /// The same object until a class comes, goes or changes.
  [[nodiscard]] const std::shared_ptr<const ExtendedResources>& extended_resources() const {
    return parts_.extended;
  }

  /// Position in Parts::by_node of the bucket that a node's name belongs to.
  [[nodiscard]] static std::size_t bucket_of(std::string_view node_name, std::size_t buckets);

 private:
  Parts parts_;
};

}  // namespace gang::cluster
