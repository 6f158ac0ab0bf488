#include "gang/engine/planner.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "engine/device_planning.h"
#include "engine/draft.h"
#include "engine/explain.h"
#include "engine/refusal.h"
#include "engine/search.h"
#include "engine/table_cache.h"

namespace gang::engine {

namespace {

/// What a node is refused by whose devices do not serve a member that has room on it.
constexpr std::string_view kDevicesFilter = "DynamicResources";

/// Position of the first class, in the gang's order, that has members left over.
std::uint32_t first_left_over(const Draft& draft) {
  for (std::uint32_t i = 0; i < draft.classes().size(); ++i) {
    if (draft.placed_count(i) < draft.classes()[i].member_count) return i;
  }
  return 0;
}

/// Whether the condition of the gang's group already says that it was scheduled.
bool is_recorded(const cluster::Gang& gang) {
  if (!gang.group) return true;
  const api::Condition* condition =
      api::find_condition(gang.group->conditions, api::kInitiallyScheduled);
  return condition != nullptr && condition->status == api::ConditionStatus::kTrue;
}

Assignment assignment_of(const cluster::Member& member, const cluster::Snapshot& snapshot,
                         std::uint32_t rank) {
  const cluster::NodeIndex node = snapshot.by_name()[rank];
  return {.pod = member.key,
          .uid = member.uid,
          .resource_version = member.resource_version,
          .node = node,
          .node_name = snapshot.node(node)->name};
}

Plan plan_of(const cluster::Gang& gang, const Draft& draft) {
  Plan plan = {.gang = {.id = gang.id, .kind = gang.kind, .key = gang.key, .uid = gang.uid},
               .minimum = gang.minimum,
               .base = gang.counts.base(),
               .need = gang.need()};
  plan.assignments.reserve(draft.picks().size());
  // Members of a class take its nodes in the gang's order of members.
  std::vector<std::size_t> next(gang.classes.size(), 0);
  for (const Pick& pick : draft.picks()) {
    std::size_t& at = next[pick.class_index];
    while (gang.members[at].class_index != static_cast<std::int32_t>(pick.class_index)) ++at;
    plan.assignments.push_back(assignment_of(gang.members[at++], draft.snapshot(), pick.rank));
  }
  return plan;
}

/// The same where each pick names its member.
Plan plan_of(const cluster::Gang& gang, const Draft& draft, DevicePlanning planning) {
  Plan plan = {.gang = {.id = gang.id, .kind = gang.kind, .key = gang.key, .uid = gang.uid},
               .minimum = gang.minimum,
               .base = gang.counts.base(),
               .need = gang.need(),
               .claims = std::move(planning.claims),
               .new_claims = std::move(planning.new_claims),
               .passed_over = std::move(planning.end.fatal)};
  plan.assignments.reserve(planning.picks.size());
  for (const DevicePick& pick : planning.picks) {
    const cluster::Member& member = gang.members[pick.member->index];
    plan.assignments.push_back(assignment_of(member, draft.snapshot(), pick.rank));
  }
  return plan;
}

/// What refuses one more member of the class once the picks are placed: on nodes without room for
/// it the lines of its table, on the others their devices.
std::vector<Reason> reasons_with_devices(const CapacityTable& table) {
  const std::vector<ReasonLine>& lines = table.rules().lines;
  std::vector<std::int64_t> counts(lines.size(), 0);
  std::int64_t without_devices = 0;
  for (std::uint32_t rank = 0; rank < table.size(); ++rank) {
    const NodeEntry& entry = table.entry(rank);
    if (entry.capacity > 0) ++without_devices;
    for (std::size_t i = 0; i < lines.size() && entry.capacity == 0; ++i) {
      if ((entry.reasons >> i & 1) != 0) ++counts[i];
    }
  }
  std::vector<Reason> reasons;
  const auto add = [&reasons](std::string_view filter, std::string text, std::int64_t count) {
    if (count > 0) reasons.push_back({std::string(filter), std::move(text), count});
  };
  for (std::size_t i = 0; i < lines.size(); ++i) add(lines[i].filter, lines[i].text, counts[i]);
  add(kDevicesFilter, "cannot allocate all claims", without_devices);
  std::ranges::stable_sort(reasons, std::ranges::greater(), &Reason::node_count);
  return reasons;
}

/// Where every node lacks something else the devices are not what is told.
bool lack_devices(const std::vector<Reason>& reasons) {
  return std::ranges::find(reasons, kDevicesFilter, &Reason::filter) != reasons.end();
}

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
  if (!uses_claims(gang)) return demand;
  ask_devices(gang, demand.classes);
  return demand;
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
    if (uses_claims(gang) || asks_served(gang, snapshot)) return plan_with_devices(snapshot, gang);
    draft_.begin(snapshot, current_classes(snapshot, demand_of(gang)), gang.avoided_nodes);
    SearchBudget budget = {.steps_max = options_.search_steps_max};
    const SearchEnd end = search(draft_, gang.need(), budget);
    stats_.search_steps += budget.steps;
    const bool nothing_to_do = gang.counts.pending == 0 || !is_recorded(gang);
    if (end == SearchEnd::kPlaced && (draft_.placed_count() > 0 || nothing_to_do)) {
      Decision decision = plan_of(gang, draft_);
      draft_.end();
      return decision;
    }
    Attempt attempt = attempt_of(gang, end);
    draft_.rollback({});
    if (attempt.verdict == Verdict::kImpossibleNow &&
        !fleet_allows(draft_.classes(), std::max(1, gang.need()))) {
      attempt.verdict = Verdict::kImpossibleOnFleet;
    }
    Explanation explanation = explain(gang, std::move(attempt), draft_.classes(), options_);
    draft_.end();
    return explanation;
  }

