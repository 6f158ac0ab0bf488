// Metadata and conditions: the tables of wanted keys and the decoders that every kind shares.
#pragma once

#include "api/json_reader.h"
#include "api/json_sax.h"
#include "gang/api/meta.h"
#include "gang/base/result.h"

namespace gang::api {

/// Names longer than this are no names of Kubernetes objects.
inline constexpr std::size_t kNameBytesMax = 253;
inline constexpr std::string_view kInitialEventsEnd = "k8s.io/initial-events-end";
/// An annotation of other gang schedulers that users set here by mistake.
inline constexpr std::string_view kForeignGroupAnnotation = "scheduling.k8s.io/group-name";

inline constexpr Want kAnnotationWants[] = {Want("gang-scheduler.dev/*"),
                                            Want(kForeignGroupAnnotation), Want(kInitialEventsEnd)};
inline constexpr Want kOwnerWants[] = {Want("apiVersion"), Want("kind"), Want("name"), Want("uid"),
                                       Want("controller")};
inline constexpr Want kMetaWants[] = {Want("name"),
                                      Want("namespace"),
                                      Want("uid"),
                                      Want("resourceVersion"),
                                      Want("generation"),
                                      Want("creationTimestamp"),
                                      Want("deletionTimestamp"),
                                      Want("labels"),
                                      Want("annotations", kAnnotationWants),
                                      Want("ownerReferences", kOwnerWants)};
inline constexpr Want kConditionWants[] = {Want("type"),
                                           Want("status"),
                                           Want("reason"),
                                           Want("message"),
                                           Want("lastTransitionTime"),
                                           Want("observedGeneration")};

/// Fails when there is no usable name or `kind` names another kind than `expected_kind`; other
/// broken fields are the reader's problem. `unreadable` is left empty.
[[nodiscard]] Result<ObjectMeta> decode_meta(JsonView object, std::string_view expected_kind,
                                             JsonReader& reader);

/// status.conditions of any kind.
[[nodiscard]] std::vector<Condition> decode_conditions(JsonView list, JsonReader& reader);

}  // namespace gang::api
