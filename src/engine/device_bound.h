// DeviceBound: how many claims like one the devices of a node serve at most.
//
// Counts, per request, the devices that it or one of its alternatives selects and nobody holds, as
// if all took the alternative that asks for fewest; of devices that share counters
// only those that still fit, and no more than each counter has room for, as if all took as little
// as the least of them. Never too low, seldom too high: a search need not look for more. Pure;
// reads the ledger.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/device_ledger.h"
#include "engine/device_request.h"

namespace gang::engine {

/// See the head of the file. Lives for one question.
class DeviceBound {
 public:
  DeviceBound(const DeviceInputs& inputs, const DeviceNode& node, DeviceLedger& ledger)
      : inputs_(inputs), node_(node), ledger_(ledger) {}

  /// A large number where it cannot tell. `claim` is prepared for the node.
  [[nodiscard]] std::int64_t claims_like(PreparedClaim& claim) const;
  /// Positions of the candidates that the ask selects.
  [[nodiscard]] std::vector<std::uint32_t> selected(const PreparedClaim& claim,
                                                    PreparedAsk& ask) const;

 private:
  [[nodiscard]] std::vector<std::uint32_t> selected(const PreparedClaim& claim,
                                                    PreparedRequest& request) const;
  [[nodiscard]] std::int64_t devices_for(const PreparedClaim& claim,
                                         PreparedRequest& request) const;
  [[nodiscard]] bool fits_now(const DeviceCandidate& candidate) const;
  [[nodiscard]] std::int64_t room_in(const std::vector<std::uint32_t>& partitions) const;

  const DeviceInputs& inputs_;
  const DeviceNode& node_;
  DeviceLedger& ledger_;
};

}  // namespace gang::engine
