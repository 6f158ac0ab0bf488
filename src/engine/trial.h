// Trial: one try to place a gang on the nodes of a draft, with devices or without, and what is said
// of it: a Plan, or the Explanation of why not.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "engine/device_planning.h"
#include "engine/draft.h"
#include "engine/explain.h"
#include "engine/search.h"
#include "engine/selector_budget.h"
#include "gang/cluster/gang.h"
#include "gang/engine/explanation.h"
#include "gang/engine/options.h"
#include "gang/engine/plan.h"

namespace gang::engine {

/// What all trials of one attempt may spend together. Lives for the attempt.
class TrialBudget {
 public:
  explicit TrialBudget(const Options& options);

  /// What one of several trials may spend: half of what is left, so that others come to theirs; the
  /// last one all of it.
  [[nodiscard]] SearchBudget for_search(bool is_last) const;
  [[nodiscard]] std::int64_t for_devices(bool is_last) const;
  void spend_on_search(std::int64_t steps) { search_left_ -= steps; }
  void spend_on_devices(std::int64_t steps) { devices_left_ -= steps; }

  [[nodiscard]] SelectorBudget& selectors() { return selectors_; }
  [[nodiscard]] std::int64_t steps_spent() const;

 private:
  std::int64_t search_max_;
  std::int64_t devices_max_;
  std::int64_t search_left_;
  std::int64_t devices_left_;
  SelectorBudget selectors_;
};

/// What a trial is about. All outlive it.
struct TrialOf {
  const cluster::Gang& gang;
  Draft& draft;
  DeviceCache& devices;
  const Options& options;
  bool with_devices = false;
};

/// See the head of the file. One draft, begun and empty; one thread.
class Trial {
 public:
  explicit Trial(const TrialOf& of) : of_(of) {}

  /// Leaves in the draft what it placed.
  void run(TrialBudget& budget, bool is_last);

  [[nodiscard]] bool is_placed() const;
  [[nodiscard]] bool is_limited() const { return end_ == SearchEnd::kLimit; }
  /// Members that it could place.
  [[nodiscard]] std::int32_t placed_count() const { return placed_count_; }
  /// Proved: not even with every device free.
  [[nodiscard]] bool is_hopeless() const {
    return planning_ && planning_->lacking == Lacking::kOnFleet && !is_limited();
  }

  /// REQUIRES: is_placed(). Once.
  [[nodiscard]] Plan plan();
  /// REQUIRES: not is_placed(). Leaves nobody placed.
  [[nodiscard]] Explanation explanation(const PlacementText& placement);

 private:
  [[nodiscard]] Attempt attempt_without_devices() const;
  [[nodiscard]] Attempt attempt_with_devices() const;
  void tell_misfits(Attempt& attempt) const;

  const TrialOf of_;
  SearchEnd end_ = SearchEnd::kImpossible;
  std::int32_t placed_count_ = 0;
  std::optional<DevicePlanning> planning_;
};

}  // namespace gang::engine
