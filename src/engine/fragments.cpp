#include "engine/fragments.h"

#include <algorithm>
#include <numeric>
#include <span>
#include <utility>

#include "engine/device_rating.h"
#include "engine/filter.h"

namespace gang::engine {
namespace {

using cluster::Snapshot;

/// Requests that asked for accelerators, as many as are told apart.
constexpr std::size_t kWantsMax = 64;
constexpr std::size_t kBitsMax = 64;
constexpr std::int64_t kWeights = 65'536;
/// What an accelerator that cannot be fed counts.
constexpr std::int64_t kUnfedPart = 12;
/// A resource of which a node has more is none that is counted in pieces.
constexpr std::int64_t kUnitsMax = 128;
constexpr std::int64_t kWhole = DeviceShares::kWhole;
constexpr std::int64_t kMebi = std::int64_t{1} << 20;

std::int64_t amount_of(const cluster::PodClass& pod_class, cluster::ResourceId resource) {
  for (const cluster::ResourceAmount& request : pod_class.requests) {
    if (request.resource == resource) return request.amount;
  }
  return 0;
}

/// Whether labels and taints let both go to the same nodes.
bool same_facts(const cluster::PodClass& a, const cluster::PodClass& b) {
  return a.node_selector == b.node_selector && a.required_affinity == b.required_affinity &&
         a.tolerations == b.tolerations;
}

bool may_go(const ClassRules& rules, const cluster::NodeInfo& node) {
  return facts_refusal(rules, node) == 0;
}

}  // namespace

std::optional<FragmentAsk> fragment_ask(const ClassRules& rules, const cluster::DeviceWish& wish) {
  if (!wish.is_plain || rules.served != 0 || !rules.pod_class->unreadable.empty()) return {};
  FragmentAsk ask{.cpu_milli = amount_of(*rules.pod_class, cluster::kCpu),
                  .memory_mib = amount_of(*rules.pod_class, cluster::kMemory) / kMebi,
                  .count = wish.count,
                  .capacity = wish.capacity};
  for (const cluster::ResourceAmount& request : rules.accelerators) {
    if (request.amount > kUnitsMax || wish.count > 0) return {};
    ask.count += static_cast<std::int32_t>(request.amount);
  }
  return ask;
}

std::int64_t Fragments::Free::total() const {
  return std::accumulate(shares.free.begin(), shares.free.begin() + shares.count, units * kWhole);
}

// --- what is known of the mix and the nodes -----------------------------------------------------

void Fragments::update(const Snapshot& snapshot, DeviceCounts* counts,
                       const std::vector<std::uint32_t>& rank_of) {
  const bool is_known = mix_ == snapshot.mix() && counts_ == counts &&
                        by_name_generation_ == snapshot.by_name_generation() &&
                        generation_ <= snapshot.generation();
  counts_ = counts;
  if (snapshot.mix() == nullptr || options_.weight_accelerator_packing <= 0) {
    if (mix_ != nullptr) changes_.add_all();
    mix_ = nullptr;
    return;
  }
  const auto counted = counts == nullptr ? std::nullopt : counts->changes().since(counts_mark_);
  if (!is_known || (counts != nullptr && !counted)) {
    rebuild(snapshot);
  } else if (generation_ != snapshot.generation()) {
    const Fleet before = fleet_;
    std::vector<cluster::NodeIndex> changed;
    snapshot.changed_since(generation_, changed);
    for (const cluster::NodeIndex node : changed) {
      if (snapshot.facts_generation(node) > generation_ && rank_of[node.value] < places_.size()) {
        read_place(snapshot, rank_of[node.value]);
      }
    }
    if (counted) {
      for (const std::uint32_t rank : *counted) read_place(snapshot, rank);
    }
    if (fleet_ != before) changes_.add_all();
  }
  if (counts != nullptr) counts_mark_ = counts->changes().read_all();
  update_needs();
  generation_ = snapshot.generation();
}

void Fragments::rebuild(const Snapshot& snapshot) {
  mix_ = snapshot.mix();
  by_name_generation_ = snapshot.by_name_generation();
  read_mix(snapshot);
  places_.assign(snapshot.by_name().size(), {});
  fleet_ = {};
  for (std::uint32_t rank = 0; rank < places_.size(); ++rank) read_place(snapshot, rank);
  changes_.add_all();
}

void Fragments::read_mix(const Snapshot& snapshot) {
  groups_.clear();
  accelerators_.clear();
  facts_.clear();
  std::vector<std::pair<ClassRules, FragmentAsk>> asks;
  std::vector<const cluster::MixRequest*> requests;
  std::int64_t total = 2 * mix_->first_weight;
  for (const cluster::MixRequest& request : mix_->requests) {
    ClassRules rules(request.pod_class, options_, snapshot.resources());
    std::optional<FragmentAsk> ask = fragment_ask(rules, request.devices);
    if (!ask || (ask->count > 0 && requests.size() == kWantsMax)) continue;
    total += request.weight;
    if (ask->count == 0) continue;
    for (const cluster::ResourceAmount& one : rules.accelerators) {
      const bool is_new = std::ranges::find(accelerators_, one.resource) == accelerators_.end();
      if (is_new) accelerators_.push_back(one.resource);
    }
    asks.emplace_back(std::move(rules), *std::move(ask));
    requests.push_back(&request);
  }
  first_weight_ = mix_->first_weight * kWeights / total;
  for (std::size_t i = 0; i < asks.size(); ++i) {
    const auto& [rules, ask] = asks[i];
    const auto like = std::ranges::find_if(groups_, [&ask](const WantGroup& group) {
      return group.count == ask.count && group.capacity == ask.capacity;
    });
    WantGroup& group = like != groups_.end() ? *like : groups_.emplace_back();
    group.count = ask.count;
    group.capacity = ask.capacity;
    group.wants.push_back({.cpu_milli = ask.cpu_milli,
                           .memory_mib = ask.memory_mib,
                           .weight = requests[i]->weight * kWeights / total,
                           .bit = bit_of(rules)});
  }
}

std::uint64_t Fragments::bit_of(const ClassRules& rules) {
  const auto like = std::ranges::find_if(facts_, [&rules](const ClassRules& one) {
    return same_facts(*one.pod_class, *rules.pod_class);
  });
  const auto position = static_cast<std::size_t>(like - facts_.begin());
  if (like == facts_.end()) facts_.push_back(rules);
  return std::uint64_t{1} << position;
}

void Fragments::read_place(const Snapshot& snapshot, std::uint32_t rank) {
  const cluster::NodeIndex node = snapshot.by_name()[rank];
  Place& place = places_[rank];
  count_in(place, -1);
  place = {};
  for (std::size_t i = 0; i < facts_.size(); ++i) {
    if (may_go(facts_[i], *snapshot.node(node))) place.mask |= std::uint64_t{1} << i;
  }
  if (counts_ != nullptr) place.shares = counts_->of(node).shares;
  place.accelerators = place.shares.count;
  for (const cluster::ResourceId resource : accelerators_) {
    const std::int64_t units = snapshot.allocatable(node, resource);
    if (units > 0 && units <= kUnitsMax) place.accelerators += units;
  }
  if (place.accelerators > 0) {
    place.cpu_milli = snapshot.allocatable(node, cluster::kCpu);
    place.memory_mib = snapshot.allocatable(node, cluster::kMemory) / kMebi;
  }
  count_in(place, 1);
  changes_.add(rank);
}

void Fragments::count_in(const Place& place, std::int64_t sign) {
  fleet_.cpu_milli += sign * place.cpu_milli;
  fleet_.memory_mib += sign * place.memory_mib;
  fleet_.accelerators += sign * place.accelerators;
}

void Fragments::update_needs() {
  if (counts_ == nullptr) return;
  for (WantGroup& group : groups_) {
    for (std::size_t kind = group.needs.size(); kind < counts_->kinds().capacities().size();
         ++kind) {
      const DeviceShares shares{.kind = static_cast<std::uint32_t>(kind)};
      group.needs.push_back(need_of(group.capacity, shares));
    }
  }
}

// --- one node -----------------------------------------------------------------------------------

Fragments::Free Fragments::free_of(std::uint32_t rank, const NodeUse& use) const {
  Free free{
      .cpu_milli = use.allocatable(cluster::kCpu) - use.requested(cluster::kCpu),
      .memory_mib = (use.allocatable(cluster::kMemory) - use.requested(cluster::kMemory)) / kMebi,
      .shares = places_[rank].shares};
  if (!free.shares.is_known) free.shares.count = 0;
  for (const cluster::ResourceId resource : accelerators_) {
    const std::int64_t units = use.allocatable(resource);
    if (units <= 0 || units > kUnitsMax) continue;
    free.units_all += units;
    free.units += std::max<std::int64_t>(0, units - use.requested(resource));
  }
  return free;
}

/// Per mille of a device that a request takes at least; more than all of it: it does not fit.
std::int32_t Fragments::need_of(const api::QuantityMap& capacity,
                                const DeviceShares& shares) const {
  if (capacity.empty()) return kWhole;
  const api::QuantityMap& whole = counts_->kinds().capacities()[shares.kind];
  std::int32_t most = 0;
  for (const auto& [name, amount] : capacity) {
    const api::Quantity* of = api::find_named(whole, name);
    if (of == nullptr || amount > *of) return kWhole + 1;
    most = std::max(most, share_of(amount, *of));
  }
  return most;
}

/// False where it does not fit.
bool Fragments::take(const FragmentAsk& ask, Free& free) const {
  free.cpu_milli -= ask.cpu_milli;
  free.memory_mib -= ask.memory_mib;
  std::int32_t left = ask.count;
  if (free.shares.count > 0 && left > 0) {
    const auto need = static_cast<std::int16_t>(need_of(ask.capacity, free.shares));
    for (std::size_t i = 0; i < free.shares.count && left > 0; ++i) {
      if (free.shares.free[i] < need) continue;
      free.shares.free[i] = static_cast<std::int16_t>(free.shares.free[i] - need);
      --left;
    }
  }
  const std::int64_t units = std::min<std::int64_t>(free.units, left);
  free.units -= units;
  return left == units;
}

/// Times kWeights.
std::int64_t Fragments::fragments(const Free& free, std::uint64_t mask) const {
  const std::int64_t units = free.units * kWhole;
  const std::span<const std::int16_t> shares(free.shares.free.data(), free.shares.count);
  const std::int64_t whole = units + kWhole * std::ranges::count(shares, DeviceShares::kWhole);
  const std::int64_t all = (free.units_all + free.shares.count) * kWhole;
  std::int64_t usable = first_weight_ * (whole + (whole == all ? whole : 0));
  for (const WantGroup& group : groups_) {
    const bool has_need = free.shares.count > 0;
    const std::int32_t need = has_need ? group.needs[free.shares.kind] : 0;
    std::int64_t fits = units;
    std::int64_t count = free.units;
    for (const std::int16_t share : shares) {
      if (share < need) continue;
      fits += share;
      ++count;
    }
    if (count < group.count) continue;
    for (const Want& want : group.wants) {
      const bool may = (want.bit & mask) != 0 && want.cpu_milli <= free.cpu_milli &&
                       want.memory_mib <= free.memory_mib;
      if (may) usable += want.weight * fits;
    }
  }
  return free.total() * kWeights - usable;
}

/// What is free of accelerators beyond what cpu, and beyond what memory left on the node feeds.
std::int64_t Fragments::unfed(const Free& free) const {
  const std::int64_t total = free.total();
  const auto beyond = [&](std::int64_t left, std::int64_t fleet) {
    if (fleet <= 0) return std::int64_t{0};
    const std::int64_t feeds =
        std::max<std::int64_t>(0, left) * (fleet_.accelerators * kWhole) / fleet;
    return std::max<std::int64_t>(0, total - feeds);
  };
  return beyond(free.cpu_milli, fleet_.cpu_milli) + beyond(free.memory_mib, fleet_.memory_mib);
}

std::int32_t Fragments::growth(const FragmentAsk& ask, std::uint32_t rank,
                               const NodeUse& use) const {
  const Place& place = places_[rank];
  const Free before = free_of(rank, use);
  if (!place.shares.is_known || before.total() == 0) return 0;
  Free after = before;
  if (!take(ask, after)) return 0;
  const std::int64_t grown = fragments(after, place.mask) - fragments(before, place.mask) +
                             (unfed(after) - unfed(before)) * (kWeights / kUnfedPart);
  return static_cast<std::int32_t>((grown + (grown < 0 ? -1 : 1) * kWeights / 2) / kWeights);
}

bool Fragments::may_fit(const FragmentAsk& ask, std::uint32_t rank) const {
  const DeviceShares& shares = places_[rank].shares;
  const bool is_told = shares.is_known && counts_ != nullptr && !counts_->has_shared_pools();
  if (!is_told || ask.count == 0) return true;
  if (ask.capacity.empty() && shares.has_policy) return true;
  if (shares.count == 0) return false;
  const std::int32_t need = need_of(ask.capacity, shares);
  const std::span<const std::int16_t> free(shares.free.data(), shares.count);
  return std::ranges::count_if(free, [need](std::int16_t share) { return share >= need; }) >=
         ask.count;
}

std::int64_t Fragments::used(std::uint32_t rank, const NodeUse& use) const {
  const Free free = free_of(rank, use);
  const std::int64_t all = (free.units_all + free.shares.count) * kWhole;
  return all == 0 ? kAllUsed : (all - free.total()) * kAllUsed / all;
}

}  // namespace gang::engine
