// Fragments: how much of the accelerators that are free on a node the next pod could not use.
//
// Problem: where does a pod leave the most that others can use? Idea: of what is free on a node a
// request of the mix cannot use anything where cpu, memory, labels or the number of accelerators
// with as much free as it wants do not suffice, else only those with less free. Fragments are the
// mean over the mix, by weight; a pod goes where they grow least. Beside, accelerators that the cpu
// or the memory left on the node could not feed, each as much as it has on average over the fleet,
// count by a twelfth. Accelerators are devices of the node's own pools, or units of extended
// resources; shares of devices are taken from the first one that has enough. Integers only: shares
// in 1/1000, weights in 1/65536. Ties: by the other terms. Complexity: O(requests) for a node; a
// new mix or another ratio of the fleet: all nodes anew. Cannot judge: nodes with partitions, many
// devices, or devices of several sizes, and requests that one number does not tell.
// Source: "Beware of Fragmentation", USENIX ATC 2023; placement quality, 3.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "engine/change_log.h"
#include "engine/class_rules.h"
#include "engine/device_counts.h"
#include "engine/overlay.h"
#include "gang/cluster/request_mix.h"
#include "gang/cluster/snapshot.h"

namespace gang::engine {

/// What a member takes of a node, as far as fragments go.
struct FragmentAsk {
  std::int64_t cpu_milli = 0;
  std::int64_t memory_mib = 0;
  std::int32_t count = 0;     ///< accelerators; 0: none
  api::QuantityMap capacity;  ///< of each device, where a part is enough
};

/// Nothing where one number does not tell it.
[[nodiscard]] std::optional<FragmentAsk> fragment_ask(const ClassRules& rules,
                                                      const cluster::DeviceWish& wish);

/// See the head of the file. Owned by TableCache; one thread. Always after update(): equal to a new
/// one that is told of the same snapshot.
class Fragments {
 public:
  explicit Fragments(const Options& options) : options_(options) {}

  /// `rank_of`: by NodeIndex. Without counts there are no devices.
  void update(const cluster::Snapshot& snapshot, DeviceCounts* counts,
              const std::vector<std::uint32_t>& rank_of);

  /// Whether there is anything to judge by.
  [[nodiscard]] bool is_active() const {
    return mix_ != nullptr && options_.weight_accelerator_packing > 0;
  }
  /// Ranks of nodes that are judged otherwise than before, usage aside.
  [[nodiscard]] ChangeLog& changes() { return changes_; }

  /// By how much fragments grow with one more member, in 1/1000; 0 where that cannot be judged.
  [[nodiscard]] std::int32_t growth(const FragmentAsk& ask, std::uint32_t rank,
                                    const NodeUse& use) const;
  /// False where the devices of the node do not suffice for the member, whatever it selects.
  [[nodiscard]] bool may_fit(const FragmentAsk& ask, std::uint32_t rank) const;
  /// How much of the accelerators of the node is in use, of kAllUsed; all where it has none.
  static constexpr std::int64_t kAllUsed = 1'000;
  [[nodiscard]] std::int64_t used(std::uint32_t rank, const NodeUse& use) const;

 private:
  /// A request of the mix.
  struct Want {
    std::int64_t cpu_milli = 0;
    std::int64_t memory_mib = 0;
    std::int64_t weight = 0;  ///< in 1/65536 of the mix
    std::uint64_t bit = 0;    ///< in masks of nodes: where labels and taints let it go
  };
  /// Requests for equally many equal parts.
  struct WantGroup {
    std::int32_t count = 0;
    api::QuantityMap capacity;
    std::vector<std::int32_t> needs;  ///< of a device, by DeviceShares::kind
    std::vector<Want> wants;
  };
  /// What is free on a node.
  struct Free {
    std::int64_t cpu_milli = 0;
    std::int64_t memory_mib = 0;
    std::int64_t units = 0;  ///< of extended resources
    std::int64_t units_all = 0;
    DeviceShares shares;
    [[nodiscard]] std::int64_t total() const;
  };
  /// What a node has, and who of the mix may go there.
  struct Place {
    std::uint64_t mask = 0;
    DeviceShares shares;
    std::int64_t cpu_milli = 0;  ///< these three: 0 without accelerators
    std::int64_t memory_mib = 0;
    std::int64_t accelerators = 0;
  };
  /// Of all nodes with accelerators.
  struct Fleet {
    std::int64_t cpu_milli = 0;
    std::int64_t memory_mib = 0;
    std::int64_t accelerators = 0;
    friend bool operator==(const Fleet&, const Fleet&) = default;
  };

  void rebuild(const cluster::Snapshot& snapshot);
  void read_mix(const cluster::Snapshot& snapshot);
  void add_want(const cluster::MixRequest& request, const FragmentAsk& ask,
                std::int64_t weight_total);
  [[nodiscard]] std::uint64_t bit_of(const ClassRules& rules);
  void read_place(const cluster::Snapshot& snapshot, std::uint32_t rank);
  void count_in(const Place& place, std::int64_t sign);
  void update_needs();

  [[nodiscard]] Free free_of(std::uint32_t rank, const NodeUse& use) const;
  [[nodiscard]] std::int32_t need_of(const api::QuantityMap& capacity,
                                     const DeviceShares& shares) const;
  [[nodiscard]] bool take(const FragmentAsk& ask, Free& free) const;
  [[nodiscard]] std::int64_t fragments(const Free& free, std::uint64_t mask) const;
  [[nodiscard]] std::int64_t unfed(const Free& free) const;

  const Options options_;
  std::shared_ptr<const cluster::RequestMix> mix_;
  DeviceCounts* counts_ = nullptr;
  ChangeLog::Mark counts_mark_ = 0;
  cluster::Generation generation_ = 0;
  cluster::Generation by_name_generation_ = 0;
  ChangeLog changes_;
  std::vector<WantGroup> groups_;
  std::int64_t first_weight_ = 0;  ///< of each of the two first requests, in 1/65536
  std::vector<cluster::ResourceId> accelerators_;  ///< extended resources of the mix
  std::vector<ClassRules> facts_;                  ///< by bit: one of the requests that share it
  std::vector<Place> places_;                      ///< by rank
  Fleet fleet_;
};

}  // namespace gang::engine
