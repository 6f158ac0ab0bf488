// fail bind, fail status, fail claim, fail intent: how the next writes of one object end.
#include <map>
#include <string>
#include <utility>

#include "gang/api/intent.h"
#include "gang/binder/binder.h"
#include "sim/world.h"

namespace gang::sim {

namespace {

/// The most writes that one fault stands for, or lets pass.
constexpr int kTimesMax = 1'000'000;

/// What the writes are of.
struct Target {
  FaultTarget kind;
  api::ObjectKey key;
};

Result<Target> target_of(const SimCluster& cluster, const std::string& what,
                         const std::string& name) {
  if (what == "claim") {
    GANG_TRY(api::ObjectKey key, parse_key("claim", name));
    const bool is_there = cluster.contains(api::Kind::kResourceClaim, key);
    if (!is_there) return is_not_there(cluster, "claim", key);
    return Target{FaultTarget::kClaim, std::move(key)};
  }
  GANG_TRY(api::ObjectKey key, parse_key("pod", name));
  const api::Pod* pod = cluster.pod(key);
  if (what == "bind") {
    if (pod == nullptr) return is_not_there(cluster, "pod", key);
    return Target{FaultTarget::kBinding, std::move(key)};
  }
  if (what == "status") {
    if (pod == nullptr) return is_not_there(cluster, "pod", key);
    return Target{FaultTarget::kPodStatus, std::move(key)};
  }
  const api::PodGroup* group = cluster.pod_group(key);
  if (group == nullptr && pod == nullptr) return is_not_there(cluster, "group", key);
  const api::Uid& uid = group != nullptr ? group->meta.uid : pod->meta.uid;
  return Target{FaultTarget::kConfigMap,
                {binder::Options().intent_namespace, api::intent_name(uid)}};
}

}  // namespace

bool is_fault(const Command& command) {
  const std::string& what = command.words()[0];
  return what == "bind" || what == "status" || what == "claim" || what == "intent";
}

Result<Lines> arm_fault(SimCluster& cluster, const Command& command) {
  static const std::map<std::string, RequestFault> kFaults = {
      {"conflict", RequestFault::kConflict},
      {"error", RequestFault::kServerError},
      {"timeout", RequestFault::kLostNotExecuted},
      {"executed", RequestFault::kLostExecuted},
      {"late", RequestFault::kLate},
      {"throttled", RequestFault::kThrottled},
      {"forbidden", RequestFault::kForbidden},
  };
  const auto& words = command.words();
  if (words.size() != 3 || !kFaults.contains(words[2])) {
    const std::string problem =
        words.size() < 3 ? "a word is missing" : "\"" + words.back() + "\" is no end of a write";
    return fail(Code::kInvalidArgument,
                problem +
                    "; write: fail bind POD|status POD|claim CLAIM|intent GANG "
                    "conflict|error|timeout|executed|late|throttled|forbidden [times=3] "
                    "[after=1]");
  }
  if (command.option("reason") != nullptr) {
    return fail(Code::kInvalidArgument, "reason= is not read here; write it with: fail POD");
  }
  GANG_TRY(const int times, command.number("times", 1, Range{1, kTimesMax}));
  GANG_TRY(const int after, command.number("after", 0, Range{1, kTimesMax}));
  GANG_TRY(const Target target, target_of(cluster, words[0], words[1]));
  cluster.arm_fault(target.kind, target.key, {kFaults.at(words[2]), times, after});
  return Lines{"armed"};
}

}  // namespace gang::sim
