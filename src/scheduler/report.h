// Report: what a gang is told, once per meaning; and the explanations that are not the engine's.
#pragma once

#include <optional>
#include <set>
#include <string>

#include "gang/base/time.h"
#include "gang/cluster/gang.h"
#include "gang/engine/explanation.h"

namespace gang::scheduler {

/// Lets an explanation through when it says something new, at most one per interval; a newer one
/// takes the place of one that waits. Belongs to one gang's record; one thread.
/// Does not know whether the write succeeded: forget() when it failed.
class Report {
 public:
  /// The explanation to write now; nullopt when it says nothing new, to nobody new, or has to wait
  /// until due().
  [[nodiscard]] std::optional<engine::Explanation> offer(engine::Explanation explanation,
                                                         TimePoint now, Duration interval);
  /// When the explanation that waits may be written.
  [[nodiscard]] std::optional<TimePoint> due() const;
  /// The explanation that waits, when it is due; counts as told.
  [[nodiscard]] std::optional<engine::Explanation> take_due(TimePoint now, Duration interval);
  /// The next explanation does not wait.
  void hurry() { next_write_ = {}; }
  /// Drops the explanation that waits.
  void drop_waiting() { waiting_.reset(); }
  /// Forgets everything told, so that the next explanation is written again, not before that time.
  void forget(TimePoint not_before = {});

  [[nodiscard]] bool has_told() const { return told_.has_value(); }
  /// Drops the members that were told the same already.
  void leave_out_told(engine::Explanation& explanation) const;

 private:
  void keep_told(const engine::Explanation& explanation);

  std::optional<engine::Explanation> told_;  ///< without members
  std::set<api::Uid> told_members_;
  std::optional<engine::Explanation> waiting_;
  TimePoint next_write_{};
};

[[nodiscard]] engine::GangRef ref_of(const cluster::Gang& gang);

/// An explanation without member texts; `gang` may be an outline.
[[nodiscard]] engine::Explanation explain(const cluster::Gang& gang, engine::Verdict verdict,
                                          std::string message);

/// How a round goes on that has not failed: the record does not say it.
[[nodiscard]] engine::Explanation explain_progress(const cluster::Gang& gang, std::string message);

/// The same text for the group and for every pending member.
[[nodiscard]] engine::Explanation explain_to_all(const cluster::Gang& gang, engine::Verdict verdict,
                                                 const std::string& message);

/// The same text for the group and for those pending members that were told something else before:
/// a pod that only waits for others is left alone, but not with a text that is not true any more.
[[nodiscard]] engine::Explanation explain_to_told(const cluster::Gang& gang,
                                                  engine::Verdict verdict,
                                                  const std::string& message);

/// "pod <name> failed on <node> (<reason>)" of the newest failure, or ""; with the number where
/// there are more.
[[nodiscard]] std::string failure_text(const cluster::Gang& gang);

/// "<x> of <y> pods exist[; <g> gated][; <d> succeeded][; <failure_text>][; waiting for composite
/// pod group <name>]". REQUIRES: gang.minimum is the effective minimum.
[[nodiscard]] std::string waiting_text(const cluster::Gang& gang);

/// The name of the PodGroup to wait for, as text of every pending member; `is_served` = the API
/// server knows PodGroups.
[[nodiscard]] engine::Explanation waiting_for_group(const cluster::Gang& gang, bool is_served);

/// Brings what the member texts say of their pods up to date, drops texts of members that are not
/// pending any more and texts that the server has already. Returns whether anything is left to
/// write.
[[nodiscard]] bool refresh(engine::Explanation& explanation, const cluster::Gang& gang);

}  // namespace gang::scheduler
