#include "kube/resource_path.h"

#include <array>
#include <cctype>

#include "gang/base/check.h"

namespace gang::kube {
namespace {

/// One row of the table of kinds.
struct Resource {
  api::Kind kind;
  const char* group_version;
  const char* plural;
  bool namespaced;
  bool optional;
};

constexpr const char* kScheduling = "scheduling.k8s.io/v1beta1";
constexpr const char* kResource = "resource.k8s.io/v1";
constexpr std::array<Resource, api::kKindCount> kResources = {{
    {api::Kind::kPod, "v1", "pods", true, false},
    {api::Kind::kFinishedPod, "v1", "pods", true, false},
    {api::Kind::kNode, "v1", "nodes", false, false},
    {api::Kind::kPodGroup, kScheduling, "podgroups", true, true},
    {api::Kind::kCompositePodGroup, "scheduling.k8s.io/v1alpha3", "compositepodgroups", true, true},
    {api::Kind::kWorkload, kScheduling, "workloads", true, true},
    {api::Kind::kPriorityClass, "scheduling.k8s.io/v1", "priorityclasses", false, false},
    {api::Kind::kNamespace, "v1", "namespaces", false, false},
    {api::Kind::kResourceSlice, kResource, "resourceslices", false, true},
    {api::Kind::kResourceClaim, kResource, "resourceclaims", true, true},
    {api::Kind::kResourceClaimTemplate, kResource, "resourceclaimtemplates", true, true},
    {api::Kind::kDeviceClass, kResource, "deviceclasses", false, true},
    {api::Kind::kDeviceTaintRule, kResource, "devicetaintrules", false, true},
}};

const Resource& resource_of(api::Kind kind) {
  for (const Resource& resource : kResources) {
    if (resource.kind == kind) return resource;
  }
  CHECK(false && "every kind has a row");
  return kResources.front();
}

std::string prefix_of(const Resource& resource) {
  const std::string group_version = resource.group_version;
  return (group_version == "v1" ? "/api/" : "/apis/") + group_version;
}

std::string field_selector(const InformerScope& scope) {
  if (scope.kind == api::Kind::kPod) return "status.phase!=Succeeded,status.phase!=Failed";
  if (scope.kind != api::Kind::kFinishedPod) return {};
  return "status.phase!=Pending,status.phase!=Running,status.phase!=Unknown,spec.schedulerName=" +
         scope.scheduler_name;
}

std::string timeout_query(int timeout_seconds) {
  return "&timeoutSeconds=" + std::to_string(timeout_seconds);
}

}  // namespace

std::string encode_component(std::string_view text) {
  constexpr const char* kHex = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = std::isalnum(byte) != 0 || c == '-' || c == '.' || c == '_' || c == '~';
    if (plain) {
      out.push_back(c);
    } else {
      out.push_back('%');
      out.push_back(kHex[byte >> 4U]);
      out.push_back(kHex[byte & 15U]);
    }
  }
  return out;
}

std::string collection_path(api::Kind kind, std::string_view name_space) {
  const Resource& resource = resource_of(kind);
  std::string path = prefix_of(resource);
  if (resource.namespaced && !name_space.empty()) {
    path += "/namespaces/" + encode_component(name_space);
  }
  return path + "/" + resource.plural;
}

std::string object_path(api::Kind kind, const api::ObjectKey& key) {
  return collection_path(kind, key.name_space) + "/" + encode_component(key.name);
}

std::string resource_text(api::Kind kind) {
  const Resource& resource = resource_of(kind);
  return std::string(resource.group_version) + " " + resource.plural;
}

bool is_optional(api::Kind kind) {
  return resource_of(kind).optional;
}

ListWatchPaths::ListWatchPaths(const InformerScope& scope)
    : collection_(collection_path(scope.kind, scope.name_space)) {
  const std::string selector = field_selector(scope);
  if (!selector.empty()) selector_ = "&fieldSelector=" + encode_component(selector);
}

std::string ListWatchPaths::list(int limit, std::string_view continue_token) const {
  std::string target = collection_ + "?limit=" + std::to_string(limit) + selector_;
  if (!continue_token.empty()) target += "&continue=" + encode_component(continue_token);
  return target;
}

std::string ListWatchPaths::watch_list(int timeout_seconds) const {
  return collection_ +
         "?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan"
         "&allowWatchBookmarks=true" +
         timeout_query(timeout_seconds) + selector_;
}

std::string ListWatchPaths::watch(std::string_view resource_version, int timeout_seconds) const {
  return collection_ +
         "?watch=1&allowWatchBookmarks=true&resourceVersion=" + encode_component(resource_version) +
         timeout_query(timeout_seconds) + selector_;
}

}  // namespace gang::kube
