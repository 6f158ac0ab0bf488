// The names that a command's words stand for.
#include <algorithm>
#include <array>
#include <set>
#include <string_view>

#include "gang/base/check.h"
#include "sim/name_rules.h"
#include "sim/report.h"
#include "sim/world.h"

namespace gang::sim {

namespace {

/// Words of a verb that are no names: basic of what makes groups, bare of what makes pods, all and
/// admin of what makes claims, all of rules.
bool is_flag(const std::string& verb, const std::string& word) {
  const bool makes_gangs = verb == "gang" || verb == "gangs";
  if (word == "basic") return makes_gangs || verb == "group";
  const bool makes_claims = verb == "claim" || verb == "template";
  if (word == "all") return makes_claims || verb == "rule";
  if (word == "admin") return makes_claims;
  return word == "bare" && (makes_gangs || verb == "pods" || verb == "running");
}

Result<void> check_object(const std::string& what, const api::ObjectKey& key) {
  GANG_TRY_VOID(check_name(what, key.name));
  if (!key.name_space.empty()) GANG_TRY_VOID(check_namespace(what + ": namespace", key.name_space));
  return {};
}

/// What verbs call the objects of one kind.
struct Noun {
  std::string_view what;
  api::Kind kind;
  std::string_view verb;  ///< that makes one
  bool has_namespace;
};

constexpr std::array kNouns = {
    Noun{"pod", api::Kind::kPod, "pods", true},
    Noun{"group", api::Kind::kPodGroup, "group", true},
    Noun{"node", api::Kind::kNode, "nodes", false},
    Noun{"claim", api::Kind::kResourceClaim, "claim", true},
    Noun{"template", api::Kind::kResourceClaimTemplate, "template", true},
    Noun{"class", api::Kind::kDeviceClass, "class", false},
    Noun{"rule", api::Kind::kDeviceTaintRule, "rule", false},
    Noun{"namespace", api::Kind::kNamespace, "namespace", false},
};

/// REQUIRES: `what` is one of them.
const Noun& noun(std::string_view what) {
  const auto at = std::ranges::find(kNouns, what, &Noun::what);
  CHECK(at != kNouns.end());
  return *at;
}

std::vector<std::string> names_of(const SimCluster& cluster, api::Kind kind) {
  std::vector<std::string> names;
  for (const api::ObjectKey& key : cluster.keys(kind)) names.push_back(short_name(key));
  return names;
}

/// The key of one name of a command, whose option namespace= counts for names without their own.
Result<api::ObjectKey> read_key(const std::string& what, const std::string& name,
                                const std::string* name_space) {
  if (name_space == nullptr) return parse_key(what, name);
  if (name.find('/') == std::string::npos) return api::ObjectKey{*name_space, name};
  return fail(Code::kInvalidArgument,
              "namespace=" + *name_space + ": \"" + name + "\" has its own; keep one of the two");
}

}  // namespace

Result<api::ObjectKey> parse_key(const std::string& what, const std::string& text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string::npos) return api::ObjectKey{"default", text};
  if (slash > 0 && slash + 1 < text.size()) {
    return api::ObjectKey{text.substr(0, slash), text.substr(slash + 1)};
  }
  const std::string missing = slash == 0 ? "namespace" : "name";
  return fail(Code::kInvalidArgument, what + ": \"" + text + "\" has an empty " + missing +
                                          "; write <namespace>/<name> or <name>");
}

Result<std::vector<api::ObjectKey>> named_objects(const Command& command, std::size_t first,
                                                  const std::string& what) {
  const std::string* name_space = command.option("namespace");
  std::vector<api::ObjectKey> keys;
  std::set<api::ObjectKey> seen;
  for (std::size_t i = first; i < command.words().size(); ++i) {
    if (is_flag(command.verb(), command.words()[i])) continue;
    GANG_TRY(const std::vector<std::string> names, expand_names(command.words()[i]));
    for (const std::string& name : names) {
      api::ObjectKey key{"", name};
      if (noun(what).has_namespace) {
        GANG_TRY(key, read_key(what, name, name_space));
      }
      GANG_TRY_VOID(check_object(what, key));
      if (!seen.insert(key).second) {
        return fail(Code::kInvalidArgument, what + " " + name + " is named twice; keep one");
      }
      keys.push_back(std::move(key));
    }
    if (keys.size() > kNamesMax) {
      return fail(Code::kResourceExhausted, "more than " + std::to_string(kNamesMax) + " " + what +
                                                " names in one command, the most; split it");
    }
  }
  if (keys.empty()) {
    return fail(Code::kInvalidArgument, "no " + what + " is named; write its name after the verb");
  }
  return keys;
}

std::string short_list(const std::vector<std::string>& names) {
  constexpr std::size_t kShownMax = 5;
  std::string list;
  for (std::size_t i = 0; i < std::min(names.size(), kShownMax); ++i) {
    list += (i == 0 ? "" : ", ") + names[i];
  }
  if (names.size() > kShownMax) {
    list += " (" + std::to_string(names.size() - kShownMax) + " more)";
  }
  return list;
}

Result<api::Kind> kind_of_noun(const std::string& what, const std::string& mend) {
  const auto at = std::ranges::find(kNouns, what, &Noun::what);
  if (at != kNouns.end()) return at->kind;
  return fail(Code::kInvalidArgument, "\"" + what + "\" " + mend);
}

tl::unexpected<Error> is_not_there(const SimCluster& cluster, const std::string& what,
                                   const api::ObjectKey& key) {
  const Noun& named = noun(what);
  const std::vector<std::string> known = names_of(cluster, named.kind);
  const std::string known_ones = known.empty() ? "" : "write one of " + short_list(known) + ", or ";
  const std::string name = short_name(key);
  return fail(Code::kNotFound, "there is no " + what + " " + name + "; " + known_ones +
                                   "make it with: " + std::string(named.verb) + " " + name);
}

tl::unexpected<Error> is_there(const std::string& what, const api::ObjectKey& key,
                               const std::string& mend) {
  return fail(Code::kAlreadyExists,
              what + " " + short_name(key) + " is there already; choose another name, or " + mend);
}

}  // namespace gang::sim
