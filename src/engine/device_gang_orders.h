// GangOrders: the orders in which a gang is placed anew where the first one left members out.
//
// Problem: first solutions, kind by kind, may leave out members that would fit had another kind, or
// a later alternative, come first; a search below one bad early choice does not find that.
// Idea: short tries, each from the beginning. First orders that the failures themselves ask for:
// the kind that was short goes first next time; where that was tried, some members of a kind that
// has alternatives go ahead of it with a later one: 1, 2, 4 and so on, and once all are placed
// fewer again, by halves, so that as few as possible give up a first alternative. Then scattered
// orders: members, nodes and devices as drawn from numbers that are the same in every attempt,
// kinds that were short often rather early.
// Ties: by number of the kind. Each order costs a first pass at most. Cannot prove anything. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "engine/device_gang.h"

namespace gang::engine {

/// Numbers that look drawn; a seed gives the same ones always. A value.
class Draws {
 public:
  explicit Draws(std::uint64_t seed) : state_(seed << 32U) {}
  /// Below `count`. REQUIRES: count > 0.
  std::uint64_t below(std::uint64_t count);
  template <typename T>
  void shuffle(std::vector<T>& list) {
    for (std::size_t i = list.size(); i > 1; --i) std::swap(list[i - 1], list[below(i)]);
  }

 private:
  std::uint64_t state_;
};

/// Members of one kind whose turn it is. A value.
struct GangTurn {
  std::size_t kind = 0;
  std::int32_t count = 0;         ///< at most
  std::uint32_t alternative = 0;  ///< to begin with; the others follow
  friend auto operator<=>(const GangTurn&, const GangTurn&) = default;
};

/// How a gang is placed once. A value.
struct GangOrder {
  enum class Way {
    kPreferred,  ///< what is preferred first, nodes in their order
    kCounted,    ///< as many on each node as fit there
    kScattered,  ///< one by one, as drawn
    kExact,      ///< by the search that goes back
  };
  Way way = Way::kPreferred;
  std::vector<GangTurn> turns;
  std::uint64_t seed = 0;  ///< kScattered

  /// What scattered members go by differs from seed to seed.
  [[nodiscard]] bool spreads() const { return (seed & 1U) != 0; }
  [[nodiscard]] bool takes_any_alternative() const { return (seed & 2U) != 0; }
  [[nodiscard]] bool turns_devices() const { return (seed & 4U) == 0; }
};

/// See the head of the file. Lives for one attempt; one thread.
class GangOrders {
 public:
  /// They outlive this and are sorted.
  explicit GangOrders(const std::vector<DeviceKind>& kinds);

  /// Kinds as they are sorted.
  [[nodiscard]] GangOrder first() const { return order_of({}); }
  /// The order to try after the last of these, which left out a member of `short_kind` before any
  /// of others, or nobody. Nothing: there is none that promises more.
  [[nodiscard]] std::optional<GangOrder> next(std::optional<std::size_t> short_kind);
  /// A drawn one. Counts for which kind the one before was short.
  [[nodiscard]] GangOrder scattered(std::optional<std::size_t> short_kind);

 private:
  [[nodiscard]] GangOrder order_of(const GangTurn& ahead) const;
  [[nodiscard]] std::optional<GangOrder> moved_first(std::size_t kind);
  [[nodiscard]] std::optional<GangOrder> with_more_ahead();
  [[nodiscard]] std::optional<GangOrder> with_fewer_ahead(bool was_enough);

  const std::vector<DeviceKind>& kinds_;
  std::vector<std::size_t> sequence_;  ///< of kinds
  std::set<std::vector<std::size_t>> tried_;
  std::vector<std::pair<std::size_t, std::uint32_t>> later_;  ///< kinds with later alternatives
  std::size_t ahead_count_ = 0;  ///< orders in which some of these went ahead
  GangTurn ahead_;               ///< who goes ahead with a later alternative
  /// Sizes of ahead_ that were too few and enough, once one was.
  std::optional<std::pair<std::int32_t, std::int32_t>> between_;
  std::vector<std::int64_t> shortages_;  ///< by kind
  std::int64_t shortage_count_ = 0;
  std::uint64_t seed_ = 0;
};

}  // namespace gang::engine
