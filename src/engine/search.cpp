#include "engine/search.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

namespace gang::engine {

namespace {

/// Class indexes, scarcest first: fewest places per member, then fewest on the emptied fleet.
std::vector<std::uint32_t> scarcest_first(const std::vector<DraftClass>& classes) {
  std::vector<std::uint32_t> order(classes.size());
  std::iota(order.begin(), order.end(), 0);
  const auto per_member = [&classes](std::int64_t sum_a, std::int64_t sum_b, std::uint32_t a,
                                     std::uint32_t b) {
    // Sums are below 2^31 x nodes and counts below 2^31: compare as quotient, then remainder.
    const std::int64_t count_a = std::max(1, classes[a].member_count);
    const std::int64_t count_b = std::max(1, classes[b].member_count);
    if (sum_a / count_a != sum_b / count_b) return sum_a / count_a < sum_b / count_b;
    return (sum_a % count_a) * count_b < (sum_b % count_b) * count_a;
  };
  std::ranges::stable_sort(order, [&](std::uint32_t a, std::uint32_t b) {
    const CapacityTable& table_a = *classes[a].table;
    const CapacityTable& table_b = *classes[b].table;
    if (per_member(table_a.capacity_sum(), table_b.capacity_sum(), a, b)) return true;
    if (per_member(table_b.capacity_sum(), table_a.capacity_sum(), b, a)) return false;
    return table_a.fleet_sum() < table_b.fleet_sum();
  });
  return order;
}

/// The exact part: depth-first search with an explicit stack.
///
/// Lives for one call of search(); holds the draft by reference. Single thread.
/// Always: draft picks == chosen nodes of the open frames. Leaves the draft rolled back, and the
/// picks of the best try in best(). Does not look at scores beyond the order of the tables.
class ExactSearch {
 public:
  ExactSearch(Draft& draft, std::vector<std::uint32_t> order, std::int32_t need)
      : draft_(draft), order_(std::move(order)), need_(need) {}

  SearchEnd run(SearchBudget& budget) {
    keep_members_of_each_type();
    frames_.push_back(open_frame(0));
    while (!frames_.empty()) {
      if (frames_.back().chosen != MaxTree::kNowhere) give_up_choice(frames_.back());
      const std::optional<SearchEnd> end = step(frames_.back(), budget);
      if (!end) continue;
      draft_.rollback({});
      return *end;
    }
    draft_.rollback({});
    return SearchEnd::kImpossible;
  }

  [[nodiscard]] const std::vector<Pick>& best() const { return best_; }

 private:
  /// One member of a class to be put on a node, or the decision that no more of the class are.
  struct Frame {
    std::uint32_t position = 0;  ///< into order_
    std::int32_t left = 0;       ///< members of the class not placed yet
    DraftPoint start;
    DraftPoint before_choice;
    std::uint32_t chosen = MaxTree::kNowhere;
    bool closed = false;  ///< the rest of the class is left out
  };

  /// No more nodes of a type can ever be used than there are members.
  void keep_members_of_each_type() {
    std::size_t member_count = 0;
    for (const DraftClass& demand : draft_.classes()) {
      member_count += static_cast<std::size_t>(demand.member_count);
    }
    types_ = node_types(draft_);
    type_of_.assign(draft_.snapshot().by_name().size(), 0);
    for (std::uint32_t type = 0; type < types_.size(); ++type) {
      NodeType& ranks = types_[type];
      for (std::size_t i = member_count; i < ranks.size(); ++i) hide_from_all(ranks[i]);
      ranks.resize(std::min(ranks.size(), member_count));
      for (const std::uint32_t rank : ranks) type_of_[rank] = type;
    }
  }

  void hide_from_all(std::uint32_t rank) {
    for (std::uint32_t i = 0; i < draft_.classes().size(); ++i) {
      hide({.class_index = i, .rank = rank});
    }
  }

  void hide(Pick pick) {
    if (draft_.table(pick.class_index).entry(pick.rank).capacity > 0) draft_.hide(pick);
  }

  [[nodiscard]] Frame open_frame(std::uint32_t position) const {
    return {.position = position,
            .left = draft_.classes()[order_[position]].member_count,
            .start = draft_.point()};
  }

  /// Members that classes from `position` on could add at most.
  [[nodiscard]] std::int64_t bound_from(std::uint32_t position) const {
    std::int64_t bound = 0;
    for (std::uint32_t i = position; i < order_.size(); ++i) {
      const DraftClass& demand = draft_.classes()[order_[i]];
      bound += std::min<std::int64_t>(demand.table->capacity_sum(), demand.member_count);
    }
    return bound;
  }

