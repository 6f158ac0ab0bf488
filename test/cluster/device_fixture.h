// DeviceStateTest: a state that is told of slices, claims, classes and taint rules, as short
// values.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "state_fixture.h"

namespace gang::cluster {

/// A slice of driver "d" with devices of these names, on the node of its pool's name.
[[nodiscard]] api::ResourceSlice slice(const std::string& name, const std::string& pool,
                                       const std::vector<std::string>& devices);

/// A result of driver "d".
[[nodiscard]] api::DeviceResult result(const std::string& pool, const std::string& device);
/// The same as a share with `amount` of "memory".
[[nodiscard]] api::DeviceResult share(const std::string& pool, const std::string& device,
                                      const std::string& amount);

/// A claim in namespace "default" that holds these devices; nothing is held where there is none.
[[nodiscard]] api::ResourceClaim claim(const std::string& name,
                                       const std::vector<api::DeviceResult>& results = {});
[[nodiscard]] api::ResourceClaim owned(api::ResourceClaim claim, const std::string& kind,
                                       const std::string& name, const std::string& uid);
[[nodiscard]] api::ResourceClaimTemplate form(const std::string& name);
[[nodiscard]] api::DeviceClass device_class(const std::string& name);
/// A NoSchedule taint on devices of driver "d".
[[nodiscard]] api::DeviceTaintRule rule(const std::string& name, const std::string& pool,
                                        const std::string& device);

/// A pod with entries of spec.resourceClaims and the claims made for them.
[[nodiscard]] api::Pod with_claims(api::Pod pod, std::vector<api::ClaimEntry> entries,
                                   std::vector<api::ClaimEntryStatus> statuses = {});
[[nodiscard]] api::PodGroup with_claims(api::PodGroup group, std::vector<api::ClaimEntry> entries,
                                        std::vector<api::ClaimEntryStatus> statuses = {});

/// Everything of a view as text: pools, devices with taints and what is taken, places, classes.
[[nodiscard]] std::string text_of(const DeviceView& view);

/// See the head of the file.
class DeviceStateTest : public StateTest {
 protected:
  std::shared_ptr<const DeviceView> view() { return state_.snapshot()->devices(); }
  /// "pool/device" of all devices a node may use, in order.
  std::string seen_by(const std::string& node_name);
  /// "whole+shares memory=N" of a device; "" when it is free.
  std::string taken(const std::string& pool, const std::string& device);
  /// The problems of the gang's claims, or "ok", joined by "; ".
  std::string claims_of(const std::string& group);
  std::string claims_of(const api::Pod& pod);
};

}  // namespace gang::cluster
