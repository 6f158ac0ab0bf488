#include "engine/table_cache.h"

#include <algorithm>
#include <utility>

namespace gang::engine {

void TableCache::begin(const cluster::Snapshot& snapshot, DeviceCounts* counts) {
  ++call_;
  changed_known_ = false;
  make_room();
  update_ranks(snapshot);
  fragments_.update(snapshot, counts, rank_of_);
}

void TableCache::make_room() {
  const std::int64_t nodes = std::max<std::int64_t>(1, std::ssize(rank_of_));
  const std::int64_t most = std::max<std::int64_t>(
      {1, options_.class_tables_max, options_.class_table_nodes_max / nodes});
  while (std::ssize(slots_) > most) {
    slots_.erase(std::ranges::min_element(slots_, {},
                                          [](const auto& slot) { return slot.second.last_call; }));
  }
}

void TableCache::update_ranks(const cluster::Snapshot& snapshot) {
  const bool known = !rank_of_.empty() && ranks_generation_ == snapshot.by_name_generation();
  if (known && rank_of_.size() == snapshot.slot_count()) return;
  ranks_generation_ = snapshot.by_name_generation();
  rank_of_.assign(snapshot.slot_count(), MaxTree::kNowhere);
  std::uint32_t rank = 0;
  for (const cluster::NodeIndex node : snapshot.by_name()) rank_of_[node.value] = rank++;
}

CapacityTable* TableCache::current(const cluster::Snapshot& snapshot, const ClassDemand& demand,
                                   PlannerStats& stats) {
  Slot& slot = slots_[{demand.pod_class->id, demand.wish}];
  slot.last_call = call_;
  if (slot.table == nullptr) {
    ClassRules rules(demand.pod_class, options_, snapshot.resources());
    slot.table = std::make_unique<CapacityTable>(std::move(rules), options_,
                                                 static_cast<std::uint32_t>(call_));
    slot.table->judge_by(fragments_, demand.wish);
  }
  CapacityTable& table = *slot.table;
  // Generation 0 is "never built"; an older snapshot than the last one is planned on from scratch.
  const bool has_other_rules = table.update_rules(snapshot);
  const bool usable = !has_other_rules && table.generation() != 0 &&
                      table.generation() <= snapshot.generation() &&
                      table.by_name_generation() == snapshot.by_name_generation();
  if (!usable) {
    table.build(snapshot);
    table.fragments_mark() = fragments_.changes().read_all();
    ++stats.class_passes;
  } else if (table.generation() != snapshot.generation()) {
    refresh(snapshot, table, stats);
  }
  return &table;
}

void TableCache::refresh(const cluster::Snapshot& snapshot, CapacityTable& table,
                         PlannerStats& stats) {
  const std::span<const std::uint32_t> ranks = ranks_changed(snapshot, table.generation());
  table.refresh(snapshot, ranks);
  stats.nodes_refreshed += static_cast<std::int64_t>(ranks.size());
  refresh_fragments(snapshot, table, stats);
}

std::span<const std::uint32_t> TableCache::ranks_changed(const cluster::Snapshot& snapshot,
                                                         cluster::Generation since) {
  if (changed_known_ && changed_since_ == since) return changed_ranks_;
  changed_nodes_.clear();
  snapshot.changed_since(since, changed_nodes_);
  changed_ranks_.clear();
  for (const cluster::NodeIndex node : changed_nodes_) {
    const std::uint32_t rank = rank_of_[node.value];
    if (rank != MaxTree::kNowhere) changed_ranks_.push_back(rank);
  }
  changed_since_ = since;
  changed_known_ = true;
  return changed_ranks_;
}

void TableCache::refresh_fragments(const cluster::Snapshot& snapshot, CapacityTable& table,
                                   PlannerStats& stats) {
  const auto changed = fragments_.changes().since(table.fragments_mark());
  table.fragments_mark() = fragments_.changes().read_all();
  if (!changed) return table.rejudge(snapshot);
  if (changed->empty() || !table.judges_fragments()) return;
  table.refresh(snapshot, *changed);
  stats.nodes_refreshed += std::ssize(*changed);
}

const DomainSums& TableCache::sums(const cluster::Snapshot& snapshot, const ClassDemand& demand,
                                   const cluster::TopologyLevel& level) {
  Slot& slot = slots_.at({demand.pod_class->id, demand.wish});
  DomainSums& sums = slot.sums[level.key];
  if (!sums.is_of(*slot.table, level)) {
    sums.build(snapshot, *slot.table, level);
  } else if (sums.generation() != snapshot.generation()) {
    sums.refresh(snapshot, *slot.table, level, ranks_changed(snapshot, sums.generation()));
  }
  return sums;
}

}  // namespace gang::engine
