// SelectorBudget: how much one plan may spend on selectors, and which of them spent it.
//
// Problem: an expression may be slow on every device, and a tenant's claim is asked about all of
// them. Idea: steps of evaluations are counted over the whole plan, its explanation included; when
// they are spent nothing new is evaluated, and the plan says so. Answers that are known cost
// nothing and stay known, so that the next attempt gets further. A count, so that equal input
// gives equal output. Lives for one plan; one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include "gang/api/meta.h"
#include "gang/cluster/device_selectors.h"

namespace gang::engine {

/// Whose expression is asked. A value, for the call.
struct SelectorAsker {
  const char* what = "a selector";        ///< "class" or "claim", of that name
  const api::ObjectKey* owner = nullptr;  ///< null where nobody knows
  std::string_view request = {};
  std::string_view attribute = {};  ///< that it derives; else it is a selector of that number
  std::size_t index = 0;
};

/// See the head of the file.
class SelectorBudget {
 public:
  explicit SelectorBudget(std::int64_t steps_max) : steps_max_(steps_max), steps_left_(steps_max) {}

  /// kNotAsked, once all is spent, where the answer is not known yet.
  [[nodiscard]] cluster::Selected judge(cluster::DeviceSelectors& selectors,
                                        const cluster::DeviceQuestion& question,
                                        const SelectorAsker& asker);
  /// The same. Valid until the next call.
  [[nodiscard]] const cluster::Derived& derive(cluster::DeviceSelectors& selectors,
                                               const cluster::DeviceQuestion& question,
                                               const SelectorAsker& asker);

  /// Steps that were taken.
  [[nodiscard]] std::int64_t steps() const { return steps_max_ - steps_left_; }
  /// Whether something was not asked: what was found since proves nothing.
  [[nodiscard]] bool is_spent() const { return is_spent_; }
  /// Says so, with the expression that took most.
  [[nodiscard]] std::string text() const;

 private:
  /// What one expression took. A value.
  struct Spent {
    std::string asker;
    std::int64_t steps = 0;
    std::int64_t devices = 0;
  };

  /// One question and what it took. A value, for the call.
  struct Asked {
    const std::string& expression;
    const SelectorAsker& asker;
    bool is_answered = false;
    std::int64_t steps = 0;
  };

  void note(const Asked& asked);

  const std::int64_t steps_max_;
  std::int64_t steps_left_;
  bool is_spent_ = false;
  std::unordered_map<std::string, Spent> spent_;  ///< by expression
};

}  // namespace gang::engine