  /// Undoes the choice below which nothing was found, and rules the node out, with its equals.
  void give_up_choice(Frame& frame) {
    const std::uint32_t rank = frame.chosen;
    draft_.rollback(frame.before_choice);
    frame.chosen = MaxTree::kNowhere;
    const std::uint32_t class_index = order_[frame.position];
    for (const std::uint32_t equal : types_[type_of_[rank]]) {
      if (!draft_.same_bookings(rank, equal)) continue;
      hide({.class_index = class_index, .rank = equal});
    }
  }

  /// One move of the top frame; the end when it decides the search.
  std::optional<SearchEnd> step(Frame& frame, SearchBudget& budget) {
    const std::uint32_t class_index = order_[frame.position];
    const CapacityTable& table = draft_.table(class_index);
    const std::int64_t own = std::min<std::int64_t>(table.capacity_sum(), frame.left);
    const std::int64_t later = draft_.placed_count() + bound_from(frame.position + 1);
    if (frame.closed || later + own < need_) return close_frame();
    const std::uint32_t rank = table.best();
    if (rank == MaxTree::kNowhere) {
      frame.closed = true;
      if (later < need_ || frame.position + 1 == order_.size()) return close_frame();
      frames_.push_back(open_frame(frame.position + 1));
      return std::nullopt;
    }
    if (budget.steps >= budget.steps_max) return SearchEnd::kLimit;
    ++budget.steps;
    frame.before_choice = draft_.point();
    frame.chosen = rank;
    draft_.place({.class_index = class_index, .rank = rank});
    if (draft_.placed_count() > static_cast<std::int32_t>(best_.size())) best_ = draft_.picks();
    if (draft_.placed_count() >= need_) return SearchEnd::kPlaced;
    open_next(frame);
    return std::nullopt;
  }

  std::optional<SearchEnd> close_frame() {
    draft_.rollback(frames_.back().start);
    frames_.pop_back();
    return std::nullopt;
  }

  void open_next(const Frame& frame) {
    if (frame.left > 1) {
      Frame next = {.position = frame.position, .left = frame.left - 1, .start = draft_.point()};
      frames_.push_back(next);
    } else if (frame.position + 1 < order_.size()) {
      frames_.push_back(open_frame(frame.position + 1));
    }
  }

  Draft& draft_;
  const std::vector<std::uint32_t> order_;
  const std::int32_t need_;
  std::vector<NodeType> types_;
  std::vector<std::uint32_t> type_of_;  ///< by rank
  std::vector<Frame> frames_;
  std::vector<Pick> best_;
};

void fill_all(Draft& draft, const std::vector<std::uint32_t>& order) {
  for (const std::uint32_t class_index : order) {
    draft.fill(class_index, draft.classes()[class_index].member_count);
  }
}

std::int64_t sum_of_least(const std::vector<DraftClass>& classes,
                          std::int64_t (CapacityTable::*sum)() const) {
  std::int64_t total = 0;
  for (const DraftClass& demand : classes) {
    total += std::min<std::int64_t>((demand.table->*sum)(), demand.member_count);
  }
  return total;
}

}  // namespace

bool sums_allow(const std::vector<DraftClass>& classes, std::int64_t need) {
  return sum_of_least(classes, &CapacityTable::capacity_sum) >= need;
}

bool fleet_allows(const std::vector<DraftClass>& classes, std::int64_t need) {
  return sum_of_least(classes, &CapacityTable::fleet_sum) >= need;
}

SearchEnd search(Draft& draft, std::int32_t need, SearchBudget& budget) {
  const bool one_class = draft.classes().size() == 1;
  const bool hopeless = !sums_allow(draft.classes(), need);
  // With one class the sum says all; its table already shows the reasons as if the rest was placed.
  if (one_class && hopeless) return SearchEnd::kImpossible;
  const std::vector<std::uint32_t> order = scarcest_first(draft.classes());
  fill_all(draft, order);
  if (draft.placed_count() >= need) return SearchEnd::kPlaced;
  if (hopeless) return SearchEnd::kImpossible;

  const std::vector<Pick> greedy = draft.picks();
  draft.rollback({});
  ExactSearch exact(draft, order, need);
  const SearchEnd end = resources_allow(draft, need) ? exact.run(budget) : SearchEnd::kImpossible;
  const std::vector<Pick>& best = exact.best().size() > greedy.size() ? exact.best() : greedy;
  for (const Pick& pick : best) draft.place(pick);
  fill_all(draft, order);
  return end;
}

}  // namespace gang::engine
