// How a search for the devices of a gang orders kinds and nodes.
#include <algorithm>
#include <functional>
#include <set>
#include <tuple>
#include <utility>

#include "engine/device_gang_search.h"

namespace gang::engine {
namespace {

/// Nodes of a kind on which a member is tried before anybody is placed, to see what it gets there.
constexpr std::size_t kRatedMax = 256;
/// The same where nodes differ in nothing but sizes and places of whole devices, as most do a
/// little.
constexpr std::size_t kComparedMax = 16;
/// Nodes with devices that are looked at to see which kind has the fewest to choose from.
constexpr int kSampledMax = 4;

}  // namespace

/// Who decides a shared claim, who asks for most, then who has the fewest devices to choose from.
void DeviceGangSearch::sort_kinds() {
  if (kinds_.size() < 2) return;
  std::vector<std::pair<std::int64_t, DeviceKind>> counted;
  for (DeviceKind& kind : kinds_) counted.emplace_back(match_count(kind), std::move(kind));
  std::ranges::stable_sort(counted, [](const auto& a, const auto& b) {
    return std::tie(b.second.has_shared, b.second.weight, a.first) <
           std::tie(a.second.has_shared, a.second.weight, b.first);
  });
  for (std::size_t i = 0; i < kinds_.size(); ++i) kinds_[i] = std::move(counted[i].second);
}

std::int64_t DeviceGangSearch::match_count(const DeviceKind& kind) {
  std::int64_t count = 0;
  int sampled = 0;
  const CapacityTable& table = draft_.table(kind.class_index);
  for (std::uint32_t rank = 0; rank < table.size() && sampled < kSampledMax; ++rank) {
    if (table.entry(rank).capacity == 0) continue;
    const NodeDevices here = counts_at(rank);
    if (here.free + here.used == 0) continue;
    count += devices_.match_count(wants_of(kind, 0, rank), node_at(rank));
    ++sampled;
  }
  return count;
}

void DeviceGangSearch::order_nodes() {
  for (std::size_t kind = 0; kind < kinds_.size(); ++kind) {
    nodes_.push_back(nodes_of(kinds_[kind]));
    levels_.push_back({Level{}});
    rate_nodes(kind);
  }
}

/// Nodes that may take a member of the kind. Where a shared claim may bind all to one node, the
/// roomiest come first.
NodeOrder DeviceGangSearch::nodes_of(const DeviceKind& kind) {
  CapacityTable& table = draft_.table(kind.class_index);
  const DeviceCounts* counts = devices_.stage().counts;
  const bool is_counted = kind.least > 0 && (counts == nullptr || !counts->has_shared_pools());
  const bool asks = kind.has_own || kind.has_shared;
  if (asks && devices_.stage().index_of) {
    const NodeIndex& index = devices_.stage().index_of(table, kind.has_shared);
    return NodeOrder(index.walk(is_counted ? kind.least : 0));
  }
  NodeOrder order;
  for (std::uint32_t rank = 0; rank < table.size(); ++rank) {
    const NodeEntry& entry = table.entry(rank);
    if (entry.capacity == 0) continue;
    NodeDevices here;
    if (asks) here = counts_at(rank);
    if (is_counted && here.is_exclusive && here.free < kind.least) continue;
    order.add(rank, {.capacity = kind.has_shared ? entry.capacity : 0,
                     .all_wait = here.all_wait(),
                     .is_unused = here.used == 0,
                     .free = here.free,
                     .score = entry.score});
  }
  return order;
}

/// Sees what the first nodes give a member, where they may give more or less.
void DeviceGangSearch::rate_nodes(std::size_t kind) {
  NodeOrder& order = nodes_[kind];
  const std::size_t count = count_to_rate(kind);
  if (count == 0) return;
  std::vector<MemberRating> ratings;
  for (std::size_t i = 0; i < count && order.has(i); ++i) {
    const Point before = point();
    MemberRating& rating = ratings.emplace_back();
    if (place(kind, order.at(i), nullptr).is_yes()) rating = devices_.worth();
    rollback(before);
    if (is_out_of_steps()) return;
  }
  order.rate(ratings);
  levels_[kind] = levels_of(kind);
}

/// Each preference that was seen; where devices wait, what is ready on all nodes comes before them.
std::vector<DeviceGangSearch::Level> DeviceGangSearch::levels_of(std::size_t kind) {
  NodeOrder& order = nodes_[kind];
  std::set<std::int32_t, std::greater<>> preferences{0};
  bool have_waiting = false;
  for (std::size_t i = 0; order.rating(i) != nullptr; ++i) {
    preferences.insert(order.rating(i)->preference);
    have_waiting = have_waiting || counts_at(order.at(i)).waiting > 0;
  }
  std::vector<Level> levels;
  for (const std::int32_t preference : preferences) {
    if (have_waiting) levels.push_back({.preference = preference, .is_ready = true});
    levels.push_back({.preference = preference});
  }
  return levels;
}

std::size_t DeviceGangSearch::count_to_rate(std::size_t kind) {
  const DeviceKind& wanted = kinds_[kind];
  NodeOrder& order = nodes_[kind];
  const bool is_open = wanted.has_own || wanted.has_shared;
  if (!is_open || !order.has(1)) return 0;
  const NodeDevices first = counts_at(order.at(0));
  if (wanted.choices > 0 || first.has_partitions || first.waiting > 0) return kRatedMax;
  // Who takes all that a node has gets no nearer ones.
  bool may_differ = first.has_places && wanted.weight > 1 && wanted.weight < first.free;
  for (std::size_t i = 0; !may_differ && i < kComparedMax && order.has(i); ++i) {
    const NodeDevices here = counts_at(order.at(i));
    if (here.waiting > 0) return kRatedMax;
    may_differ = here.amount == NodeDevices::kMixed || here.amount != first.amount;
  }
  return may_differ ? kComparedMax : 0;
}

}  // namespace gang::engine
