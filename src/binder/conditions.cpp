#include "binder/conditions.h"

#include <optional>
#include <string>
#include <string_view>

#include "gang/base/utf8.h"

namespace gang::binder {
namespace {

using api::Condition;
using api::ConditionStatus;
using engine::Explanation;
using engine::Verdict;

/// What the API server takes of the message of a PodGroup's condition.
constexpr std::size_t kMessageBytesMax = 32'768;

Condition condition(std::string_view type, ConditionStatus status, std::string reason,
                    std::string_view message) {
  return {.type = std::string(type),
          .status = status,
          .reason = std::move(reason),
          .message = std::string(cut_text(message, kMessageBytesMax))};
}

std::string sentence(const Explanation& explanation) {
  switch (explanation.verdict) {
    case Verdict::kImpossibleNow:
      return "no placement exists now";
    case Verdict::kImpossibleOnFleet:
      return "no placement exists even on these nodes emptied";
    case Verdict::kSearchLimitReached:
      return "no placement was found within the search limit";
    case Verdict::kWaitingForPods:
      return explanation.live < explanation.minimum ? "waiting for pods"
                                                    : "its pods cannot be placed yet";
    case Verdict::kWaitingForGroup:
      return "waiting for the group";
    case Verdict::kRuleNotBuilt:
      return "it uses a rule that this version does not place";
    case Verdict::kInvalid:
      return "its objects are not valid";
    case Verdict::kBinding:
      return explanation.message;
  }
  return "";
}

std::string below_minimum(const Explanation& explanation) {
  return std::to_string(explanation.bound) + " of minimum " + std::to_string(explanation.minimum) +
         " members are bound";
}

/// A group whose record is True already says in Satisfied what other groups say in the record.
std::string satisfied_text(const Explanation& explanation) {
  std::string text = std::to_string(explanation.bound) + " bound, " +
                     std::to_string(explanation.live) + " live, minimum " +
                     std::to_string(explanation.minimum) + ": " + sentence(explanation);
  const bool is_told_elsewhere =
      explanation.writes_condition || explanation.verdict == Verdict::kBinding;
  return is_told_elsewhere ? text : text + ": " + explanation.message;
}

std::string degraded_text(const Explanation& explanation) {
  const std::string text = below_minimum(explanation);
  return explanation.loss.empty() ? text : text + "; " + explanation.loss;
}

/// True as told, or the end of an earlier True.
WantedCondition flag(std::string_view type, bool on, std::string ended, std::string message) {
  if (!on) {
    return {condition(type, ConditionStatus::kFalse, std::move(ended), ""),
            /*only_where_true=*/true};
  }
  return {condition(type, ConditionStatus::kTrue, "BelowMinCount", std::move(message))};
}

}  // namespace

std::vector<WantedCondition> group_conditions(const Explanation& explanation) {
  std::vector<WantedCondition> wanted;
  const Verdict verdict = explanation.verdict;
  const bool has_group = explanation.gang.kind == cluster::GangKind::kPodGroup &&
                         !explanation.gang.uid.empty() && verdict != Verdict::kWaitingForGroup;
  if (!has_group) return wanted;
  if (explanation.writes_condition) {
    wanted.push_back({condition(api::kInitiallyScheduled, ConditionStatus::kFalse,
                                engine::failure_reason(verdict), explanation.message)});
  }
  const bool is_satisfied = explanation.bound >= explanation.minimum;
  wanted.push_back(
      is_satisfied
          ? WantedCondition{condition(api::kSatisfied, ConditionStatus::kTrue, "Satisfied",
                                      std::to_string(explanation.bound) + " bound, minimum " +
                                          std::to_string(explanation.minimum))}
          : WantedCondition{condition(api::kSatisfied, ConditionStatus::kFalse,
                                      engine::verdict_name(verdict), satisfied_text(explanation))});
  wanted.push_back(
      flag(api::kDegraded, explanation.degraded, "NotDegraded", degraded_text(explanation)));
  wanted.push_back(flag(api::kPartiallyBound, explanation.partially_bound, "NotPartiallyBound",
                        below_minimum(explanation) + " and are left where they are"));
  return wanted;
}

std::vector<WantedCondition> group_conditions(const engine::Plan& plan, std::int32_t bound) {
  std::vector<WantedCondition> wanted;
  if (plan.writes_record) {
    wanted.push_back(
        {condition(api::kInitiallyScheduled, ConditionStatus::kTrue, "Scheduled", "")});
  }
  wanted.push_back(
      {condition(api::kSatisfied, ConditionStatus::kTrue, "Satisfied",
                 std::to_string(bound) + " bound, minimum " + std::to_string(plan.minimum))});
  wanted.push_back(flag(api::kDegraded, false, "NotDegraded", ""));
  wanted.push_back(flag(api::kPartiallyBound, false, "NotPartiallyBound", ""));
  return wanted;
}

std::optional<Condition> pod_condition(const Explanation& explanation,
                                       const engine::MemberText& member) {
  const Verdict verdict = explanation.verdict;
  // Nothing is said to an autoscaler of a pod without a group; what was said is made true again.
  if (verdict == Verdict::kWaitingForGroup && member.current.type.empty()) return std::nullopt;
  return condition("PodScheduled", ConditionStatus::kFalse, engine::failure_reason(verdict),
                   member.message);
}

bool says_the_same(const Condition& a, const Condition& b) {
  return a.status == b.status && a.reason == b.reason && a.message == b.message;
}

namespace {

bool must_be_written(const Condition* known, const WantedCondition& wanted) {
  const bool is_true = known != nullptr && known->status == ConditionStatus::kTrue;
  if (wanted.only_where_true && !is_true) return false;
  if (is_true && wanted.condition.type == api::kInitiallyScheduled) return false;
  if (known == nullptr) return true;
  // Of a satisfied gang only the numbers could differ, and they are no news.
  const bool both_true = is_true && wanted.condition.status == ConditionStatus::kTrue;
  if (both_true && wanted.condition.type == api::kSatisfied) {
    return known->reason != wanted.condition.reason;
  }
  return !says_the_same(*known, wanted.condition);
}

}  // namespace

std::vector<Condition> changes(const std::vector<Condition>& known,
                               const std::vector<WantedCondition>& wanted, TimePoint now) {
  std::vector<Condition> changed;
  for (const WantedCondition& want : wanted) {
    const Condition* old = api::find_condition(known, want.condition.type);
    if (!must_be_written(old, want)) continue;
    Condition next = want.condition;
    const bool flips = old == nullptr || old->status != next.status;
    next.last_transition_time = flips ? now : old->last_transition_time;
    changed.push_back(std::move(next));
  }
  return changed;
}

void merge(std::vector<Condition>& known, const std::vector<Condition>& written) {
  for (const Condition& condition : written) {
    std::erase_if(known, [&](const Condition& old) { return old.type == condition.type; });
    known.push_back(condition);
  }
}

}  // namespace gang::binder
