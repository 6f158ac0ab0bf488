#include "engine/capacity_table.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

#include "engine/filter.h"

namespace gang::engine {

namespace {

std::int32_t clamped(std::int64_t value) {
  return static_cast<std::int32_t>(
      std::clamp<std::int64_t>(value, 0, std::numeric_limits<std::int32_t>::max()));
}

/// Of a point of a preference: with the weights that are not changed the taint that a pod would
/// rather not meet is worth a whole accelerator that becomes a fragment.
constexpr std::int64_t kPreference = 2'000;
/// Of a fragment of 1/1000.
constexpr std::int64_t kGrowth = 60;
constexpr std::int64_t kGrowthMost = 16'383;
/// Less than the least growth with the weight that is not changed: what decides between equals.
constexpr std::int64_t kTies = 600;

}  // namespace

CapacityTable::CapacityTable(ClassRules rules, const Options& options, std::uint32_t age)
    : own_rules_(std::make_unique<ClassRules>(std::move(rules))),
      rules_(own_rules_.get()),
      usage_terms_(weighted_terms(*rules_, options)),
      fragment_weight_(options.weight_accelerator_packing),
      build_number_(std::uint64_t{age} << 32),
      changes_(age) {
  for (const PreferenceTerm& term : preference_terms()) {
    preference_weights_.push_back(std::max(0, options.*term.weight));
  }
  raw_maxima_.assign(preference_weights_.size(), 0);
}

CapacityTable::CapacityTable(const CapacityTable& whole, std::span<const std::uint32_t> ranks)
    : rules_(whole.rules_),
      usage_terms_(whole.usage_terms_),
      preference_weights_(whole.preference_weights_),
      fragment_weight_(whole.fragment_weight_),
      fragments_(whole.fragments_),
      wish_(whole.wish_),
      ask_(whole.ask_),
      ranks_(ranks.begin(), ranks.end()),
      entries_(ranks.size()),
      raw_maxima_(whole.raw_maxima_) {
  const std::size_t terms = raw_maxima_.size();
  fleet_.reserve(ranks.size());
  tree_.reset(static_cast<std::uint32_t>(ranks.size()));
  for (std::uint32_t i = 0; i < ranks.size(); ++i) {
    store(i, whole.entries_[ranks[i]], Upper::kLater);
    fleet_.push_back(whole.fleet_[ranks[i]]);
    fleet_sum_ += fleet_.back();
    if (whole.raws_.empty()) continue;
    const auto raws = whole.raws_.begin() + static_cast<std::ptrdiff_t>(ranks[i] * terms);
    raws_.insert(raws_.end(), raws, raws + static_cast<std::ptrdiff_t>(terms));
  }
  tree_.rebuild();
}

void CapacityTable::build(const cluster::Snapshot& snapshot) {
  const std::size_t count = snapshot.by_name().size();
  update_ask();
  entries_.assign(count, {});
  fleet_.assign(count, 0);
  raws_.clear();
  tree_.reset(static_cast<std::uint32_t>(count));
  capacity_sum_ = 0;
  fleet_sum_ = 0;
  line_counts_.fill(0);
  for (std::uint32_t rank = 0; rank < count; ++rank) judge_facts(snapshot, rank, Upper::kLater);
  update_raw_maxima();
  judge_all(snapshot);
  generation_ = snapshot.generation();
  by_name_generation_ = snapshot.by_name_generation();
  ++build_number_;
}

void CapacityTable::refresh(const cluster::Snapshot& snapshot,
                            std::span<const std::uint32_t> ranks) {
  bool facts_changed = false;
  for (const std::uint32_t rank : ranks) {
    if (snapshot.facts_generation(snapshot.by_name()[rank]) <= generation_) continue;
    judge_facts(snapshot, rank, Upper::kUpdate);
    facts_changed = true;
  }
  generation_ = snapshot.generation();
  if (facts_changed && update_raw_maxima()) return judge_all(snapshot);
  for (const std::uint32_t rank : ranks) {
    set(rank, judge(rank, NodeUse(snapshot, snapshot.by_name()[rank], nullptr)));
  }
}

/// Afterwards the entry carries a facts line exactly when a facts filter refuses.
void CapacityTable::judge_facts(const cluster::Snapshot& snapshot, std::uint32_t rank,
                                Upper upper) {
  const cluster::NodeIndex node = snapshot.by_name()[rank];
  const cluster::NodeInfo& info = *snapshot.node(node);
  const LineSet refusal = facts_refusal(*rules_, info);
  store(rank, {.reasons = refusal}, upper);

  const std::int32_t fleet_before = std::exchange(fleet_[rank], 0);
  if (refusal == 0) {
    fleet_[rank] = clamped(usage_room(*rules_, NodeUse::emptied(snapshot, node)).count);
  }
  fleet_sum_ += fleet_[rank] - std::int64_t{fleet_before};

  const std::span<const PreferenceTerm> terms = preference_terms();
  for (std::size_t i = 0; i < terms.size(); ++i) {
    const std::int32_t raw = refusal == 0 ? terms[i].raw(*rules_, info) : 0;
    if (raw != 0 && raws_.empty()) raws_.assign(entries_.size() * terms.size(), 0);
    if (!raws_.empty()) raws_[rank * terms.size() + i] = raw;
  }
}

bool CapacityTable::update_raw_maxima() {
  std::vector<std::int32_t> maxima(raw_maxima_.size(), 0);
  for (std::size_t i = 0; i < raws_.size(); ++i) {
    std::int32_t& most = maxima[i % maxima.size()];
    most = std::max(most, raws_[i]);
  }
  return std::exchange(raw_maxima_, maxima) != maxima;
}

void CapacityTable::judge_all(const cluster::Snapshot& snapshot) {
  for (std::uint32_t rank = 0; rank < size(); ++rank) {
    const NodeUse use(snapshot, snapshot.by_name()[rank], nullptr);
    store(rank, judge(rank, use), Upper::kLater);
  }
  tree_.rebuild();
  changes_.add_all();
}

std::int64_t CapacityTable::preference_score(std::uint32_t rank) const {
  const std::span<const PreferenceTerm> terms = preference_terms();
  std::int64_t score = 0;
  for (std::size_t i = 0; i < terms.size(); ++i) {
    const std::int32_t raw = raws_.empty() ? 0 : raws_[rank * terms.size() + i];
    score += preference_weights_[i] * terms[i].normalise(raw, raw_maxima_[i]);
  }
  return score;
}

NodeEntry CapacityTable::judge(std::uint32_t rank, const NodeUse& use) const {
  const LineSet refusal = entries_[rank].reasons & rules_->facts_lines;
  if (refusal != 0) return {.reasons = refusal};
  const Room room = usage_room(*rules_, use);
  NodeEntry entry = {.capacity = clamped(room.count), .reasons = room.lines};
  if (entry.capacity == 0) return entry;
  entry.score = clamped(score(rank, use));
  return entry;
}

std::int64_t CapacityTable::score(std::uint32_t rank, const NodeUse& use) const {
  std::int64_t usage = 0;
  std::int64_t usage_most = 1;
  for (const WeightedTerm& weighted : usage_terms_) {
    usage += weighted.weight * weighted.term->score(*rules_, use);
    usage_most += weighted.weight * 100;
  }
  const std::int64_t preference = preference_score(rank);
  if (!ask_) return preference + usage;
  const std::int64_t growth = std::clamp<std::int64_t>(
      fragments_->growth(*ask_, rank_in_all(rank), use), -kGrowthMost, kGrowthMost);
  // Nodes on which fragments grow alike: the fuller one, for plain pods the emptier one, but those
  // of which no accelerator is in use come last.
  const std::int64_t used = fragments_->used(rank_in_all(rank), use);
  std::int64_t tie = (kTies - 1) * used / Fragments::kAllUsed;
  if (ask_->count == 0) tie = (used == 0 ? 0 : kTies / 2) + (kTies / 2 - 1) * usage / usage_most;
  return preference * kPreference + (kGrowthMost - growth) * fragment_weight_ * kGrowth + tie;
}

void CapacityTable::rejudge(const cluster::Snapshot& snapshot) {
  update_ask();
  judge_all(snapshot);
}

void CapacityTable::update_ask() {
  ask_.reset();
  if (fragments_ != nullptr && fragments_->is_active()) ask_ = fragment_ask(*rules_, wish_);
}

LineSet CapacityTable::causes() const {
  LineSet set = 0;
  for (std::size_t i = 0; i < rules_->lines.size(); ++i) {
    if (line_counts_[i] > 0) set |= LineSet{1} << i;
  }
  return set;
}

void CapacityTable::set(std::uint32_t rank, const NodeEntry& entry) {
  store(rank, entry, Upper::kUpdate);
}

void CapacityTable::store(std::uint32_t rank, const NodeEntry& entry, Upper upper) {
  NodeEntry& old = entries_[rank];
  capacity_sum_ += std::int64_t{entry.capacity} - old.capacity;
  for (LineSet changed = old.reasons ^ entry.reasons; changed != 0; changed &= changed - 1) {
    const LineSet line = changed & (~changed + 1);
    line_counts_[std::countr_zero(line)] += (entry.reasons & line) != 0 ? 1 : -1;
  }
  const std::int32_t key = entry.capacity > 0 ? entry.score : MaxTree::kNone;
  if (upper == Upper::kLater) {
    tree_.set_leaf(rank, key);
  } else if (tree_.key(rank) != key) {
    tree_.set(rank, key);
  }
  if (old.capacity != entry.capacity || old.score != entry.score) changes_.add(rank);
  old = entry;
}

}  // namespace gang::engine
