// DevicePool: all slices of one pool of a driver at its newest generation, ready for allocation.
//
// A pool is global: its counters are shared by all nodes. Its parts, and their devices, are in the
// order in which devices are tried: slices by name, then as listed. Immutable once built; any
// thread. Source: the devices contract, 2.2 to 2.4 and 2.9.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "gang/api/device.h"
#include "gang/api/selector.h"
#include "gang/base/result.h"
#include "gang/cluster/pool_part.h"

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

/// A device that a claim holds and no slice shows: what it takes of counters cannot be told. Value.
struct UnseenDevice {
  std::string name;
  DeviceId id;
  api::ObjectKey claim;  ///< of those that hold it the first by name
};

enum class PoolState {
  kReady,
  kIncomplete,  ///< slices of the newest generation are missing
  kInvalid,     ///< slices contradict each other
  kUnseen,      ///< all slices are of features that are off: no node sees anything of it
};

using RulePtr = std::shared_ptr<const api::DeviceTaintRule>;

/// See the head of the file.
class DevicePool {
 public:
  /// What a pool is made of. Slices are of one driver and pool, of any generation and order.
  struct Parts {
    std::vector<SlicePtr> slices;
    std::vector<RulePtr> rules;  ///< by name
    /// An earlier version, of the same features and names, whose parts serve on where nothing
    /// changed: it costs time only. Null: there is none.
    const DevicePool* before = nullptr;
  };
  /// What only who knows every device of a pool and every claim can tell.
  struct NameFacts {
    bool are_unique = true;            ///< no two devices of the pool have one name
    std::vector<UnseenDevice> unseen;  ///< held devices that it does not have, by name
  };
  /// Gives each device name its number, and knows what claims hold of the pool.
  class Names {
   public:
    virtual ~Names() = default;
    virtual DeviceId id_of(const api::ResourceSlice& slice, const api::Device& device) = 0;
    /// Told of the parts of a new version and of the one before, if any.
    virtual NameFacts settle(const DevicePool& pool, const DevicePool* before) = 0;
  };

  /// REQUIRES: at least one slice. O(slices + devices of what changed since the version before).
  DevicePool(const Parts& parts, const DeviceFeatures& features, Names& names);

  [[nodiscard]] const std::string& driver() const { return parts_.front()->slice->driver; }
  [[nodiscard]] const std::string& name() const { return parts_.front()->slice->pool; }
  [[nodiscard]] PoolState state() const { return state_; }
  /// Why it is not ready: "duplicate counter set name X".
  [[nodiscard]] const std::string& problem() const { return problem_; }
  /// Of the slices of the newest generation, by name of the slice; at least one.
  [[nodiscard]] const std::vector<PartPtr>& parts() const { return parts_; }
  [[nodiscard]] bool has_unique_names() const { return has_unique_names_; }
  [[nodiscard]] const std::vector<PoolCounter>& counters() const { return counters_->counters; }
  [[nodiscard]] const std::vector<std::string>& counter_sets() const { return counters_->sets; }
  [[nodiscard]] const std::vector<UnseenDevice>& unseen() const { return unseen_; }

 private:
  /// A slice of the newest generation with the part that it had before, if any.
  struct Piece {
    SlicePtr slice;
    PartPtr part;
  };
  std::vector<Piece> newest_of(const Parts& parts, const DeviceFeatures& features);
  void keep_readable(std::vector<Piece>& pieces, const DeviceFeatures& features);
  void refuse(const std::string& problem);

  PoolState state_ = PoolState::kReady;
  std::string problem_;
  std::vector<PartPtr> parts_;
  bool has_unique_names_ = true;
  std::shared_ptr<const PoolCounters> counters_;
  std::vector<RulePtr> rules_;  ///< that the parts were made with
  std::vector<UnseenDevice> unseen_;
};

/// Parts of the pool whose slices the other does not have; all of them when that is null.
/// O(slices of both).
[[nodiscard]] std::vector<const PoolPart*> parts_beside(const DevicePool& pool,
                                                        const DevicePool* other);

/// Whether devices at that place can be used on the node; an error is a selector that is none.
[[nodiscard]] Result<bool> is_usable_on(const api::DevicePlace& place, const api::NodeFacts& node);

}  // namespace gang::cluster
