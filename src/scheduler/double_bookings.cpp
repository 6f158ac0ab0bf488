#include "scheduler/double_bookings.h"

#include <algorithm>
#include <utility>

namespace gang::scheduler {
namespace {

constexpr Duration kLastingAfter = std::chrono::seconds(10);

/// Whether the claim, as it is shown now, has the device yet.
bool holds(const cluster::ClusterState& state, const api::ResourceClaim& claim,
           const api::DeviceName& device) {
  const auto now = state.claim(claim.meta.key);
  if (!now || now->meta.uid != claim.meta.uid || !now->allocation) return false;
  return std::ranges::any_of(now->allocation->results, [&](const api::DeviceResult& result) {
    return !result.admin_access &&
           api::DeviceName{result.driver, result.pool, result.device} == device;
  });
}

bool is_there(const cluster::ClusterState& state, const api::DoubleBooking& booking) {
  return holds(state, *booking.claim, booking.device) &&
         holds(state, *booking.other, booking.device);
}

}  // namespace

void DoubleBookings::note(const cluster::Change& change, TimePoint now) {
  for (const api::DoubleBooking& booking : change.double_bookings) {
    awaited_.push_back({.booking = booking, .due = now + kLastingAfter});
  }
}

std::vector<api::DoubleBooking> DoubleBookings::take_lasting(const cluster::ClusterState& state,
                                                             TimePoint now) {
  std::vector<api::DoubleBooking> lasting;
  for (; !awaited_.empty() && awaited_.front().due <= now; awaited_.pop_front()) {
    api::DoubleBooking& booking = awaited_.front().booking;
    if (is_there(state, booking)) lasting.push_back(std::move(booking));
  }
  return lasting;
}

std::optional<TimePoint> DoubleBookings::due() const {
  if (awaited_.empty()) return std::nullopt;
  return awaited_.front().due;
}

}  // namespace gang::scheduler
