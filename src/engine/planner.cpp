#include "gang/engine/planner.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "engine/device_planning.h"
#include "engine/device_room.h"
#include "engine/domain_choice.h"
#include "engine/draft.h"
#include "engine/explain.h"
#include "engine/refusal.h"
#include "engine/table_cache.h"
#include "engine/trial.h"
#include "engine/trials.h"

namespace gang::engine {

namespace {

/// In steps of selectors.
constexpr std::int64_t kWorkOfSearchStep = 50;

/// FNV-1a over numbers, word by word.
class RoomHash {
 public:
  template <class Number>
  void add(Number number) {
    value_ = (value_ ^ static_cast<std::uint64_t>(number)) * 1099511628211ULL;
  }
  [[nodiscard]] std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = 14695981039346656037ULL;
};

cluster::Generation usage_generation(const cluster::Snapshot& snapshot, cluster::NodeIndex node) {
  return snapshot.usage(node.value / cluster::kChunkSize)
      .generation[node.value % cluster::kChunkSize];
}

Outlook outlook_of(const std::vector<DraftClass>& classes, std::int64_t need) {
  // FNV-1a over the sets of lines, word by word.
  std::uint64_t causes = fleet_allows(classes, need) ? 14695981039346656037ULL : 1;
  for (const DraftClass& demand : classes) {
    causes = (causes ^ demand.table->causes()) * 1099511628211ULL;
  }
  return {.could_hold = sums_allow(classes, need), .causes = causes};
}

}  // namespace

Demand demand_of(const cluster::Gang& gang) {
  Demand demand = {.need = gang.need(), .avoided_nodes = gang.avoided_nodes};
  for (const auto& pod_class : gang.classes) demand.classes.push_back({.pod_class = pod_class});
  for (const cluster::Member& member : gang.members) {
    if (member.class_index < 0) continue;
    ++demand.classes[static_cast<std::size_t>(member.class_index)].member_count;
  }
  if (uses_claims(gang)) ask_devices(gang, demand.classes);
  if (gang.group && gang.counts.pending > 0) demand.topology_keys = gang.group->spec.topology_keys;
  if (demand.topology_keys.empty()) return demand;
  for (const cluster::Member& member : gang.members) {
    const bool runs = member.state == cluster::MemberState::kBound ||
                      member.state == cluster::MemberState::kAssumed;
    if (runs) demand.running.push_back({.pod = member.key.name, .node_name = member.node_name});
  }
  return demand;
}

std::int64_t work(const PlannerStats& stats) {
  return stats.selector_steps + kWorkOfSearchStep * stats.search_steps;
}

std::int64_t work_max(const Options& options) {
  const std::int64_t search_steps = std::max(options.search_steps_max, options.device_steps_max);
  return options.selector_steps_max + kWorkOfSearchStep * search_steps;
}

/// What a planner keeps between calls. Owned by Planner; single thread.
/// Always between calls: the draft is empty and the tables equal the last snapshot.
class Planner::Impl {
 public:
  explicit Impl(Options options)
      : options_(std::move(options)), tables_(options_), devices_(options_.device_features) {}

  Decision plan(const cluster::Snapshot& snapshot, const cluster::Gang& gang) {
    ++stats_.plans;
    if (const std::optional<Refusal> refusal = refusal_of(gang)) {
      return explain(gang, *refusal, snapshot.node_count());
    }
    const bool with_devices = uses_claims(gang) || asks_served(gang, snapshot);
    if (!with_devices || !has_unready(gang)) return place(snapshot, gang, with_devices);
    cluster::Gang ready = gang;
    const std::string unready = leave_out_unready(ready);
    if (ready.need() <= ready.counts.pending && ready.counts.pending > 0) {
      return place(snapshot, ready, true);
    }
    std::string text = unready;
    if (gang.kind == cluster::GangKind::kPodGroup) {
      text =
          fmt::format("{} of {} pods can be placed; {}", ready.counts.live(), ready.minimum, text);
    }
    return explain(gang, {.verdict = Verdict::kWaitingForPods, .message = text},
                   snapshot.node_count());
  }

  Outlook outlook(const cluster::Snapshot& snapshot, const Demand& demand) {
    if (demand.classes.empty()) return {.could_hold = demand.need == 0};
    const bool placeable = std::ranges::all_of(
        demand.classes, [](const ClassDemand& one) { return is_placeable(*one.pod_class); });
    if (!placeable) return {};
    const std::vector<DraftClass> classes = current_classes(snapshot, demand);
    const bool needs = needs_any_devices(demand, classes);
    if (!demand.topology_keys.empty()) {
      return outlook_in_domains(choice_of(snapshot, demand, classes, needs), demand);
    }
    draft_.begin(snapshot, classes, demand.avoided_nodes);
    Outlook outlook = outlook_of(draft_.classes(), std::max(1, demand.need));
    if (needs && !devices_allow(snapshot, demand)) {
      outlook.could_hold = false;
      ++outlook.causes;
    }
    draft_.end();
    return outlook;
  }

