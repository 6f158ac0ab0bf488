#include "engine/device_gang_search.h"

#include <algorithm>
#include <map>
#include <utility>

#include "engine/device_rating.h"

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
      shared_(shared_claims(kinds)) {
  for (const DeviceKind& kind : kinds) {
    const auto count = static_cast<std::int32_t>(kind.members.size());
    member_count_ += count;
    preference_max_ += std::int64_t{count} * kind.choices * kAlternativesMax;
  }
}

/// Cheap tries and proofs first, then ever longer ones.
DeviceSearchEnd DeviceGangSearch::run(std::int32_t need) {
  need_ = need;
  sort_kinds();
  order_nodes();
  orders_.emplace(kinds_);
  const std::int64_t steps_max = devices_.steps_left();
  try_order(orders_->first(), steps_max / 2);
  if (best_.placed == member_count_) return {.fatal = fatal_};
  try_for_shortages(steps_max / 8);
  const bool is_counted = std::ranges::all_of(
      levels_, [](const std::vector<Level>& levels) { return levels.size() == 1; });
  if (best_.placed < need && !is_counted && !is_out_of_steps()) {
    try_order({.way = GangOrder::Way::kCounted, .turns = orders_->first().turns}, steps_max / 4);
  }
  SearchEnd end = SearchEnd::kLimit;
  if (best_.placed >= need) {
    // Some gave up a first alternative that others might not have to.
    if (preference_max_ > 0) try_scattered(steps_max / 32);
  } else if (!is_out_of_steps()) {
    end = sums_decide() ? SearchEnd::kImpossible : search_longer(steps_max);
  }
  restore_best();
  if (best_.placed >= need) return {.fatal = fatal_};
  return {.end = end == SearchEnd::kImpossible ? end : SearchEnd::kLimit, .fatal = fatal_};
}

/// Where the first orders left somebody out who is needed.
SearchEnd DeviceGangSearch::search_longer(std::int64_t steps_max) {
  find_misfits();
  if (candidate_count() < need_) return SearchEnd::kImpossible;
  const GangOrder exact{.way = GangOrder::Way::kExact, .turns = orders_->first().turns};
  try_order(exact, steps_max / 16);
  if (best_.placed < need_ && last_.end == SearchEnd::kImpossible) return last_.end;
  if (best_.placed < need_ || preference_max_ > 0) try_scattered(steps_max / 2);
  if (best_.placed < need_) try_order(exact, steps_max);
  return last_.end;
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

/// Members of kinds that fit somewhere.
std::int32_t DeviceGangSearch::candidate_count() const {
  std::size_t count = 0;
  for (const std::size_t kind : whole_task().kinds) count += kinds_[kind].members.size();
  return static_cast<std::int32_t>(count);
}

DeviceGangSearch::Task DeviceGangSearch::whole_task() const {
  Task task{.kinds = {}, .need = need_};
  for (std::size_t kind = 0; kind < kinds_.size(); ++kind) {
    if (!fits_nowhere_[kind]) task.kinds.push_back(kind);
  }
  return task;
}

/// One kind that shares no claim, on nodes that share no pool: each node was filled exactly, which
/// holds where no preference came first.
bool DeviceGangSearch::sums_decide() {
  const bool is_by_count =
      last_.order.way == GangOrder::Way::kCounted || levels_.front().size() == 1;
  if (kinds_.size() != 1 || kinds_.front().has_shared || !is_by_count || is_limited_) return false;
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

DeviceStep DeviceGangSearch::place(std::size_t kind, std::uint32_t rank, SolutionsSeen* seen,
                                   DeviceTurn turn) {
  const DeviceKind& wanted = kinds_[kind];
  if (draft_.table(wanted.class_index).entry(rank).capacity == 0) {
    return {.end = End::kNo, .message = {}};
  }
  const auto next = static_cast<std::size_t>(placed_[kind]);
  DeviceWants wants = wants_of(wanted, next, rank);
  wants.turn = turn;
  DeviceStep step = devices_.place(wants, node_at(rank), seen);
  if (!step.is_yes()) return step;
  draft_.place({.class_index = wanted.class_index, .rank = rank});
  picks_.push_back({.kind = kind,
                    .member = &wanted.members[next],
                    .rank = rank,
                    .preference = devices_.worth().preference});
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
      room += left > 0 ? bound_of(*at, nodes_[*at].at(i)) : 0;
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
  const bool stops = devices_.steps_left() <= stops_at_ || is_out_of_steps();
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
