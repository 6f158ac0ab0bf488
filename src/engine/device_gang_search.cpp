#include "engine/device_gang_search.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace gang::engine {
namespace {

using End = DeviceStep::End;

/// A node with what the order of nodes looks at.
struct Ranked {
  std::uint32_t rank = 0;
  std::int32_t capacity = 0;
  std::int32_t free = 0;
  std::int32_t score = 0;
};

}  // namespace

DeviceGangSearch::DeviceGangSearch(Draft& draft, DeviceDraft& devices, ExtendedClaims& extended,
                                   const std::vector<DeviceKind>& kinds)
    : draft_(draft),
      devices_(devices),
      extended_(extended),
      kinds_(kinds),
      placed_(kinds.size(), 0),
      steps_reserved_(devices.steps_left() / 2) {}

DeviceSearchEnd DeviceGangSearch::run(std::int32_t need) {
  order_nodes();
  for (std::size_t kind = 0; kind < kinds_.size(); ++kind) fill(kind);
  const auto placed = [this] { return static_cast<std::int32_t>(picks_.size()); };
  if (placed() >= need) return {};
  if (is_limited_) return {.end = SearchEnd::kLimit, .fatal = fatal_};
  if (sums_decide()) return {.end = SearchEnd::kImpossible, .fatal = fatal_};
  const Point nothing{};
  Task task{.kinds = {}, .need = need};
  for (std::size_t kind = 0; kind < kinds_.size(); ++kind) task.kinds.push_back(kind);
  rollback(nothing);
  const SearchEnd end = search_exactly(task);
  for (std::size_t kind = 0; kind < kinds_.size(); ++kind) fill(kind);
  return {.end = end, .fatal = fatal_};
}

/// One kind that shares no claim, on nodes that share no pool: each node was filled exactly.
bool DeviceGangSearch::sums_decide() const {
  return kinds_.size() == 1 && !kinds_.front().has_shared && is_local_;
}

void DeviceGangSearch::order_nodes() {
  for (std::size_t kind = 0; kind < kinds_.size(); ++kind) nodes_.push_back(nodes_of(kind));
}

/// Tightest node first; where a shared claim may bind all to one node, the roomiest first.
std::vector<std::uint32_t> DeviceGangSearch::nodes_of(std::size_t kind) {
  const DeviceKind& wanted = kinds_[kind];
  const CapacityTable& table = draft_.table(wanted.class_index);
  const bool asks = wanted.has_own || wanted.has_shared;
  std::vector<Ranked> ranked;
  for (std::uint32_t rank = 0; rank < table.size(); ++rank) {
    const NodeEntry& entry = table.entry(rank);
    if (entry.capacity == 0) continue;
    const cluster::NodeInfo& node = *draft_.snapshot().node(draft_.snapshot().by_name()[rank]);
    if (asks) is_local_ = is_local_ && devices_.is_local(node);
    ranked.push_back({.rank = rank,
                      .capacity = wanted.has_shared ? entry.capacity : 0,
                      .free = asks ? devices_.free_count(node) : 0,
                      .score = entry.score});
  }
  std::ranges::stable_sort(ranked, [](const Ranked& a, const Ranked& b) {
    return std::tie(b.capacity, a.free, b.score) < std::tie(a.capacity, b.free, a.score);
  });
  std::vector<std::uint32_t> nodes;
  for (const Ranked& one : ranked) nodes.push_back(one.rank);
  return nodes;
}

DeviceStep DeviceGangSearch::place(std::size_t kind, std::uint32_t rank, SolutionsSeen* seen) {
  const DeviceKind& wanted = kinds_[kind];
  if (draft_.table(wanted.class_index).entry(rank).capacity == 0) {
    return {.end = End::kNo, .message = {}};
  }
  const auto next = static_cast<std::size_t>(placed_[kind]);
  const DeviceMember& member = wanted.members[next];
  const cluster::NodeInfo& node = *draft_.snapshot().node(draft_.snapshot().by_name()[rank]);
  const ExtendedClaim* extended = extended_.claim_of(wanted.class_index, rank);
  DeviceStep step = devices_.place({.claims = member.claims,
                                    .extended = extended == nullptr ? nullptr : &extended->claim,
                                    .member = member.index},
                                   node, seen);
  if (!step.is_yes()) return step;
  draft_.place({.class_index = wanted.class_index, .rank = rank});
  picks_.push_back({.kind = kind, .member = &member, .rank = rank});
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

/// Places as many members of the kind as fit, node by node.
void DeviceGangSearch::fill(std::size_t kind) {
  const auto count = static_cast<std::int32_t>(kinds_[kind].members.size());
  for (const std::uint32_t rank : nodes_[kind]) {
    if (placed_[kind] >= count || is_out_of_steps()) return;
    const Point start = point();
    const std::int32_t here = fill_node(kind, rank, count - placed_[kind]);
    if (placed_[kind] < count && kinds_[kind].has_own) improve_node(kind, rank, start, here);
  }
}

/// By first solutions. Returns how many it placed.
std::int32_t DeviceGangSearch::fill_node(std::size_t kind, std::uint32_t rank,
                                         std::int32_t count_max) {
  std::int32_t here = 0;
  for (; here < count_max; ++here) {
    const DeviceStep step = place(kind, rank, nullptr);
    if (step.is_yes()) continue;
    note(step);
    break;
  }
  return here;
}

/// Looks for one member more on the node than first solutions could place, until there is none.
void DeviceGangSearch::improve_node(std::size_t kind, std::uint32_t rank, const Point& start,
                                    std::int32_t count) {
  const auto may_take = [&] {
    return count > 0 && draft_.table(kinds_[kind].class_index).entry(rank).capacity > 0 &&
           placed_[kind] < static_cast<std::int32_t>(kinds_[kind].members.size());
  };
  std::vector<std::uint32_t> all_nodes{rank};
  std::swap(all_nodes, nodes_[kind]);
  const auto base = static_cast<std::int32_t>(start.picks);
  const auto reaches = [&](std::int32_t wanted) {
    return search_exactly({.kinds = {kind}, .need = base + wanted}) == SearchEnd::kPlaced;
  };
  const std::int32_t by_first = count;
  while (may_take()) {
    rollback(start);
    if (reaches(count + 1)) {
      ++count;
      continue;
    }
    if (count == by_first || !reaches(count)) fill_node(kind, rank, count);
    break;
  }
  std::swap(all_nodes, nodes_[kind]);
}

/// Depth first over the members of the task's kinds, on top of what is placed. Leaves the drafts as
/// they were unless kPlaced.
SearchEnd DeviceGangSearch::search_exactly(const Task& task) {
  const std::size_t first = task.kinds.front();
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
  const std::vector<std::uint32_t>& nodes = nodes_[frame.kind];
  for (; frame.position < nodes.size(); ++frame.position, frame.seen.clear()) {
    const DeviceStep step = place(frame.kind, nodes[frame.position], &frame.seen);
    frame.is_placed = step.is_yes();
    if (frame.is_placed) return true;
    note(step);
    if (is_stopped()) return false;
  }
  return false;
}

/// Whether the exact search has used what it may.
bool DeviceGangSearch::is_stopped() {
  const bool stops = devices_.steps_left() <= steps_reserved_;
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
