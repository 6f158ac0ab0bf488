#include "engine/device_counts.h"

#include <optional>
#include <utility>

#include "engine/device_rating.h"

namespace gang::engine {

using cluster::DeviceView;
using cluster::PoolIndex;
using cluster::Snapshot;

void add_device(const api::Device& device, bool is_used, NodeDevices& devices) {
  ++(is_used ? devices.used : devices.free);
  if (!is_used && !device.binding_conditions.empty()) ++devices.waiting;
  devices.is_exclusive &= !device.allow_multiple_allocations;
  devices.has_partitions |= !device.consumes_counters.empty();
  const std::int32_t amount = amount_of(device);
  const bool is_first = devices.free + devices.used == 1;
  if (is_first) devices.amount = amount;
  if (devices.amount != amount) devices.amount = NodeDevices::kMixed;
  devices.has_places |= api::find_named(device.attributes, kNumaNode) != nullptr ||
                        api::find_named(device.attributes, kPcieRoot) != nullptr;
}

void DeviceCounts::update(std::shared_ptr<const DeviceView> view, const Snapshot& snapshot) {
  const bool knows_nodes = view_ != nullptr && nodes_.size() == snapshot.slot_count() &&
                           by_name_generation_ == snapshot.by_name_generation();
  if (knows_nodes && view == view_) return;
  const auto before = std::exchange(view_, std::move(view));
  if (knows_nodes && view_->has_same_places(*before)) {
    refresh(*before, snapshot);
  } else {
    rebuild(snapshot);
  }
}

void DeviceCounts::rebuild(const Snapshot& snapshot) {
  by_name_generation_ = snapshot.by_name_generation();
  nodes_.assign(snapshot.slot_count(), {});
  ranks_of_.clear();
  pools_of_.clear();
  pool_of_block_.clear();
  for (const PoolIndex pool : view_->by_name()) learn_blocks(pool);
  for (std::uint32_t rank = 0; rank < snapshot.by_name().size(); ++rank) {
    const cluster::NodeIndex node = snapshot.by_name()[rank];
    pools_of_.push_back(view_->local_pools(snapshot.node(node)->name));
    for (const PoolIndex pool : pools_of_.back()) {
      if (pool.value >= ranks_of_.size()) ranks_of_.resize(pool.value + 1);
      ranks_of_[pool.value].push_back(rank);
    }
    count(rank, snapshot);
  }
  changes_.add_all();
}

void DeviceCounts::refresh(const DeviceView& before, const Snapshot& snapshot) {
  std::vector<PoolIndex> changed;
  view_->changed_pools(before, changed);
  for (const PoolIndex pool : changed) learn_blocks(pool);
  std::vector<std::uint32_t> blocks;
  view_->usage().changed_blocks(before.usage(), blocks);
  for (const std::uint32_t block : blocks) {
    const auto pool = pool_of_block_.find(block);
    if (pool != pool_of_block_.end()) changed.push_back(pool->second);
  }
  for (const PoolIndex pool : changed) {
    if (pool.value >= ranks_of_.size()) continue;
    for (const std::uint32_t rank : ranks_of_[pool.value]) count(rank, snapshot);
  }
}

/// A block of device ids belongs to one pool.
void DeviceCounts::learn_blocks(PoolIndex pool) {
  for (const cluster::PartPtr& part : view_->pool(pool).parts()) {
    std::optional<std::uint32_t> last;
    for (const cluster::PoolDevice& device : part->devices) {
      const std::uint32_t block = device.id.value / cluster::kDevicesPerBlock;
      if (block != last) pool_of_block_[block] = pool;
      last = block;
    }
  }
}

void DeviceCounts::count(std::uint32_t rank, const Snapshot& snapshot) {
  const cluster::NodeIndex node = snapshot.by_name()[rank];
  NodeDevices devices;
  for (const PoolIndex pool : pools_of_[rank]) count(view_->pool(pool), devices);
  nodes_[node.value] = devices;
  changes_.add(rank);
}

void DeviceCounts::count(const cluster::DevicePool& pool, NodeDevices& devices) const {
  if (pool.state() != cluster::PoolState::kReady) return;
  for (const cluster::PartPtr& part : pool.parts()) {
    for (const cluster::PoolDevice& device : part->devices) {
      const cluster::DeviceTaken* taken = view_->usage().find(device.id);
      const bool is_used = taken != nullptr && taken->is_used();
      add_device(*device.device, is_used, devices);
    }
  }
}

}  // namespace gang::engine
