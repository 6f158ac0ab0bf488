// DeviceTroubles: what is wrong with devices that claims hold, to be told of once that has lasted.
//
// Problem: two schedulers may give one device to two claims within a moment, and a driver that
// publishes its pool anew may leave out a device for a moment. A round that meets the first gives
// its devices back, a driver ends the second, and nobody has to do anything; what stays needs a
// person. Idea: what came about stands until a look finds it over; only what has lasted for ten
// seconds is told, once while it stands. While the pool of a device is not complete nothing can be
// said of it, and the ten seconds begin anew. Source: the devices contract, 2.2 and 12.6.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "gang/api/claim.h"
#include "gang/base/time.h"
#include "gang/cluster/cluster_state.h"

namespace gang::scheduler {

/// See the head of the file. Owned by the scheduler's core; one thread.
class DeviceTroubles {
 public:
  /// What a look has found to tell.
  struct Found {
    std::vector<cluster::DeviceTrouble> lasting;  ///< none is told twice while it stands
    std::vector<cluster::DeviceTrouble> over;     ///< of those that were told
  };

  void note(const cluster::Change& change, TimePoint now);
  /// Whether something has changed that may end what stands.
  [[nodiscard]] bool awaits_look() const { return is_changed_ && !standing_.empty(); }
  /// O(standing) when something has changed or is due, else O(1).
  [[nodiscard]] Found look(cluster::ClusterState& state, TimePoint now);
  /// When look() is to be called next.
  [[nodiscard]] std::optional<TimePoint> due() const { return due_; }

 private:
  /// Device, claim, the other claim.
  using Key = std::tuple<api::DeviceName, api::Uid, api::Uid>;
  struct Standing {
    cluster::DeviceTrouble trouble;
    std::optional<TimePoint> since;  ///< none: whether it is there cannot be said
    bool is_told = false;
  };

  void settle(Standing& one, TimePoint now, Found& found);

  std::map<Key, Standing> standing_;
  std::optional<TimePoint> due_;  ///< of the first that is not told
  bool is_changed_ = false;       ///< devices or claims have, since the last look
};

/// "device d/p/x is held by claims a/b and a/c", "device d/p/x of claim a/b is shown by no slice".
[[nodiscard]] std::string trouble_text(const cluster::DeviceTrouble& trouble);

}  // namespace gang::scheduler
