// The JSON decoders of every kind, of watch lines, Status bodies, lists and discovery. The first
// byte of the input chooses what is decoded.
//
// Properties: no crash; a decoded object has a usable name; metadata and requests of a decoded pod
// can be summed and encoded; whatever an object says, the same object as a watch line says too.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "gang/api/json.h"
#include "gang/base/check.h"

namespace {

using gang::api::Kind;

void check_meta(const gang::api::ObjectMeta& meta) {
  CHECK(!meta.key.name.empty());
  CHECK(meta.key.name.find('/') == std::string::npos);
  for (std::size_t i = 1; i < meta.labels.size(); ++i) {
    CHECK(meta.labels[i - 1].first < meta.labels[i].first);
  }
}

void check_pod(const gang::api::Pod& pod) {
  const auto spec = effective_requests(pod, gang::api::RequestBasis::kSpec);
  for (const auto& [name, quantity] : spec.entries()) CHECK(whole(name, quantity) <= INT64_MAX);
  const auto basis = gang::api::RequestBasis::kStatus;
  CHECK(nonzero_requests(pod, basis) == nonzero_requests(pod, basis));
  gang::api::Binding binding{pod.meta.key, pod.meta.uid, pod.meta.resource_version, "n1",
                             pod.meta.annotations};
  CHECK(!gang::api::encode_binding(binding).empty());
  for (const auto& condition : pod.conditions) {
    const gang::api::PodStatusPatch patch{pod.meta.key, pod.meta.uid, {}, condition, ""};
    CHECK(!gang::api::encode_pod_status_patch(patch).empty());
  }
}

void decode_as(Kind kind, std::string_view json) {
  const auto object = gang::api::decode_object(kind, json);
  const std::string line = "{\"type\":\"ADDED\",\"object\":" + std::string(json) + "}";
  const auto event = gang::api::decode_watch_event(kind, line);
  if (!object) return;
  check_meta(meta_of(*object));
  if (const auto* pod = std::get_if<gang::api::Pod>(&*object)) check_pod(*pod);
  // Two levels of nesting and a byte position are all that a line adds.
  const bool same = event && (event->object == *object || !meta_of(*object).unreadable.empty() ||
                              !meta_of(event->object).unreadable.empty());
  CHECK(same);
}

void decode_rest(std::uint8_t choice, std::string_view json) {
  switch (choice) {
    case 0:
      CHECK(gang::api::decode_status(json).message.size() <= 1024);
      break;
    case 1:
      (void)gang::api::decode_list_meta(json);
      break;
    case 2:
      (void)gang::api::decode_group_versions(json);
      break;
    case 3:
      (void)gang::api::decode_resource_names(json);
      break;
    default:
      (void)gang::api::decode_watch_event(static_cast<Kind>(choice - 4), json);
      break;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::uint8_t choice = data[0] % (2 * gang::api::kKindCount + 4);
  const std::string_view json(reinterpret_cast<const char*>(data) + 1, size - 1);
  if (choice < gang::api::kKindCount) {
    decode_as(static_cast<Kind>(choice), json);
  } else {
    decode_rest(static_cast<std::uint8_t>(choice - gang::api::kKindCount), json);
  }
  return 0;
}
