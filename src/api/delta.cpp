#include "gang/api/delta.h"

#include <type_traits>

#include "gang/base/check.h"

namespace gang::api {

std::string_view kind_name(Kind kind) {
  switch (kind) {
    case Kind::kPod:
    case Kind::kFinishedPod:
      return "Pod";
    case Kind::kNode:
      return "Node";
    case Kind::kPodGroup:
      return "PodGroup";
    case Kind::kCompositePodGroup:
      return "CompositePodGroup";
    case Kind::kWorkload:
      return "Workload";
    case Kind::kPriorityClass:
      return "PriorityClass";
    case Kind::kNamespace:
      return "Namespace";
    case Kind::kResourceSlice:
      return "ResourceSlice";
    case Kind::kResourceClaim:
      return "ResourceClaim";
    case Kind::kResourceClaimTemplate:
      return "ResourceClaimTemplate";
    case Kind::kDeviceClass:
      return "DeviceClass";
    case Kind::kDeviceTaintRule:
      return "DeviceTaintRule";
  }
  return "Pod";
}

const ObjectMeta& meta_of(const Object& object) {
  const ObjectMeta* meta = std::visit(
      [](const auto& value) -> const ObjectMeta* {
        if constexpr (std::is_same_v<std::decay_t<decltype(value)>, std::monostate>) {
          return nullptr;
        } else {
          return &value.meta;
        }
      },
      object);
  CHECK(meta != nullptr);
  return *meta;
}

}  // namespace gang::api
