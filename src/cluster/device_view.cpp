#include "gang/cluster/device_view.h"

#include <algorithm>
#include <utility>

#include "cluster/flat_index.h"
#include "gang/api/resources.h"

namespace gang::cluster {

ExtendedResources extended_resources_of(const DeviceClasses& classes) {
  ExtendedResources resources;
  for (const auto& [name, device_class] : classes) {
    if (device_class->extended_resource_name.empty()) continue;
    std::string& winner =
        resources.try_emplace(device_class->extended_resource_name, name).first->second;
    const TimePoint best = classes.at(winner)->meta.creation_time;
    if (device_class->meta.creation_time > best) winner = name;
  }
  for (const auto& [name, device_class] : classes) {
    resources[std::string(api::kClassResourcePrefix) + name] = name;
  }
  return resources;
}

std::size_t DeviceView::bucket_of(std::string_view node_name, std::size_t buckets) {
  return HashFold().add(node_name).value() & (buckets - 1);
}

std::span<const PoolIndex> DeviceView::local_pools(std::string_view node_name) const {
  const NodeBuckets& buckets = *parts_.by_node;
  const PoolsByNode& bucket = *buckets[bucket_of(node_name, buckets.size())];
  const auto found = bucket.find(node_name);
  if (found == bucket.end()) return {};
  return found->second;
}

void DeviceView::changed_pools(const DeviceView& other, std::vector<PoolIndex>& out) const {
  const PoolChunks& ours = *parts_.chunks;
  const PoolChunks& theirs = *other.parts_.chunks;
  if (&ours == &theirs) return;
  for (std::uint32_t chunk = 0; chunk < ours.size(); ++chunk) {
    const bool is_known = chunk < theirs.size();
    if (is_known && ours[chunk] == theirs[chunk]) continue;
    for (std::uint32_t i = 0; i < kPoolsPerChunk; ++i) {
      const auto& pool = (*ours[chunk])[i];
      if (pool == nullptr || (is_known && pool == (*theirs[chunk])[i])) continue;
      out.push_back({chunk * kPoolsPerChunk + i});
    }
  }
}

bool DeviceView::has_same_places(const DeviceView& other) const {
  return parts_.by_name == other.parts_.by_name && parts_.shared == other.parts_.shared &&
         (parts_.by_node == other.parts_.by_node || *parts_.by_node == *other.parts_.by_node);
}

const DevicePool* DeviceView::find(std::string_view driver, std::string_view pool_name) const {
  const auto key_of = [this](PoolIndex index) {
    const DevicePool& one = pool(index);
    return std::pair<std::string_view, std::string_view>(one.driver(), one.name());
  };
  const std::pair key(driver, pool_name);
  const auto found = std::ranges::lower_bound(by_name(), key, {}, key_of);
  const bool is_found = found != by_name().end() && key_of(*found) == key;
  return is_found ? &pool(*found) : nullptr;
}

const DevicePool* DeviceView::find(PoolIndex index) const {
  const std::uint32_t chunk = index.value / kPoolsPerChunk;
  if (chunk >= parts_.chunks->size()) return nullptr;
  return (*(*parts_.chunks)[chunk])[index.value % kPoolsPerChunk].get();
}

std::vector<const DevicePool*> DeviceView::pools_of(std::string_view node_name) const {
  std::vector<const DevicePool*> pools;
  for (const PoolIndex index : local_pools(node_name)) pools.push_back(&pool(index));
  for (const PoolIndex index : shared_pools()) pools.push_back(&pool(index));
  return pools;
}

}  // namespace gang::cluster
