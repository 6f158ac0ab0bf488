#include "engine/device_gang_search.h"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

namespace gang::engine {
namespace {

using End = DeviceStep::End;

/// Nodes of all kinds whose devices are counted at each step of the exact search.
constexpr std::size_t kBoundedMax = 8;

std::vector<std::size_t> shared_claims(const std::vector<DeviceKind>& kinds) {
  std::vector<std::size_t> named;
  std::size_t count = 0;
  for (const DeviceKind& kind : kinds) {
    for (const DeviceMember& member : kind.members) count += member.claims.size();
  }
  named.reserve(count);
  for (const DeviceKind& kind : kinds) {
    for (const DeviceMember& member : kind.members) {
      named.insert(named.end(), member.claims.begin(), member.claims.end());
    }
  }
  std::ranges::sort(named);
  std::vector<std::size_t> shared;
  for (std::size_t i = 1; i < named.size(); ++i) {
    const bool is_known = !shared.empty() && shared.back() == named[i];
    if (named[i] == named[i - 1] && !is_known) shared.push_back(named[i]);
  }
  return shared;
}

}  // namespace

DeviceGangSearch::DeviceGangSearch(Draft& draft, DeviceDraft& devices, ExtendedClaims& extended,
                                   std::vector<DeviceKind>& kinds)
    : draft_(draft),
      devices_(devices),
      extended_(extended),
      kinds_(kinds),
      placed_(kinds.size(), 0),
      fits_nowhere_(kinds.size(), false),
      shared_(shared_claims(kinds)),
      steps_reserved_(devices.steps_left() / 2) {}

DeviceSearchEnd DeviceGangSearch::run(std::int32_t need) {
  sort_kinds();
  order_nodes();
  const auto placed = [this] { return static_cast<std::int32_t>(picks_.size()); };
  fill_all();
  if (placed() < need) fill_by_count();
  if (placed() >= need) return {.fatal = fatal_};
  if (is_limited_) return {.end = SearchEnd::kLimit, .fatal = fatal_};
  if (sums_decide()) return {.end = SearchEnd::kImpossible, .fatal = fatal_};
  find_misfits();
  Task task{.kinds = {}, .need = need};
  std::size_t candidates = 0;
  for (std::size_t kind = 0; kind < kinds_.size(); ++kind) {
    if (fits_nowhere_[kind]) continue;
    task.kinds.push_back(kind);
    candidates += kinds_[kind].members.size();
  }
  const bool may_be_enough = candidates >= static_cast<std::size_t>(need);
  const SearchEnd end = may_be_enough ? search_exactly(task) : SearchEnd::kImpossible;
  fill_all();
  return {.end = end, .fatal = fatal_};
}

/// Of which kinds nobody was placed although it was first at it. Leaves nobody placed.
void DeviceGangSearch::find_misfits() {
  std::vector<std::size_t> missing;
  for (std::size_t kind = 0; kind < kinds_.size(); ++kind) {
    if (placed_[kind] == 0) missing.push_back(kind);
  }
  rollback({});
  for (const std::size_t kind : missing) fits_nowhere_[kind] = !may_fit_alone(kind);
}

/// Others only take away what one that is alone may have. True where that was not looked into.
bool DeviceGangSearch::may_fit_alone(std::size_t kind) {
  for (std::size_t i = 0; nodes_[kind].has(i); ++i) {
    const DeviceStep step = place(kind, nodes_[kind].at(i), nullptr);
    rollback({});
    if (step.is_yes() || step.end == End::kLimit) return true;
  }
  return false;
}

/// One kind that shares no claim, on nodes that share no pool: each node was filled exactly, which
/// holds where no preference came first.
bool DeviceGangSearch::sums_decide() {
  if (kinds_.size() != 1 || kinds_.front().has_shared || levels_.front().size() > 1) return false;
  const DeviceCounts* counts = devices_.stage().counts;
  if (counts != nullptr && !counts->has_shared_pools()) return true;
  for (std::size_t i = 0; nodes_.front().has(i); ++i) {
    if (!devices_.is_local(node_at(nodes_.front().at(i)))) return false;
  }
  return true;
}

// --- one member ---------------------------------------------------------------------------------

const cluster::NodeInfo& DeviceGangSearch::node_at(std::uint32_t rank) const {
  return *draft_.snapshot().node(draft_.snapshot().by_name()[rank]);
}

NodeDevices DeviceGangSearch::counts_at(std::uint32_t rank) {
  const DeviceCounts* counts = devices_.stage().counts;
  if (counts == nullptr) return devices_.counts_of(node_at(rank));
  return counts->of(draft_.snapshot().by_name()[rank]);
}

DeviceWants DeviceGangSearch::wants_of(const DeviceKind& kind, std::size_t member,
                                       std::uint32_t rank) {
  const DeviceMember& wanted = kind.members[member];
  const ExtendedClaim* extended = extended_.claim_of(kind.class_index, rank);
  return {.claims = wanted.claims,
          .joins = wanted.joins,
          .extended = extended == nullptr ? nullptr : &extended->claim,
          .member = wanted.index};
}

DeviceStep DeviceGangSearch::place(std::size_t kind, std::uint32_t rank, SolutionsSeen* seen) {
  const DeviceKind& wanted = kinds_[kind];
  if (draft_.table(wanted.class_index).entry(rank).capacity == 0) {
    return {.end = End::kNo, .message = {}};
  }
  const auto next = static_cast<std::size_t>(placed_[kind]);
  DeviceStep step = devices_.place(wants_of(wanted, next, rank), node_at(rank), seen);
  if (!step.is_yes()) return step;
  draft_.place({.class_index = wanted.class_index, .rank = rank});
  picks_.push_back({.kind = kind, .member = &wanted.members[next], .rank = rank});
  ++placed_[kind];
  return step;
}

DeviceGangSearch::Point DeviceGangSearch::point() const {
  return {.draft = draft_.point(), .devices = devices_.point(), .picks = picks_.size()};
}

void DeviceGangSearch::rollback(const Point& to) {
  draft_.rollback(to.draft);
  devices_.rollback(to.devices);
  for (; picks_.size() > to.picks; picks_.pop_back()) --placed_[picks_.back().kind];
}

void DeviceGangSearch::note(const DeviceStep& step) {
  if (step.end == End::kLimit) is_limited_ = true;
  if (step.end == End::kFatal && fatal_.empty()) fatal_ = step.message;
}

// --- node by node -------------------------------------------------------------------------------

void DeviceGangSearch::fill_all() {
  for (std::size_t kind = 0; kind < kinds_.size(); ++kind) fill(kind);
}

/// Once more, where what is preferred left no room for others: as many on each node as fit there,
/// whatever they prefer.
void DeviceGangSearch::fill_by_count() {
  const auto has_one = [](const std::vector<Level>& levels) { return levels.size() == 1; };
  if (std::ranges::all_of(levels_, has_one) || is_out_of_steps()) return;
  levels_.assign(kinds_.size(), {Level{}});
  rollback({});
  fill_all();
}

/// Places as many members of the kind as fit, the best preference first.
void DeviceGangSearch::fill(std::size_t kind) {
  const auto count = static_cast<std::int32_t>(kinds_[kind].members.size());
  for (std::size_t level = 0; level < levels_[kind].size(); ++level) {
    const bool is_last = level + 1 == levels_[kind].size();
    for (std::size_t i = 0; nodes_[kind].has(i); ++i) {
      if (placed_[kind] >= count || is_out_of_steps()) break;
      const std::uint32_t rank = nodes_[kind].at(i);
      if (!is_of(levels_[kind][level], kind, i)) continue;
      fill_best({.kind = kind, .rank = rank, .level = levels_[kind][level], .is_last = is_last});
    }
  }
  is_limited_ |= placed_[kind] < count && is_out_of_steps();
}

/// Whether a member may get that much on the node. Where devices wait on most nodes, those that
/// nobody has looked at would be tried for nothing.
bool DeviceGangSearch::is_of(const Level& level, std::size_t kind, std::size_t position) const {
  const MemberRating* rating = nodes_[kind].rating(position);
  return rating != nullptr ? level.has(*rating) : !level.is_ready && level.preference <= 0;
}

void DeviceGangSearch::fill_best(const Spot& spot) {
  const DeviceKind& kind = kinds_[spot.kind];
  const auto left = static_cast<std::int32_t>(kind.members.size()) - placed_[spot.kind];
  // One is tried even so: what is wrong with a claim shows when it is.
  const bool may_more = left > 1 && count_bound(spot) > 1;
  const std::int32_t most = may_more ? std::min(left, std::max(1, bound_of(spot))) : 1;
  const Point start = point();
  const std::int32_t here = fill_node(spot, most);
  if (spot.is_last && here > 0 && here < most && kind.has_own) {
    improve_node(spot, start, {.count = here, .most = most});
  }
}

/// Members of the kind that the node may serve at most by the number of its free devices, which is
/// known before it is looked into.
std::int64_t DeviceGangSearch::count_bound(const Spot& spot) {
  const DeviceKind& kind = kinds_[spot.kind];
  constexpr std::int64_t kMany = std::numeric_limits<std::int32_t>::max();
  const DeviceCounts* counts = devices_.stage().counts;
  const bool is_counted = counts != nullptr && !counts->has_shared_pools() && kind.least > 0;
  if (!is_counted) return kMany;
  const NodeDevices here = counts_at(spot.rank);
  return here.is_exclusive ? here.free / kind.least : kMany;
}

/// The same by what its devices are.
std::int32_t DeviceGangSearch::bound_of(const Spot& spot) {
  const DeviceKind& kind = kinds_[spot.kind];
  constexpr std::int32_t kMany = std::numeric_limits<std::int32_t>::max();
  if (!kind.has_own || kind.has_shared) return kMany;
  const auto next = static_cast<std::size_t>(placed_[spot.kind]);
  return devices_.bound_of(wants_of(kind, next, spot.rank), node_at(spot.rank));
}

/// By first solutions. Returns how many it placed.
std::int32_t DeviceGangSearch::fill_node(const Spot& spot, std::int32_t count_max) {
  std::int32_t here = 0;
  for (; here < count_max; ++here) {
    const Point before = point();
    const DeviceStep step = place(spot.kind, spot.rank, nullptr);
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
  const std::size_t kind = spot.kind;
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
    return search_exactly({.kinds = {kind}, .need = base + wanted}) == SearchEnd::kPlaced;
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

// --- exactly ------------------------------------------------------------------------------------

/// Depth first over the members of the task's kinds, on top of what is placed. Leaves the drafts as
/// they were unless kPlaced.
SearchEnd DeviceGangSearch::search_exactly(const Task& task) {
  const std::size_t first = task.kinds.front();
  failed_.clear();
  task_ = task;
  std::vector<Frame> frames;
  frames.push_back(
      {.kind = first, .member = static_cast<std::size_t>(placed_[first]), .before = point()});
  while (!frames.empty()) {
    if (const auto end = step(task, frames)) {
      if (*end != SearchEnd::kPlaced) rollback(frames.front().before);
      return *end;
    }
  }
  return SearchEnd::kImpossible;
}

/// One move of the newest frame: another choice for its member, or back.
std::optional<SearchEnd> DeviceGangSearch::step(const Task& task, std::vector<Frame>& frames) {
  Frame& frame = frames.back();
  if (frame.is_placed) {
    failed_.insert(std::move(frame.state));
    rollback(frame.before);
    frame.is_placed = false;
  }
  const auto reach = static_cast<std::int32_t>(picks_.size()) + rest_after(task, frame);
  if (!frame.leaves_rest && advance(frame)) {
    if (static_cast<std::int32_t>(picks_.size()) >= task.need) return SearchEnd::kPlaced;
  } else if (is_stopped()) {
    return SearchEnd::kLimit;
  } else if (!frame.leaves_rest && reach >= task.need) {
    frame.leaves_rest = true;  // enough others are left
  } else {
    frames.pop_back();
    return std::nullopt;
  }
  if (auto next = next_frame(task, frame)) {
    next->before = point();
    frames.push_back(*std::move(next));
  }
  return std::nullopt;
}

/// Places the frame's member by its next choice; false when there is none left.
bool DeviceGangSearch::advance(Frame& frame) {
  NodeOrder& nodes = nodes_[frame.kind];
  while (nodes.has(frame.position)) {
    const DeviceStep step = place(frame.kind, nodes.at(frame.position), &frame.seen);
    if (step.is_yes()) {
      frame.state = state_after(frame);
      frame.is_placed = !failed_.contains(frame.state) && is_in_reach(frame);
      if (frame.is_placed) return true;
      rollback(frame.before);
    } else {
      note(step);
      ++frame.position;
      frame.seen.clear();
    }
    if (is_stopped()) return false;
  }
  return false;
}

/// Whether the devices that are left could serve as many as the task still needs. Looked at where
/// few nodes are left only; elsewhere the next members show it.
bool DeviceGangSearch::is_in_reach(const Frame& frame) {
  std::int64_t reach = static_cast<std::int64_t>(picks_.size());
  std::size_t looked_at = 0;
  for (auto at = std::ranges::find(task_.kinds, frame.kind); at != task_.kinds.end(); ++at) {
    std::size_t count = 0;
    while (nodes_[*at].has(count) && count <= kBoundedMax) ++count;
    looked_at += count;
    if (looked_at > kBoundedMax) return true;
    const auto left = static_cast<std::int64_t>(kinds_[*at].members.size()) - placed_[*at];
    std::int64_t room = 0;
    for (std::size_t i = 0; i < count && room < left; ++i) {
      room += left > 0 ? bound_of({.kind = *at, .rank = nodes_[*at].at(i)}) : 0;
    }
    reach += std::min(left, room);
  }
  return reach >= task_.need;
}

/// Equal where what comes after the frame's member meets the same: where it goes on, who stands on
/// which node, and what is held of devices there.
std::string DeviceGangSearch::state_after(const Frame& frame) {
  std::map<std::pair<std::uint32_t, std::size_t>, int> counts;
  for (const DevicePick& pick : picks_) ++counts[{pick.rank, pick.kind}];
  std::string state = std::to_string(frame.kind) + " " + std::to_string(frame.member) + " " +
                      std::to_string(frame.position) + "\n";
  for (const std::size_t claim : shared_) {
    const api::Allocation* decided = devices_.decided(claim);
    if (decided == nullptr) continue;
    state += std::to_string(claim) + "=";
    for (const api::DeviceResult& one : decided->results) {
      state += one.driver + "/" + one.pool + "/" + one.device + " ";
    }
  }
  std::uint32_t last = MaxTree::kNowhere;
  for (const auto& [place, count] : counts) {
    if (place.first != std::exchange(last, place.first)) {
      state += std::to_string(place.first) + ":" + devices_.state_of(node_at(place.first));
    }
    state += std::to_string(place.second) + "x" + std::to_string(count) + "\n";
  }
  return state;
}

/// Whether the exact search has used what it may.
bool DeviceGangSearch::is_stopped() {
  const bool stops = devices_.steps_left() <= steps_reserved_ || is_out_of_steps();
  is_limited_ |= stops;
  return stops;
}

/// The member after the frame's; nothing after the last.
std::optional<DeviceGangSearch::Frame> DeviceGangSearch::next_frame(const Task& task,
                                                                    const Frame& frame) const {
  if (frame.is_placed && frame.member + 1 < kinds_[frame.kind].members.size()) {
    return Frame{.kind = frame.kind, .member = frame.member + 1, .position = frame.position};
  }
  const auto at = std::ranges::find(task.kinds, frame.kind);
  if (at == task.kinds.end() || at + 1 == task.kinds.end()) return std::nullopt;
  return Frame{.kind = *(at + 1)};
}

/// Members of the kinds after the frame's.
std::int32_t DeviceGangSearch::rest_after(const Task& task, const Frame& frame) const {
  std::int32_t rest = 0;
  const auto at = std::ranges::find(task.kinds, frame.kind);
  for (auto later = at + 1; later < task.kinds.end(); ++later) {
    rest += static_cast<std::int32_t>(kinds_[*later].members.size());
  }
  return rest;
}

}  // namespace gang::engine
