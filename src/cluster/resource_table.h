// ResourceTable: interned resource names; and Footprint, what one pod holds on its node.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "gang/api/pod.h"
#include "gang/cluster/snapshot.h"

namespace gang::cluster {

/// Owned by the state. Always: cpu, memory, ephemeral-storage and pods have their fixed ids; an id
/// is never reused. Names beyond kResourcesMax share one last id that no node offers, so that pods
/// which ask for them wait.
class ResourceTable {
 public:
  static constexpr std::size_t kResourcesMax = 1024;

  ResourceTable();

  /// The id of that name, made on first sight.
  ResourceId intern(std::string_view name);
  [[nodiscard]] bool is_overflow(ResourceId id) const { return id.value >= kResourcesMax; }
  /// The names by id; the same object until a name is added.
  [[nodiscard]] const std::shared_ptr<const ResourceNames>& names() const { return names_; }

  /// The pod's effective requests > 0 in column units and its pod slot, by resource.
  void amounts_of(const api::Pod& pod, api::RequestBasis basis, std::vector<ResourceAmount>& out);

 private:
  /// Lets a string_view look up a string.
  struct TextHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>()(text);
    }
  };
  std::unordered_map<std::string, ResourceId, TextHash, std::equal_to<>> ids_;
  std::shared_ptr<const ResourceNames> names_;
};

/// What one pod holds on its node. Immutable and shared by all pods that hold the same.
struct Footprint {
  std::vector<ResourceAmount> requests;  ///< as PodClass::requests, by RequestBasis::kStatus
  api::NonZeroRequests nonzero;
  std::vector<api::HostPort> host_ports;
  friend bool operator==(const Footprint&, const Footprint&) = default;
};

/// Hash of a Footprint, for Pool.
struct FootprintHash {
  std::uint32_t operator()(const Footprint& footprint) const;
};

}  // namespace gang::cluster
