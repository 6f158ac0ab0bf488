// DeviceTable: slices, taint rules and classes, the pools they make, and what is taken of each.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/change_log.h"
#include "cluster/device_names.h"
#include "cluster/kept_objects.h"
#include "cluster/node_pools.h"
#include "cluster/shared_chunk.h"
#include "gang/cluster/device_view.h"

namespace gang::cluster {

/// Names a pool.
struct PoolKey {
  std::string driver;
  std::string name;
  friend auto operator<=>(const PoolKey&, const PoolKey&) = default;
};

/// An allocation of a claim.
struct Holding {
  const api::ObjectKey& claim;
  const api::Allocation& allocation;
};

/// Owned by the state. A pool has a slot as long as it has slices or devices in use. Pools are
/// built when a view is asked for, only those whose slices or rules have changed, and of them only
/// the parts that did. Always: what is taken is the sum of take() less give_back().
class DeviceTable {
 public:
  explicit DeviceTable(const DeviceFeatures& features);
  [[nodiscard]] const DeviceFeatures& features() const { return features_; }

  void upsert(const api::ResourceSlice& slice, ListNumber list, ChangeLog& log);
  void upsert(const api::DeviceTaintRule& rule, ListNumber list, ChangeLog& log);
  void upsert(const api::DeviceClass& device_class, ListNumber list, ChangeLog& log);
  void remove(const api::ResourceSlice& slice, ChangeLog& log);
  void remove(const api::DeviceTaintRule& rule, ChangeLog& log);
  void remove(const api::DeviceClass& device_class, ChangeLog& log);
  void sweep_slices(ListNumber list, ChangeLog& log);
  void sweep_rules(ListNumber list, ChangeLog& log);
  void sweep_classes(ListNumber list, ChangeLog& log);

  /// Counts what an allocation takes, whether the devices are known or not.
  void take(const Holding& holding, ChangeLog& log);
  /// REQUIRES: was taken.
  void give_back(const Holding& holding, ChangeLog& log);

  /// Claims that hold the device of the result, one for each result that takes it; by key.
  /// REQUIRES: one does.
  [[nodiscard]] const std::vector<api::ObjectKey>& holders_of(
      const api::DeviceResult& result) const;

  /// Whether no slice shows the device of the result, as far as that is known without a new view:
  /// it may be shown where its pool has changed. REQUIRES: a claim holds it.
  [[nodiscard]] bool is_hidden(const api::DeviceResult& result) const;
  /// As of the current view; nothing when the pool is not ready.
  [[nodiscard]] std::optional<bool> shows(const api::DeviceName& device);

  /// The current view; the same object while nothing changes.
  [[nodiscard]] const std::shared_ptr<const DeviceView>& view();

  /// Empty when what is taken equals these allocations, else the first difference.
  [[nodiscard]] std::string usage_difference(
      const std::vector<std::shared_ptr<const api::Allocation>>& allocations) const;

 private:
  /// A pool by name, with what the view does not hold.
  struct Entry {
    explicit Entry(IdBlocks& blocks) : names(blocks) {}
    PoolKey key;
    std::map<std::string, SlicePtr> slices;  ///< by name
    DeviceNames names;
    std::size_t taken_count = 0;             ///< results of allocations that name its devices
    std::shared_ptr<const DevicePool> pool;  ///< as built last
    std::vector<std::string> nodes;          ///< that it is indexed under
    bool is_shared = false;
    bool is_touched = false;  ///< in touched_
  };

  PoolIndex intern(const PoolKey& key);
  /// The pool is to be built anew, or dropped, before the next view.
  void touch(PoolIndex pool);
  /// The same when who holds it shows in the pool: no slice does.
  void touch_if_unseen(PoolIndex pool, const std::string& device);
  void replace(const Replaced<api::ResourceSlice>& slice, ChangeLog& log);
  void note_hidden(const Replaced<api::ResourceSlice>& slice, ChangeLog& log) const;
  void replace(const Replaced<api::DeviceTaintRule>& rule, ChangeLog& log);
  void replace(const Replaced<api::DeviceClass>& device_class, ChangeLog& log);
  [[nodiscard]] std::vector<PoolIndex> pools_of(const api::DeviceTaintRule& rule) const;
  /// By name.
  [[nodiscard]] std::vector<RulePtr> rules_for(const PoolKey& key) const;

  [[nodiscard]] std::shared_ptr<const PoolChunks> share_chunks();
  void build(PoolIndex pool);
  void place(PoolIndex pool);
  void index_under(PoolIndex pool, const std::vector<std::string_view>& nodes);
  void drop(PoolIndex pool);
  void refresh_lists();

  const DeviceFeatures features_;
  KeptObjects<api::ResourceSlice> slices_;
  KeptObjects<api::DeviceTaintRule> rules_;
  KeptObjects<api::DeviceClass> known_classes_;

  IdBlocks blocks_;
  std::map<PoolKey, PoolIndex> by_key_;
  std::deque<Entry> entries_;  ///< by slot
  std::vector<PoolIndex> unused_;
  std::vector<PoolIndex> touched_;  ///< since the last view
  DeviceUsage usage_;

  std::vector<SharedChunk<PoolChunk>> chunks_;
  std::shared_ptr<const PoolChunks> shared_chunks_;  ///< null: pools were touched
  NodePools by_node_;
  SharedChunk<DeviceClasses> classes_;
  std::shared_ptr<const ExtendedResources> extended_;  ///< null: classes have changed
  std::shared_ptr<const std::vector<PoolIndex>> by_name_;
  std::shared_ptr<const std::vector<PoolIndex>> shared_;
  bool lists_changed_ = true;
  Generation generation_ = 0;
  bool is_changed_ = true;  ///< since the last view
  std::shared_ptr<const DeviceView> latest_;
};

}  // namespace gang::cluster
