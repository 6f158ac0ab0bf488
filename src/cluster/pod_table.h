// PodTable: one compact record per known pod, with the indexes and pools around it.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "cluster/claim_users.h"
#include "cluster/class_table.h"
#include "cluster/flat_index.h"
#include "cluster/kind_sync.h"
#include "cluster/packed_text.h"
#include "cluster/pool.h"
#include "cluster/resource_table.h"
#include "cluster/term_table.h"
#include "gang/api/pod.h"
#include "gang/cluster/gang.h"

namespace gang::cluster {

/// Scheduling words that most pods share.
struct PodProfile {
  std::string scheduler_name;
  std::string preemption_policy;
  std::string priority_class_name;
  std::int32_t priority = 0;
  friend bool operator==(const PodProfile&, const PodProfile&) = default;
};

/// Hash of a PodProfile, for Pool.
struct PodProfileHash {
  std::uint32_t operator()(const PodProfile& profile) const;
};

/// Hash of a text, for Pool.
struct TextHash {
  std::uint32_t operator()(const std::string& text) const { return HashFold().add(text).value(); }
};

/// What only unassigned pods need.
struct PendingPart {
  std::optional<ClassTable::Handle> pod_class;    ///< own pods
  std::unique_ptr<api::Condition> pod_scheduled;  ///< null: absent
  std::string nominated_node_name;
  api::StringMap labels;              ///< of own pods, for terms that come later
  std::unique_ptr<ClaimList> claims;  ///< of own pods; null: it has none
};

/// Everything kept of one pod. A pod that is booked on a node has `node`; `state` says why.
struct PodRecord {
  PackedText text;
  std::unique_ptr<PendingPart> pending;  ///< null for assigned pods
  TimePoint creation_time{};
  std::int64_t generation = 0;
  std::uint64_t gang = 0;  ///< GangId; 0 = member of none
  std::uint32_t name_space = 0;
  std::uint32_t footprint = 0;
  std::uint32_t profile = 0;
  std::uint32_t stamp = 0;
  std::uint32_t node = FlatIndex::kNone;  ///< NodeIndex; kNone = not booked
  std::uint32_t member_index = 0;         ///< position among the members of its gang
  ListNumber list = 0;
  MemberState state = MemberState::kForeignPending;
  MemberState state_unassumed = MemberState::kForeignPending;  ///< what forget() goes back to
  bool has_controller = false;

  [[nodiscard]] bool is_assigned() const {
    return state == MemberState::kBound || state == MemberState::kTerminating;
  }
  [[nodiscard]] bool is_foreign_pending() const { return state == MemberState::kForeignPending; }
  /// Own and unassigned, assumed or not.
  [[nodiscard]] bool is_own_unassigned() const { return !is_assigned() && !is_foreign_pending(); }
};

/// Owned by the state. Pods by namespace and name, unassigned ones by UID too.
/// Always: ids in records hold their pool entries. Books nothing and knows no gangs.
class PodTable {
 public:
  static constexpr PodSlot kNone = FlatIndex::kNone;

  [[nodiscard]] PodSlot find(const api::ObjectKey& key) const;
  /// Unassigned own pods only.
  [[nodiscard]] PodSlot find_unassigned(std::string_view uid) const;

  /// Own pods without a node, assumed ones included, ascending.
  [[nodiscard]] std::vector<PodSlot> unassigned() const;

  /// A new record with texts and namespace set. REQUIRES: the key is unknown.
  PodSlot insert(const api::ObjectMeta& meta);
  /// Removes a record and releases what it holds. REQUIRES: not indexed by UID.
  void erase(PodSlot pod);
  void index_uid(PodSlot pod);
  void unindex_uid(PodSlot pod);

  [[nodiscard]] PodRecord& at(PodSlot pod) { return records_[pod]; }
  [[nodiscard]] const PodRecord& at(PodSlot pod) const { return records_[pod]; }
  /// Slots are below this; some are empty (exists() says which).
  [[nodiscard]] PodSlot slot_count() const { return static_cast<PodSlot>(records_.size()); }
  [[nodiscard]] bool exists(PodSlot pod) const { return !records_[pod].text.name().empty(); }
  [[nodiscard]] std::size_t size() const { return records_.size() - unused_.size(); }

  [[nodiscard]] api::ObjectKey key(PodSlot pod) const;
  [[nodiscard]] const Footprint& footprint(PodSlot pod) const {
    return footprints.at(records_[pod].footprint);
  }

  Pool<std::string, TextHash> name_spaces;
  Pool<Footprint, FootprintHash> footprints;
  Pool<PodProfile, PodProfileHash> profiles;
  Pool<std::string, TextHash> stamps;

 private:
  [[nodiscard]] static std::uint32_t key_hash(std::uint32_t name_space, std::string_view name);
  [[nodiscard]] static std::uint32_t uid_hash(std::string_view uid);

  std::deque<PodRecord> records_;
  std::vector<PodSlot> unused_;
  FlatIndex by_key_;
  FlatIndex by_uid_;
};

}  // namespace gang::cluster
