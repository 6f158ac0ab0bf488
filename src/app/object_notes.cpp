#include "app/object_notes.h"

#include <array>
#include <string_view>
#include <utility>

namespace gang::app {

namespace {

/// Names by which other schedulers, or older recipes, join pods to a gang.
constexpr std::array<std::string_view, 4> kForeignRecipes = {
    "scheduling.k8s.io/pod-group", "pod-group.scheduling.sigs.k8s.io",
    "scheduling.x-k8s.io/pod-group", "scheduling.k8s.io/group-name"};

std::string recipe_problem(const api::Pod& pod, const std::string& scheduler_name) {
  if (pod.scheduler_name != scheduler_name || !pod.pod_group_name.empty()) return "";
  for (const std::string_view key : kForeignRecipes) {
    const bool is_label = api::find(pod.meta.labels, key) != nullptr;
    if (!is_label && api::find(pod.meta.annotations, key) == nullptr) continue;
    return "the " + std::string(is_label ? "label " : "annotation ") + std::string(key) +
           " makes no member of a gang: the pod is scheduled alone. Set "
           "spec.schedulingGroup.podGroupName";
  }
  return "";
}

std::string amounts_problem(const api::Node& node) {
  std::string names;
  for (const std::string& name : node.unreadable_resources) {
    names += (names.empty() ? "" : ", ") + name;
  }
  if (names.empty()) return "";
  return "status.allocatable: the amount of " + names +
         " cannot be read; the node offers none of it. Write amounts like 6Gi or 500m";
}

std::string problem_of(const api::Object& object, const std::string& scheduler_name) {
  const api::ObjectMeta& meta = api::meta_of(object);
  if (!meta.unreadable.empty()) return meta.unreadable;
  if (const auto* node = std::get_if<api::Node>(&object)) return amounts_problem(*node);
  if (const auto* pod = std::get_if<api::Pod>(&object)) return recipe_problem(*pod, scheduler_name);
  return "";
}

}  // namespace

std::optional<ObjectNote> ObjectNotes::observe(const api::Delta& delta) {
  const bool shows_object =
      delta.type == api::DeltaType::kAdded || delta.type == api::DeltaType::kUpdated;
  if (!shows_object || std::holds_alternative<std::monostate>(delta.object)) return std::nullopt;
  std::string problem = problem_of(delta.object, scheduler_name_);
  if (problem.empty()) return std::nullopt;
  const api::ObjectMeta& meta = api::meta_of(delta.object);
  ObjectNote note{std::string(api::kind_name(delta.kind)) + " " + meta.key.text(),
                  std::move(problem)};
  if (told_.size() >= kRememberedMax) told_.clear();
  if (!told_.insert(note.object + meta.uid.text + note.message).second) return std::nullopt;
  return note;
}

}  // namespace gang::app
