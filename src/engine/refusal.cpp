#include "engine/refusal.h"

#include <fmt/format.h>

#include "engine/class_rules.h"

namespace gang::engine {

namespace {

/// A flag of PodRules and its name in the explanation. Constant.
struct PodRule {
  const char* name;
  bool api::PodRules::*is_used;
};

constexpr PodRule kPodRules[] = {
    {"inter-pod affinity", &api::PodRules::pod_affinity},
    {"topology spread constraints", &api::PodRules::topology_spread},
    {"volumes", &api::PodRules::volumes},
    {"resource claims", &api::PodRules::resource_claims},
    {"declared node features", &api::PodRules::declared_features},
};

const char* rule_not_built(const cluster::PodClass& pod_class) {
  for (const PodRule& rule : kPodRules) {
    if (pod_class.rules.*rule.is_used) return rule.name;
  }
  return nullptr;
}

Refusal not_built(const char* rule, const std::string& of_whom, cluster::GangKind kind) {
  return {.verdict = Verdict::kRuleNotBuilt,
          .message = fmt::format("rule not supported yet: {} of {}; the {} waits", rule, of_whom,
                                 kind == cluster::GangKind::kLonePod ? "pod" : "gang")};
}

std::optional<Refusal> refuse_group(const cluster::Gang& gang) {
  const api::PodGroup& group = *gang.group;
  const std::string whom = "PodGroup " + gang.key.text();
  if (!group.meta.unreadable.empty()) {
    return Refusal{.verdict = Verdict::kInvalid, .message = whom + ": " + group.meta.unreadable};
  }
  if (!group.spec.topology_keys.empty()) return not_built("topology constraint", whom, gang.kind);
  if (!group.spec.parent_name.empty()) return not_built("composite pod group", whom, gang.kind);
  if (group.resource_claim_count > 0) return not_built("resource claims", whom, gang.kind);
  return std::nullopt;
}

std::optional<Refusal> refuse_member(const cluster::Member& member, const cluster::Gang& gang) {
  const cluster::PodClass& pod_class = *gang.classes[static_cast<std::size_t>(member.class_index)];
  const std::string whom = "pod " + member.key.text();
  if (!pod_class.unreadable.empty()) {
    return Refusal{.verdict = Verdict::kInvalid, .message = whom + ": " + pod_class.unreadable};
  }
  if (const char* rule = rule_not_built(pod_class)) return not_built(rule, whom, gang.kind);
  if (pod_class.requests.size() > kRequestsMax) {
    return Refusal{.verdict = Verdict::kInvalid,
                   .message = fmt::format("{}: spec.containers[].resources.requests: {} different "
                                          "resources; ask for at most {}",
                                          whom, pod_class.requests.size(), kRequestsMax)};
  }
  return std::nullopt;
}

std::optional<Refusal> refuse_members(const cluster::Gang& gang) {
  std::vector<bool> seen(gang.classes.size(), false);
  for (const cluster::Member& member : gang.members) {
    if (member.class_index < 0 || seen[static_cast<std::size_t>(member.class_index)]) continue;
    seen[static_cast<std::size_t>(member.class_index)] = true;
    if (std::optional<Refusal> refusal = refuse_member(member, gang)) return refusal;
  }
  return std::nullopt;
}

std::optional<Refusal> refuse_incomplete(const cluster::Gang& gang) {
  if (gang.need() <= gang.counts.pending) return std::nullopt;
  std::string message = fmt::format("{} of {} pods exist", gang.counts.live(), gang.minimum);
  if (gang.counts.gated > 0) message += fmt::format("; {} gated", gang.counts.gated);
  return Refusal{.verdict = Verdict::kWaitingForPods, .message = std::move(message)};
}

}  // namespace

bool is_placeable(const cluster::PodClass& pod_class) {
  return pod_class.unreadable.empty() && rule_not_built(pod_class) == nullptr &&
         pod_class.requests.size() <= kRequestsMax;
}

std::optional<Refusal> refusal_of(const cluster::Gang& gang) {
  if (gang.kind == cluster::GangKind::kPodGroup) {
    if (!gang.group) {
      return Refusal{.verdict = Verdict::kWaitingForGroup,
                     .message = "waiting for PodGroup " + gang.key.name};
    }
    if (std::optional<Refusal> refusal = refuse_group(gang)) return refusal;
  }
  if (std::optional<Refusal> refusal = refuse_members(gang)) return refusal;
  return refuse_incomplete(gang);
}

}  // namespace gang::engine
