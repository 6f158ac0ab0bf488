// DeviceUsage: which devices are given to claims, with counts, so that giving one back twice or two
// claims with one device never frees what is still held.
//
// Results with admin access are not counted. A result with a share id is a share of a device that
// many can use; every other one takes the device whole. Value; any thread reads, one writes.
// Source: the devices contract, 2.1 (AllocatedState).
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>

#include "gang/api/claim.h"
#include "gang/cluster/device_pool.h"

namespace gang::cluster {

/// What is taken of one device.
struct DeviceTaken {
  std::int32_t whole = 0;     ///< claims that hold it whole; above 1 = given twice
  std::int32_t shares = 0;    ///< claims that hold a share
  std::int32_t measured = 0;  ///< of the shares, those with consumed capacity
  api::QuantityMap capacity;  ///< consumed by shares; names as the device writes them
  [[nodiscard]] bool is_empty() const { return whole == 0 && shares == 0; }
  /// Any hold that makes the device's counters count.
  [[nodiscard]] bool is_used() const { return whole > 0 || shares > 0; }
};

/// See the head of the file.
class DeviceUsage {
 public:
  void add(DeviceId device, const api::DeviceResult& result, bool shares_count);
  /// REQUIRES: was added.
  void remove(DeviceId device, const api::DeviceResult& result, bool shares_count);

  /// Null when nothing is taken.
  [[nodiscard]] const DeviceTaken* find(DeviceId device) const;
  [[nodiscard]] std::size_t size() const { return taken_.size(); }

 private:
  std::unordered_map<std::uint32_t, DeviceTaken> taken_;
};

/// Adds every amount of `b` to `a`, times `sign`; names stay sorted, zero amounts stay.
void add_amounts(api::QuantityMap& a, const api::QuantityMap& b, int sign);

}  // namespace gang::cluster
