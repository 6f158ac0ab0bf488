// DeviceNames: the device names of one pool: their numbers, who holds them, who shows them.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "gang/cluster/device_pool.h"

namespace gang::cluster {

/// Blocks of device ids, each of one pool at a time. Owned by the table of devices.
class IdBlocks {
 public:
  [[nodiscard]] std::uint32_t take();
  void give_back(const std::vector<std::uint32_t>& blocks);

 private:
  std::uint32_t given_ = 0;
  std::vector<std::uint32_t> unused_;
};

/// Owned by the table of devices. Always: a name has one id while the pool that was built last
/// shows it or a claim holds it, and no other name has that id. The blocks outlive it.
class DeviceNames final : public DevicePool::Names {
 public:
  explicit DeviceNames(IdBlocks& blocks) : blocks_(&blocks) {}

  DeviceId id_of(const api::ResourceSlice& slice, const api::Device& device) override;
  /// O(devices of the slices that came and went + unseen devices).
  DevicePool::NameFacts settle(const DevicePool& pool, const DevicePool* before) override;
  /// Told of the last version of a pool that has no slices any more.
  void leave(const DevicePool& before);

  /// The claim holds the device, once more if it did.
  DeviceId hold(const std::string& device, const api::ObjectKey& claim);
  /// REQUIRES: the claim holds it.
  DeviceId let_go(const std::string& device, const api::ObjectKey& claim);

  [[nodiscard]] bool has(const std::string& device) const { return names_.contains(device); }
  /// Whether a slice of the pool that was built last has the device.
  [[nodiscard]] bool is_shown(const std::string& device) const;
  /// Claims, one for each time it is held; by key. REQUIRES: has(device).
  [[nodiscard]] const std::vector<api::ObjectKey>& holders_of(const std::string& device) const {
    return names_.at(device).holders;
  }
  /// REQUIRES: has(device).
  [[nodiscard]] DeviceId id_of(const std::string& device) const { return names_.at(device).id; }

  /// REQUIRES: no name is shown or held.
  void give_back_blocks() { blocks_->give_back(own_blocks_); }

 private:
  struct Name {
    DeviceId id;
    std::uint32_t shown_count = 0;  ///< devices of the pool that have it
    std::vector<api::ObjectKey> holders;
  };

  Name& name_of(const std::string& device);
  void show(const PoolPart& part);
  void hide(const PoolPart& part);
  void forget_if_unused(const std::string& device);

  IdBlocks* blocks_;
  std::unordered_map<std::string, Name> names_;
  std::vector<std::uint32_t> own_blocks_;
  std::vector<DeviceId> unused_ids_;  ///< of these
  std::uint32_t repeated_count_ = 0;  ///< names that several devices have
  std::set<std::string> unseen_;      ///< held and not shown
};

}  // namespace gang::cluster