  Outlook outlook(const cluster::Snapshot& snapshot, const Demand& demand) {
    if (demand.classes.empty()) return {.could_hold = demand.need == 0};
    const bool placeable = std::ranges::all_of(
        demand.classes, [](const ClassDemand& one) { return is_placeable(*one.pod_class); });
    if (!placeable) return {};
    draft_.begin(snapshot, current_classes(snapshot, demand), demand.avoided_nodes);
    Outlook outlook = outlook_of(draft_.classes(), std::max(1, demand.need));
    if (!devices_allow(snapshot, demand)) {
      outlook.could_hold = false;
      ++outlook.causes;
    }
    draft_.end();
    return outlook;
  }

  std::uint64_t room(const cluster::Snapshot& snapshot, const Demand& demand) {
    draft_.begin(snapshot, current_classes(snapshot, demand), demand.avoided_nodes);
    devices_.update(snapshot);
    // Counts of classes do not tell how many members of unlike ones fit beside each other.
    const bool is_exact = demand.classes.size() == 1;
    RoomHash hash;
    for (std::size_t i = 0; i < demand.classes.size(); ++i) {
      const ClassDemand& one = demand.classes[i];
      const CapacityTable& table = draft_.table(static_cast<std::uint32_t>(i));
      for (std::uint32_t rank = 0; rank < table.size(); ++rank) {
        const std::int64_t here = room_on(one, table, snapshot, rank);
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

  /// Whether the numbers of free devices leave room for what the demand needs; never false where a
  /// search would find it.
  bool devices_allow(const cluster::Snapshot& snapshot, const Demand& demand) {
    bool asks = false;
    for (std::size_t i = 0; i < demand.classes.size(); ++i) {
      const CapacityTable& table = draft_.table(static_cast<std::uint32_t>(i));
      asks = asks || demand.classes[i].asks_devices() || table.rules().served != 0;
    }
    if (!asks) return true;
    devices_.update(snapshot);
    std::int64_t total = 0;
    for (std::size_t i = 0; i < demand.classes.size(); ++i) {
      total += room_for(demand.classes[i], draft_.table(static_cast<std::uint32_t>(i)), snapshot);
    }
    return total >= std::max(1, demand.need);
  }

  /// Members of the class that resources and numbers of devices have room for.
  std::int64_t room_for(const ClassDemand& demand, const CapacityTable& table,
                        const cluster::Snapshot& snapshot) const {
    std::int64_t room = 0;
    for (std::uint32_t rank = 0; rank < table.size() && room < demand.member_count; ++rank) {
      room += room_on(demand, table, snapshot, rank);
    }
    return std::min<std::int64_t>(room, demand.member_count);
  }

  /// The same of one node.
  std::int64_t room_on(const ClassDemand& demand, const CapacityTable& table,
                       const cluster::Snapshot& snapshot, std::uint32_t rank) const {
    const std::int64_t here = table.entry(rank).capacity;
    if (here <= 0) return 0;
    const cluster::NodeIndex node = snapshot.by_name()[rank];
    const std::int64_t asked = demand.devices_asked + served_count(table.rules(), snapshot, node);
    if (asked + demand.devices_shared == 0) return here;
    const std::int64_t free = devices_.free_count(node) - demand.devices_shared;
    if (free < 0) return 0;
    return asked > 0 ? std::min(here, free / asked) : here;
  }

  /// What devices serve a member of its extended resources on the node, at least.
  static std::int64_t served_count(const ClassRules& rules, const cluster::Snapshot& snapshot,
                                   cluster::NodeIndex node) {
    std::int64_t count = 0;
    for (std::size_t i = 0; rules.served >> i != 0; ++i) {
      const cluster::ResourceAmount& request = rules.pod_class->requests[i];
      if (!rules.may_be_served(i) || snapshot.allocatable(node, request.resource) > 0) continue;
      count += request.amount;
    }
    return count;
  }

  Decision plan_with_devices(const cluster::Snapshot& snapshot, const cluster::Gang& gang) {
    if (!has_unready(gang)) return plan_ready(snapshot, gang);
    cluster::Gang ready = gang;
    const std::string unready = leave_out_unready(ready);
    if (ready.need() <= ready.counts.pending && ready.counts.pending > 0) {
      return plan_ready(snapshot, ready);
    }
    std::string text = unready;
    if (gang.kind == cluster::GangKind::kPodGroup) {
      text =
          fmt::format("{} of {} pods can be placed; {}", ready.counts.live(), ready.minimum, text);
    }
    return explain(gang, {.verdict = Verdict::kWaitingForPods, .message = text},
                   snapshot.node_count());
  }

  Decision plan_ready(const cluster::Snapshot& snapshot, const cluster::Gang& gang) {
    devices_.update(snapshot);
    draft_.begin(snapshot, current_classes(snapshot, demand_of(gang)), gang.avoided_nodes);
    DevicePlanning planning = plan_devices(draft_, devices_, gang, options_);
    stats_.search_steps += planning.steps;
    Decision decision = planning.end.end == SearchEnd::kPlaced
                            ? Decision(plan_of(gang, draft_, std::move(planning)))
                            : Decision(refusal_of_devices(gang, planning));
    draft_.end();
    return decision;
  }

  Explanation refusal_of_devices(const cluster::Gang& gang, const DevicePlanning& planning) {
    Attempt attempt;
    const auto placed = static_cast<std::int32_t>(planning.picks.size());
    attempt.scheduled = gang.counts.base() + placed;
    if (planning.end.end == SearchEnd::kLimit) {
      attempt.verdict = Verdict::kSearchLimitReached;
      attempt.remaining = gang.counts.pending - placed;
    } else if (planning.lacking == Lacking::kOnFleet) {
      attempt.verdict = Verdict::kImpossibleOnFleet;
    }
    const DeviceKind& left_over = planning.kinds[planning.left_over];
    attempt.reasons = reasons_with_devices(draft_.table(left_over.class_index));
    attempt.detail = planning.end.fatal;
    if (attempt.detail.empty() && lack_devices(attempt.reasons)) attempt.detail = planning.shortage;
    draft_.rollback({});
    if (attempt.verdict == Verdict::kImpossibleNow &&
        !fleet_allows(draft_.classes(), std::max(1, gang.need()))) {
      attempt.verdict = Verdict::kImpossibleOnFleet;
    }
    if (planning.kinds.size() > 1) tell_misfits(gang, planning, attempt);
    return explain(gang, std::move(attempt), draft_.classes(), options_);
  }

  /// Where the members differ: who fits no node, and what each of these is told. REQUIRES: nobody
  /// is placed.
  void tell_misfits(const cluster::Gang& gang, const DevicePlanning& planning, Attempt& attempt) {
    for (const DeviceMisfit& misfit : planning.misfits) {
      const DeviceKind& kind = planning.kinds[misfit.kind];
      const CapacityTable& table = draft_.table(kind.class_index);
      const std::vector<Reason> reasons = reasons_with_devices(table);
      std::string own = fit_text(table.size(), reasons);
      if (lack_devices(reasons) && !misfit.shortage.empty()) own += " " + misfit.shortage;
      for (const DeviceMember& member : kind.members) attempt.misfits.emplace(member.index, own);
      if (misfit.kind != planning.left_over) continue;
      const std::string& first = gang.members[kind.members.front().index].key.name;
      std::string who = kind.members.size() == 1 ? fmt::format("pod {} fits no node", first)
                                                 : fmt::format("{} pods fit no node, the first {}",
                                                               kind.members.size(), first);
      if (planning.misfit_count > 1) {
        const std::size_t others = planning.misfit_count - 1;
        who += fmt::format(" (and {} more kind{} of pods)", others, others == 1 ? "" : "s");
      }
      attempt.detail = attempt.detail.empty() ? who : who + ": " + attempt.detail;
    }
  }

  std::vector<DraftClass> current_classes(const cluster::Snapshot& snapshot, const Demand& demand) {
    tables_.begin(snapshot);
    std::vector<DraftClass> classes;
    classes.reserve(demand.classes.size());
    for (const ClassDemand& one : demand.classes) {
      classes.push_back({.table = tables_.current(snapshot, one.pod_class, stats_),
                         .member_count = one.member_count});
    }
    return classes;
  }

  /// REQUIRES: the draft holds what the search could place.
  Attempt attempt_of(const cluster::Gang& gang, SearchEnd end) const {
    Attempt attempt;
    std::int64_t placed = draft_.placed_count();
    // One class is refused by its sum, without placing anything.
    if (draft_.classes().size() == 1 && placed == 0) {
      placed = std::min<std::int64_t>(draft_.table(0).capacity_sum(), gang.counts.pending);
    }
    attempt.scheduled = gang.counts.base() + static_cast<std::int32_t>(placed);
    if (end == SearchEnd::kLimit) {
      attempt.verdict = Verdict::kSearchLimitReached;
      attempt.remaining = gang.counts.pending - static_cast<std::int32_t>(placed);
    }
    if (!draft_.classes().empty()) {
      attempt.reasons = reasons_of(draft_.table(first_left_over(draft_)));
    }
    return attempt;
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
