// How a search for the devices of a gang places members by first solutions, in one order or
// another.
#include <algorithm>
#include <limits>
#include <utility>

#include "engine/device_gang_search.h"
#include "engine/device_rating.h"

namespace gang::engine {
namespace {

using Way = GangOrder::Way;

/// Nodes of a kind among which scattered members are drawn.
constexpr std::size_t kDrawnMax = 256;
/// Of what an order may take in exact searches, the part of one that is for one node.
constexpr std::int64_t kNodeShare = 2;
/// Scattered orders in search of earlier alternatives.
constexpr int kImprovedMax = 16;

}  // namespace

// --- orders -------------------------------------------------------------------------------------

/// Places the gang anew; keeps what came of it as the last and, where it is, as the best. Exact
/// searches in it end after so many steps.
void DeviceGangSearch::try_order(GangOrder order, std::int64_t steps_max) {
  const std::int64_t begin = devices_.steps_left();
  // What is left must do for the best order once more.
  stops_at_ = std::max(begin - steps_max, best_.steps);
  rollback({});
  is_limited_ = false;
  last_ = {.order = std::move(order), .number = last_.number + 1};
  last_.exact_steps_max = begin - stops_at_;
  place_by(last_.order);
  last_.steps = begin - devices_.steps_left();
  last_.placed = static_cast<std::int32_t>(picks_.size());
  for (const DevicePick& pick : picks_) last_.preference += pick.preference;
  if (best_.steps == 0 || last_.is_better_than(best_)) best_ = last_;
}

void DeviceGangSearch::place_by(const GangOrder& order) {
  if (order.way == Way::kScattered) return scatter(order);
  if (order.way == Way::kExact) last_.end = search_exactly(whole_task());
  std::vector<std::vector<Level>> levels(kinds_.size(), {Level{}});
  if (order.way == Way::kCounted) std::swap(levels, levels_);
  for (const GangTurn& turn : order.turns) fill(turn);
  if (order.way == Way::kCounted) std::swap(levels, levels_);
}

/// As the failures ask for, from that of the last order.
void DeviceGangSearch::try_for_shortages(std::int64_t steps_max) {
  const std::int64_t until = devices_.steps_left() - steps_max;
  while (!is_best_possible() && devices_.steps_left() > std::max(until, best_.steps)) {
    std::optional<GangOrder> order = orders_->next(last_.short_kind);
    if (!order) break;
    try_order(*std::move(order), steps_max / 8);
  }
}

/// Until one places enough, and a few more where it took later alternatives.
void DeviceGangSearch::try_scattered(std::int64_t steps_max) {
  const std::int64_t until = devices_.steps_left() - steps_max;
  std::optional<std::size_t> short_kind;
  int improved = 0;
  while (!is_best_possible() && devices_.steps_left() > std::max(until, best_.steps)) {
    if (best_.placed >= need_ && ++improved > kImprovedMax) break;
    try_order(orders_->scattered(short_kind), steps_max);
    short_kind = last_.short_kind;
  }
}

/// Places the best order's members again, where others were tried since.
void DeviceGangSearch::restore_best() {
  const bool is_there =
      last_.number == best_.number && static_cast<std::int32_t>(picks_.size()) == best_.placed;
  if (is_there) return;
  rollback({});
  stops_at_ = devices_.steps_left() - best_.exact_steps_max;
  last_ = best_;
  place_by(last_.order);
  best_.placed = static_cast<std::int32_t>(picks_.size());
}

bool DeviceGangSearch::is_best_possible() const {
  return best_.placed == member_count_ && best_.preference == preference_max_;
}

/// One by one, each on a node that is drawn. A node that has refused a member of a kind refuses the
/// next: devices only become fewer.
void DeviceGangSearch::scatter(const GangOrder& order) {
  Draws draws(order.seed);
  std::vector<Scattered> states(kinds_.size());
  for (std::size_t kind = 0; kind < kinds_.size(); ++kind) {
    if (order.takes_any_alternative()) states[kind].level = levels_[kind].size() - 1;
    states[kind].positions = drawn_positions(kind, draws);
  }
  std::int32_t missing = 0;
  for (const GangTurn& turn : order.turns) {
    if (is_stopped()) return;
    if (scatter_one(turn.kind, states[turn.kind], draws)) continue;
    if (!last_.short_kind) last_.short_kind = turn.kind;
    if (++missing > member_count_ - need_) return;
  }
}

std::vector<std::size_t> DeviceGangSearch::drawn_positions(std::size_t kind, Draws& draws) {
  std::vector<std::size_t> positions;
  for (std::size_t i = 0; i < kDrawnMax && nodes_[kind].has(i); ++i) {
    (void)nodes_[kind].at(i);
    positions.push_back(i);
  }
  draws.shuffle(positions);
  return positions;
}

bool DeviceGangSearch::scatter_one(std::size_t kind, Scattered& state, Draws& draws) {
  const GangOrder& order = last_.order;
  while (true) {
    while (!state.positions.empty() && !is_stopped()) {
      const std::size_t count = state.positions.size();
      const std::size_t at = order.spreads() ? draws.below(count) : count - 1;
      DeviceTurn turn;
      if (order.turns_devices()) turn.device = static_cast<std::uint32_t>(draws.below(kDrawnMax));
      if (order.takes_any_alternative()) {
        turn.alternative = static_cast<std::uint32_t>(draws.below(kAlternativesMax));
      }
      const Point before = point();
      const DeviceStep step = place(kind, nodes_[kind].at(state.positions[at]), nullptr, turn);
      if (step.is_yes() && levels_[kind][state.level].has(devices_.worth())) return true;
      if (step.is_yes()) rollback(before);
      std::swap(state.positions[at], state.positions.back());
      state.positions.pop_back();
    }
    if (is_stopped() || state.level + 1 >= levels_[kind].size()) return false;
    ++state.level;
    state.positions = drawn_positions(kind, draws);
  }
}

// --- node by node -------------------------------------------------------------------------------

/// Places as many members of the turn as fit, the best preference first.
void DeviceGangSearch::fill(const GangTurn& turn) {
  const std::size_t kind = turn.kind;
  const auto all = static_cast<std::int32_t>(kinds_[kind].members.size());
  const std::int32_t count = std::min(all, placed_[kind] + turn.count);
  std::vector<Level> levels = levels_[kind];
  if (turn.alternative > 0) {
    const auto later = static_cast<std::int32_t>(turn.alternative);
    levels = {Level{.preference_max = kinds_[kind].choices * kAlternativesMax - later}};
  }
  for (const Level& level : levels) {
    for (std::size_t i = 0; nodes_[kind].has(i); ++i) {
      if (placed_[kind] >= count || is_out_of_steps()) break;
      const std::uint32_t rank = nodes_[kind].at(i);
      if (!is_of(level, kind, i)) continue;
      fill_best({.turn = turn,
                 .rank = rank,
                 .level = level,
                 .is_last = turn.alternative == 0 && &level == &levels.back(),
                 .count = count});
    }
  }
  if (placed_[kind] >= count) return;
  is_limited_ |= is_out_of_steps();
  if (!last_.short_kind && turn.alternative == 0) last_.short_kind = kind;
}

/// Whether a member may get that much on the node. Where devices wait on most nodes, those that
/// nobody has looked at would be tried for nothing.
bool DeviceGangSearch::is_of(const Level& level, std::size_t kind, std::size_t position) const {
  const MemberRating* rating = nodes_[kind].rating(position);
  return rating != nullptr ? level.is_in(*rating) : !level.is_ready && level.preference <= 0;
}

void DeviceGangSearch::fill_best(const Spot& spot) {
  const std::size_t kind = spot.turn.kind;
  const std::int32_t left = spot.count - placed_[kind];
  // One is tried even so: what is wrong with a claim shows when it is.
  const bool may_more = left > 1 && count_bound(kind, spot.rank) > 1;
  const std::int32_t most = may_more ? std::min(left, std::max(1, bound_of(kind, spot.rank))) : 1;
  const Point start = point();
  const std::int32_t here = fill_node(spot, most);
  if (spot.is_last && here > 0 && here < most && kinds_[kind].has_own) {
    improve_node(spot, start, {.count = here, .most = most});
  }
}

/// Members of the kind that the node may serve at most by the number of its free devices, which is
/// known before it is looked into.
std::int64_t DeviceGangSearch::count_bound(std::size_t index, std::uint32_t rank) {
  const DeviceKind& kind = kinds_[index];
  constexpr std::int64_t kMany = std::numeric_limits<std::int32_t>::max();
  const DeviceCounts* counts = devices_.stage().counts;
  const bool is_counted = counts != nullptr && !counts->has_shared_pools() && kind.least > 0;
  if (!is_counted) return kMany;
  const NodeDevices here = counts_at(rank);
  return here.is_exclusive ? here.free / kind.least : kMany;
}

/// The same by what its devices are.
std::int32_t DeviceGangSearch::bound_of(std::size_t index, std::uint32_t rank) {
  const DeviceKind& kind = kinds_[index];
  constexpr std::int32_t kMany = std::numeric_limits<std::int32_t>::max();
  if (!kind.has_own || kind.has_shared) return kMany;
  const auto next = static_cast<std::size_t>(placed_[index]);
  return devices_.bound_of(wants_of(kind, next, rank), node_at(rank));
}

/// By first solutions. Returns how many it placed.
std::int32_t DeviceGangSearch::fill_node(const Spot& spot, std::int32_t count_max) {
  std::int32_t here = 0;
  for (; here < count_max; ++here) {
    const Point before = point();
    const DeviceStep step =
        place(spot.turn.kind, spot.rank, nullptr, {.alternative = spot.turn.alternative});
    note(step);
    if (!step.is_yes()) break;
    if (spot.level.has(devices_.worth())) continue;
    rollback(before);
    break;
  }
  return here;
}

/// Looks for the most members that the node takes, where first solutions placed some since `start`:
/// first for as many as there may be, then by halves.
void DeviceGangSearch::improve_node(const Spot& spot, const Point& start, Placed placed) {
  const std::size_t kind = spot.turn.kind;
  std::int32_t& count = placed.count;
  const auto room = draft_.table(kinds_[kind].class_index).entry(spot.rank).capacity;
  std::int32_t most = static_cast<std::int32_t>(
      std::min<std::int64_t>(placed.most, std::int64_t{count} + std::int64_t{room}));
  if (count >= most) return;
  NodeOrder all_nodes = NodeOrder::of_one(spot.rank);
  std::swap(all_nodes, nodes_[kind]);
  const auto base = static_cast<std::int32_t>(start.picks);
  const auto reaches = [&](std::int32_t wanted) {
    rollback(start);
    const std::int64_t left = devices_.steps_left();
    const std::int64_t outer = std::exchange(stops_at_, left - (left - stops_at_) / kNodeShare);
    const SearchEnd end = search_exactly({.kinds = {kind}, .need = base + wanted});
    stops_at_ = outer;
    return end == SearchEnd::kPlaced;
  };
  const std::int32_t by_first = count;
  for (std::int32_t wanted = most; count < most; wanted = most - (most - count) / 2) {
    if (reaches(wanted)) {
      count = wanted;
    } else {
      most = wanted - 1;
    }
  }
  const bool is_there = static_cast<std::int32_t>(picks_.size()) == base + count;
  if (!is_there && (count == by_first || !reaches(count))) fill_node(spot, count);
  std::swap(all_nodes, nodes_[kind]);
}

}  // namespace gang::engine
