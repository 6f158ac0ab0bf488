// Decoders of the resource.k8s.io kinds, and the pieces that several of them share.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "api/json_meta.h"
#include "gang/api/claim.h"
#include "gang/api/claim_entry.h"

namespace gang::api {

extern const Want kResourceSliceWant;
extern const Want kDeviceTaintRuleWant;
extern const Want kDeviceClassWant;
extern const Want kResourceClaimWant;
extern const Want kResourceClaimTemplateWant;

[[nodiscard]] Result<ResourceSlice> resource_slice_from(JsonView json, std::string problem);
[[nodiscard]] Result<DeviceTaintRule> device_taint_rule_from(JsonView json, std::string problem);
[[nodiscard]] Result<DeviceClass> device_class_from(JsonView json, std::string problem);
[[nodiscard]] Result<ResourceClaim> resource_claim_from(JsonView json, std::string problem);
[[nodiscard]] Result<ResourceClaimTemplate> resource_claim_template_from(JsonView json,
                                                                         std::string problem);

/// The elements of a list, each read by `read(json, reader)`.
template <class Item, class Read>
[[nodiscard]] std::vector<Item> list_from(JsonView list, JsonReader& reader, Read read) {
  std::vector<Item> items;
  for (JsonView json = reader.first(list); json.valid(); json = json.next()) {
    items.push_back(read(json, reader));
  }
  return items;
}

/// Annotations that claims carry beyond those of every kind.
inline constexpr Want kClaimAnnotationWants[] = {Want("gang-scheduler.dev/*"), Want(kPodClaimName),
                                                 Want(kExtendedClaim), Want(kInitialEventsEnd)};

inline constexpr Want kClaimEntryWants[] = {Want("name"), Want("resourceClaimName"),
                                            Want("resourceClaimTemplateName")};
inline constexpr Want kClaimStatusWants[] = {Want("name"), Want("resourceClaimName")};
inline constexpr Want kMappingWants[] = {Want("containerName"), Want("resourceName"),
                                         Want("requestName")};
inline constexpr Want kExtendedClaimWants[] = {Want("resourceClaimName"),
                                               Want("requestMappings", kMappingWants)};

/// spec.resourceClaims and status.resourceClaimStatuses of pods and groups.
[[nodiscard]] std::vector<ClaimEntry> claim_entries_from(JsonView list, JsonReader& reader);
[[nodiscard]] std::vector<ClaimEntryStatus> claim_statuses_from(JsonView list, JsonReader& reader);
/// Nothing when absent.
[[nodiscard]] std::optional<ExtendedClaimStatus> extended_claim_from(JsonView json,
                                                                     JsonReader& reader);

/// spec.devices of a claim.
[[nodiscard]] ClaimSpec claim_spec_from(JsonView devices, JsonReader& reader);
[[nodiscard]] DeviceConfig device_config_from(JsonView json, JsonReader& reader);
[[nodiscard]] DeviceSelector device_selector_from(JsonView json, JsonReader& reader);
[[nodiscard]] std::vector<DeviceToleration> device_tolerations_from(JsonView list,
                                                                    JsonReader& reader);
/// Sorted by name; refuses the first entry that is no quantity and goes on without it.
[[nodiscard]] QuantityMap quantity_map_from(JsonView object, JsonReader& reader);
/// Nothing when absent; refuses what is no quantity.
[[nodiscard]] std::optional<Quantity> quantity_from(JsonView value, JsonReader& reader);

/// The value as JSON text, for what is passed on unread. Bytes that are no UTF-8 become U+FFFD.
[[nodiscard]] std::string json_text(JsonView value);

}  // namespace gang::api
