#include "engine/refusal.h"

#include <fmt/format.h>

#include "engine/class_rules.h"

namespace gang::engine {

namespace {

/// A rule as users know it, and where an object states it. Constant.
struct Rule {
  const char* name;
  const char* field;
};

/// A flag of PodRules and the rule behind it. Constant.
struct PodRule {
  Rule rule;
  bool api::PodRules::*is_used;
};

constexpr PodRule kPodRules[] = {
    {{"inter-pod affinity",
      "requiredDuringSchedulingIgnoredDuringExecution of spec.affinity.podAffinity or "
      "spec.affinity.podAntiAffinity"},
     &api::PodRules::pod_affinity},
    {{"topology spread", "whenUnsatisfiable DoNotSchedule in spec.topologySpreadConstraints"},
     &api::PodRules::topology_spread},
    {{"volumes that choose nodes", "a claim or a disk in spec.volumes"}, &api::PodRules::volumes},
    {{"declared node features",
      "RestartAllContainers in spec.containers[].restartPolicyRules, "
      "spec.containers[].volumeMounts[].bindMountOptions or spec.hostNetwork with "
      "spec.hostUsers false"},
     &api::PodRules::declared_features},
};

constexpr Rule kParent = {"composite pod group", "spec.parentCompositePodGroupName"};

const Rule* rule_not_built(const cluster::PodClass& pod_class) {
  for (const PodRule& row : kPodRules) {
    if (pod_class.rules.*row.is_used) return &row.rule;
  }
  return nullptr;
}

Refusal not_built(const Rule& rule, const std::string& whom) {
  return {.verdict = Verdict::kRuleNotBuilt,
          .message = fmt::format("{}: {} ({}) is not supported by this release; make the object "
                                 "anew without it, or give all pods of the group another scheduler",
                                 whom, rule.field, rule.name)};
}

std::optional<Refusal> refuse_group(const cluster::Gang& gang) {
  const api::PodGroup& group = *gang.group;
  const auto whom = [&gang] { return "PodGroup " + gang.key.text(); };
  if (!group.meta.unreadable.empty()) {
    return Refusal{.verdict = Verdict::kInvalid, .message = whom() + ": " + group.meta.unreadable};
  }
  if (!group.spec.parent_name.empty()) return not_built(kParent, whom());
  return std::nullopt;
}

std::optional<Refusal> refuse_member(const cluster::Member& member, const cluster::Gang& gang) {
  const cluster::PodClass& pod_class = *gang.classes[static_cast<std::size_t>(member.class_index)];
  const auto whom = [&member] { return "pod " + member.key.text(); };
  if (!pod_class.unreadable.empty()) {
    return Refusal{.verdict = Verdict::kInvalid, .message = whom() + ": " + pod_class.unreadable};
  }
  if (const Rule* rule = rule_not_built(pod_class)) return not_built(*rule, whom());
  if (pod_class.requests.size() > kRequestsMax) {
    return Refusal{.verdict = Verdict::kInvalid,
                   .message = fmt::format("{}: spec.containers[].resources.requests: {} different "
                                          "resources; ask for at most {}",
                                          whom(), pod_class.requests.size(), kRequestsMax)};
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
