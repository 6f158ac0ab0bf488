// What members ask for of devices, request by request, and what the numbers of devices prove of it.
//
// Requests that want the same devices (class, selectors) are added up over the claims of a pod, and
// over its gang. Devices that many can use serve any number of users; one request uses each of them
// once. Source: the devices contract, 2.11 and 13.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/device_draft.h"
#include "engine/device_gang.h"
#include "engine/device_tally.h"
#include "engine/extended_claims.h"
#include "gang/cluster/gang.h"

namespace gang::engine {

/// What the numbers of devices prove, the weakest first.
enum class Lacking {
  kUnknown,  ///< nothing: there are enough
  kNow,      ///< fewer are free than so many members need
  kOnFleet,  ///< fewer can serve than so many members need, whoever has them
};

/// What the members of a kind ask for. All outlive it.
struct Asking {
  const std::vector<cluster::GangClaim>& claims;  ///< of the gang
  const DeviceKind& kind;
  std::int64_t users = 1;  ///< so many members of the kind need devices
  /// What each of them needs besides where its node offers none of its extended resources; null:
  /// nothing.
  const ExtendedClaim* extended = nullptr;
  bool is_extended_everywhere = false;  ///< no node offers any of them
};

/// A request of a claim that so many members have, each for itself. A value.
struct Wanted {
  const api::ResourceClaim* claim = nullptr;  ///< not null
  std::size_t request = 0;
  std::int64_t users = 1;
  std::string resource = {};  ///< "extended resource r of container c" that it stands for, or ""
  bool is_certain = true;     ///< needs devices on whatever node
  // Devices that exact requests want which ask alike:
  std::int64_t of_one = 0;   ///< of one member
  std::int64_t of_kind = 0;  ///< of all users of the kind
  std::int64_t of_gang = 0;  ///< of these and of other kinds

  [[nodiscard]] const api::DeviceRequest& of() const { return claim->spec.requests[request]; }
};

/// Whether both are exact requests that count and want the same devices.
[[nodiscard]] bool ask_alike(const Wanted& a, const Wanted& b);

/// Every request of one member that has no devices yet. `others`: kinds of the gang that need
/// devices beside this one.
[[nodiscard]] std::vector<Wanted> wanted_of(const Asking& asking,
                                            const std::vector<Asking>& others);

/// A request with what it could have, counted over nodes. Lives as long as what it was made of.
class Counted {
 public:
  Counted(const DeviceStage& stage, const std::vector<SeenNode>& nodes, const Wanted& wanted);

  [[nodiscard]] const Wanted& wanted() const { return wanted_; }
  [[nodiscard]] const Counter& counter() const { return counter_; }
  /// The alternative of which the largest part of what is needed is free, or else is there.
  [[nodiscard]] const AskTally& told() const { return counter_.asks()[nearest_]; }
  /// Devices that one user needs of the alternative that is told.
  [[nodiscard]] std::int64_t needed_by_one() const { return needed_by_one(told()); }
  /// The same of all: of the kind, or of the gang where the kind alone has enough.
  [[nodiscard]] std::int64_t needed() const;
  /// Where devices are given out in shares: those of all users; each is of another device for one
  /// request only. 0: they are not.
  [[nodiscard]] std::int64_t shares() const;
  /// Free devices beyond those that are needed, all alternatives together.
  [[nodiscard]] std::int64_t margin() const;
  [[nodiscard]] Lacking lacking() const;
  /// At most so many members does the node serve, by free devices or by all that are able.
  [[nodiscard]] std::int64_t users_on(std::size_t node, bool by_free) const;

 private:
  /// Devices free, or there at all: of one alternative, and of all.
  struct Amount {
    std::int64_t (Tally::*of_one)() const;
    std::int64_t (Counter::*of_all)() const;
  };
  static constexpr Amount kFree = {&Tally::free, &Counter::free};
  static constexpr Amount kAble = {&Tally::able, &Counter::able};

  [[nodiscard]] std::int64_t needed_by_one(const AskTally& one) const;
  [[nodiscard]] std::int64_t needed_by_kind(const AskTally& one) const;
  [[nodiscard]] std::int64_t needed_by_gang() const;
  [[nodiscard]] std::size_t find_nearest() const;
  [[nodiscard]] std::int64_t reach(Amount amount) const;

  const Wanted& wanted_;
  Counter counter_;
  std::size_t nearest_ = 0;
};

/// At most so many members do the nodes serve with all that each of them asks for on one node.
[[nodiscard]] std::int64_t served_by(const std::vector<SeenNode>& nodes,
                                     const std::vector<Counted>& all, std::int64_t users,
                                     bool by_free);

}  // namespace gang::engine
