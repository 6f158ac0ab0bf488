#include "cluster/node_pools.h"

namespace gang::cluster {
namespace {

/// Few nodes share a bucket in the largest clusters, and a view holds few pointers.
constexpr std::size_t kBuckets = 256;

}  // namespace

NodePools::NodePools() : buckets_(kBuckets) {}

void NodePools::remove(const std::string& node, PoolIndex pool) {
  PoolsByNode& nodes = bucket(node).write();
  const auto found = nodes.find(node);
  std::erase(found->second, pool);
  if (found->second.empty()) nodes.erase(found);
}

std::vector<std::shared_ptr<const PoolsByNode>> NodePools::share() {
  std::vector<std::shared_ptr<const PoolsByNode>> shared;
  shared.reserve(buckets_.size());
  for (SharedChunk<PoolsByNode>& one : buckets_) shared.push_back(one.share());
  return shared;
}

}  // namespace gang::cluster
