// load: the objects of a manifest.
#include <algorithm>
#include <array>
#include <set>
#include <type_traits>
#include <utility>
#include <variant>

#include "gang/base/file.h"
#include "sim/claim_words.h"
#include "sim/manifest.h"
#include "sim/name_rules.h"
#include "sim/report.h"
#include "sim/resource_words.h"
#include "sim/world.h"

namespace gang::sim {

namespace {

constexpr std::size_t kFileBytesMax = 64 << 20;

using KindAndKey = std::pair<api::Kind, api::ObjectKey>;

bool has_namespace(api::Kind kind) {
  constexpr std::array kWithNamespace = {
      api::Kind::kPod,      api::Kind::kPodGroup,      api::Kind::kCompositePodGroup,
      api::Kind::kWorkload, api::Kind::kResourceClaim, api::Kind::kResourceClaimTemplate};
  return std::ranges::find(kWithNamespace, kind) != kWithNamespace.end();
}

void set_default_namespace(api::Object& object) {
  std::visit(
      [](auto& value) {
        if constexpr (!std::is_same_v<std::decay_t<decltype(value)>, std::monostate>) {
          if (value.meta.key.name_space.empty()) value.meta.key.name_space = "default";
        }
      },
      object);
}

Result<void> check_object(const SimCluster& cluster, const KindAndKey& object,
                          std::set<KindAndKey>& seen) {
  const auto& [kind, key] = object;
  const std::string what(api::kind_name(kind));
  GANG_TRY_VOID(check_name(what + " metadata.name", key.name));
  if (has_namespace(kind)) {
    GANG_TRY_VOID(check_namespace(what + " " + key.name + " metadata.namespace", key.name_space));
  }
  if (!seen.insert(object).second) {
    return fail(Code::kAlreadyExists,
                what + " " + short_name(key) + " is in the file twice; keep one");
  }
  if (cluster.contains(kind, key)) return is_there(what, key, "delete it first");
  return {};
}

/// `where` names the list: "Pod p: container main".
Result<void> check_amounts(const std::string& where, const api::ResourceList& amounts) {
  for (const auto& [resource, amount] : amounts.entries()) {
    GANG_TRY_VOID(check_amount(where + ": " + resource + ": " + amount.text(), resource, amount));
  }
  return {};
}

/// The amounts that a user writes, in spec of a pod and status of a node.
Result<void> check_amounts(const api::Object& object) {
  if (const auto* node = std::get_if<api::Node>(&object)) {
    return check_amounts("Node " + node->meta.key.name + ": allocatable", node->allocatable);
  }
  const auto* pod = std::get_if<api::Pod>(&object);
  if (pod == nullptr) return {};
  const std::string name = "Pod " + short_name(pod->meta.key);
  for (const api::Container& container : pod->containers) {
    GANG_TRY_VOID(check_amounts(name + ": container " + container.name, container.requests));
  }
  if (pod->pod_level) {
    GANG_TRY_VOID(check_amounts(name + ": resources", pod->pod_level->requests));
  }
  return check_amounts(name + ": overhead", pod->overhead);
}

/// What a driver or a user selects devices by.
Result<void> check_expressions(const api::Object& object) {
  if (const auto* claim = std::get_if<api::ResourceClaim>(&object)) {
    return check_selectors(claim->spec);
  }
  if (const auto* form = std::get_if<api::ResourceClaimTemplate>(&object)) {
    return check_selectors(form->spec);
  }
  const auto* device_class = std::get_if<api::DeviceClass>(&object);
  if (device_class == nullptr) return {};
  return check_selectors("selector ", device_class->selectors);
}

Result<void> check(const SimCluster& cluster, const ManifestObject& loaded,
                   std::set<KindAndKey>& seen) {
  Result<void> good = check_object(cluster, {loaded.kind, api::meta_of(loaded.object).key}, seen);
  if (good) good = check_amounts(loaded.object);
  if (good) good = check_expressions(loaded.object);
  if (!good) return in_context("line " + std::to_string(loaded.line), std::move(good).error());
  return good;
}

}  // namespace

Result<Lines> load_manifest(SimCluster& cluster, const std::string& path) {
  GANG_TRY(const std::string text, read_file(path, kFileBytesMax));
  Result<Manifest> manifest = parse_manifest(text);
  if (!manifest) return in_context(path, std::move(manifest).error());
  std::vector<api::Object> held;
  std::set<KindAndKey> seen;
  for (ManifestObject& loaded : manifest->objects) {
    if (has_namespace(loaded.kind)) set_default_namespace(loaded.object);
    Result<void> good = check(cluster, loaded, seen);
    if (!good) return in_context(path, std::move(good).error());
    held.push_back(std::move(loaded.object));
  }
  if (held.empty() && manifest->skipped.empty()) {
    return fail(Code::kInvalidArgument,
                path + ": holds no object; write one with apiVersion, kind and metadata.name");
  }
  Lines lines{std::to_string(held.size()) + (held.size() == 1 ? " object" : " objects")};
  for (api::Object& object : held) cluster.put(std::move(object));
  for (const std::string& skip : manifest->skipped) lines.push_back("skipped " + skip);
  return lines;
}

}  // namespace gang::sim
