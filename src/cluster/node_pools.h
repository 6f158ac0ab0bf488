// NodePools: which pools have slices for a node, by its name, in buckets that views share.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "cluster/shared_chunk.h"
#include "gang/cluster/device_view.h"

namespace gang::cluster {

/// Owned by the table of devices. Always: a node that has no pool is in no bucket.
class NodePools {
 public:
  NodePools();

  /// Puts the pool where `before` says. REQUIRES: the node does not have it.
  template <class Before>
  void add(const std::string& node, PoolIndex pool, const Before& before) {
    std::vector<PoolIndex>& pools = writable(node)[node];
    pools.insert(std::lower_bound(pools.begin(), pools.end(), pool, before), pool);
  }
  /// REQUIRES: was added.
  void remove(const std::string& node, PoolIndex pool);

  /// The same object until something is added or removed.
  [[nodiscard]] const std::shared_ptr<const NodeBuckets>& share();

 private:
  PoolsByNode& writable(const std::string& node) {
    shared_.reset();
    return buckets_[DeviceView::bucket_of(node, buckets_.size())].write();
  }

  std::vector<SharedChunk<PoolsByNode>> buckets_;
  std::shared_ptr<const NodeBuckets> shared_;  ///< null: changed since share()
};

}  // namespace gang::cluster
