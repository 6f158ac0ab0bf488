// DeviceGang: the pending members of a gang, grouped by what they ask of nodes and devices.
//
// Members of one kind are alike in everything: class, shared claims, and the specs of the claims
// that only they use. The order is that of the search: who decides a shared claim first, then the
// kinds that ask for most.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "gang/cluster/gang.h"

namespace gang::engine {

/// One pending member. A value.
struct DeviceMember {
  std::size_t index = 0;            ///< into the gang's members
  std::uint32_t class_index = 0;    ///< into the gang's classes
  std::vector<std::size_t> claims;  ///< into the gang's claims, in the pod's order, each once
  std::vector<std::size_t> joins;   ///< of them, those that get a consumer more
  std::int64_t extended_count = 0;  ///< devices for extended resources, where nodes have none
};

/// Members that are alike. A value.
struct DeviceKind {
  std::uint32_t class_index = 0;
  std::vector<DeviceMember> members;  ///< in the gang's order
  bool has_shared = false;            ///< names a claim that others name too, not yet allocated
  bool has_own = false;               ///< names a claim of its own, not yet allocated
  std::int32_t choices = 0;  ///< requests with alternatives, of claims that are not yet allocated
  std::uint32_t alternatives = 0;  ///< of the request that has most; 0: none has
  std::int64_t weight = 0;         ///< devices that a member asks for; All counts as many
  std::int64_t least = 0;          ///< devices that its own claims take at least
  std::string text;                ///< what it asks for, whatever its members are named
};

/// Devices that a claim takes at least, those with admin access aside.
[[nodiscard]] std::int64_t least_of(const api::ClaimSpec& spec);

/// `claims`: of the gang, each once.
[[nodiscard]] std::vector<DeviceKind> device_kinds(std::vector<DeviceMember> members,
                                                   const std::vector<cluster::GangClaim>& claims);

}  // namespace gang::engine
