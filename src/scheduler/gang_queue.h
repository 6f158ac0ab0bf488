// GangQueue: which gang is next, which ones are parked, and when to look at one again.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "gang/base/time.h"
#include "gang/cluster/gang.h"

namespace gang::scheduler {

/// Order of gangs: priority descending, then gangs that hold bound members below their minimum,
/// then the oldest, then by UID. Made from objects only, so that it survives a restart. Value.
struct QueueOrder {
  std::int64_t priority_negated = 0;
  bool is_not_started = true;
  TimePoint since{};  ///< creation
  api::Uid uid;
  cluster::GangId id;
  friend auto operator<=>(const QueueOrder&, const QueueOrder&) = default;
};

/// The order of a gang that needs `minimum` bound members.
[[nodiscard]] QueueOrder queue_order(const cluster::Gang& gang, std::int32_t minimum);

/// Place of a gang among the active ones. Value.
struct QueuePlace {
  QueueOrder order;
  std::string name_space = {};
  TimePoint attempted_at{};  ///< the last time
};

/// Areas and timers. Owned by the scheduler; one thread. A gang is in at most one of active and
/// parked and has at most one timer. Active gangs go by their order, but those of namespaces that
/// are behind come after all others, and among them an attempt renews the place as in upstream's
/// queue, so that each of them gets its turn. Does not know why a gang or a namespace is where it
/// is. O(log gangs), and O(gangs of the namespace) where it falls behind or is in order again.
class GangQueue {
 public:
  /// Puts the gang into active, at a new place when it is there already.
  void activate(QueuePlace place);
  void park(cluster::GangId id);
  /// Takes the gang out of active and parked; keeps its timer.
  void take_out(cluster::GangId id);
  /// Forgets the gang.
  void erase(cluster::GangId id);

  /// Whether gangs of the namespace, also later ones, come after those of others.
  void set_behind(const std::string& name_space, bool is_behind);

  /// When to look at the gang again; nullopt = not before something changes.
  void set_timer(cluster::GangId id, std::optional<TimePoint> time);
  /// Gangs whose timer is due, by time; their timers are taken away.
  [[nodiscard]] std::vector<cluster::GangId> take_due(TimePoint now);
  [[nodiscard]] std::optional<TimePoint> next_timer() const;

  [[nodiscard]] std::optional<cluster::GangId> first_active() const;
  [[nodiscard]] bool has_active() const { return !heads_.empty(); }
  [[nodiscard]] const std::set<cluster::GangId>& parked() const { return parked_; }

 private:
  /// The first active gang of a namespace. Value.
  struct Head {
    bool is_behind = false;
    QueueOrder order;
    friend auto operator<=>(const Head&, const Head&) = default;
  };
  using Line = std::set<QueueOrder>;

  [[nodiscard]] QueueOrder order_in_line(const QueuePlace& place) const;
  /// Around every change of a namespace's line.
  Line& open_line(const std::string& name_space);
  void close_line(const std::string& name_space);

  std::map<std::string, Line> lines_;  ///< active gangs by namespace; none is empty
  std::set<Head> heads_;               ///< of the lines
  std::set<std::string> behind_;
  std::map<cluster::GangId, QueuePlace> places_;  ///< of active gangs
  std::set<cluster::GangId> parked_;
  std::set<std::pair<TimePoint, cluster::GangId>> timers_;
  std::map<cluster::GangId, TimePoint> timer_of_;
};

}  // namespace gang::scheduler
