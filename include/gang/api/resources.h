// ResourceList: names to exact quantities, as in core/v1, with the arithmetic of pod requests.
//
// Units: quantities are exact; whole() converts once to what a node's columns keep, cpu in
// milli-units and everything else in units, both rounded up. Values only, any thread.
// Source of the rules: the scheduling contract, chapter "Resource accounting".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gang/api/quantity.h"

namespace gang::api {

/// Sorted by name, names unique.
class ResourceList {
 public:
  using Entry = std::pair<std::string, Quantity>;

  ResourceList() = default;
  explicit ResourceList(std::vector<Entry> entries);

  /// The quantity of `name`, or null when absent.
  [[nodiscard]] const Quantity* find(std::string_view name) const;
  void set(std::string_view name, const Quantity& quantity);
  /// Adds component-wise; names of either side are kept.
  void add(const ResourceList& other);
  /// Component-wise maximum; names of either side are kept.
  void max_with(const ResourceList& other);

  [[nodiscard]] const std::vector<Entry>& entries() const { return entries_; }
  [[nodiscard]] bool empty() const { return entries_.empty(); }
  friend bool operator==(const ResourceList&, const ResourceList&) = default;

 private:
  std::vector<Entry> entries_;
};

/// Whether the scheduler accounts for this name: cpu, memory, ephemeral-storage, pods, and scalars
/// (extended names with "/", hugepages-*, attachable-volumes-*). Others, like "storage", are
/// ignored.
[[nodiscard]] bool is_accounted(std::string_view resource);

/// Whether the name is an extended resource: has "/", no kubernetes.io/, no "requests." prefix.
[[nodiscard]] bool is_extended(std::string_view resource);

/// Prefix of the resource that every DeviceClass offers under its own name.
inline constexpr std::string_view kClassResourcePrefix = "deviceclass.resource.kubernetes.io/";
/// Whether devices of a DeviceClass may stand behind the resource.
[[nodiscard]] bool may_be_devices(std::string_view resource);

/// The column value of a quantity of `resource`: milli-units for cpu, units otherwise, rounded up.
[[nodiscard]] std::int64_t whole(std::string_view resource, const Quantity& quantity);

}  // namespace gang::api
