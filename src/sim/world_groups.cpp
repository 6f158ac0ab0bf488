// group, gang, gangs, update group, delete, and the faults of watches.
#include <map>

#include "sim/pod_words.h"
#include "sim/world.h"

namespace gang::sim {

namespace {

bool is_flag(const std::string& word) {
  return word == "basic" || word == "bare";
}

Result<std::vector<std::string>> group_names(const Command& command) {
  std::vector<std::string> names;
  for (const std::string& word : command.words()) {
    if (is_flag(word)) continue;
    GANG_TRY(const std::vector<std::string> expanded, expand_names(word));
    names.insert(names.end(), expanded.begin(), expanded.end());
  }
  if (names.empty()) return fail(Code::kInvalidArgument, "no group is named; write its name");
  return names;
}

Result<api::PodGroup> group_model(const Command& command, int min_count) {
  api::PodGroup group;
  const std::string* name_space = command.option("namespace");
  group.meta.key.name_space = name_space == nullptr ? "default" : *name_space;
  group.spec.policy =
      command.has_word("basic") ? api::GroupPolicy::kBasic : api::GroupPolicy::kGang;
  group.spec.min_count = command.has_word("basic") ? 1 : min_count;
  GANG_TRY(group.spec.priority, command.number("priority", 0));
  if (group.spec.priority != 0) {
    group.spec.priority_class_name = "priority-" + std::to_string(group.spec.priority);
  }
  if (const std::string* key = command.option("topology")) group.spec.topology_keys = {*key};
  if (const std::string* parent = command.option("parent")) group.spec.parent_name = *parent;
  return group;
}

Result<void> put_group(SimCluster& cluster, const Command& command, const std::string& name,
                       int min_count) {
  GANG_TRY(api::PodGroup group, group_model(command, min_count));
  group.meta.key.name = name;
  cluster.put_pod_group(std::move(group));
  return {};
}

Result<api::Kind> kind_of(const std::string& name) {
  for (int i = 0; i < api::kKindCount; ++i) {
    const auto kind = static_cast<api::Kind>(i);
    if (api::kind_name(kind) == name) return kind;
  }
  return fail(Code::kInvalidArgument,
              "\"" + name + "\" is no kind; write one like Pod or PodGroup");
}

}  // namespace

api::ObjectKey parse_key(const std::string& text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string::npos) return {"default", text};
  return {text.substr(0, slash), text.substr(slash + 1)};
}

Result<Lines> make_group(SimCluster& cluster, const Command& command) {
  GANG_TRY(const std::vector<std::string> names, group_names(command));
  GANG_TRY(const int min_count, command.number("min", 1));
  for (const std::string& name : names) {
    GANG_TRY_VOID(put_group(cluster, command, name, min_count));
  }
  return Lines{"group " + names.front() + (names.size() > 1 ? " ..." : "")};
}

Result<Lines> make_gangs(SimCluster& cluster, const Command& command) {
  GANG_TRY(const std::vector<std::string> names, group_names(command));
  GANG_TRY(const int pod_count, command.number("pods", 1));
  GANG_TRY(const int min_count, command.number("min", pod_count));
  GANG_TRY(const api::Pod model, pod_model(command));
  for (const std::string& name : names) {
    GANG_TRY_VOID(put_group(cluster, command, name, min_count));
  }
  for (int i = 0; i < pod_count; ++i) {
    for (const std::string& name : names) {
      api::Pod pod = model;
      pod.meta.key.name = name + "-" + std::to_string(i);
      pod.pod_group_name = name;
      cluster.put_pod(std::move(pod));
    }
  }
  const std::string pods = std::to_string(pod_count) + (pod_count == 1 ? " pod" : " pods");
  return Lines{names.size() == 1 ? pods : pods + " each, created in turn"};
}

Result<Lines> update_group(SimCluster& cluster, const Command& command) {
  const auto& words = command.words();
  if (words.size() != 2 || words[0] != "group" || command.option("min") == nullptr) {
    return fail(Code::kInvalidArgument, "write: update group NAME min=N");
  }
  const api::PodGroup* known = cluster.pod_group(parse_key(words[1]));
  if (known == nullptr) return fail(Code::kNotFound, "there is no group " + words[1]);
  api::PodGroup group = *known;
  GANG_TRY(group.spec.min_count, command.number("min", 1));
  cluster.put_pod_group(std::move(group));
  return Lines{"group " + words[1] + " changed"};
}

Result<Lines> delete_objects(SimCluster& cluster, const Command& command) {
  const auto& words = command.words();
  if (words.size() < 2) return fail(Code::kInvalidArgument, "write: delete pod|group|node NAME");
  Duration grace = Duration::zero();
  if (const std::string* text = command.option("grace")) {
    GANG_TRY(grace, parse_duration(*text));
  }
  std::size_t count = 0;
  for (std::size_t i = 1; i < words.size(); ++i) {
    GANG_TRY(const std::vector<std::string> names, expand_names(words[i]));
    for (const std::string& name : names) {
      bool found = false;
      if (words[0] == "pod") found = cluster.delete_gracefully(parse_key(name), grace);
      if (words[0] == "group") found = cluster.remove(api::Kind::kPodGroup, parse_key(name));
      if (words[0] == "node") found = cluster.remove(api::Kind::kNode, {"", name});
      if (!found) return fail(Code::kNotFound, "there is no " + words[0] + " " + name);
      ++count;
    }
  }
  return Lines{std::to_string(count) + " deleted"};
}

Result<Lines> change_watch(SimCluster& cluster, const Command& command) {
  const auto& words = command.words();
  const bool names_watch = command.verb() == "drop" || command.verb() == "restore";
  const std::size_t at = names_watch ? 1 : 0;
  if (words.size() <= at || (names_watch && words[0] != "watch")) {
    return fail(Code::kInvalidArgument,
                "write: " + command.verb() + (names_watch ? " watch KIND" : " KIND"));
  }
  GANG_TRY(const api::Kind kind, kind_of(words[at]));
  if (command.verb() == "drop") cluster.drop_watch(kind);
  if (command.verb() == "restore") cluster.restore_watch(kind, command.has_word("expired"));
  if (command.verb() == "serve") cluster.set_served(kind, true);
  if (command.verb() == "unserve") cluster.set_served(kind, false);
  return Lines{"ok"};
}

}  // namespace gang::sim
