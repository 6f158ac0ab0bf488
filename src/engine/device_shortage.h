// Why a kind of members does not find its devices, counted over the whole cluster.
//
// Source: the devices contract, 13 ("devices seen, and how many fell to what").
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/device_draft.h"
#include "engine/device_wanted.h"
#include "engine/draft.h"

namespace gang::engine {

/// The scarcest request of a kind. A value.
struct Shortage {
  /// "device class gpu: 2 free of 16 match `...`; 14 allocated; needed 8", with claim and request
  /// where the kind has others; "" when it asks for nothing.
  std::string text;
  Lacking lacking = Lacking::kUnknown;
  std::int64_t margin = 0;  ///< free devices beyond those that are needed
};

/// Whether what is proved of `a` is more, or else more devices lack.
[[nodiscard]] bool is_scarcer(const Shortage& a, const Shortage& b);

/// Looks at every node of the draft's snapshot. `others`: kinds of the gang that need devices
/// beside this one.
[[nodiscard]] Shortage shortage_of(const Draft& draft, const DeviceStage& stage,
                                   const Asking& asking, const std::vector<Asking>& others);

}  // namespace gang::engine
