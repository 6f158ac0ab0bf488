#include "engine/device_gang_orders.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace gang::engine {

/// The finalizer of splitmix64 over a counter.
std::uint64_t Draws::below(std::uint64_t count) {
  std::uint64_t mixed = (state_ += 0x9e3779b97f4a7c15U);
  mixed = (mixed ^ (mixed >> 30U)) * 0xbf58476d1ce4e5b9U;
  mixed = (mixed ^ (mixed >> 27U)) * 0x94d049bb133111ebU;
  return (mixed ^ (mixed >> 31U)) % count;
}

GangOrders::GangOrders(const std::vector<DeviceKind>& kinds)
    : kinds_(kinds), sequence_(kinds.size()), shortages_(kinds.size(), 0) {
  std::iota(sequence_.begin(), sequence_.end(), std::size_t{0});
  tried_.insert(sequence_);
  for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
    for (std::uint32_t later = 1; later < kinds[kind].alternatives; ++later) {
      later_.emplace_back(kind, later);
    }
  }
}

std::optional<GangOrder> GangOrders::next(std::optional<std::size_t> short_kind) {
  if (between_) return with_fewer_ahead(!short_kind);
  if (!short_kind) {
    if (ahead_.count == 0) return std::nullopt;
    between_ = {ahead_.count / 2, ahead_.count};
    return with_fewer_ahead(true);
  }
  if (auto order = moved_first(*short_kind)) return order;
  return with_more_ahead();
}

std::optional<GangOrder> GangOrders::moved_first(std::size_t kind) {
  std::vector<std::size_t> sequence = sequence_;
  const auto at = std::ranges::find(sequence, kind);
  std::rotate(sequence.begin(), at, at + 1);
  if (!tried_.insert(sequence).second) return std::nullopt;
  sequence_ = std::move(sequence);
  return order_of(ahead_);
}

/// Every kind and alternative with the same number, then with twice that.
std::optional<GangOrder> GangOrders::with_more_ahead() {
  constexpr std::size_t kDoublings = 20;
  for (; ahead_count_ < later_.size() * kDoublings; ++ahead_count_) {
    const auto& [kind, alternative] = later_[ahead_count_ % later_.size()];
    const std::size_t members = kinds_[kind].members.size();
    const auto doubled = std::size_t{1} << (ahead_count_ / later_.size());
    if (doubled / 2 >= members) continue;  // all of them were ahead
    const std::size_t count = std::min(doubled, members);
    ahead_ = {.kind = kind, .count = static_cast<std::int32_t>(count), .alternative = alternative};
    ++ahead_count_;
    return order_of(ahead_);
  }
  return std::nullopt;
}

std::optional<GangOrder> GangOrders::with_fewer_ahead(bool was_enough) {
  auto& [too_few, enough] = *between_;
  (was_enough ? enough : too_few) = ahead_.count;
  if (enough - too_few < 2) return std::nullopt;
  ahead_.count = too_few + (enough - too_few) / 2;
  return order_of(ahead_);
}

GangOrder GangOrders::order_of(const GangTurn& ahead) const {
  GangOrder order;
  for (const std::size_t kind : sequence_) {
    if (ahead.count > 0 && ahead.kind == kind) order.turns.push_back(ahead);
    const auto members = static_cast<std::int32_t>(kinds_[kind].members.size());
    order.turns.push_back({.kind = kind, .count = members});
  }
  return order;
}

GangOrder GangOrders::scattered(std::optional<std::size_t> short_kind) {
  constexpr std::int64_t kDrawn = 1'000;
  if (short_kind) {
    ++shortages_[*short_kind];
    ++shortage_count_;
  }
  GangOrder order{.way = GangOrder::Way::kScattered, .seed = ++seed_};
  Draws draws(order.seed);
  std::vector<std::pair<std::int64_t, GangTurn>> drawn;
  for (std::size_t kind = 0; kind < kinds_.size(); ++kind) {
    const std::int64_t lead =
        kDrawn * shortages_[kind] / std::max<std::int64_t>(1, shortage_count_);
    for (std::size_t i = 0; i < kinds_[kind].members.size(); ++i) {
      const auto place = static_cast<std::int64_t>(draws.below(kDrawn)) - lead;
      drawn.push_back({place, {.kind = kind, .count = 1}});
    }
  }
  std::ranges::sort(drawn);
  for (const auto& [place, turn] : drawn) order.turns.push_back(turn);
  return order;
}

}  // namespace gang::engine
