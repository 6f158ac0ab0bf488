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
/// classes that differ in a field other than the id; a class without holders is dropped (Gang
/// values may keep it alive), its id is never given again. The key is the value of all fields.
class ClassTable {
 public:
  using Handle = std::uint32_t;

  explicit ClassTable(TermTable& terms) : terms_(terms) {}

  /// The class of an own, unassigned pod, with one holder more.
  Handle acquire(const api::Pod& pod, ResourceTable& resources);
  /// The class of a pod that had `before`, now that terms have changed, with one holder more.
  Handle acquire_again(Handle before, const std::string& name_space, const api::StringMap& labels);
  void release(Handle handle);

  [[nodiscard]] const std::shared_ptr<const PodClass>& at(Handle handle) const {
    return entries_[handle].pod_class;
  }
  [[nodiscard]] std::size_t size() const { return entries_.size() - unused_.size(); }

 private:
  /// A class with the number of its pods; 0 = free for reuse.
  struct Entry {
    std::shared_ptr<const PodClass> pod_class;
    std::uint32_t hash = 0;
    std::uint32_t holders = 0;
  };

  Handle acquire(PodClass wanted);
  Handle insert(PodClass pod_class, std::uint32_t hash);

  TermTable& terms_;
  std::deque<Entry> entries_;
  std::vector<Handle> unused_;
  FlatIndex index_;
  std::uint64_t ids_given_ = 0;
};

}  // namespace gang::cluster
