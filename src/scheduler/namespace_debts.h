// NamespaceDebts: what namespaces owe for attempts that took long.
//
// Problem: one attempt may take three quarters of a second, as its selectors and its devices want,
// and a namespace may have hundreds of such gangs: whoever comes after them waits for them all.
// Idea: what an attempt takes beyond a free part its namespace owes, in counted work
// (engine::work). Who owes more than its credit, the work of one attempt at its limits, is behind:
// gangs of others go first (GangQueue). Time pays, to all that owe together kPaidPerSecond and to
// each as much: while others wait, namespaces that are behind get a tenth of the time however many
// they are, and each gets its turn. Who is attempted although it is behind, because nobody else
// waits, owes at most its credit and one attempt: idle time is not held against it. More gangs, or
// gangs made anew, gain nothing. Attempts within the free part, and so all ordinary ones, are not
// seen at all.
// Cannot see: a tenant with many namespaces, each with the credit of its first attempts.
//
// Equal calls give equal answers; time comes from the caller.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "gang/base/time.h"

namespace gang::scheduler {

/// See the head of the file. Owned by the scheduler; one thread.
class NamespaceDebts {
 public:
  /// A tenth of the work that a core does in a second, see engine::work().
  static constexpr std::int64_t kPaidPerSecond = 4'000'000;
  /// Of an attempt at its limits this part is free.
  static constexpr std::int64_t kFreeParts = 200;

  /// `credit`: work of an attempt at its limits.
  explicit NamespaceDebts(std::int64_t credit) : credit_(credit) {}

  /// Lets the time since the last call pay. Returns who is not behind any more, by name.
  [[nodiscard]] std::vector<std::string> pay(TimePoint now);

  /// What an attempt comes to. Value.
  struct Charge {
    std::int64_t owed = 0;      ///< of its work; 0: it was free
    bool falls_behind = false;  ///< its namespace, for the first time since it owed nothing
  };

  /// An attempt of a gang of the namespace took that work.
  Charge charge(const std::string& name_space, std::int64_t work);

  [[nodiscard]] bool is_behind(const std::string& name_space) const {
    return debt(name_space) > credit_;
  }
  [[nodiscard]] std::int64_t debt(const std::string& name_space) const;

 private:
  struct Debt {
    std::int64_t work = 0;  ///< above zero
    bool was_behind = false;
  };

  std::int64_t credit_;
  std::map<std::string, Debt> debts_;
  TimePoint paid_until_{};
  std::int64_t change_ = 0;  ///< paid, and too little for a part of it to everybody
};

}  // namespace gang::scheduler
