// DeviceAlike: which devices of a node are interchangeable for the claims of a gang.
//
// Two devices are alike when nothing that the claims ask, and nothing that they take, tells them
// apart: same pool and place, capacity, counters, taints and use, same answer of every selector,
// same values of the attributes that constraints compare. Solutions that differ only in which of
// alike devices they hold leave the same to others, so one stands for all of them.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "engine/device_ledger.h"
#include "engine/device_search.h"

namespace gang::engine {

/// See the head of the file. Lives for one member on one node. Made before the member takes
/// anything: what it takes itself tells no devices apart.
class DeviceAlike {
 public:
  /// `claims`: prepared for the node, one for each different spec of the gang; their answers are
  /// kept there. All outlive this.
  DeviceAlike(const DeviceInputs& inputs, const DeviceNode& node,
              std::vector<PreparedClaim>& claims, const DeviceLedger& ledger);

  /// Equal for solutions that leave the same.
  [[nodiscard]] std::string signature(const std::vector<std::vector<ChosenDevice>>& chosen);

 private:
  const std::string& traits_of(const DeviceCandidate& candidate);
  void add_answers(const DeviceCandidate& candidate, std::string& traits);

  const DeviceInputs& inputs_;
  const DeviceNode& node_;
  std::vector<PreparedClaim>& claims_;
  std::map<std::uint32_t, std::string> used_;    ///< by device that many can use
  std::map<std::uint32_t, std::string> traits_;  ///< by device
};

}  // namespace gang::engine
