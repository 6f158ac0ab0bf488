// group, gang, gangs, update group, delete, and the faults of watches.
#include <algorithm>
#include <limits>

#include "sim/claim_words.h"
#include "sim/name_rules.h"
#include "sim/pod_words.h"
#include "sim/world.h"

namespace gang::sim {

namespace {

constexpr Range kMinCount{1, std::numeric_limits<int>::max()};
constexpr Range kPriority{std::numeric_limits<int>::min(), kPriorityMax};

/// The group that the options describe, without a name.
Result<api::PodGroup> group_model(const Command& command, int min_count) {
  api::PodGroup group;
  const bool is_basic = command.has_word("basic");
  if (is_basic && command.option("min") != nullptr) {
    return fail(Code::kInvalidArgument, "min=: a basic group has no minimum; keep one of the two");
  }
  group.spec.policy = is_basic ? api::GroupPolicy::kBasic : api::GroupPolicy::kGang;
  group.spec.min_count = is_basic ? 1 : min_count;
  GANG_TRY(group.spec.priority, command.number("priority", 0, kPriority));
  if (group.spec.priority != 0) {
    group.spec.priority_class_name = "priority-" + std::to_string(group.spec.priority);
  }
  if (const std::string* key = command.option("topology")) {
    GANG_TRY_VOID(check_key("topology=", *key));
    group.spec.topology_keys = {*key};
  }
  if (const std::string* parent = command.option("parent")) {
    GANG_TRY_VOID(check_name("parent=", *parent));
    group.spec.parent_name = *parent;
  }
  for (const auto& [key, value] : command.options()) {
    const bool is_entry = command.verb() == "group" ? names_claim(key) : names_shared_claim(key);
    if (is_entry) GANG_TRY_VOID(add_claim_entry(group.claims, key, value));
  }
  return group;
}

/// Makes the groups, or none when one is there already.
Result<void> put_groups(SimCluster& cluster, const Command& command,
                        const std::vector<api::ObjectKey>& keys, int min_count) {
  GANG_TRY(const api::PodGroup model, group_model(command, min_count));
  GANG_TRY_VOID(check_entries(cluster, keys, model.claims));
  for (const api::ObjectKey& key : keys) {
    if (cluster.pod_group(key) != nullptr) return is_there("group", key, "update or delete it");
  }
  for (const api::ObjectKey& key : keys) {
    api::PodGroup group = model;
    group.meta.key = key;
    cluster.put(std::move(group));
  }
  return {};
}

/// The pods of several gangs, created in turn; fails when one is there already.
Result<std::vector<api::Pod>> member_pods(const SimCluster& cluster, const api::Pod& model,
                                          const std::vector<api::ObjectKey>& groups,
                                          int pod_count) {
  std::vector<api::Pod> pods;
  for (int i = 0; i < pod_count; ++i) {
    for (const api::ObjectKey& group : groups) {
      api::Pod pod = model;
      pod.meta.key = {group.name_space, group.name + "-" + std::to_string(i)};
      pod.pod_group_name = group.name;
      if (cluster.pod(pod.meta.key) != nullptr) {
        return is_there("pod", pod.meta.key, "delete that pod");
      }
      pods.push_back(std::move(pod));
    }
  }
  return pods;
}

Result<api::Kind> kind_of(const std::string& name) {
  std::string known;
  for (int i = 0; i < api::kKindCount; ++i) {
    const auto kind = static_cast<api::Kind>(i);
    if (api::kind_name(kind) == name) return kind;
    if (kind == api::Kind::kFinishedPod) continue;  // the other half of Pod
    known += (known.empty() ? "" : ", ") + std::string(api::kind_name(kind));
  }
  return fail(Code::kInvalidArgument, "\"" + name + "\" is no kind; write one of " + known);
}

}  // namespace

Result<Lines> make_group(SimCluster& cluster, const Command& command) {
  if (command.words().size() > 1 && command.words()[1] != "basic") {
    return fail(Code::kInvalidArgument,
                "\"" + command.words()[1] + "\" is no word of a group; write basic, or a range");
  }
  GANG_TRY(const std::vector<api::ObjectKey> keys, named_objects(command, 0, "group"));
  GANG_TRY(const int min_count, command.number("min", 1, kMinCount));
  GANG_TRY_VOID(put_groups(cluster, command, keys, min_count));
  return Lines{"group " + keys.front().name + (keys.size() > 1 ? " ..." : "")};
}

Result<Lines> make_gangs(SimCluster& cluster, const Command& command) {
  GANG_TRY(const std::vector<api::ObjectKey> keys, named_objects(command, 0, "group"));
  if (command.verb() == "gang" && keys.size() > 1) {
    return fail(Code::kInvalidArgument,
                "group: \"" + keys[1].name + "\" is a second name; write gangs for several");
  }
  const int pods_max = kNamesMax / static_cast<int>(keys.size());
  GANG_TRY(const int pod_count, command.number("pods", 1, Range{0, pods_max}));
  GANG_TRY(const int min_count, command.number("min", std::max(pod_count, 1), kMinCount));
  GANG_TRY(const api::Pod model, pod_model(command));
  GANG_TRY_VOID(check_entries(cluster, keys, model.claims));
  GANG_TRY(std::vector<api::Pod> made, member_pods(cluster, model, keys, pod_count));
  GANG_TRY_VOID(put_groups(cluster, command, keys, min_count));
  for (api::Pod& pod : made) cluster.put(std::move(pod));
  const std::string pods = std::to_string(pod_count) + (pod_count == 1 ? " pod" : " pods");
  return Lines{keys.size() == 1 ? pods : pods + " each, created in turn"};
}

Result<Lines> update_group(SimCluster& cluster, const Command& command) {
  const auto& words = command.words();
  if (words[0] != "group") {
    return fail(Code::kInvalidArgument,
                "\"" + words[0] + "\" is not updated; write: update group NAME min=N");
  }
  if (command.option("min") == nullptr) {
    return fail(Code::kInvalidArgument, "min= is missing; write: update group NAME min=N");
  }
  GANG_TRY(const api::ObjectKey key, parse_key("group", words[1]));
  const api::PodGroup* known = cluster.pod_group(key);
  if (known == nullptr) return is_not_there(cluster, "group", key);
  api::PodGroup group = *known;
  GANG_TRY(group.spec.min_count, command.number("min", 1, kMinCount));
  cluster.put(std::move(group));
  return Lines{"group " + words[1] + " changed"};
}

Result<Lines> delete_objects(SimCluster& cluster, const Command& command) {
  const std::string& what = command.words()[0];
  GANG_TRY(const api::Kind kind,
           kind_of_noun(what,
                        "is not deleted; write pod, group, node, claim, template, class, "
                        "rule or namespace"));
  const bool is_pod = kind == api::Kind::kPod;
  Duration grace = Duration::zero();
  if (const std::string* text = command.option("grace")) {
    if (!is_pod) return fail(Code::kInvalidArgument, "grace=: only a pod has one; leave it out");
    Result<Duration> span = parse_span(*text);
    if (!span) return in_context("grace=", std::move(span).error());
    grace = *span;
  }
  GANG_TRY(const std::vector<api::ObjectKey> keys, named_objects(command, 1, what));
  for (const api::ObjectKey& key : keys) {
    if (cluster.contains(kind, key)) continue;
    return is_not_there(cluster, what, key);
  }
  for (const api::ObjectKey& key : keys) {
    if (is_pod) {
      cluster.delete_gracefully(key, grace);
    } else if (kind == api::Kind::kResourceClaim) {
      cluster.delete_claim(key);
    } else {
      cluster.remove(kind, key);
    }
  }
  return Lines{std::to_string(keys.size()) + " deleted"};
}

namespace {

tl::unexpected<Error> is_so_already(api::Kind kind, const char* state, const char* mend) {
  return fail(Code::kInvalidArgument,
              std::string(api::kind_name(kind)) + " " + state + "; " + mend);
}

Result<Lines> drop_or_restore(SimCluster& cluster, const Command& command, api::Kind kind) {
  const auto& words = command.words();
  if (command.verb() == "drop") {
    if (cluster.is_dropped(kind))
      return is_so_already(kind, "is not watched already", "restore it");
    cluster.drop_watch(kind);
    return Lines{"ok"};
  }
  if (words.size() > 2 && words[2] != "expired") {
    return fail(Code::kInvalidArgument,
                "\"" + words[2] + "\" is no way to restore; write: restore watch KIND [expired]");
  }
  if (!cluster.is_dropped(kind)) return is_so_already(kind, "is watched", "drop the watch first");
  cluster.restore_watch(kind, words.size() > 2);
  return Lines{"ok"};
}

}  // namespace

Result<Lines> change_watch(SimCluster& cluster, const Command& command) {
  const auto& words = command.words();
  const bool names_watch = command.verb() == "drop" || command.verb() == "restore";
  if (names_watch && words[0] != "watch") {
    return fail(Code::kInvalidArgument,
                "\"" + words[0] + "\" is not cut; write: " + command.verb() + " watch KIND");
  }
  GANG_TRY(const api::Kind kind, kind_of(words[names_watch ? 1 : 0]));
  if (names_watch) return drop_or_restore(cluster, command, kind);
  const bool serve = command.verb() == "serve";
  if (serve == cluster.is_served(kind)) {
    return serve ? is_so_already(kind, "is served already", "unserve it first")
                 : is_so_already(kind, "is not served already", "serve it first");
  }
  cluster.set_served(kind, serve);
  return Lines{"ok"};
}

}  // namespace gang::sim
