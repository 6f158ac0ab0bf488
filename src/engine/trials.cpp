#include "engine/trials.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace gang::engine {

Decision Trials::anywhere() {
  const Placement placement(of_.snapshot, nullptr, of_.classes, of_.tables);
  Draft& draft = of_.of.draft;
  draft.begin(placement.snapshot(), placement.classes(), of_.of.gang.avoided_nodes);
  Trial trial(of_.of);
  trial.run(budget_, true);
  Decision decision = trial.is_placed() ? Decision(trial.plan()) : Decision(trial.explanation({}));
  draft.end();
  return decision;
}

Decision Trials::in_one_domain(DomainChoice choice) {
  const cluster::Gang& gang = of_.of.gang;
  if (!choice.problem().empty()) {
    return explain(gang, {.verdict = Verdict::kImpossibleOnFleet, .message = choice.problem()},
                   of_.snapshot.node_count());
  }
  const std::int32_t need = gang.need();
  while (const auto next = choice.next(need)) {
    try_domain(choice, *next, !choice.has_next(need));
    if (!success_) continue;
    // Who is first takes as many as he may: nobody who comes later is better.
    const DomainBound& best = success_->domain;
    const bool is_first = best.domain == next->domain && best.members == next->members;
    if (is_first || !choice.has_better(best)) break;
  }
  if (!success_ && !failure_) try_domain(choice, choice.nearest(), true);
  if (success_) return std::move(success_->plan);
  return refusal(choice);
}

void Trials::try_domain(DomainChoice& choice, DomainBound domain, bool is_last) {
  const Placement placement(of_.snapshot, choice.domain(domain), of_.classes, of_.tables);
  Draft& draft = of_.of.draft;
  draft.begin(placement.snapshot(), placement.classes(), of_.of.gang.avoided_nodes);
  Trial trial(of_.of);
  trial.run(budget_, is_last);
  domain.members = trial.placed_count();
  if (trial.is_placed()) {
    keep(choice, {.domain = domain, .plan = trial.plan()});
  } else {
    if (trial.is_hopeless()) choice.rule_out(domain);
    keep(choice, domain, trial);
  }
  draft.end();
}

void Trials::keep(const DomainChoice& choice, Success found) {
  if (success_ && !choice.is_better(found.domain, success_->domain)) return;
  success_ = std::move(found);
}

/// What was not searched to its end is told first: more steps might place the gang there.
void Trials::keep(const DomainChoice& choice, const DomainBound& domain, Trial& trial) {
  const auto rank = [&choice](bool is_limited, const DomainBound& of) {
    return std::make_tuple(!is_limited, -of.members, choice.domain(of)->value);
  };
  if (failure_ && rank(failure_->is_limited, failure_->domain) < rank(trial.is_limited(), domain)) {
    return;
  }
  failure_ = {.domain = domain,
              .is_limited = trial.is_limited(),
              .explanation = trial.explanation(choice.text(domain))};
}

Explanation Trials::refusal(const DomainChoice& choice) {
  Explanation explanation = std::move(failure_->explanation);
  if (!failure_->is_limited) {
    const bool allows = choice.fleet_allows(std::max(1, of_.of.gang.need()));
    explanation.verdict = allows ? Verdict::kImpossibleNow : Verdict::kImpossibleOnFleet;
  }
  explanation.domains = choice.lines();
  return explanation;
}

}  // namespace gang::engine
