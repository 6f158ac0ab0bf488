// What a scenario says of a name, key or label that a Kubernetes API server would refuse: the forms
// are those of api/names.h.
//
// Stateless; a scenario that breaks one would show what no real cluster can.
#pragma once

#include <string_view>

#include "gang/base/result.h"

namespace gang::sim {

/// Name of a pod, node, group or schedulerName: lower-case letters, digits, "-" and ".", at most
/// 253. `field` stands before the error.
[[nodiscard]] Result<void> check_name(std::string_view field, std::string_view name);

/// The same without "." and at most 63: a namespace.
[[nodiscard]] Result<void> check_namespace(std::string_view field, std::string_view name);

/// "pool" or "example.com/pool": the key of a label or taint, a resource, a scheduling gate.
[[nodiscard]] Result<void> check_key(std::string_view field, std::string_view key);

/// At most 63 letters, digits, "-", "_" and ".": a label's or taint's value; may be empty.
[[nodiscard]] Result<void> check_value(std::string_view field, std::string_view value);

}  // namespace gang::sim
