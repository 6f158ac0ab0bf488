#include "cluster/node_pools.h"

#include <utility>

namespace gang::cluster {
namespace {

/// Few nodes share a bucket in the largest clusters, and a view holds few pointers.
constexpr std::size_t kBuckets = 256;

}  // namespace

NodePools::NodePools() : buckets_(kBuckets) {}

void NodePools::remove(const std::string& node, PoolIndex pool) {
  PoolsByNode& nodes = writable(node);
  const auto found = nodes.find(node);
  std::erase(found->second, pool);
  if (found->second.empty()) nodes.erase(found);
}

const std::shared_ptr<const NodeBuckets>& NodePools::share() {
  if (shared_ != nullptr) return shared_;
  NodeBuckets shared;
  shared.reserve(buckets_.size());
  for (SharedChunk<PoolsByNode>& one : buckets_) shared.push_back(one.share());
  shared_ = std::make_shared<const NodeBuckets>(std::move(shared));
  return shared_;
}

}  // namespace gang::cluster
