#include "scheduler/device_troubles.h"

#include <algorithm>
#include <utility>
#include <variant>

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

/// Whether it is as it was told; nothing when that cannot be said now.
std::optional<bool> is_there(cluster::ClusterState& state, const api::DoubleBooking& booking) {
  return holds(state, *booking.claim, booking.device) &&
         holds(state, *booking.other, booking.device);
}

std::optional<bool> is_there(cluster::ClusterState& state, const cluster::LostDevice& lost) {
  if (!holds(state, *lost.claim, lost.device)) return false;
  const std::optional<bool> is_shown = state.shows(lost.device);
  return is_shown ? std::optional(!*is_shown) : std::nullopt;
}

std::string text_of(const api::DoubleBooking& booking) {
  return "device " + booking.device.text() + " is held by claims " +
         booking.claim->meta.key.text() + " and " + booking.other->meta.key.text();
}

std::string text_of(const cluster::LostDevice& lost) {
  return "device " + lost.device.text() + " of claim " + lost.claim->meta.key.text() +
         " is shown by no slice";
}

api::Uid other_of(const api::DoubleBooking& booking) {
  return booking.other->meta.uid;
}

api::Uid other_of(const cluster::LostDevice& /*lost*/) {
  return {};
}

}  // namespace

void DeviceTroubles::note(const cluster::Change& change, TimePoint now) {
  is_changed_ |= change.devices_gained || change.devices_lost;
  for (const cluster::DeviceTrouble& trouble : change.device_troubles) {
    const auto key_of = [](const auto& one) {
      return Key{one.device, one.claim->meta.uid, other_of(one)};
    };
    const Key key = std::visit(key_of, trouble);
    standing_.try_emplace(key, Standing{.trouble = trouble, .since = now});
    is_changed_ = true;
  }
}

DeviceTroubles::Found DeviceTroubles::look(cluster::ClusterState& state, TimePoint now) {
  Found found;
  if (!std::exchange(is_changed_, false) && (!due_ || *due_ > now)) return found;
  due_.reset();
  for (auto place = standing_.begin(); place != standing_.end();) {
    Standing& one = place->second;
    const auto is_yet = [&](const auto& trouble) { return is_there(state, trouble); };
    const std::optional<bool> is = std::visit(is_yet, one.trouble);
    if (is == false) {
      if (one.is_told) found.over.push_back(std::move(one.trouble));
      place = standing_.erase(place);
      continue;
    }
    one.since = is ? std::optional(one.since.value_or(now)) : std::nullopt;
    settle(one, now, found);
    ++place;
  }
  return found;
}

void DeviceTroubles::settle(Standing& one, TimePoint now, Found& found) {
  if (one.is_told || !one.since) return;
  const TimePoint due = *one.since + kLastingAfter;
  if (due > now) {
    due_ = due_ ? std::min(*due_, due) : due;
    return;
  }
  one.is_told = true;
  found.lasting.push_back(one.trouble);
}

std::string trouble_text(const cluster::DeviceTrouble& trouble) {
  return std::visit([](const auto& one) { return text_of(one); }, trouble);
}

}  // namespace gang::scheduler
