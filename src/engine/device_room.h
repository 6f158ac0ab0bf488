// DeviceRoom: how many members of a class the resources and the numbers of free devices of nodes
// have room for.
#pragma once

#include <cstdint>

#include "engine/capacity_table.h"
#include "engine/device_cache.h"
#include "gang/cluster/snapshot.h"
#include "gang/engine/planner.h"

namespace gang::engine {

/// Whether members of the class need devices, by their claims or where nodes offer no resource.
[[nodiscard]] bool needs_devices(const ClassDemand& demand, const CapacityTable& table);

/// See the head of the file. Never too low. Lives for one question; the cache is current.
class DeviceRoom {
 public:
  DeviceRoom(const DeviceCache& devices, const cluster::Snapshot& snapshot)
      : devices_(devices), snapshot_(snapshot) {}

  /// On one node of the snapshot that the table is of.
  [[nodiscard]] std::int64_t on(const ClassDemand& demand, const CapacityTable& table,
                                std::uint32_t rank) const;
  /// On all nodes, at most as many as the class has.
  [[nodiscard]] std::int64_t of_all(const ClassDemand& demand, const CapacityTable& table) const;

 private:
  [[nodiscard]] std::int64_t served_count(const ClassRules& rules, cluster::NodeIndex node) const;

  const DeviceCache& devices_;
  const cluster::Snapshot& snapshot_;
};

}  // namespace gang::engine
