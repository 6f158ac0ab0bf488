// DoubleBookings: devices that two claims hold, to be told of once that has lasted.
//
// Problem: two schedulers may give one device to two claims within a moment. A round that meets
// this gives its devices back, and nobody has to do anything; what stays needs a person. Idea: only
// what has lasted for ten seconds is told. Source: the devices contract, 12.6.
#pragma once

#include <deque>
#include <optional>
#include <vector>

#include "gang/api/claim.h"
#include "gang/base/time.h"
#include "gang/cluster/cluster_state.h"

namespace gang::scheduler {

/// See the head of the file. Owned by the scheduler's core; one thread.
class DoubleBookings {
 public:
  void note(const cluster::Change& change, TimePoint now);
  /// Those whose time has come and that are there yet. None is returned twice.
  [[nodiscard]] std::vector<api::DoubleBooking> take_lasting(const cluster::ClusterState& state,
                                                             TimePoint now);
  /// When take_lasting() is to be called next.
  [[nodiscard]] std::optional<TimePoint> due() const;

 private:
  /// One that came about so that it is to be looked at then.
  struct Awaited {
    api::DoubleBooking booking;
    TimePoint due{};
  };

  std::deque<Awaited> awaited_;  ///< the first due first
};

}  // namespace gang::scheduler
