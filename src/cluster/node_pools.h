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
    std::vector<PoolIndex>& pools = bucket(node).write()[node];
    pools.insert(std::lower_bound(pools.begin(), pools.end(), pool, before), pool);
  }
  /// REQUIRES: was added.
  void remove(const std::string& node, PoolIndex pool);

  [[nodiscard]] std::vector<std::shared_ptr<const PoolsByNode>> share();

 private:
  SharedChunk<PoolsByNode>& bucket(const std::string& node) {
    return buckets_[DeviceView::bucket_of(node, buckets_.size())];
  }

  std::vector<SharedChunk<PoolsByNode>> buckets_;
};

}  // namespace gang::cluster
