#include "engine/explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "engine/filter.h"
#include "gang/base/utf8.h"

namespace gang::engine {

namespace {

constexpr const char* kNoNodes = "no nodes available to schedule pods";

constexpr std::size_t kMessageBytesMax = 4096;

std::string told_text(const std::string& text) {
  return std::string(cut_text(text, kMessageBytesMax));
}

Explanation blank(const cluster::Gang& gang, Verdict verdict) {
  return {.gang = {.id = gang.id, .kind = gang.kind, .key = gang.key, .uid = gang.uid},
          .verdict = verdict,
          .minimum = gang.minimum,
          .bound = gang.counts.bound,
          .live = gang.counts.live()};
}

std::string joined(const std::vector<Reason>& reasons, std::size_t count_max) {
  std::string text;
  for (std::size_t i = 0; i < std::min(count_max, reasons.size()); ++i) {
    text += fmt::format("{}{} {}", i == 0 ? "" : ", ", reasons[i].node_count, reasons[i].text);
  }
  if (count_max > 0 && reasons.size() > count_max) {
    text += fmt::format(" and {} more", reasons.size() - count_max);
  }
  return text;
}

/// Of a gang that has its minimum already only members above it are waiting.
std::string state_text(const cluster::Gang& gang, const Attempt& attempt) {
  const std::string& where = attempt.placement.best;
  if (attempt.scheduled < gang.minimum) {
    return fmt::format(
        "pod group is unschedulable, {}minCount ({}) cannot be satisfied: {} scheduled, {} "
        "remaining",
        where, gang.minimum, attempt.scheduled, attempt.remaining);
  }
  return fmt::format("pod group has its minimum ({}): {}{} scheduled, {} more cannot be scheduled",
                     gang.minimum, where, attempt.scheduled,
                     gang.counts.live() - attempt.scheduled);
}

std::string group_text(const cluster::Gang& gang, const Attempt& attempt, const Options& options) {
  std::string text = state_text(gang, attempt);
  if (attempt.verdict == Verdict::kSearchLimitReached) text += "; search limit reached";
  const auto shown = static_cast<std::size_t>(std::max(0, options.reasons_shown_max));
  const std::string reasons = joined(attempt.reasons, shown);
  if (!reasons.empty()) text += "; " + reasons;
  if (!attempt.detail.empty()) text += "; " + attempt.detail;
  return text;
}

/// A lone pod's text: its FitError, which its resources alone may not have.
std::string lone_text(const Attempt& attempt, const std::string& fit_error,
                      std::int64_t node_total) {
  std::string text = fit_error.empty() ? fit_text(node_total, attempt.reasons) : fit_error;
  if (attempt.verdict == Verdict::kSearchLimitReached) text += " Search limit reached.";
  if (!attempt.detail.empty()) text += " " + attempt.detail;
  return text;
}

/// The first member that no node takes even emptied, where others of the gang are not like it: the
/// reasons may be about those.
std::string misfit_text(const cluster::Gang& gang, const std::vector<DraftClass>& classes,
                        const std::vector<std::string>& fit_errors,
                        const std::vector<Reason>& reasons) {
  if (classes.size() < 2) return "";
  for (const cluster::Member& member : gang.members) {
    if (member.class_index < 0) continue;
    const auto index = static_cast<std::size_t>(member.class_index);
    if (classes[index].table->fleet_sum() > 0 || fit_errors[index].empty()) continue;
    std::string text = fmt::format("pod {} fits no node", member.key.name);
    // Where it is the member that the reasons are about, they are not said twice.
    if (reasons != reasons_of(*classes[index].table)) text += ": " + fit_errors[index];
    return text;
  }
  return "";
}

void add_detail(std::string& detail, const std::string& more) {
  if (!detail.empty() && !more.empty()) detail += "; ";
  detail += more;
}

MemberText told(const cluster::Member& member, std::string message) {
  return {.pod = member.key,
          .uid = member.uid,
          .resource_version = member.resource_version,
          .message = std::move(message)};
}

}  // namespace

std::vector<Reason> reasons_of(const CapacityTable& table) {
  const std::vector<ReasonLine>& lines = table.rules().lines;
  std::vector<Reason> reasons;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (table.node_count(i) == 0) continue;
    reasons.push_back(
        {.filter = lines[i].filter, .text = lines[i].text, .node_count = table.node_count(i)});
  }
  std::ranges::sort(reasons, [](const Reason& a, const Reason& b) {
    return std::tie(b.node_count, a.text) < std::tie(a.node_count, b.text);
  });
  return reasons;
}

