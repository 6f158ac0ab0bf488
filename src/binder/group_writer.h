// GroupWriter: the conditions of all PodGroups, each group's writes in order.
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <memory>

#include "binder/group_line.h"

namespace gang::binder {

/// Keeps one GroupLine per group uid, and forgets the ones not used for longest.
/// Owned by the Binder; binder's thread only.
class GroupWriter {
 public:
  explicit GroupWriter(GroupLine::Parts parts) : parts_(parts) {}

  /// See GroupLine::submit. REQUIRES: write.group.uid is not empty.
  void submit(GroupWrite write);
  /// See GroupLine::drop_explanations.
  void drop_explanations(const api::Uid& uid);
  [[nodiscard]] bool idle() const { return open_count_ == 0; }

 private:
  /// A line and its place in the order of use.
  struct Entry {
    std::unique_ptr<GroupLine> line;
    std::list<api::Uid>::iterator used;
  };

  GroupLine& line_of(const engine::GangRef& group);
  void forget_unused();

  const GroupLine::Parts parts_;
  std::map<api::Uid, Entry> lines_;
  std::list<api::Uid> by_use_;  ///< longest unused first
  std::int64_t open_count_ = 0;
  Lifeline lifeline_;
};

}  // namespace gang::binder
