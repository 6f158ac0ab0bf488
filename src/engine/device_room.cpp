#include "engine/device_room.h"

#include <algorithm>

namespace gang::engine {

bool needs_devices(const ClassDemand& demand, const CapacityTable& table) {
  return demand.asks_devices() || table.rules().served != 0;
}

std::int64_t DeviceRoom::on(const ClassDemand& demand, const CapacityTable& table,
                            std::uint32_t rank) const {
  const std::int64_t here = table.entry(rank).capacity;
  if (here <= 0 || !table.may_have_devices(rank)) return 0;
  const cluster::NodeIndex node = snapshot_.by_name()[rank];
  const std::int64_t asked = demand.devices_asked + served_count(table.rules(), node);
  if (asked + demand.devices_shared == 0) return here;
  const std::int64_t free = devices_.free_count(node) - demand.devices_shared;
  if (free < 0) return 0;
  return asked > 0 ? std::min(here, free / asked) : here;
}

std::int64_t DeviceRoom::of_all(const ClassDemand& demand, const CapacityTable& table) const {
  std::int64_t room = 0;
  for (std::uint32_t rank = 0; rank < table.size() && room < demand.member_count; ++rank) {
    room += on(demand, table, rank);
  }
  return std::min<std::int64_t>(room, demand.member_count);
}

/// What devices serve a member of its extended resources on the node, at least.
std::int64_t DeviceRoom::served_count(const ClassRules& rules, cluster::NodeIndex node) const {
  std::int64_t count = 0;
  for (std::size_t i = 0; rules.served >> i != 0; ++i) {
    const cluster::ResourceAmount& request = rules.pod_class->requests[i];
    if (!rules.may_be_served(i) || snapshot_.allocatable(node, request.resource) > 0) continue;
    count += request.amount;
  }
  return count;
}

}  // namespace gang::engine
