// DevicePool: all slices of one pool of a driver at its newest generation, ready for allocation.
//
// A pool is global: its counters are shared by all nodes. A node sees the pool through
// devices_of(), in the order in which devices are tried: slices by name, then as listed. Immutable
// once built; any thread. Source: the devices contract, 2.2 to 2.4 and 2.9.
#pragma once

#include <compare>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "gang/api/device.h"
#include "gang/api/selector.h"
#include "gang/base/result.h"

namespace gang::cluster {

/// Which optional rules hold; the names and defaults are those of Kubernetes' feature gates.
struct DeviceFeatures {
  bool admin_access = true;
  bool prioritized_list = true;
  bool partitionable_devices = true;
  bool device_taints = true;
  bool binding_conditions = true;
  bool consumable_capacity = true;
  bool fractional_capacity_range = false;
  bool list_type_attributes = false;
  bool derived_attributes = false;
  bool compatibility_groups = false;
  bool optional_node_operations = false;

  /// Ours: only tolerations with the effect NoExecute cover such a taint, for no other keeps pods
  /// from being evicted. Upstream allocates with an empty effect too.
  bool strict_no_execute = true;

  /// Any of them selects upstream's allocator of alpha rules, which alone refuses devices whose
  /// driver wants no node operations where that is off.
  [[nodiscard]] bool has_alpha() const {
    return list_type_attributes || derived_attributes || compatibility_groups ||
           optional_node_operations;
  }
};

/// Number of a device's name (driver, pool, device) within one DeviceView. Numbers of one pool are
/// close together; one that neither a pool nor a claim has any more may be given to another name.
struct DeviceId {
  std::uint32_t value = 0;
  friend auto operator<=>(const DeviceId&, const DeviceId&) = default;
};

/// What a device takes of a counter, by position in DevicePool::counters().
struct CounterUse {
  std::uint32_t counter = 0;
  api::Quantity amount;
};

/// A device with what its pool knows of it. `device` lives as long as the pool's slices.
struct PoolDevice {
  DeviceId id;
  std::uint32_t slice = 0;  ///< index into DevicePool::slices()
  const api::Device* device = nullptr;
  std::vector<CounterUse> counters;
  /// Position in DevicePool::counter_sets() beside each entry of device->consumes_counters.
  std::vector<std::uint32_t> counter_sets;
  std::vector<api::DeviceTaint> rule_taints;  ///< of DeviceTaintRules; the slice's come first
};

/// A device that a claim holds and no slice shows: what it takes of counters cannot be told. Value.
struct UnseenDevice {
  std::string name;
  DeviceId id;
  api::ObjectKey claim;  ///< of those that hold it the first by name
};

/// A counter of the pool as declared.
struct PoolCounter {
  std::uint32_t set = 0;  ///< index into DevicePool::counter_sets()
  std::string name;
  api::Quantity declared;
};

enum class PoolState {
  kReady,
  kIncomplete,  ///< slices of the newest generation are missing
  kInvalid,     ///< slices contradict each other
  kUnseen,      ///< all slices are of features that are off: no node sees anything of it
};

using SlicePtr = std::shared_ptr<const api::ResourceSlice>;

/// See the head of the file.
class DevicePool {
 public:
  /// What a pool is made of. Slices are of one driver and pool, of any generation and order.
  struct Parts {
    std::vector<SlicePtr> slices;
    std::vector<std::shared_ptr<const api::DeviceTaintRule>> rules;
  };
  /// Gives each device name its number, and knows what claims hold of the pool.
  class Names {
   public:
    virtual ~Names() = default;
    virtual DeviceId id_of(const api::ResourceSlice& slice, const api::Device& device) = 0;
    /// Held devices of the pool that are not among its devices, by name.
    [[nodiscard]] virtual std::vector<UnseenDevice> held_beside(const DevicePool& /*pool*/) const {
      return {};
    }
  };

  /// REQUIRES: at least one slice.
  DevicePool(const Parts& parts, const DeviceFeatures& features, Names& names);

  [[nodiscard]] const std::string& driver() const { return slices_.front()->driver; }
  [[nodiscard]] const std::string& name() const { return slices_.front()->pool; }
  [[nodiscard]] PoolState state() const { return state_; }
  /// Why it is not ready: "duplicate counter set name X".
  [[nodiscard]] const std::string& problem() const { return problem_; }
  /// Of the newest generation, by name.
  [[nodiscard]] const std::vector<SlicePtr>& slices() const { return slices_; }
  /// Of all slices, in order.
  [[nodiscard]] const std::vector<PoolDevice>& devices() const { return devices_; }
  [[nodiscard]] bool has_unique_names() const { return has_unique_names_; }
  [[nodiscard]] const std::vector<PoolCounter>& counters() const { return counters_; }
  [[nodiscard]] const std::vector<std::string>& counter_sets() const { return counter_sets_; }
  [[nodiscard]] const std::vector<UnseenDevice>& unseen() const { return unseen_; }

 private:
  void keep_newest(const Parts& parts, const DeviceFeatures& features);
  void add_counter_sets();
  void add_devices(const Parts& parts, const DeviceFeatures& features, Names& names);
  void resolve_counters(PoolDevice& device);
  void check_names();
  void refuse(std::string problem);

  PoolState state_ = PoolState::kReady;
  std::string problem_;
  std::vector<SlicePtr> slices_;
  std::vector<PoolDevice> devices_;
  bool has_unique_names_ = true;
  std::vector<PoolCounter> counters_;
  std::vector<std::string> counter_sets_;
  std::vector<UnseenDevice> unseen_;
};

/// Whether devices at that place can be used on the node; an error is a selector that is none.
[[nodiscard]] Result<bool> is_usable_on(const api::DevicePlace& place, const api::NodeFacts& node);

}  // namespace gang::cluster
