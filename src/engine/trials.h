// Trials: one attempt for a gang: trials in the placements that it may have, and the decision.
//
// Without a topology constraint there is one placement, all nodes. With one, domains are tried in
// the order of DomainChoice until none that is left could be better than the best plan. All trials
// share one budget: a domain that could not be searched to its end is never called impossible.
#pragma once

#include <optional>
#include <vector>

#include "engine/domain_choice.h"
#include "engine/placement.h"
#include "engine/trial.h"
#include "gang/engine/planner.h"

namespace gang::engine {

/// What an attempt is about. All outlive it; nothing is placed on the tables, no draft is begun.
struct TrialsOf {
  const cluster::Snapshot& snapshot;
  const std::vector<DraftClass>& classes;  ///< of the gang, one by one
  const TableCache& tables;
  TrialOf of;
};

/// See the head of the file. One question; one thread.
class Trials {
 public:
  Trials(const TrialsOf& of, TrialBudget& budget) : of_(of), budget_(budget) {}

  [[nodiscard]] Decision anywhere();
  [[nodiscard]] Decision in_one_domain(DomainChoice choice);

 private:
  /// The best plan so far, and its domain with the members that it places.
  struct Success {
    DomainBound domain;
    Plan plan;
  };
  /// The trial that came nearest to a plan.
  struct Failure {
    DomainBound domain;
    bool is_limited = false;
    Explanation explanation;
  };

  void try_domain(DomainChoice& choice, DomainBound domain, bool is_last);
  void keep(const DomainChoice& choice, Success found);
  void keep(const DomainChoice& choice, const DomainBound& domain, Trial& trial);
  [[nodiscard]] Explanation refusal(const DomainChoice& choice);

  const TrialsOf of_;
  TrialBudget& budget_;
  std::optional<Success> success_;
  std::optional<Failure> failure_;
};

}  // namespace gang::engine
