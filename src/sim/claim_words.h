// Words of claims in scenarios: entries of spec.resourceClaims, and what a claim asks for.
//
// Pure functions over options.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "gang/api/claim.h"
#include "gang/api/claim_entry.h"
#include "gang/base/result.h"
#include "sim/scenario_parser.h"

namespace gang::sim {

/// claim= and claim.ENTRY=: an entry of the pods, or of the group that is made alone.
[[nodiscard]] bool names_claim(std::string_view key);

/// shared= and shared.ENTRY=: an entry of the PodGroup and of each of its pods.
[[nodiscard]] bool names_shared_claim(std::string_view key);

/// Adds the entry of such an option: NAME is a claim, template:NAME makes one. Without ENTRY it is
/// called as the claim or template.
[[nodiscard]] Result<void> add_claim_entry(std::vector<api::ClaimEntry>& entries,
                                           const std::string& key, const std::string& value);

/// Fails where an expression does not compile: the API server refuses the object. `field` stands
/// before the error.
[[nodiscard]] Result<void> check_selectors(const std::string& field,
                                           const std::vector<api::DeviceSelector>& selectors);
/// The same for all requests.
[[nodiscard]] Result<void> check_selectors(const api::ClaimSpec& spec);

/// One request of class=: count=, selector=, capacity.NAME=, tolerate=, match=, distinct=, words
/// all and admin.
[[nodiscard]] Result<api::ClaimSpec> claim_spec(const Command& command);

}  // namespace gang::sim
