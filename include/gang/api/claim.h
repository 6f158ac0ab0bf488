// Claims for devices: ResourceClaim, ResourceClaimTemplate and DeviceClass (resource.k8s.io/v1).
//
// Decoded by api/json.h, defaults applied. Source: the devices contract, 1.5 to 1.8. Values only,
// any thread.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gang/api/device_request.h"

namespace gang::api {

/// Keeps an allocated claim until its devices are free; set before the allocation is written.
inline constexpr std::string_view kClaimFinalizer = "resource.kubernetes.io/delete-protection";
/// Annotation of a claim made from a template: the entry of spec.resourceClaims it is for.
inline constexpr std::string_view kPodClaimName = "resource.kubernetes.io/pod-claim-name";
/// Annotation, always "true", of the claim that stands behind a pod's extended resources.
inline constexpr std::string_view kExtendedClaim = "resource.kubernetes.io/extended-resource-claim";
/// Label, "true", of namespaces whose claims may ask for admin access.
inline constexpr std::string_view kAdminAccess = "resource.kubernetes.io/admin-access";

/// Names a device of the cluster.
struct DeviceName {
  std::string driver;
  std::string pool;
  std::string device;
  /// "driver/pool/device".
  [[nodiscard]] std::string text() const { return driver + "/" + pool + "/" + device; }
  friend auto operator<=>(const DeviceName&, const DeviceName&) = default;
};

/// One device given to one request.
struct DeviceResult {
  std::string request;  ///< "main" or "main/alternative"
  std::string driver;
  std::string pool;
  std::string device;
  bool admin_access = false;
  std::vector<DeviceToleration> tolerations;
  std::vector<std::string> binding_conditions;
  std::vector<std::string> binding_failure_conditions;
  std::optional<std::string> share_id;
  QuantityMap consumed_capacity;
  std::vector<std::string> skip_node_operations;
  friend bool operator==(const DeviceResult&, const DeviceResult&) = default;
};

enum class ConfigSource { kClass, kClaim };

/// Configuration that goes with an allocation.
struct AllocatedConfig {
  ConfigSource source = ConfigSource::kClaim;
  DeviceConfig config;
  friend bool operator==(const AllocatedConfig&, const AllocatedConfig&) = default;
};

/// status.allocation.
struct Allocation {
  std::vector<DeviceResult> results;
  std::vector<AllocatedConfig> configs;
  std::optional<NodeSelector> node_selector;  ///< absent = usable on every node
  std::optional<TimePoint> time;              ///< allocationTimestamp
  friend bool operator==(const Allocation&, const Allocation&) = default;
};

/// An entry of status.reservedFor.
struct ClaimConsumer {
  std::string api_group;  ///< "" for pods, "scheduling.k8s.io" for podgroups
  std::string resource;   ///< "pods", "podgroups"
  std::string name;
  Uid uid;
  friend bool operator==(const ClaimConsumer&, const ClaimConsumer&) = default;
};

/// What a driver reports of an allocated device.
struct AllocatedDeviceStatus {
  std::string driver;
  std::string pool;
  std::string device;
  std::optional<std::string> share_id;
  std::vector<Condition> conditions;
  friend bool operator==(const AllocatedDeviceStatus&, const AllocatedDeviceStatus&) = default;
};

/// A claim, allocated or not.
struct ResourceClaim {
  ObjectMeta meta;
  std::vector<std::string> finalizers;
  ClaimSpec spec;
  std::optional<Allocation> allocation;
  std::vector<ClaimConsumer> reserved_for;
  std::vector<AllocatedDeviceStatus> devices;
  friend bool operator==(const ResourceClaim&, const ResourceClaim&) = default;
};

/// What its driver reports of a device of the claim; null while that is nothing.
[[nodiscard]] const AllocatedDeviceStatus* find_status(const ResourceClaim& claim,
                                                       const DeviceResult& result);
/// The condition of that type, where it is reported and True; else null. `status` may be null.
[[nodiscard]] const Condition* true_condition(const AllocatedDeviceStatus* status,
                                              const std::string& type);
/// Whether a device of the claim has binding conditions that are not True yet.
[[nodiscard]] bool awaits_conditions(const ResourceClaim& claim);

/// Whether the list names the consumer: the object of that kind with its uid.
[[nodiscard]] bool has_consumer(const std::vector<ClaimConsumer>& consumers,
                                const ClaimConsumer& wanted);
/// Whether a request of the claim is to look on devices that others have.
[[nodiscard]] bool asks_for_admin_access(const ClaimSpec& spec);
/// Whether kClaimFinalizer is on the claim.
[[nodiscard]] bool has_finalizer(const ResourceClaim& claim);

/// Two claims hold one device, and one of them has it whole: whoever wrote last did not see the
/// other.
struct DoubleBooking {
  DeviceName device;
  std::shared_ptr<const ResourceClaim> claim;
  std::shared_ptr<const ResourceClaim> other;  ///< had it before, as far as is known
};

/// What claims of pods are made from.
struct ResourceClaimTemplate {
  ObjectMeta meta;
  ClaimSpec spec;
  friend bool operator==(const ResourceClaimTemplate&, const ResourceClaimTemplate&) = default;
};

/// A named set of devices that claims ask for.
struct DeviceClass {
  ObjectMeta meta;
  std::vector<DeviceSelector> selectors;
  std::vector<DeviceConfig> configs;
  std::string extended_resource_name;  ///< empty = none
  friend bool operator==(const DeviceClass&, const DeviceClass&) = default;
};

}  // namespace gang::api
