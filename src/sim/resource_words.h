// Short words for resources in scenarios: gpu is nvidia.com/gpu, res.<name> is any other resource.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "gang/api/quantity.h"
#include "gang/base/result.h"

namespace gang::sim {

inline constexpr std::string_view kGpuResource = "nvidia.com/gpu";

/// How a resource is written, for errors.
inline constexpr std::string_view kResourceForms =
    "cpu, memory, ephemeral-storage, pods, gpu, hugepages-2Mi, or res.NAME for another resource";

/// The resource an option key names, or nullopt when it is no resource.
[[nodiscard]] std::optional<std::string> resource_name(std::string_view key);

/// The quantity of a resource: 0 or more, whole where the resource is counted. Fails with the
/// option it stands in.
[[nodiscard]] Result<api::Quantity> parse_amount(const std::string& option,
                                                 const std::string& resource,
                                                 const std::string& value);

/// Fails on an amount below 0, and on a part of what is counted. `where` stands before the problem.
[[nodiscard]] Result<void> check_amount(const std::string& where, const std::string& resource,
                                        const api::Quantity& amount);

/// The amount of a resource as Kubernetes writes it, exactly: "1500m", "2Gi". `count` is in
/// milli-units of cpu, in units of anything else.
[[nodiscard]] std::string amount_text(std::string_view resource, std::int64_t count);

}  // namespace gang::sim
