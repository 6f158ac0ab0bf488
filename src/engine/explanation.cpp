#include "gang/engine/explanation.h"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

namespace gang::engine {

namespace {

std::set<std::pair<std::string, std::string>> causes_of(const Explanation& explanation) {
  std::set<std::pair<std::string, std::string>> causes;
  for (const Reason& reason : explanation.reasons) causes.emplace(reason.filter, reason.text);
  return causes;
}

/// The message where it names objects, without its numbers where it counts them.
std::string told_beside_causes(const Explanation& explanation) {
  if (!explanation.reasons.empty()) return "";
  std::string text = explanation.message;
  if (explanation.verdict != Verdict::kRuleNotBuilt && explanation.verdict != Verdict::kInvalid) {
    std::erase_if(text, [](char c) { return c >= '0' && c <= '9'; });
  }
  return text;
}

}  // namespace

const char* verdict_name(Verdict verdict) {
  switch (verdict) {
    case Verdict::kImpossibleNow:
      return "ImpossibleNow";
    case Verdict::kImpossibleOnFleet:
      return "ImpossibleOnFleet";
    case Verdict::kSearchLimitReached:
      return "SearchLimitReached";
    case Verdict::kWaitingForPods:
      return "WaitingForPods";
    case Verdict::kWaitingForGroup:
      return "WaitingForGroup";
    case Verdict::kRuleNotBuilt:
      return "RuleNotBuilt";
    case Verdict::kInvalid:
      return "Invalid";
    case Verdict::kBinding:
      return "Binding";
  }
  return "Unknown";
}

const char* failure_reason(Verdict verdict) {
  switch (verdict) {
    case Verdict::kImpossibleNow:
    case Verdict::kImpossibleOnFleet:
    case Verdict::kSearchLimitReached:
    case Verdict::kWaitingForPods:
    case Verdict::kWaitingForGroup:
    case Verdict::kRuleNotBuilt:
      return "Unschedulable";
    case Verdict::kInvalid:
    case Verdict::kBinding:
      return "SchedulerError";
  }
  return "SchedulerError";
}

bool same_meaning(const Explanation& a, const Explanation& b) {
  return std::tie(a.gang, a.verdict, a.minimum, a.degraded, a.partially_bound) ==
             std::tie(b.gang, b.verdict, b.minimum, b.degraded, b.partially_bound) &&
         causes_of(a) == causes_of(b) && told_beside_causes(a) == told_beside_causes(b);
}

const char* round_end_name(RoundEnd end) {
  switch (end) {
    case RoundEnd::kCommitted:
      return "committed";
    case RoundEnd::kMembersLost:
      return "members_lost";
    case RoundEnd::kUnavailable:
      return "unavailable";
    case RoundEnd::kRefused:
      return "refused";
    case RoundEnd::kGroupGone:
      return "group_gone";
    case RoundEnd::kOvertaken:
      return "overtaken";
    case RoundEnd::kUnready:
      return "devices_not_ready";
  }
  return "unknown";
}

}  // namespace gang::engine
