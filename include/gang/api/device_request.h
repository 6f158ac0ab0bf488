// What a claim asks for: requests, selectors, constraints and configuration of resource.k8s.io/v1.
//
// Defaults of the API are applied when decoding. Opaque parameters are kept as JSON text and never
// read. Source: the devices contract, 1.5 and 1.6. Values only, any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "gang/api/device.h"

namespace gang::api {

/// A device is selected when the expression is true. Absent = another kind of selector.
struct DeviceSelector {
  std::optional<std::string> expression;  ///< CEL
  friend bool operator==(const DeviceSelector&, const DeviceSelector&) = default;
};

/// Toleration of device taints; unknown operators match nothing.
struct DeviceToleration {
  std::string key;
  std::string op;  ///< "Equal", "Exists"
  std::string value;
  std::string effect;  ///< "" = every effect
  std::optional<std::int64_t> seconds;
  friend bool operator==(const DeviceToleration&, const DeviceToleration&) = default;
};

enum class AllocationMode { kExactCount, kAll, kUnknown };

/// An attribute computed from a device for constraints.
struct DerivedAttribute {
  std::string name;
  std::string expression;
  friend bool operator==(const DerivedAttribute&, const DerivedAttribute&) = default;
};

/// What is asked for: the body of an exact request, or one alternative of a request.
struct DeviceAsk {
  std::string name;  ///< of the alternative; empty in an exact request
  std::string class_name;
  std::vector<DeviceSelector> selectors;
  AllocationMode mode = AllocationMode::kExactCount;
  std::int64_t count = 1;  ///< kExactCount
  std::optional<bool> admin_access;
  std::vector<DeviceToleration> tolerations;
  QuantityMap capacity;
  std::vector<DerivedAttribute> derived_attributes;
  friend bool operator==(const DeviceAsk&, const DeviceAsk&) = default;
};

/// One request of a claim: exactly one ask, or alternatives of which the first that works is taken.
struct DeviceRequest {
  std::string name;
  std::optional<DeviceAsk> exactly;
  std::vector<DeviceAsk> first_available;
  friend bool operator==(const DeviceRequest&, const DeviceRequest&) = default;
};

enum class ConstraintKind { kMatch, kDistinct, kUnknown };

/// What the devices of some requests must have in common, or not.
struct DeviceConstraint {
  std::vector<std::string> requests;  ///< "main" or "main/alternative"; empty = all
  ConstraintKind kind = ConstraintKind::kUnknown;
  std::string attribute;
  friend bool operator==(const DeviceConstraint&, const DeviceConstraint&) = default;
};

/// Parameters for a driver, passed on unread.
struct OpaqueConfig {
  std::string driver;
  std::string parameters;  ///< JSON text
  friend bool operator==(const OpaqueConfig&, const OpaqueConfig&) = default;
};

/// Configuration of a claim or, without requests, of a class.
struct DeviceConfig {
  std::vector<std::string> requests;
  std::optional<OpaqueConfig> opaque;
  friend bool operator==(const DeviceConfig&, const DeviceConfig&) = default;
};

/// spec.devices of a claim.
struct ClaimSpec {
  std::vector<DeviceRequest> requests;
  std::vector<DeviceConstraint> constraints;
  std::vector<DeviceConfig> configs;
  friend bool operator==(const ClaimSpec&, const ClaimSpec&) = default;
};

}  // namespace gang::api
