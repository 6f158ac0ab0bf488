// DeviceUsage: which devices are given to claims, with counts, so that giving one back twice or two
// claims with one device never frees what is still held.
//
// Results with admin access are not counted. A result with a share id is a share of a device that
// many can use; every other one takes the device whole. Counts sit in blocks of kDevicesPerBlock
// ids and groups of blocks; share() costs a pointer for each group, and a write after it copies one
// block and one group. One writes; any thread reads what was shared. Source: the devices contract,
// 2.1 (AllocatedState).
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "gang/api/claim.h"
#include "gang/cluster/device_pool.h"

namespace gang::cluster {

inline constexpr std::uint32_t kDevicesPerBlock = 64;

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
  DeviceUsage() = default;
  DeviceUsage(DeviceUsage&&) noexcept = default;
  DeviceUsage& operator=(DeviceUsage&&) noexcept = default;
  DeviceUsage(const DeviceUsage&) = delete;
  DeviceUsage& operator=(const DeviceUsage&) = delete;

  void add(DeviceId device, const api::DeviceResult& result, bool shares_count);
  /// REQUIRES: was added.
  void remove(DeviceId device, const api::DeviceResult& result, bool shares_count);

  /// Null when nothing is taken.
  [[nodiscard]] const DeviceTaken* find(DeviceId device) const;
  [[nodiscard]] std::size_t size() const { return size_; }

  /// Adds the blocks of ids in which something may differ from `other`, of which this one was made
  /// or that was made of it.
  void changed_blocks(const DeviceUsage& other, std::vector<std::uint32_t>& out) const;

  /// An equal one that never changes with this one. To be called by who writes this one.
  [[nodiscard]] DeviceUsage share();

 private:
  static constexpr std::uint32_t kBlocksPerGroup = 64;
  /// Taken devices of one block, by id.
  using Block = std::vector<std::pair<std::uint32_t, DeviceTaken>>;
  using Group = std::array<std::shared_ptr<const Block>, kBlocksPerGroup>;

  [[nodiscard]] Block& writable_block(DeviceId device);

  std::vector<std::shared_ptr<const Group>> groups_;
  std::size_t size_ = 0;
  std::unordered_map<std::uint32_t, Group*> own_groups_;  ///< made since share(), by position
  std::unordered_map<std::uint32_t, Block*> own_blocks_;
};

/// Adds every amount of `b` to `a`, times `sign`; names stay sorted, zero amounts stay.
void add_amounts(api::QuantityMap& a, const api::QuantityMap& b, int sign);

}  // namespace gang::cluster
