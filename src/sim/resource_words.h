// Short words for resources in scenarios: gpu is nvidia.com/gpu, res.<name> is any other resource.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "gang/api/quantity.h"
#include "gang/base/result.h"

namespace gang::sim {

inline constexpr std::string_view kGpuResource = "nvidia.com/gpu";

/// The resource an option key names, or nullopt when it is no resource.
[[nodiscard]] std::optional<std::string> resource_name(std::string_view key);

/// The quantity of a resource: 0 or more, whole where the resource is counted. Fails with the
/// option it stands in.
[[nodiscard]] Result<api::Quantity> parse_amount(const std::string& key, const std::string& value);

}  // namespace gang::sim
