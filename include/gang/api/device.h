// Devices as drivers publish them: ResourceSlice and DeviceTaintRule (resource.k8s.io/v1).
//
// Decoded by api/json.h. Names of attributes and capacities stay as written: "id" stands for the
// driver's own domain, "domain/id" for any. Defaults of the API are applied when decoding; what
// the server checks is not checked again, readers guard themselves. Source: the devices contract,
// 1.3, 1.4 and 1.9. Values only, any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "gang/api/meta.h"
#include "gang/api/quantity.h"
#include "gang/api/selector.h"

namespace gang::api {

/// A semantic version as text; compared by who knows the rules.
struct Version {
  std::string text;
  friend auto operator<=>(const Version&, const Version&) = default;
};

/// What an attribute holds; monostate = none of the known kinds, or more than one scalar.
using AttributeValue =
    std::variant<std::monostate, bool, std::int64_t, std::string, Version, std::vector<bool>,
                 std::vector<std::int64_t>, std::vector<std::string>, std::vector<Version>>;

/// Quantities by name, sorted by name, names unique.
using QuantityMap = std::vector<std::pair<std::string, Quantity>>;

/// Value of `name` in a map sorted by name, or null.
template <class Value>
[[nodiscard]] const Value* find_named(const std::vector<std::pair<std::string, Value>>& map,
                                      std::string_view name) {
  for (const auto& [key, value] : map) {
    if (key == name) return &value;
  }
  return nullptr;
}

/// Allowed amounts of one request: a grid from `min` to `max`. A missing min is a broken object.
struct CapacityRange {
  std::optional<Quantity> min;
  std::optional<Quantity> max;
  std::optional<Quantity> step;
  friend bool operator==(const CapacityRange&, const CapacityRange&) = default;
};

/// How requests for a capacity are rounded and judged.
struct RequestPolicy {
  std::optional<Quantity> default_value;
  std::vector<Quantity> valid_values;  ///< ascending
  std::optional<CapacityRange> valid_range;
  friend bool operator==(const RequestPolicy&, const RequestPolicy&) = default;
};

/// A capacity of a device. Few have a policy; copies share it.
struct DeviceCapacity {
  Quantity value;
  std::shared_ptr<const RequestPolicy> policy;  ///< null: none
  friend bool operator==(const DeviceCapacity& a, const DeviceCapacity& b);
};

/// What a partition takes of one counter set of its pool.
struct CounterConsumption {
  std::string counter_set;
  QuantityMap counters;
  std::vector<std::string> compatibility_groups;
  friend bool operator==(const CounterConsumption&, const CounterConsumption&) = default;
};

/// Counters that partitions of one pool share.
struct CounterSet {
  std::string name;
  QuantityMap counters;
  friend bool operator==(const CounterSet&, const CounterSet&) = default;
};

/// Where devices can be used. At most one is set; none in a slice with per-device selection.
struct DevicePlace {
  std::string node_name;
  std::optional<NodeSelector> node_selector;
  bool all_nodes = false;
  friend bool operator==(const DevicePlace&, const DevicePlace&) = default;
};

enum class DeviceTaintEffect { kNone, kNoSchedule, kNoExecute };

/// Taint of a device; an unknown effect is read as kNone.
struct DeviceTaint {
  std::string key;
  std::string value;
  DeviceTaintEffect effect = DeviceTaintEffect::kNone;
  std::optional<TimePoint> time_added;
  friend bool operator==(const DeviceTaint&, const DeviceTaint&) = default;
};

/// One device of a slice.
struct Device {
  std::string name;
  std::vector<std::pair<std::string, AttributeValue>> attributes;  ///< sorted, unique
  std::vector<std::pair<std::string, DeviceCapacity>> capacity;    ///< sorted, unique
  std::vector<CounterConsumption> consumes_counters;
  DevicePlace place;  ///< only with the slice's per_device_node_selection
  std::vector<DeviceTaint> taints;
  std::vector<std::string> binding_conditions;
  std::vector<std::string> binding_failure_conditions;
  bool binds_to_node = false;
  bool allow_multiple_allocations = false;
  friend bool operator==(const Device&, const Device&) = default;
};

/// Some devices of one pool of a driver.
struct ResourceSlice {
  ObjectMeta meta;
  std::string driver;
  std::string pool;
  std::int64_t pool_generation = 0;
  std::int64_t pool_slice_count = 0;  ///< slices that the pool has at this generation
  DevicePlace place;
  bool per_device_node_selection = false;
  std::vector<Device> devices;
  std::vector<CounterSet> shared_counters;
  std::vector<std::string> skip_node_operations;
  friend bool operator==(const ResourceSlice&, const ResourceSlice&) = default;
};

/// Which devices a rule taints: set fields are ANDed.
struct DeviceTaintSelector {
  std::optional<std::string> driver;
  std::optional<std::string> pool;
  std::optional<std::string> device;
  friend bool operator==(const DeviceTaintSelector&, const DeviceTaintSelector&) = default;
};

/// A taint that an administrator puts on devices.
struct DeviceTaintRule {
  ObjectMeta meta;
  std::optional<DeviceTaintSelector> selector;  ///< absent matches nothing
  DeviceTaint taint;
  friend bool operator==(const DeviceTaintRule&, const DeviceTaintRule&) = default;
};

}  // namespace gang::api
