// Planner: plan(), the one entry point of the engine.
//
// Problem: given a snapshot and a gang, place all of need() pending members or none, and every
// other pending member that fits as well; or say why not.
// Idea: members of one PodClass are alike, so per class and node a capacity count (how many members
// fit, 0 when a filter refuses) and a score are kept and refreshed only for nodes that changed
// since the class was last planned. One class: the gang fits exactly when the sum of its counts
// reaches need(); nodes are taken by score. Unlike classes: members are assigned one by one in an
// Overlay, scarcest class first, with bounded backtracking over nodes that differ. A gang with a
// topology constraint: the same within one domain; sums per domain say which may hold it, and these
// are tried, the tightest first.
// Ties: score descending, then node name. Complexity: warm, one class: O(chunks + changed nodes x
// log nodes + members x log nodes); a new class: one pass over the nodes.
// Cannot find: rules listed by PodRules, which are refused by name (Verdict::kRuleNotBuilt).
// The cache is invisible: a fresh Planner gives the same bytes. One exception: where selectors take
// more steps than a plan may spend it says kSearchLimitReached, and since what they said is kept
// the next plan of the same gang gets further.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "gang/cluster/gang.h"
#include "gang/cluster/request_mix.h"
#include "gang/cluster/snapshot.h"
#include "gang/engine/explanation.h"
#include "gang/engine/options.h"
#include "gang/engine/plan.h"

namespace gang::engine {

using Decision = std::variant<Plan, Explanation>;

/// How many members of one class a gang still has to place.
struct ClassDemand {
  std::shared_ptr<const cluster::PodClass> pod_class;
  std::int32_t member_count = 0;
  std::int32_t devices_asked = 0;   ///< by each member for itself, at least
  std::int32_t devices_shared = 0;  ///< by claims that members share, at least: once for a node
  bool holds_devices = false;       ///< claims of some members have theirs already
  cluster::DeviceWish wish = {};    ///< of each member; not plain where they differ
  [[nodiscard]] bool asks_devices() const { return devices_asked > 0 || devices_shared > 0; }
};

/// A bound or assumed member of a gang with a topology constraint: its node decides the domain.
struct RunningMember {
  std::string pod;
  std::string node_name;
};

/// What a gang asks for, without its members: enough to see whether a plan may exist.
struct Demand {
  std::vector<ClassDemand> classes;
  std::int32_t need = 0;
  std::vector<std::string> avoided_nodes;  ///< as Gang::avoided_nodes
  /// Label keys of its topology constraint, at most one; empty where nobody is to be placed.
  std::vector<std::string> topology_keys;
  std::vector<RunningMember> running;  ///< of a gang with a constraint, in the gang's order
};

[[nodiscard]] Demand demand_of(const cluster::Gang& gang);

/// What the capacity counts alone say of a gang.
struct Outlook {
  /// Whether they allow a plan that places somebody now; never false when plan() would find one.
  /// Exact for gangs of one class.
  bool could_hold = false;
  /// Stands for the verdict and the causes that an explanation of the same demand would name now:
  /// another value, another text. Exact for gangs of one class.
  std::uint64_t causes = 0;
};

/// Counters since construction, for metrics and benches.
struct PlannerStats {
  std::int64_t plans = 0;
  std::int64_t class_passes = 0;     ///< full passes over the nodes for a new class
  std::int64_t nodes_refreshed = 0;  ///< single nodes brought up to date
  std::int64_t search_steps = 0;
  std::int64_t selector_steps = 0;
};

/// All that is counted of searches, in steps of selectors: about 25 ns each, and a search step
/// takes about fifty of them.
[[nodiscard]] std::int64_t work(const PlannerStats& stats);
/// The same of the dearest plan that the limits allow, but for what its last step exceeds them.
[[nodiscard]] std::int64_t work_max(const Options& options);

/// Owned by the owner thread (or by whoever asks what-if questions); one thread at a time.
class Planner {
 public:
  explicit Planner(Options options);
  ~Planner();
  Planner(const Planner&) = delete;
  Planner& operator=(const Planner&) = delete;

  /// Pure up to the invisible cache. REQUIRES: the gang's classes were interned by the state that
  /// made the snapshot.
  [[nodiscard]] Decision plan(const cluster::Snapshot& snapshot, const cluster::Gang& gang);

  /// What a parked gang is woken by, and told anew. O(classes) on current tables.
  [[nodiscard]] Outlook outlook(const cluster::Snapshot& snapshot, const Demand& demand);

  /// Stands for the room that members have where the numbers of free devices allow one: while it
  /// and the devices stay the same, plan() refuses a gang over devices as before, unless its search
  /// ended at the limit. O(classes x nodes).
  [[nodiscard]] std::uint64_t room(const cluster::Snapshot& snapshot, const Demand& demand);

  [[nodiscard]] const PlannerStats& stats() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

/// Why the plan that was made on `planned` does not hold on `now`, in which its claims hold their
/// devices, for people; "" when it does. Asked between the writes to claims and the bindings: other
/// schedulers, drivers and operators go on meanwhile, and whoever sees a conflict yields. Looks at
/// nodes and devices only. `features` are those that it was planned with. What has not changed
/// costs a comparison of pointers. Pure; any thread. Source: commit protocol P6.
[[nodiscard]] std::string overtaken(const Plan& plan, const cluster::Snapshot& planned,
                                    const cluster::Snapshot& now,
                                    const cluster::DeviceFeatures& features);

}  // namespace gang::engine
