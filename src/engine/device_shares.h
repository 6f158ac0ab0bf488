// DeviceShares: what is free of each device of a node, as far as that can be told in a few numbers.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "gang/api/device.h"
#include "gang/cluster/device_usage.h"

namespace gang::engine {

/// In 1/1000 of a device. Known of a few devices with the same capacity that share no counters. A
/// value.
struct DeviceShares {
  static constexpr std::size_t kMost = 16;
  static constexpr std::int16_t kWhole = 1'000;
  bool is_known = true;
  bool has_policy = false;  ///< who names no amount may get less than all of a device
  std::uint8_t count = 0;
  std::uint32_t kind = 0;                  ///< of capacity, see ShareKinds
  std::array<std::int16_t, kMost> free{};  ///< at least as much as there is, by device
};

/// Numbers for what devices have. Owned by DeviceCounts; one thread.
class ShareKinds {
 public:
  /// Adds a device, in the order of devices. `taken`: null where nobody has any of it.
  void add(const api::Device& device, const cluster::DeviceTaken* taken, DeviceShares& shares);

  /// What whole devices have, by DeviceShares::kind. Grows only.
  [[nodiscard]] const std::vector<api::QuantityMap>& capacities() const { return capacities_; }

 private:
  [[nodiscard]] std::uint32_t kind_of(const api::Device& device);

  std::vector<api::QuantityMap> capacities_;
  std::map<api::QuantityMap, std::uint32_t> known_;
};

}  // namespace gang::engine
