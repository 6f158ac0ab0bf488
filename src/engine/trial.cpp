#include "engine/trial.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

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

}  // namespace

TrialBudget::TrialBudget(const Options& options)
    : search_max_(options.search_steps_max),
      devices_max_(options.device_steps_max),
      search_left_(search_max_),
      devices_left_(devices_max_),
      selectors_(options.selector_steps_max) {}

SearchBudget TrialBudget::for_search(bool is_last) const {
  return {.steps_max = is_last ? search_left_ : search_left_ / 2};
}

std::int64_t TrialBudget::for_devices(bool is_last) const {
  return is_last ? devices_left_ : devices_left_ / 2;
}

std::int64_t TrialBudget::steps_spent() const {
  return search_max_ - search_left_ + devices_max_ - devices_left_;
}

void Trial::run(TrialBudget& budget, bool is_last) {
  if (of_.with_devices) {
    planning_ =
        plan_devices(of_.draft, of_.devices, of_.gang,
                     {.selectors = budget.selectors(), .steps_max = budget.for_devices(is_last)});
    budget.spend_on_devices(planning_->steps);
    end_ = planning_->end.end;
    placed_count_ = static_cast<std::int32_t>(planning_->picks.size());
    return;
  }
  SearchBudget search_budget = budget.for_search(is_last);
  end_ = search(of_.draft, of_.gang.need(), search_budget);
  budget.spend_on_search(search_budget.steps);
  placed_count_ = of_.draft.placed_count();
  // One class is refused by its sum, without placing anything.
  if (of_.draft.classes().size() != 1 || placed_count_ > 0) return;
  placed_count_ = static_cast<std::int32_t>(
      std::min<std::int64_t>(of_.draft.table(0).capacity_sum(), of_.gang.counts.pending));
}

bool Trial::is_placed() const {
  if (end_ != SearchEnd::kPlaced || planning_) return end_ == SearchEnd::kPlaced;
  const bool nothing_to_do = of_.gang.counts.pending == 0 || !is_recorded(of_.gang);
  return of_.draft.placed_count() > 0 || nothing_to_do;
}

Plan Trial::plan() {
  if (!planning_) return plan_of(of_.gang, of_.draft);
  return plan_of(of_.gang, of_.draft, *std::move(planning_));
}

Explanation Trial::explanation(const PlacementText& placement) {
  Attempt attempt = planning_ ? attempt_with_devices() : attempt_without_devices();
  attempt.scheduled = of_.gang.counts.base() + placed_count_;
  if (is_limited()) {
    attempt.verdict = Verdict::kSearchLimitReached;
    attempt.remaining = of_.gang.counts.pending - placed_count_;
  }
  of_.draft.rollback({});
  if (attempt.verdict == Verdict::kImpossibleNow &&
      !fleet_allows(of_.draft.classes(), std::max(1, of_.gang.need()))) {
    attempt.verdict = Verdict::kImpossibleOnFleet;
  }
  attempt.placement = placement;
  if (planning_ && planning_->kinds.size() > 1) tell_misfits(attempt);
  return explain(of_.gang, std::move(attempt), of_.draft.classes(), of_.options);
}

/// REQUIRES: the draft holds what the search could place.
Attempt Trial::attempt_without_devices() const {
  Attempt attempt;
  if (!of_.draft.classes().empty()) {
    attempt.reasons = reasons_of(of_.draft.table(first_left_over(of_.draft)));
  }
  return attempt;
}

Attempt Trial::attempt_with_devices() const {
  Attempt attempt;
  if (is_hopeless()) attempt.verdict = Verdict::kImpossibleOnFleet;
  const DeviceKind& left_over = planning_->kinds[planning_->left_over];
  attempt.reasons = reasons_with_devices(of_.draft.table(left_over.class_index));
  attempt.detail = planning_->end.fatal;
  if (attempt.detail.empty() && lack_devices(attempt.reasons)) attempt.detail = planning_->shortage;
  return attempt;
}

/// Where the members differ: who fits no node, and what each of these is told. REQUIRES: nobody
/// is placed.
void Trial::tell_misfits(Attempt& attempt) const {
  for (const DeviceMisfit& misfit : planning_->misfits) {
    const DeviceKind& kind = planning_->kinds[misfit.kind];
    const CapacityTable& table = of_.draft.table(kind.class_index);
    const std::vector<Reason> reasons = reasons_with_devices(table);
    std::string own = fit_text(table.size(), reasons);
    if (lack_devices(reasons) && !misfit.shortage.empty()) own += " " + misfit.shortage;
    // Of one domain of several it says nothing about the others.
    if (attempt.placement.best.empty()) {
      for (const DeviceMember& member : kind.members) attempt.misfits.emplace(member.index, own);
    }
    if (misfit.kind != planning_->left_over) continue;
    const std::string& first = of_.gang.members[kind.members.front().index].key.name;
    std::string who = kind.members.size() == 1 ? fmt::format("pod {} fits no node", first)
                                               : fmt::format("{} pods fit no node, the first {}",
                                                             kind.members.size(), first);
    if (planning_->misfit_count > 1) {
      const std::size_t others = planning_->misfit_count - 1;
      who += fmt::format(" (and {} more kind{} of pods)", others, others == 1 ? "" : "s");
    }
    attempt.detail = attempt.detail.empty() ? who : who + ": " + attempt.detail;
  }
}

}  // namespace gang::engine
