// The writes to ResourceClaims and to the ConfigMaps that hold intents, as request bodies.
//
// Claims are written by JSON merge PATCH with uid and resourceVersion in the body: another claim of
// that name answers 422, another version 409, so each write is a compare-and-swap like a PUT, and
// fields that this version does not know stay as they are. Lists are replaced whole. Bodies are the
// same for the same value, byte for byte. Source: the devices contract, 7; the commit protocol 5.1.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gang/api/claim.h"
#include "gang/base/result.h"

namespace gang::api {

/// Annotation of a claim whose version was moved so that every older write of it must fail.
inline constexpr std::string_view kClaimFence = "gang-scheduler.dev/fence";

/// PATCH of a claim's metadata.
struct ClaimPatch {
  ObjectKey claim;
  Uid uid;
  ResourceVersion resource_version;
  std::vector<std::string> finalizers;  ///< all that it shall have
  std::string fence;                    ///< value of kClaimFence; empty = left alone
};

/// PATCH of a claim's status. An allocation is set or cleared, never changed.
struct ClaimStatusPatch {
  enum class Part { kKeep, kSet, kClear };
  ObjectKey claim;
  Uid uid;
  ResourceVersion resource_version;
  Part allocation_part = Part::kKeep;
  Allocation allocation;                    ///< kSet
  std::vector<ClaimConsumer> reserved_for;  ///< all that it shall have; none with kClear
};

/// POST of the claim that stands behind the extended resources of a pod, which controls it. The
/// name is given: whoever loses the answer finds by that name what became of the claim.
struct NewClaim {
  ObjectKey claim;
  /// For people; the server generates nothing. Longer than it takes it is not sent.
  std::string generate_name;
  std::string pod;  ///< in the namespace of the claim
  Uid pod_uid;
  std::vector<DeviceRequest> requests;  ///< without alternatives: a class and a count each
};

/// DELETE of one claim.
struct ClaimDelete {
  ObjectKey claim;
  Uid uid;
};

/// A ConfigMap as far as it is used: text by key.
struct ConfigMap {
  ObjectMeta meta;  ///< key; uid and version when it is updated
  std::map<std::string, std::string> data;
};

[[nodiscard]] std::string encode_new_claim(const NewClaim& claim);
[[nodiscard]] std::string encode_claim_patch(const ClaimPatch& patch);
[[nodiscard]] std::string encode_claim_status_patch(const ClaimStatusPatch& patch);
/// Body of a POST or PUT, with the metadata that is set.
[[nodiscard]] std::string encode_config_map(const ConfigMap& map);
[[nodiscard]] Result<ConfigMap> decode_config_map(std::string_view json);
/// status.allocation of a claim. Parameters that are no JSON become null.
[[nodiscard]] std::string encode_allocation(const Allocation& allocation);

}  // namespace gang::api