std::string fit_error(const CapacityTable& table) {
  if (table.size() == 0) return kNoNodes;
  const ClassRules& rules = table.rules();
  // Refused before any node was looked at: the text stands once, uncounted.
  if (rules.named_nodes && rules.named_nodes->empty()) {
    return fmt::format("0/{} nodes are available: {}.", table.size(), kNodeNamesConflict.text);
  }
  return fit_text(table.size(), reasons_of(table));
}

std::string fit_text(std::int64_t node_total, const std::vector<Reason>& reasons) {
  std::vector<std::string> entries;
  for (const Reason& reason : reasons) {
    entries.push_back(fmt::format("{} {}", reason.node_count, reason.text));
  }
  std::ranges::sort(entries);
  return told_text(
      fmt::format("0/{} nodes are available: {}.", node_total, fmt::join(entries, ", ")));
}

Explanation explain(const cluster::Gang& gang, Attempt attempt,
                    const std::vector<DraftClass>& classes, const Options& options) {
  Explanation explanation = blank(gang, attempt.verdict);
  explanation.scheduled = attempt.scheduled;
  explanation.remaining = attempt.remaining;
  explanation.node_total = classes.empty() ? 0 : classes.front().table->size();

  const std::vector<bool>& elsewhere = attempt.placement.fits_somewhere;
  std::vector<std::string> fit_errors;
  for (std::size_t i = 0; i < classes.size(); ++i) {
    const CapacityTable& table = *classes[i].table;
    const bool fits = table.capacity_sum() > 0 || (i < elsewhere.size() && elsewhere[i]);
    fit_errors.push_back(fits ? "" : fit_error(table));
  }
  const bool lone = gang.kind == cluster::GangKind::kLonePod && !fit_errors.empty();
  if (!lone && attempt.detail.empty()) {
    attempt.detail = explanation.node_total == 0
                         ? kNoNodes
                         : misfit_text(gang, classes, fit_errors, attempt.reasons);
  }
  add_detail(attempt.detail, attempt.placement.pinned);
  explanation.message =
      told_text(lone ? lone_text(attempt, fit_errors.front(), explanation.node_total)
                     : group_text(gang, attempt, options));
  for (std::size_t i = 0; i < gang.members.size(); ++i) {
    const cluster::Member& member = gang.members[i];
    if (member.class_index < 0) continue;
    const auto misfit = attempt.misfits.find(i);
    const std::string& own = misfit != attempt.misfits.end()
                                 ? misfit->second
                                 : fit_errors[static_cast<std::size_t>(member.class_index)];
    explanation.members.push_back(told(member, own.empty() ? explanation.message : own));
  }
  explanation.detail = std::move(attempt.detail);
  explanation.reasons = std::move(attempt.reasons);
  return explanation;
}

Explanation explain(const cluster::Gang& gang, const Refusal& refusal, std::int64_t node_total) {
  Explanation explanation = blank(gang, refusal.verdict);
  explanation.scheduled = gang.counts.base();
  explanation.node_total = node_total;
  explanation.message = told_text(refusal.message);
  // Pods that only wait for others of their gang are left alone.
  const bool is_alone = gang.kind == cluster::GangKind::kLonePod;
  if (refusal.verdict == Verdict::kWaitingForPods && !is_alone) return explanation;
  for (const cluster::Member& member : gang.members) {
    if (member.class_index >= 0) {
      explanation.members.push_back(told(member, explanation.message));
    }
  }
  return explanation;
}

}  // namespace gang::engine
