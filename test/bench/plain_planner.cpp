#include "bench/plain_planner.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "engine/filter.h"
#include "engine/overlay.h"
#include "engine/score.h"

namespace gang::bench {

namespace {

using engine::ClassRules;
using engine::LineSet;

/// Largest raw value per preference term over the nodes that facts allow.
std::vector<std::int32_t> raw_maxima(const cluster::Snapshot& snapshot, const ClassRules& rules) {
  std::vector<std::int32_t> maxima(engine::preference_terms().size(), 0);
  for (const cluster::NodeIndex node : snapshot.by_name()) {
    const cluster::NodeInfo& info = *snapshot.node(node);
    if (engine::facts_refusal(rules, info) != 0) continue;
    for (std::size_t i = 0; i < maxima.size(); ++i) {
      maxima[i] = std::max(maxima[i], engine::preference_terms()[i].raw(rules, info));
    }
  }
  return maxima;
}

/// One scan over all nodes for one pod.
class Scan {
 public:
  Scan(const cluster::Snapshot& snapshot, const ClassRules& rules, const engine::Options& options)
      : snapshot_(snapshot),
        rules_(rules),
        options_(options),
        terms_(engine::weighted_terms(rules, options)),
        maxima_(raw_maxima(snapshot, rules)) {}

  std::optional<cluster::NodeIndex> best(const engine::Overlay& overlay) {
    std::optional<cluster::NodeIndex> found;
    std::int64_t score_max = -1;
    refused_by_.fill(0);
    for (const cluster::NodeIndex node : snapshot_.by_name()) {
      const cluster::NodeInfo& info = *snapshot_.node(node);
      const engine::NodeUse use = overlay.use(node);
      const LineSet refusal = refusal_of(info, use);
      if (refusal != 0) {
        count(refusal);
        continue;
      }
      const std::int64_t score = score_of(info, use);
      if (score <= score_max) continue;
      score_max = score;
      found = node;
    }
    return found;
  }

  /// The reasons of the last scan as a group text shows them.
  [[nodiscard]] std::string reasons() const {
    std::vector<std::pair<std::int64_t, std::string>> causes;
    for (std::size_t i = 0; i < rules_.lines.size(); ++i) {
      if (refused_by_[i] > 0) causes.emplace_back(-refused_by_[i], rules_.lines[i].text);
    }
    std::ranges::sort(causes);
    std::string text;
    for (std::size_t i = 0; i < std::min<std::size_t>(3, causes.size()); ++i) {
      text += fmt::format("{}{} {}", i == 0 ? "; " : ", ", -causes[i].first, causes[i].second);
    }
    return text;
  }

 private:
  [[nodiscard]] LineSet refusal_of(const cluster::NodeInfo& info,
                                   const engine::NodeUse& use) const {
    const LineSet facts = engine::facts_refusal(rules_, info);
    if (facts != 0) return facts;
    const engine::Room room = engine::usage_room(rules_, use);
    return room.count == 0 ? room.lines : 0;
  }

  void count(LineSet refusal) {
    for (std::size_t i = 0; i < rules_.lines.size(); ++i) {
      if ((refusal >> i & 1) != 0) ++refused_by_[i];
    }
  }

  [[nodiscard]] std::int64_t score_of(const cluster::NodeInfo& info,
                                      const engine::NodeUse& use) const {
    std::int64_t score = 0;
    for (std::size_t i = 0; i < maxima_.size(); ++i) {
      const engine::PreferenceTerm& term = engine::preference_terms()[i];
      score +=
          std::int64_t{options_.*term.weight} * term.normalise(term.raw(rules_, info), maxima_[i]);
    }
    for (const engine::WeightedTerm& one : terms_) {
      score += one.weight * one.term->score(rules_, use);
    }
    return score;
  }

  const cluster::Snapshot& snapshot_;
  const ClassRules& rules_;
  const engine::Options& options_;
  const std::vector<engine::WeightedTerm> terms_;
  const std::vector<std::int32_t> maxima_;
  std::array<std::int64_t, 64> refused_by_{};
};

}  // namespace

PlainAnswer plan_plainly(const cluster::Snapshot& snapshot, const cluster::Gang& gang,
                         const engine::Options& options) {
  const ClassRules rules(gang.classes.front(), options, snapshot.resources());
  Scan scan(snapshot, rules, options);
  engine::Overlay overlay;
  overlay.begin(snapshot);
  PlainAnswer answer;
  for (std::int32_t i = 0; i < gang.counts.pending; ++i) {
    const std::optional<cluster::NodeIndex> node = scan.best(overlay);
    if (!node) break;
    overlay.assign(*node, *rules.pod_class);
    answer.node_names.push_back(snapshot.node(*node)->name);
  }
  const auto placed = static_cast<std::int32_t>(answer.node_names.size());
  if (placed < gang.need()) {
    answer.message = fmt::format(
        "pod group is unschedulable, minCount ({}) cannot be satisfied: {} scheduled, "
        "0 remaining{}",
        gang.minimum, placed, scan.reasons());
  }
  return answer;
}

std::int64_t read_columns(const cluster::Snapshot& snapshot, const cluster::PodClass& pod_class) {
  std::int64_t sum = 0;
  for (std::uint32_t chunk = 0; chunk * cluster::kChunkSize < snapshot.slot_count(); ++chunk) {
    const cluster::FactsChunk& facts = snapshot.facts(chunk);
    const cluster::UsageChunk& usage = snapshot.usage(chunk);
    for (const cluster::ResourceAmount& request : pod_class.requests) {
      const std::size_t from = std::size_t{request.resource.value} * cluster::kChunkSize;
      if (from >= facts.allocatable.size() || from >= usage.requested.size()) continue;
      for (std::size_t slot = from; slot < from + cluster::kChunkSize; ++slot) {
        sum += facts.allocatable[slot] - usage.requested[slot];
      }
    }
  }
  return sum;
}

}  // namespace gang::bench
