#include "gang/api/claim.h"

#include <algorithm>

namespace gang::api {

const AllocatedDeviceStatus* find_status(const ResourceClaim& claim, const DeviceResult& result) {
  const auto found = std::ranges::find_if(claim.devices, [&](const AllocatedDeviceStatus& status) {
    return status.driver == result.driver && status.pool == result.pool &&
           status.device == result.device && status.share_id == result.share_id;
  });
  return found != claim.devices.end() ? &*found : nullptr;
}

const Condition* true_condition(const AllocatedDeviceStatus* status, const std::string& type) {
  if (status == nullptr) return nullptr;
  const Condition* condition = find_condition(status->conditions, type);
  const bool is_true = condition != nullptr && condition->status == ConditionStatus::kTrue;
  return is_true ? condition : nullptr;
}

bool asks_for_admin_access(const ClaimSpec& spec) {
  return std::ranges::any_of(spec.requests, [](const DeviceRequest& request) {
    return request.exactly && request.exactly->admin_access.value_or(false);
  });
}

bool awaits_conditions(const ResourceClaim& claim) {
  if (!claim.allocation) return false;
  return std::ranges::any_of(claim.allocation->results, [&](const DeviceResult& result) {
    const AllocatedDeviceStatus* status = find_status(claim, result);
    return std::ranges::any_of(result.binding_conditions, [&](const std::string& type) {
      return true_condition(status, type) == nullptr;
    });
  });
}

bool has_consumer(const std::vector<ClaimConsumer>& consumers, const ClaimConsumer& wanted) {
  return std::ranges::any_of(consumers, [&](const ClaimConsumer& one) {
    return one.uid == wanted.uid && one.resource == wanted.resource;
  });
}

bool has_finalizer(const ResourceClaim& claim) {
  return std::ranges::find(claim.finalizers, kClaimFinalizer) != claim.finalizers.end();
}

}  // namespace gang::api
