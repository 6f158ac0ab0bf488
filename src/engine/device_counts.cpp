#include "engine/device_counts.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "engine/device_rating.h"

namespace gang::engine {

using cluster::DevicePool;
using cluster::DeviceView;
using cluster::PoolIndex;
using cluster::PoolPart;
using cluster::Snapshot;

namespace {

/// Parts that count otherwise than before: those that came or went, or all where the pool as a
/// whole offers more or less than it did.
std::vector<const PoolPart*> changed_parts(const DevicePool& now, const DevicePool* before) {
  if (before == nullptr) return parts_beside(now, nullptr);
  const bool is_all = now.state() != before->state();
  std::vector<const PoolPart*> changed = parts_beside(now, is_all ? nullptr : before);
  const auto gone = parts_beside(*before, is_all ? nullptr : &now);
  changed.insert(changed.end(), gone.begin(), gone.end());
  return changed;
}

}  // namespace

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
  pools_of_.clear();
  ranks_of_block_.clear();
  for (std::uint32_t rank = 0; rank < snapshot.by_name().size(); ++rank) {
    const cluster::NodeIndex node = snapshot.by_name()[rank];
    pools_of_.push_back(view_->local_pools(snapshot.node(node)->name));
    count(rank, snapshot);
  }
  changes_.add_all();
}

void DeviceCounts::refresh(const DeviceView& before, const Snapshot& snapshot) {
  std::vector<std::uint32_t> ranks;
  std::vector<PoolIndex> pools;
  view_->changed_pools(before, pools);
  for (const PoolIndex pool : pools) {
    for (const PoolPart* part : changed_parts(view_->pool(pool), before.find(pool))) {
      const auto rank = snapshot.rank_of(part->slice->place.node_name);
      if (rank) ranks.push_back(*rank);
    }
  }
  std::vector<std::uint32_t> blocks;
  view_->usage().changed_blocks(before.usage(), blocks);
  for (const std::uint32_t block : blocks) {
    const auto known = ranks_of_block_.find(block);
    if (known == ranks_of_block_.end()) continue;
    ranks.insert(ranks.end(), known->second.begin(), known->second.end());
  }
  std::ranges::sort(ranks);
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  for (const std::uint32_t rank : ranks) count(rank, snapshot);
}

void DeviceCounts::count(std::uint32_t rank, const Snapshot& snapshot) {
  const cluster::NodeIndex node = snapshot.by_name()[rank];
  const std::string& name = snapshot.node(node)->name;
  NodeDevices devices;
  for (const PoolIndex index : pools_of_[rank]) {
    const DevicePool& pool = view_->pool(index);
    if (pool.state() != cluster::PoolState::kReady) continue;
    for (const cluster::PartPtr& part : pool.parts()) {
      if (part->slice->place.node_name == name) count(*part, rank, devices);
    }
  }
  nodes_[node.value] = devices;
  changes_.add(rank);
}

void DeviceCounts::count(const PoolPart& part, std::uint32_t rank, NodeDevices& devices) {
  std::optional<std::uint32_t> last;
  for (const cluster::PoolDevice& device : part.devices) {
    const cluster::DeviceTaken* taken = view_->usage().find(device.id);
    add_device(*device.device, taken != nullptr && taken->is_used(), devices);
    kinds_.add(*device.device, taken, devices.shares);
    const std::uint32_t block = device.id.value / cluster::kDevicesPerBlock;
    if (block != last) learn_block(block, rank);
    last = block;
  }
}

/// Whose count what is taken of the block's devices changes.
void DeviceCounts::learn_block(std::uint32_t block, std::uint32_t rank) {
  std::vector<std::uint32_t>& ranks = ranks_of_block_[block];
  if (std::ranges::find(ranks, rank) == ranks.end()) ranks.push_back(rank);
}

}  // namespace gang::engine
