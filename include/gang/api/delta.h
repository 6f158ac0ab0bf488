// Delta: one change told by a list or a watch. The only way the world reaches the core.
//
// Per kind a stream is: ListBegin, then Added per listed object, then ListEnd (objects that were
// not listed are gone), then Added, Updated, Deleted as the watch tells. A relist repeats the
// pattern. Between ListBegin and ListEnd, and while a kind is Unserved or Forbidden, the kind is
// not synced. Deltas are level-triggered: duplicates, older versions and unknown objects are
// normal.
#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "gang/api/claim.h"
#include "gang/api/device.h"
#include "gang/api/meta.h"
#include "gang/api/node.h"
#include "gang/api/pod.h"
#include "gang/api/pod_group.h"
#include "gang/api/workload.h"

namespace gang::api {

/// Kinds that are watched. kFinishedPod is the second, small watch on pods of our schedulerName in
/// phase Succeeded or Failed: they count as done members of their gang, or tell of a node whose
/// kubelet refused one.
enum class Kind {
  kPod,
  kFinishedPod,
  kNode,
  kPodGroup,
  kCompositePodGroup,
  kWorkload,
  kPriorityClass,
  kNamespace,
  kResourceSlice,
  kResourceClaim,
  kResourceClaimTemplate,
  kDeviceClass,
  kDeviceTaintRule,
};
inline constexpr int kKindCount = 13;

/// "Pod", "PodGroup", ... as in the API.
[[nodiscard]] std::string_view kind_name(Kind kind);

/// core/v1 Namespace: labels only, for namespace selectors.
struct Namespace {
  ObjectMeta meta;
  friend bool operator==(const Namespace&, const Namespace&) = default;
};

using Object = std::variant<std::monostate, Pod, Node, PodGroup, CompositePodGroup, Workload,
                            PriorityClass, Namespace, ResourceSlice, ResourceClaim,
                            ResourceClaimTemplate, DeviceClass, DeviceTaintRule>;

/// Metadata of whatever the variant holds. REQUIRES: not monostate.
[[nodiscard]] const ObjectMeta& meta_of(const Object& object);

enum class DeltaType {
  kListBegin,
  kListEnd,  ///< every object of the list was told; `resource_version` is the list's
  kAdded,    ///< by a list or a watch
  kUpdated,
  kDeleted,    ///< the object as last known to the server
  kBookmark,   ///< moves resource_version only
  kUnserved,   ///< the API server does not serve the kind: an empty set
  kForbidden,  ///< served but may not be listed: not synced
};

/// One change of one kind; which fields are set depends on the type.
struct Delta {
  DeltaType type = DeltaType::kBookmark;
  Kind kind = Kind::kPod;
  ResourceVersion resource_version;
  Object object;  ///< set for kAdded, kUpdated, kDeleted
};

}  // namespace gang::api
