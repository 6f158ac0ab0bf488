// CapacityTable: for one PodClass, how many members fit on each node, how good each node is, and
// why a node takes no more; with sums that answer a whole gang in constant time.
//
// Nodes are addressed by rank, their position in Snapshot::by_name(), so that the leftmost largest
// score is "highest score, then lowest name". A node that takes k members counts under the lines
// that refuse member k + 1: when nothing fits these are its reasons now, and when a gang does not
// fit they are its reasons once the fitting members are placed. Hence an explanation needs no
// second search.
// Complexity: refresh O(changed nodes x (requests + log nodes)); a new class or a changed set of
// nodes: one pass over the nodes.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "engine/change_log.h"
#include "engine/class_rules.h"
#include "engine/fragments.h"
#include "engine/max_tree.h"
#include "engine/overlay.h"
#include "engine/score.h"

namespace gang::engine {

/// Judgement of one node. A value.
struct NodeEntry {
  std::int32_t capacity = 0;  ///< members that fit, 0 when a filter refuses
  std::int32_t score = 0;     ///< of the next member; 0 when capacity is 0
  LineSet reasons = 0;        ///< what refuses member capacity + 1
  friend bool operator==(const NodeEntry&, const NodeEntry&) = default;
};

/// See the head of the file. Owned by TableCache, lives until evicted; single thread.
/// Always between calls of plan(): equal to a table built anew from the snapshot it was last
/// refreshed with. Does not search and writes no texts.
class CapacityTable {
 public:
  /// `age`: larger than that of an earlier table of the class.
  CapacityTable(ClassRules rules, const Options& options, std::uint32_t age = 0);
  /// What `whole` says of the nodes of these ranks, for a snapshot that has these alone; their
  /// scores are those among all nodes. Shares the rules of `whole`, which outlives it.
  CapacityTable(const CapacityTable& whole, std::span<const std::uint32_t> ranks);

  /// Members are judged by the fragments too, which outlive the table, with what each asks of
  /// devices. REQUIRES: before build().
  void judge_by(const Fragments& fragments, cluster::DeviceWish wish) {
    fragments_ = &fragments;
    wish_ = std::move(wish);
  }

  /// One pass over all nodes.
  void build(const cluster::Snapshot& snapshot);

  /// Brings single nodes up to date. `ranks` are those of nodes that changed since generation().
  /// REQUIRES: build() was called since the set of nodes changed.
  void refresh(const cluster::Snapshot& snapshot, std::span<const std::uint32_t> ranks);

  /// Judges all nodes anew: fragments are counted otherwise.
  void rejudge(const cluster::Snapshot& snapshot);

  /// Whether terms of pods on nodes that match the class hold elsewhere than at the last build(),
  /// or devices serve other requests of it. Then the table is to be built anew. REQUIRES: no part.
  [[nodiscard]] bool update_rules(const cluster::Snapshot& snapshot) {
    const bool is_moved = own_rules_->update_domains(snapshot);
    return own_rules_->update_served(snapshot) || is_moved;
  }

  /// Judges a node as the overlay leaves it.
  [[nodiscard]] NodeEntry judge(std::uint32_t rank, const NodeUse& use) const;
  void set(std::uint32_t rank, const NodeEntry& entry);

  [[nodiscard]] const NodeEntry& entry(std::uint32_t rank) const { return entries_[rank]; }
  [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(entries_.size()); }
  /// Best node that takes a member, MaxTree::kNowhere when there is none.
  [[nodiscard]] std::uint32_t best() const { return tree_.leftmost_max(); }
  [[nodiscard]] std::int64_t capacity_sum() const { return capacity_sum_; }
  /// The same if every pod were gone.
  [[nodiscard]] std::int64_t fleet_sum() const { return fleet_sum_; }
  /// Members that fit on one node if every pod were gone.
  [[nodiscard]] std::int32_t fleet_capacity(std::uint32_t rank) const { return fleet_[rank]; }
  /// Nodes that count under line i.
  [[nodiscard]] std::int32_t node_count(std::size_t line) const { return line_counts_[line]; }
  /// Lines that some node counts under.
  [[nodiscard]] LineSet causes() const;
  [[nodiscard]] const ClassRules& rules() const { return *rules_; }
  [[nodiscard]] const cluster::DeviceWish& wish() const { return wish_; }
  /// Whether scores say where fragments grow least, before all that packs.
  [[nodiscard]] bool judges_fragments() const { return ask_.has_value(); }
  /// False where the devices of the node do not suffice for a member, whatever it selects.
  [[nodiscard]] bool may_have_devices(std::uint32_t rank) const {
    return !ask_ || wish_.count == 0 || fragments_->may_fit(*ask_, rank_in_all(rank));
  }
  /// How far fragments().changes() were read.
  [[nodiscard]] ChangeLog::Mark& fragments_mark() { return fragments_mark_; }
  /// Ranks of the nodes whose capacity or score changed, by drafts too.
  [[nodiscard]] ChangeLog& changes() { return changes_; }
  /// Of the snapshot it equals; 0 before build().
  [[nodiscard]] cluster::Generation generation() const { return generation_; }
  [[nodiscard]] cluster::Generation by_name_generation() const { return by_name_generation_; }
  /// Of no other build() of any table with a smaller age; 0 before the first.
  [[nodiscard]] std::uint64_t build_number() const { return build_number_; }

 private:
  enum class Upper { kUpdate, kLater };

  void update_ask();
  void judge_facts(const cluster::Snapshot& snapshot, std::uint32_t rank, Upper upper);
  void store(std::uint32_t rank, const NodeEntry& entry, Upper upper);
  void judge_all(const cluster::Snapshot& snapshot);
  /// Whether a maximum changed.
  bool update_raw_maxima();
  [[nodiscard]] std::int64_t preference_score(std::uint32_t rank) const;
  [[nodiscard]] std::int64_t score(std::uint32_t rank, const NodeUse& use) const;
  [[nodiscard]] std::uint32_t rank_in_all(std::uint32_t rank) const {
    return ranks_.empty() ? rank : ranks_[rank];
  }

  std::unique_ptr<ClassRules> own_rules_;  ///< null: they are another table's
  const ClassRules* rules_;
  const std::vector<WeightedTerm> usage_terms_;
  std::vector<std::int64_t> preference_weights_;  ///< by preference term
  const std::int64_t fragment_weight_;
  const Fragments* fragments_ = nullptr;
  cluster::DeviceWish wish_;
  std::optional<FragmentAsk> ask_;  ///< absent: members are not judged by fragments
  ChangeLog::Mark fragments_mark_ = 0;
  std::vector<std::uint32_t> ranks_;  ///< of a part: those among all nodes; empty: it is of all

  cluster::Generation generation_ = 0;
  cluster::Generation by_name_generation_ = 0;
  std::uint64_t build_number_ = 0;
  ChangeLog changes_;
  std::vector<NodeEntry> entries_;   ///< by rank
  std::vector<std::int32_t> fleet_;  ///< capacity of the emptied node, by rank
  std::vector<std::int32_t> raws_;   ///< [rank x terms + term]; empty while all are 0
  std::vector<std::int32_t> raw_maxima_;
  MaxTree tree_;
  std::int64_t capacity_sum_ = 0;
  std::int64_t fleet_sum_ = 0;
  std::array<std::int32_t, 64> line_counts_{};
};

}  // namespace gang::engine
