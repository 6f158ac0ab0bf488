// ExtendedClaims: the claims that stand behind extended resources of a gang's members.
//
// A resource that a node does not offer itself and that a DeviceClass is mapped to is served by
// devices there. All such resources of a pod on a node make one claim: one request for each
// long-running container and resource; other init containers use those again and add at most one.
// Source: the devices contract, 6.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "engine/draft.h"
#include "gang/api/claim.h"
#include "gang/api/claim_entry.h"

namespace gang::engine {

/// A claim that is not made yet, and which of its requests serves which container.
struct ExtendedClaim {
  api::ResourceClaim claim;  ///< its spec, with a name for messages
  std::vector<api::ExtendedRequestMapping> mappings;
};

/// A resource that devices serve, with the class that is mapped to it. A value.
struct ServedResource {
  cluster::ResourceId resource;
  std::string name;
  std::string class_name;
};

/// Requests by name, mappings by resource and container.
[[nodiscard]] ExtendedClaim extended_claim_of(const std::vector<cluster::ContainerAsk>& asks,
                                              const std::vector<ServedResource>& served);

/// See the head of the file. Lives for one attempt; one thread.
class ExtendedClaims {
 public:
  /// The draft is begun, and outlives this.
  explicit ExtendedClaims(const Draft& draft) : draft_(draft) {}

  /// Whether members of some class may need one.
  [[nodiscard]] bool is_needed() const;
  [[nodiscard]] bool is_needed(std::uint32_t class_index) const;
  /// What a member of the class needs on the node; null when nothing.
  [[nodiscard]] const ExtendedClaim* claim_of(std::uint32_t class_index, std::uint32_t rank);
  /// The same where a node offers none of its resources. REQUIRES: is_needed(class_index).
  [[nodiscard]] const ExtendedClaim& whole_claim_of(std::uint32_t class_index);
  /// What members of any class need on the node.
  [[nodiscard]] std::vector<const api::ResourceClaim*> claims_on(const std::string& node_name);

 private:
  /// Requests of a class that devices serve, as bits.
  using Key = std::pair<std::uint32_t, LineSet>;

  const ExtendedClaim& claim_for(const Key& key);

  const Draft& draft_;
  std::map<Key, ExtendedClaim> claims_;
};

}  // namespace gang::engine
