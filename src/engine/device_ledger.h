// DeviceLedger: what one attempt takes of devices, on top of what claims hold already.
//
// Shared by all members of a gang: a device taken for one is taken for all. Entries are undone in
// reverse order through checkpoints. It keeps the books and judges what the books decide: in use,
// counters, compatibility groups, capacity. Source: the devices contract, 2.8 to 2.11.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "gang/cluster/device_pool.h"
#include "gang/cluster/device_usage.h"

namespace gang::engine {

/// Why a device cannot be taken; kNone = it can.
enum class DeviceRefusal {
  kNone,
  kInUse,
  kNodeOperations,
  kPartitions,  ///< it takes counters and the feature is off
  kCompatibility,
  kCounters,
  kUnknownUse,  ///< a claim holds a device of the pool that no slice shows
  kTaint,
  kConstraint,
  kCapacity,
};

/// A device that is about to be taken.
struct DeviceTake {
  const cluster::DevicePool& pool;
  const cluster::PoolDevice& device;
  std::int32_t claim = 0;  ///< number of the claim within the attempt
  bool admin_access = false;
};

/// See the head of the file. Lives for one attempt; one thread.
class DeviceLedger {
 public:
  using Checkpoint = std::size_t;

  /// Both outlive this.
  DeviceLedger(const cluster::DeviceUsage& usage, const cluster::DeviceFeatures& features)
      : usage_(usage), features_(features) {
    log_.reserve(cluster::kDevicesPerBlock);
  }
  DeviceLedger(const DeviceLedger&) = delete;
  DeviceLedger& operator=(const DeviceLedger&) = delete;

  /// Whether somebody has the device already: the cheap test before selectors run.
  [[nodiscard]] bool is_in_use(const DeviceTake& take) const;
  /// What shares take of the device, in claims and in this attempt.
  [[nodiscard]] api::QuantityMap used_capacity(cluster::DeviceId device) const;

  /// Whether nobody has the device, neither whole nor in part.
  [[nodiscard]] bool is_free(cluster::DeviceId device) const;

  /// Shares of the device, in claims and in this attempt.
  [[nodiscard]] std::int32_t share_count(cluster::DeviceId device) const;

  /// What this attempt takes of the device; "" where nothing.
  [[nodiscard]] std::string taken_text(cluster::DeviceId device) const;
  /// By counter of the pool; negative where claims hold more than there is.
  [[nodiscard]] const std::vector<api::Quantity>& counters_left(const cluster::DevicePool& pool) {
    return books_of(pool).left;
  }

  /// Whether it is known what claims take of the pool's counters: every device they hold is in a
  /// slice. One that is not may take anything of them.
  [[nodiscard]] bool knows_counters(const cluster::DevicePool& pool) {
    return books_of(pool).is_known;
  }

  /// Whether many may use the device at once.
  [[nodiscard]] bool is_multi(const cluster::PoolDevice& device) const;
  /// Counters and compatibility groups of a device that nobody shares yet. Changes nothing when it
  /// refuses; what it took is undone with the checkpoint.
  [[nodiscard]] DeviceRefusal take_counters(const DeviceTake& take);
  /// Marks the device, with what a share takes of it.
  void take_device(const DeviceTake& take, const api::QuantityMap& capacity);

  [[nodiscard]] Checkpoint checkpoint() const { return log_.size(); }
  void rollback(Checkpoint to);

 private:
  /// A counter set's members: none, all without groups, or what their groups have in common.
  struct Groups {
    bool has_members = false;
    bool is_plain = false;
    std::vector<std::string> common;
  };
  /// Counters of one pool with claims and this attempt taken off.
  struct PoolBooks {
    std::vector<api::Quantity> left;
    std::int32_t negative_count = 0;
    bool is_known = true;        ///< see knows_counters()
    std::vector<Groups> groups;  ///< by counter set
  };
  /// Who took devices of one block of ids whole: a bit and a claim for each.
  struct Block {
    std::uint64_t taken = 0;
    std::array<std::int32_t, cluster::kDevicesPerBlock> claims{};
  };
  /// What few devices have: shares, or more claims that took it whole, by admin access.
  struct Taken {
    std::vector<std::int32_t> claims;  ///< all but the first
    std::int32_t shares = 0;
    api::QuantityMap capacity;
  };
  enum class Kind { kWhole, kShare, kCounters };
  /// What kShare and kCounters need besides is the last of capacities_ and of groups_before_.
  struct Entry {
    Kind kind = Kind::kWhole;
    const cluster::DevicePool* pool = nullptr;
    const cluster::PoolDevice* device = nullptr;
  };

  [[nodiscard]] bool is_shared(const cluster::PoolDevice& device) const;
  /// Null where nothing of the block is taken whole.
  [[nodiscard]] Block* find_block(cluster::DeviceId device) const;
  [[nodiscard]] const Taken* find_more(cluster::DeviceId device) const;
  void take_whole(cluster::DeviceId device, std::int32_t claim);
  void undo_whole(cluster::DeviceId device);
  PoolBooks& books_of(const cluster::DevicePool& pool);
  static void charge(PoolBooks& books, const cluster::PoolDevice& device, int sign);
  [[nodiscard]] static bool joins(PoolBooks& books, const cluster::PoolDevice& device);
  void undo(const Entry& entry);

  const cluster::DeviceUsage& usage_;
  const cluster::DeviceFeatures& features_;
  static_assert(cluster::kDevicesPerBlock <= 64);
  /// By number; none is taken out. What was found last is remembered.
  mutable std::unordered_map<std::uint32_t, Block> blocks_;
  mutable std::uint32_t last_number_ = 0;
  mutable Block* last_block_ = nullptr;
  std::unordered_map<std::uint32_t, Taken> more_;  ///< by device
  std::map<const cluster::DevicePool*, PoolBooks> books_;
  std::vector<Entry> log_;
  std::vector<api::QuantityMap> capacities_;
  std::vector<std::vector<Groups>> groups_before_;
};

}  // namespace gang::engine
