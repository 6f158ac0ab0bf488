#include "engine/device_bound.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <utility>

namespace gang::engine {
namespace {

constexpr std::int64_t kMany = std::numeric_limits<std::int32_t>::max();

/// Devices that one of the alternatives takes at least; 0 where that cannot be counted.
std::int64_t least_count(const PreparedRequest& request) {
  std::int64_t least = kMany;
  for (const PreparedAsk& ask : request.asks) {
    const bool is_counted = !ask.takes_all() && !ask.is_admin() && ask.count > 0;
    least = is_counted ? std::min(least, ask.count) : 0;
  }
  return least;
}

}  // namespace

std::vector<std::uint32_t> DeviceBound::selected(const PreparedClaim& claim,
                                                 PreparedAsk& ask) const {
  std::vector<std::uint32_t> positions;
  for (std::uint32_t i = 0; i < node_.candidates.size(); ++i) {
    if (judge_selectable(inputs_, node_, claim, ask, i).is_yes()) positions.push_back(i);
  }
  return positions;
}

/// Selected by one of the request's alternatives at least.
std::vector<std::uint32_t> DeviceBound::selected(const PreparedClaim& claim,
                                                 PreparedRequest& request) const {
  std::vector<std::uint32_t> positions;
  for (PreparedAsk& ask : request.asks) {
    const std::vector<std::uint32_t> more = selected(claim, ask);
    std::vector<std::uint32_t> all;
    std::ranges::set_union(positions, more, std::back_inserter(all));
    positions = std::move(all);
  }
  return positions;
}

std::int64_t DeviceBound::claims_like(PreparedClaim& claim) const {
  std::int64_t bound = kMany;
  for (PreparedRequest& request : claim.requests) {
    const std::int64_t least = least_count(request);
    if (least > 0) bound = std::min(bound, devices_for(claim, request) / least);
  }
  return bound;
}

std::int64_t DeviceBound::devices_for(const PreparedClaim& claim, PreparedRequest& request) const {
  std::int64_t count = 0;
  // Partitions that take of the same counter sets, by pool and the first of these sets.
  std::map<std::pair<const cluster::DevicePool*, std::uint32_t>, std::vector<std::uint32_t>> by_set;
  for (const std::uint32_t position : selected(claim, request)) {
    const DeviceCandidate& candidate = node_.candidates[position];
    if (ledger_.is_multi(*candidate.device)) return kMany;
    if (inputs_.avoided.has(candidate.device->id)) continue;
    if (ledger_.is_in_use({.pool = *candidate.pool, .device = *candidate.device})) continue;
    const auto& sets = candidate.device->counter_sets;
    if (sets.empty()) {
      ++count;
    } else if (fits_now(candidate)) {
      by_set[{candidate.pool, sets.front()}].push_back(position);
    }
  }
  for (const auto& [set, partitions] : by_set) count += room_in(partitions);
  return count;
}

bool DeviceBound::fits_now(const DeviceCandidate& candidate) const {
  if (!ledger_.knows_counters(*candidate.pool)) return false;
  const auto& left = ledger_.counters_left(*candidate.pool);
  return std::ranges::all_of(candidate.device->counters, [&left](const cluster::CounterUse& use) {
    return use.amount <= left[use.counter];
  });
}

/// Every counter that all of them take bounds how many of them fit.
std::int64_t DeviceBound::room_in(const std::vector<std::uint32_t>& partitions) const {
  std::map<std::uint32_t, std::pair<std::size_t, api::Quantity>> least;
  for (const std::uint32_t position : partitions) {
    for (const cluster::CounterUse& use : node_.candidates[position].device->counters) {
      const auto [place, is_new] = least.try_emplace(use.counter, 0, use.amount);
      ++place->second.first;
      place->second.second = std::min(place->second.second, use.amount);
    }
  }
  const auto& left = ledger_.counters_left(*node_.candidates[partitions.front()].pool);
  auto room = static_cast<std::int64_t>(partitions.size());
  for (const auto& [counter, taken] : least) {
    const auto& [takers, amount] = taken;
    if (takers < partitions.size() || amount.nano() <= 0) continue;
    const api::Quantity::Nano fits =
        std::max<api::Quantity::Nano>(0, left[counter].nano()) / amount.nano();
    if (fits < room) room = static_cast<std::int64_t>(fits);
  }
  return room;
}

}  // namespace gang::engine
