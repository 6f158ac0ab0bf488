// What a pod or a PodGroup says about its claims: spec.resourceClaims and the claims made for it.
//
// Source: the devices contract, 1.10, 4.1 and 5. Values only, any thread.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace gang::api {

/// An entry of spec.resourceClaims: a claim by name, or one that is made from a template.
struct ClaimEntry {
  std::string name;
  std::string claim_name;     ///< resourceClaimName; empty = absent
  std::string template_name;  ///< resourceClaimTemplateName; empty = absent
  friend bool operator==(const ClaimEntry&, const ClaimEntry&) = default;
};

/// The claim that was made for a template entry; without a name none is needed.
struct ClaimEntryStatus {
  std::string name;  ///< of the entry
  std::string claim_name;
  friend bool operator==(const ClaimEntryStatus&, const ClaimEntryStatus&) = default;
};

/// Which request of the claim behind a pod's extended resources serves which container.
struct ExtendedRequestMapping {
  std::string container_name;
  std::string resource_name;
  std::string request_name;
  friend bool operator==(const ExtendedRequestMapping&, const ExtendedRequestMapping&) = default;
};

/// status.extendedResourceClaimStatus of a pod.
struct ExtendedClaimStatus {
  std::string claim_name;
  std::vector<ExtendedRequestMapping> mappings;
  friend bool operator==(const ExtendedClaimStatus&, const ExtendedClaimStatus&) = default;
};

}  // namespace gang::api