  std::uint64_t room(const cluster::Snapshot& snapshot, const Demand& demand) {
    draft_.begin(snapshot, current_classes(snapshot, demand), demand.avoided_nodes);
    const DeviceRoom room(devices_, snapshot);
    // Counts of classes do not tell how many members of unlike ones fit beside each other.
    const bool is_exact = demand.classes.size() == 1;
    RoomHash hash;
    for (std::size_t i = 0; i < demand.classes.size(); ++i) {
      const ClassDemand& one = demand.classes[i];
      const CapacityTable& table = draft_.table(static_cast<std::uint32_t>(i));
      for (std::uint32_t rank = 0; rank < table.size(); ++rank) {
        const std::int64_t here = room.on(one, table, rank);
        if (here <= 0) continue;
        const cluster::NodeIndex node = snapshot.by_name()[rank];
        hash.add(node.value);
        hash.add(snapshot.facts_generation(node));
        hash.add(is_exact ? std::min<std::int64_t>(here, one.member_count)
                          : static_cast<std::int64_t>(usage_generation(snapshot, node)));
      }
    }
    draft_.end();
    return hash.value();
  }

  [[nodiscard]] const PlannerStats& stats() const { return stats_; }

 private:
  /// Whether devices may serve an extended resource that a pending member asks for.
  [[nodiscard]] bool asks_served(const cluster::Gang& gang,
                                 const cluster::Snapshot& snapshot) const {
    const cluster::ExtendedResources& served = *snapshot.devices()->extended_resources();
    const auto is_served = [&](const cluster::ContainerAsk& ask) {
      return served.contains(snapshot.resources()[ask.resource.value]);
    };
    return std::ranges::any_of(gang.classes, [&](const auto& pod_class) {
      return std::ranges::any_of(pod_class->container_asks, is_served);
    });
  }

  static bool needs_any_devices(const Demand& demand, const std::vector<DraftClass>& classes) {
    for (std::size_t i = 0; i < classes.size(); ++i) {
      if (needs_devices(demand.classes[i], *classes[i].table)) return true;
    }
    return false;
  }

  /// Whether the numbers of free devices leave room for what the demand needs; never false where a
  /// search would find it.
  bool devices_allow(const cluster::Snapshot& snapshot, const Demand& demand) const {
    const DeviceRoom room(devices_, snapshot);
    std::int64_t total = 0;
    for (std::size_t i = 0; i < demand.classes.size(); ++i) {
      total += room.of_all(demand.classes[i], draft_.table(static_cast<std::uint32_t>(i)));
    }
    return total >= std::max(1, demand.need);
  }

  /// Of a gang with a topology constraint.
  static Outlook outlook_in_domains(const DomainChoice& choice, const Demand& demand) {
    return {.could_hold = choice.has_next(std::max(1, demand.need)), .causes = choice.causes()};
  }

  DomainChoice choice_of(const cluster::Snapshot& snapshot, const Demand& demand,
                         const std::vector<DraftClass>& classes, bool with_devices) {
    return DomainChoice({.snapshot = snapshot,
                         .demand = demand,
                         .classes = classes,
                         .tables = tables_,
                         .devices = with_devices ? &devices_ : nullptr});
  }

  /// REQUIRES: nobody unready.
  Decision place(const cluster::Snapshot& snapshot, const cluster::Gang& gang, bool with_devices) {
    const Demand demand = demand_of(gang);
    const std::vector<DraftClass> classes = current_classes(snapshot, demand);
    TrialBudget budget(options_);
    Trials trials({.snapshot = snapshot,
                   .classes = classes,
                   .tables = tables_,
                   .of = {.gang = gang,
                          .draft = draft_,
                          .devices = devices_,
                          .options = options_,
                          .with_devices = with_devices}},
                  budget);
    Decision decision =
        demand.topology_keys.empty()
            ? trials.anywhere()
            : trials.in_one_domain(choice_of(snapshot, demand, classes, with_devices));
    stats_.search_steps += budget.steps_spent();
    stats_.selector_steps += budget.selectors().steps();
    return decision;
  }

  std::vector<DraftClass> current_classes(const cluster::Snapshot& snapshot, const Demand& demand) {
    devices_.update(snapshot);
    tables_.begin(snapshot, &devices_.counts());
    std::vector<DraftClass> classes;
    classes.reserve(demand.classes.size());
    for (const ClassDemand& one : demand.classes) {
      classes.push_back(
          {.table = tables_.current(snapshot, one, stats_), .member_count = one.member_count});
    }
    return classes;
  }

  const Options options_;
  TableCache tables_;
  DeviceCache devices_;
  Draft draft_;
  PlannerStats stats_;
};

Planner::Planner(Options options) : impl_(std::make_unique<Impl>(std::move(options))) {}
Planner::~Planner() = default;

Decision Planner::plan(const cluster::Snapshot& snapshot, const cluster::Gang& gang) {
  return impl_->plan(snapshot, gang);
}

Outlook Planner::outlook(const cluster::Snapshot& snapshot, const Demand& demand) {
  return impl_->outlook(snapshot, demand);
}

std::uint64_t Planner::room(const cluster::Snapshot& snapshot, const Demand& demand) {
  return impl_->room(snapshot, demand);
}

const PlannerStats& Planner::stats() const {
  return impl_->stats();
}

}  // namespace gang::engine
