// RequestMix: which requests came of late, and how often: what the next pod may ask for.
//
// Every request counts when its gang is attempted for the first time. By count, not by clock, the
// old ones weigh less and less, so that equal histories give equal mixes; part of a snapshot, so
// that a plan can be made again. Values only; any thread.
#pragma once

#include <compare>
#include <cstdint>
#include <memory>
#include <vector>

#include "gang/api/device_request.h"
#include "gang/cluster/gang.h"
#include "gang/cluster/pod_class.h"

namespace gang::cluster {

/// What the claims of one member ask of devices, as far as one number tells it.
struct DeviceWish {
  std::int32_t count = 0;     ///< of devices; 0: none
  api::QuantityMap capacity;  ///< of each, where a part of a device is enough
  bool is_plain = true;       ///< false: it asks in other ways, the rest says nothing
  friend auto operator<=>(const DeviceWish&, const DeviceWish&) = default;
  friend bool operator==(const DeviceWish&, const DeviceWish&) = default;
};

/// REQUIRES: a member of the gang that is pending. Claims that have their devices count nothing.
[[nodiscard]] DeviceWish wish_of(const Gang& gang, const Member& member);

/// A request with its weight.
struct MixRequest {
  std::shared_ptr<const PodClass> pod_class;  ///< not null
  DeviceWish devices;
  std::int64_t weight = 0;
};

/// See the head of the file. Immutable once published.
struct RequestMix {
  /// What one request weighs when it comes.
  static constexpr std::int64_t kUnit = std::int64_t{1} << 20;
  std::vector<MixRequest> requests;  ///< the heaviest first, then as they came
  /// Of each of two requests that nobody made: for a whole empty node, and for one accelerator.
  std::int64_t first_weight = 0;
};

}  // namespace gang::cluster
