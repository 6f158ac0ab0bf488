// GangQueue: which gang is next, which ones are parked, and when to look at one again.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "gang/base/time.h"
#include "gang/cluster/gang.h"

namespace gang::scheduler {

/// Place of a gang among the active ones: priority descending, then gangs that hold bound members
/// below their minimum, then the oldest, then by UID. Made from objects only, so that it survives a
/// restart. Value.
struct QueueOrder {
  std::int64_t priority_negated = 0;
  bool is_not_started = true;
  TimePoint creation_time{};
  api::Uid uid;
  cluster::GangId id;
  friend auto operator<=>(const QueueOrder&, const QueueOrder&) = default;
};

/// The place of a gang that needs `minimum` bound members.
[[nodiscard]] QueueOrder queue_order(const cluster::Gang& gang, std::int32_t minimum);

/// Areas and timers. Owned by the scheduler; one thread. A gang is in at most one of active and
/// parked and has at most one timer. Does not know why a gang is where it is.
class GangQueue {
 public:
  /// Puts the gang into active, at a new place when it is there already.
  void activate(const QueueOrder& order);
  void park(cluster::GangId id);
  /// Takes the gang out of active and parked; keeps its timer.
  void take_out(cluster::GangId id);
  /// Forgets the gang.
  void erase(cluster::GangId id);

  /// When to look at the gang again; nullopt = not before something changes.
  void set_timer(cluster::GangId id, std::optional<TimePoint> time);
  /// Gangs whose timer is due, by time; their timers are taken away.
  [[nodiscard]] std::vector<cluster::GangId> take_due(TimePoint now);
  [[nodiscard]] std::optional<TimePoint> next_timer() const;

  [[nodiscard]] std::optional<cluster::GangId> first_active() const;
  [[nodiscard]] bool has_active() const { return !active_.empty(); }
  [[nodiscard]] const std::set<cluster::GangId>& parked() const { return parked_; }

 private:
  std::set<QueueOrder> active_;
  std::map<cluster::GangId, QueueOrder> places_;  ///< of active gangs
  std::set<cluster::GangId> parked_;
  std::set<std::pair<TimePoint, cluster::GangId>> timers_;
  std::map<cluster::GangId, TimePoint> timer_of_;
};

}  // namespace gang::scheduler
