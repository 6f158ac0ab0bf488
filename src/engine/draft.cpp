#include "engine/draft.h"

#include <utility>

#include "gang/base/check.h"

namespace gang::engine {

void Draft::begin(const cluster::Snapshot& snapshot, std::vector<DraftClass> classes,
                  const std::vector<std::string>& avoided_nodes) {
  CHECK(picks_.empty() && saved_.empty() && avoided_.empty());
  snapshot_ = &snapshot;
  classes_ = std::move(classes);
  placed_.assign(classes_.size(), 0);
  overlay_.begin(snapshot);
  for (const std::string& node_name : avoided_nodes) avoid(node_name);
}

void Draft::end() {
  rollback({});
  for (; !avoided_.empty(); avoided_.pop_back()) {
    const Saved& saved = avoided_.back();
    table(saved.at.class_index).set(saved.at.rank, saved.entry);
  }
}

std::uint32_t Draft::rank_of(const std::string& node_name) const {
  return snapshot_->rank_of(node_name).value_or(MaxTree::kNowhere);
}

void Draft::avoid(const std::string& node_name) {
  const std::uint32_t rank = rank_of(node_name);
  if (rank == MaxTree::kNowhere) return;
  for (std::uint32_t i = 0; i < classes_.size(); ++i) {
    const NodeEntry& entry = table(i).entry(rank);
    const ClassRules& rules = table(i).rules();
    if ((entry.reasons & rules.facts_lines) != 0) continue;
    avoided_.push_back({.at = {.class_index = i, .rank = rank}, .entry = entry});
    table(i).set(rank, {.reasons = rules.avoided_line});
  }
}

void Draft::place(Pick pick) {
  CHECK(table(pick.class_index).entry(pick.rank).capacity > 0);
  const cluster::NodeIndex node = snapshot_->by_name()[pick.rank];
  overlay_.assign(node, *table(pick.class_index).rules().pod_class);
  picks_.push_back(pick);
  ++placed_[pick.class_index];
  const NodeUse use = overlay_.use(node);
  for (std::uint32_t i = 0; i < classes_.size(); ++i) {
    change({.class_index = i, .rank = pick.rank}, table(i).judge(pick.rank, use));
  }
}

void Draft::hide(Pick pick) {
  NodeEntry entry = table(pick.class_index).entry(pick.rank);
  entry.capacity = 0;
  change(pick, entry);
}

void Draft::fill(std::uint32_t class_index, std::int32_t limit) {
  while (placed_[class_index] < limit) {
    const std::uint32_t rank = table(class_index).best();
    if (rank == MaxTree::kNowhere) return;
    place({.class_index = class_index, .rank = rank});
  }
}

void Draft::rollback(DraftPoint to) {
  while (saved_.size() > to.saved) {
    const Saved& saved = saved_.back();
    table(saved.at.class_index).set(saved.at.rank, saved.entry);
    saved_.pop_back();
  }
  overlay_.rollback(to.picks);
  while (picks_.size() > to.picks) {
    --placed_[picks_.back().class_index];
    picks_.pop_back();
  }
}

void Draft::change(Pick at, const NodeEntry& entry) {
  CapacityTable& changed = table(at.class_index);
  saved_.push_back({.at = at, .entry = changed.entry(at.rank)});
  changed.set(at.rank, entry);
}

}  // namespace gang::engine
