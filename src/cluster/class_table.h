// ClassTable: one shared PodClass for all pending pods whose scheduling fields are equal.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "cluster/flat_index.h"
#include "cluster/resource_table.h"
#include "cluster/term_table.h"
#include "gang/api/pod.h"
#include "gang/cluster/gang.h"

namespace gang::cluster {

/// Owned by the state. Always: a handle with holders names exactly one class, two handles name
/// classes that differ in a field other than the id. A class without holders rests, so that pods
/// that come one after the other share it and what is known of it; of those that rest the one that
/// lost its holders first is dropped (Gang values may keep it alive), and one that reads terms at
/// once, for terms that nobody reads are not kept. An id is never given again. The key is the value
/// of all fields.
class ClassTable {
 public:
  using Handle = std::uint32_t;
  /// Classes without holders that are kept.
  static constexpr std::size_t kRestingMax = 256;

  explicit ClassTable(TermTable& terms) : terms_(terms) {}

  /// The class of an own, unassigned pod, with one holder more.
  Handle acquire(const api::Pod& pod, ResourceTable& resources);
  /// The class of a pod that had `before`, now that terms have changed, with one holder more.
  Handle acquire_again(Handle before, const std::string& name_space, const api::StringMap& labels);
  void release(Handle handle);

  [[nodiscard]] const std::shared_ptr<const PodClass>& at(Handle handle) const {
    return entries_[handle].pod_class;
  }
  /// Classes with holders.
  [[nodiscard]] std::size_t size() const {
    return entries_.size() - unused_.size() - resting_.size();
  }

 private:
  /// A class with the number of its pods; without class it is free for reuse.
  struct Entry {
    std::shared_ptr<const PodClass> pod_class;
    std::uint32_t hash = 0;
    std::uint32_t holders = 0;
  };

  Handle acquire(PodClass wanted);
  Handle insert(PodClass pod_class, std::uint32_t hash);
  void drop(Handle handle);

  TermTable& terms_;
  std::deque<Entry> entries_;
  std::vector<Handle> unused_;
  std::vector<Handle> resting_;  ///< in the order in which they lost their holders
  FlatIndex index_;
  std::uint64_t ids_given_ = 0;
};

}  // namespace gang::cluster
