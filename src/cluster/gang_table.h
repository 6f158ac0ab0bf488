// GangTable: which gangs there are, who belongs to them, and what their PodGroups say.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "cluster/change_log.h"
#include "cluster/claim_users.h"
#include "cluster/kind_sync.h"
#include "cluster/pod_table.h"
#include "cluster/topology_table.h"
#include "gang/cluster/cluster_state.h"
#include "gang/cluster/gang.h"

namespace gang::cluster {

/// Members of a PodGroup that are over, by pod UID, with the list that last told of each.
struct DoneMembers {
  /// A member in phase Failed, and which list told of it last.
  struct Failed {
    Failure failure;
    std::string uid;
    ListNumber list = 0;
  };
  std::unordered_map<std::string, ListNumber> counted;  ///< succeeded
  std::unordered_map<std::string, ListNumber> retired;  ///< of an earlier PodGroup of that name
  std::map<std::uint64_t, Failed> failed;               ///< by order of arrival
  std::unordered_map<std::string, std::uint64_t> failed_order;  ///< keys of `failed`
  std::uint64_t failed_ever = 0;

  [[nodiscard]] bool names_gang() const { return !counted.empty() || !failed.empty(); }
  /// The list number of a member that is known, or null.
  [[nodiscard]] ListNumber* list_of(const std::string& uid);
  const Failure& add_failed(const api::Pod& pod, ListNumber list);
  /// Whether it was there.
  bool erase_failed(const std::string& uid);
  /// Drops those that this list did not tell of; returns how many.
  std::size_t sweep_failed(ListNumber list);
  /// Makes all of them members of an earlier PodGroup.
  void retire();
};

/// One gang. A lone pod's has no key: the pod's record has it.
struct GangEntry {
  GangKind kind = GangKind::kLonePod;
  api::ObjectKey key;
  std::unique_ptr<api::PodGroup> group;  ///< null: not known, or a lone pod
  api::Uid last_uid;                     ///< of the newest PodGroup seen under that name
  ListNumber list = 0;                   ///< in which the PodGroup was told last
  std::vector<PodSlot> members;
  MemberCounts counts;  ///< `done` is filled when a Gang is built
  std::unique_ptr<DoneMembers> done;

  /// Whether pods or a PodGroup stand behind it, not only finished pods.
  [[nodiscard]] bool is_known() const { return group != nullptr || !members.empty(); }
};

/// Owned by the state. Always: an entry exists exactly while a pod, a PodGroup or a finished pod
/// names it; ids are never given twice; counts equal the states of the members.
class GangTable {
 public:
  GangTable(PodTable& pods, ClaimUsers& claim_users, TopologyTable& topology)
      : pods_(pods), claim_users_(claim_users), topology_(topology) {}

  [[nodiscard]] const GangEntry* find(std::uint64_t id) const;
  [[nodiscard]] std::optional<std::uint64_t> find(const api::ObjectKey& pod_group) const;
  /// In no order.
  [[nodiscard]] const std::unordered_map<std::uint64_t, GangEntry>& entries() const {
    return entries_;
  }

  /// Makes a pod a member of its PodGroup, or a lone pod where the key has no name.
  void join(PodSlot pod, const api::ObjectKey& pod_group);
  void leave(PodSlot pod);
  /// Moves the counts of the pod's gang, if it has one.
  void set_state(PodSlot pod, MemberState state);

  void upsert_group(const api::PodGroup& group, ListNumber list, ChangeLog& log);
  void remove_group(const api::ObjectMeta& meta, ChangeLog& log);
  void sweep_groups(ListNumber list, ChangeLog& log);

  void upsert_finished(const api::Pod& pod, ListNumber list, ChangeLog& log);
  void remove_finished(const api::Pod& pod, ChangeLog& log);
  void sweep_finished(ListNumber list, ChangeLog& log);

  /// Touches the gangs whose PodGroup names that CompositePodGroup as its parent.
  void touch_children(const api::ObjectKey& composite, ChangeLog& log) const;

 private:
  std::uint64_t intern(const api::ObjectKey& pod_group);
  void drop_group(std::uint64_t id, ChangeLog& log);
  void drop_if_unnamed(std::uint64_t id);
  void set_parent(std::uint64_t id, const std::string& before, const std::string& after);
  /// Another PodGroup object, or none (null), says what claims the gang has.
  void set_claims(std::uint64_t id, const api::PodGroup* before, const api::PodGroup* after);
  /// The same of the label keys of its constraints.
  void set_levels(const api::PodGroup* before, const api::PodGroup* after);
  static void adopt_uid(GangEntry& entry, const api::Uid& uid);

  PodTable& pods_;
  ClaimUsers& claim_users_;
  TopologyTable& topology_;
  std::unordered_map<std::uint64_t, GangEntry> entries_;
  std::unordered_map<api::ObjectKey, std::uint64_t> by_group_;
  std::map<api::ObjectKey, std::set<std::uint64_t>> children_;  ///< by parent
  std::uint64_t ids_given_ = 0;
};

}  // namespace gang::cluster
