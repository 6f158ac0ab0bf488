// PartMaker: makes the part of a slice, and what the slices of a pool declare of counters.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "gang/cluster/device_pool.h"

namespace gang::cluster {

/// Of slices that declare some, by name. The first set of a name counts.
[[nodiscard]] std::shared_ptr<const PoolCounters> counters_of(std::vector<SlicePtr> slices);

/// Whether every counter has the same position in both, so that what was resolved holds.
[[nodiscard]] bool has_same_positions(const PoolCounters& a, const PoolCounters& b);

/// Whether the rule speaks of the pool, or of devices in it.
[[nodiscard]] bool is_for(const api::DeviceTaintRule& rule, const std::string& driver,
                          const std::string& pool);
/// Whether the rule taints any device of the part.
[[nodiscard]] bool taints(const api::DeviceTaintRule& rule, const PoolPart& part);

/// Lives for the building of one version of a pool; its fields outlive it.
struct PartMaker {
  const std::vector<RulePtr>& rules;
  const PoolCounters& counters;
  const DeviceFeatures& features;
  DevicePool::Names& names;

  /// Without devices where the pool is unseen, or the slice is one of counters.
  [[nodiscard]] PartPtr make(const SlicePtr& slice, PoolState state) const;

 private:
  void resolve_counters(PoolDevice& device, PoolPart& part) const;
};

}  // namespace gang::cluster
