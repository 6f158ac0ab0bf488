// Claims made ready for the search: classes looked up, counts known, references checked.
//
// Source: the devices contract, 2.5.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/device_node.h"

namespace gang::engine {

/// An exact request, or one alternative of a request.
struct PreparedAsk {
  const api::DeviceAsk* ask = nullptr;
  const api::DeviceClass* device_class = nullptr;
  std::string full_name;  ///< "main" or "main/alternative"
  std::string told_name;  ///< the name in messages; upstream's allocator says "alternative" only
  std::int64_t count = 0;
  std::vector<std::uint32_t> all;        ///< kAll: positions of the candidates it takes
  std::uint32_t number = 0;              ///< among DeviceInputs::answers
  std::vector<DeviceAnswer> selectable;  ///< by candidate

  [[nodiscard]] bool takes_all() const { return ask->mode == api::AllocationMode::kAll; }
  [[nodiscard]] bool is_admin() const { return ask->admin_access.value_or(false); }
};

/// One request with its alternatives, or its one exact ask.
struct PreparedRequest {
  const api::DeviceRequest* request = nullptr;
  std::vector<PreparedAsk> asks;
  std::size_t selected = 0;
  [[nodiscard]] bool has_alternatives() const { return !request->exactly.has_value(); }
};

/// One claim.
struct PreparedClaim {
  const api::ResourceClaim* claim = nullptr;
  std::vector<PreparedRequest> requests;
};

/// Most devices that one claim may hold.
inline constexpr std::int64_t kClaimDevicesMax = 32;

/// Whether class and request want the device on this node. Remembers the answer.
[[nodiscard]] DeviceStep judge_selectable(const DeviceInputs& inputs, const DeviceNode& node,
                                          const PreparedClaim& claim, PreparedAsk& ask,
                                          std::uint32_t candidate);

/// Empty message when all is ready; kNode when only this node cannot be asked.
[[nodiscard]] DeviceStep prepare_claim(const DeviceInputs& inputs, const DeviceNode& node,
                                       PreparedClaim& claim);

}  // namespace gang::engine
