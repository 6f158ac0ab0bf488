// The rules by which the API server takes or refuses a write of a claim. Pure functions.
//
// Source: the devices contract, 1.7; the commit protocol, 4.
#pragma once

#include <optional>
#include <string>

#include "gang/api/claim_write.h"
#include "gang/kube/client.h"

namespace gang::sim {

/// Why the server does not take the finalizers, if it does not. `claim` may be null.
[[nodiscard]] std::optional<kube::Answer> refusal(const api::ResourceClaim* claim,
                                                  const api::ClaimPatch& patch);

/// Why the server does not take the status, if it does not. `claim` may be null; `admin_access`:
/// the claim's namespace permits it.
[[nodiscard]] std::optional<kube::Answer> refusal(const api::ResourceClaim* claim,
                                                  const api::ClaimStatusPatch& patch,
                                                  bool admin_access);

/// What the status is after the patch. REQUIRES: it is not refused.
void apply(api::ResourceClaim& claim, const api::ClaimStatusPatch& patch);

/// "n1/gpu-0 n1/gpu-1".
[[nodiscard]] std::string devices_text(const api::Allocation& allocation);

/// "a-0 a-1".
[[nodiscard]] std::string consumers_text(const std::vector<api::ClaimConsumer>& consumers);

}  // namespace gang::sim
