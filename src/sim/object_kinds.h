// Which kind each type of object is, and how to reach the objects of one kind.
#pragma once

#include <array>
#include <cstddef>
#include <tuple>

#include "gang/api/delta.h"

namespace gang::sim {

/// By position in api::Object after the empty one, and in the tuple of ObjectStore. Finished pods
/// are the other half of the pods.
inline constexpr std::array kObjectKinds = {
    api::Kind::kPod,           api::Kind::kNode,
    api::Kind::kPodGroup,      api::Kind::kCompositePodGroup,
    api::Kind::kWorkload,      api::Kind::kPriorityClass,
    api::Kind::kNamespace,     api::Kind::kResourceSlice,
    api::Kind::kResourceClaim, api::Kind::kResourceClaimTemplate,
    api::Kind::kDeviceClass,   api::Kind::kDeviceTaintRule};
static_assert(std::variant_size_v<api::Object> == kObjectKinds.size() + 1);

/// REQUIRES: not monostate.
[[nodiscard]] inline api::Kind kind_of(const api::Object& object) {
  return kObjectKinds[object.index() - 1];
}

/// Calls `visit` with the map of that kind; not at all for the kind of finished pods.
template <class Maps, class Visit>
void visit_kind(Maps& maps, api::Kind kind, const Visit& visit) {
  std::size_t position = 0;
  const auto visit_one = [&](auto& map) {
    if (kObjectKinds[position++] == kind) visit(map);
  };
  std::apply([&](auto&... map) { (visit_one(map), ...); }, maps);
}

}  // namespace gang::sim
