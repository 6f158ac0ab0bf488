#include "engine/node_index.h"

#include <limits>

namespace gang::engine {

void NodeIndex::update(const cluster::Snapshot& snapshot, CapacityTable& table,
                       DeviceCounts& counts) {
  const auto of_table = table.changes().since(table_mark_);
  const auto of_counts = counts.changes().since(counts_mark_);
  const auto now = [&](std::uint32_t rank) { return entry_of(table, counts, snapshot, rank); };
  if (of_table && of_counts && entries_.size() == table.size()) {
    for (const std::uint32_t rank : *of_table) refresh(rank, now(rank));
    for (const std::uint32_t rank : *of_counts) refresh(rank, now(rank));
  } else {
    order_.clear();
    open_count_ = 0;
    entries_.assign(table.size(), {});
    for (std::uint32_t rank = 0; rank < table.size(); ++rank) refresh(rank, now(rank));
  }
  table_mark_ = table.changes().read_all();
  counts_mark_ = counts.changes().read_all();
}

NodeIndex::Entry NodeIndex::entry_of(const CapacityTable& table, const DeviceCounts& counts,
                                     const cluster::Snapshot& snapshot, std::uint32_t rank) const {
  const NodeEntry& node = table.entry(rank);
  const NodeDevices& devices = counts.of(snapshot.by_name()[rank]);
  NodeRating rating{.capacity = by_room_ ? node.capacity : 0,
                    .all_wait = devices.all_wait(),
                    .is_unused = devices.used == 0,
                    .free = devices.free,
                    .score = node.score};
  // The score says it better than numbers of devices; who has too few is not there.
  if (table.judges_fragments()) {
    rating.is_unused = false;
    rating.free = std::numeric_limits<std::int32_t>::max();
  }
  return {.key = NodeKey(rank, rating),
          .is_there = node.capacity > 0 && table.may_have_devices(rank),
          .is_exclusive = devices.is_exclusive};
}

void NodeIndex::refresh(std::uint32_t rank, const Entry& now) {
  Entry& known = entries_[rank];
  if (known.is_there) open_count_ -= known.is_exclusive ? 0 : 1;
  if (now.is_there) open_count_ += now.is_exclusive ? 0 : 1;
  const bool stays = known.is_there && now.is_there && known.key == now.key;
  if (!stays && known.is_there) order_.erase(known.key);
  if (!stays && now.is_there) order_.insert(now.key);
  known = now;
}

std::optional<NodeKey> NodeIndex::Walk::next() {
  while (at_ != index_->order_.end()) {
    const NodeKey key = *at_;
    ++at_;
    if (key.free() >= least_ || !index_->entries_[key.rank()].is_exclusive) return key;
    const NodeKey first = key.first_with(least_);
    // Where some are not exclusive each is asked.
    if (index_->open_count_ == 0 && key < first) at_ = index_->order_.lower_bound(first);
  }
  return std::nullopt;
}

}  // namespace gang::engine
