#include "gang/engine/explanation.h"

#include <algorithm>
#include <cctype>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

namespace gang::engine {

namespace {

std::set<std::pair<std::string, std::string>> causes_of(const Explanation& explanation) {
  std::set<std::pair<std::string, std::string>> causes;
  for (const Reason& reason : explanation.reasons) causes.emplace(reason.filter, reason.text);
  return causes;
}

bool is_of_word(char c) {
  constexpr std::string_view kBesideLetters = "._-/";
  return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
         kBesideLetters.find(c) != std::string_view::npos;
}

/// Whether the word is an amount: "3", "0/4", "1.5" or "80Gi".
bool is_amount(std::string_view word) {
  constexpr std::size_t kUnitMax = 2;
  const std::size_t unit = std::min(word.find_first_not_of("0123456789./"), word.size());
  const bool has_number = unit > 0 || word.empty();
  return has_number && word.size() - unit <= kUnitMax &&
         std::ranges::all_of(word.substr(unit), [](char c) {
           return std::isalpha(static_cast<unsigned char>(c)) != 0;
         });
}

/// Without amounts: "3 free of 16" and "4 free of 16" say the same, n3 and n4 are two nodes.
std::string words_of(std::string_view text) {
  std::string words;
  while (!text.empty()) {
    const auto end = std::ranges::find_if_not(text, is_of_word);
    const std::string_view word(text.begin(), end);
    if (!is_amount(word)) words += word;
    text.remove_prefix(word.size());
    if (text.empty()) break;
    words += text.front();
    text.remove_prefix(1);
  }
  return words;
}

/// The message where it names objects, without its numbers where it counts them.
std::string told_beside_causes(const Explanation& explanation) {
  if (!explanation.reasons.empty()) return "";
  const bool counts =
      explanation.verdict != Verdict::kRuleNotBuilt && explanation.verdict != Verdict::kInvalid;
  return counts ? words_of(explanation.message) : explanation.message;
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
         causes_of(a) == causes_of(b) && words_of(a.detail) == words_of(b.detail) &&
         told_beside_causes(a) == told_beside_causes(b);
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
    case RoundEnd::kMembersGone:
      return "members_gone";
    case RoundEnd::kUnready:
      return "devices_not_ready";
  }
  return "unknown";
}

}  // namespace gang::engine
