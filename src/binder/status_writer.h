// StatusWriter: tells groups and pods why they wait, at a bounded rate, and only what is news.
#pragma once

#include <functional>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "binder/channel.h"
#include "binder/events.h"
#include "binder/group_writer.h"
#include "binder/paced_queue.h"
#include "binder/pod_status_step.h"

namespace gang::binder {

/// Carries out explanations: one PATCH for the group with every changed condition, one PATCH for
/// each pod that is told something new, and the events that go with them.
///
/// A newer explanation of a gang, or a round of it, takes the place of an older one: what is not
/// sent is not sent any more, and a request under way is not repeated. Pods whose condition already
/// says the same (as the state or our own last write knows) are left alone.
/// Owned by the Binder; binder's thread only. Calls `failed` at most once per explanation.
class StatusWriter {
 public:
  /// What it writes through; all outlive it.
  struct Parts {
    Channel& channel;
    PacedQueue& queue;
    GroupWriter& groups;
    EventSink& events;
  };

  StatusWriter(Parts parts, std::function<void(const engine::GangRef&)> failed);

  void explain(const engine::Explanation& explanation);
  /// Conditions of a gang that has its minimum again. Best effort.
  void write_group(GroupWrite write);
  /// Supersedes what is known about this gang.
  void drop(const engine::GangRef& gang);
  [[nodiscard]] bool idle() const { return jobs_.empty(); }

 private:
  /// One explanation on its way.
  struct Job {
    engine::Explanation explanation;
    std::vector<std::unique_ptr<PodStatusStep>> steps;
    std::int64_t open_count = 0;
    bool failed = false;
  };
  using JobAt = std::list<Job>::iterator;

  void start_group(JobAt job);
  void start_pods(JobAt job);
  void tell_group(const engine::Explanation& explanation, const GroupWriteReport& report);
  void tell_pod(const engine::MemberText& member, const std::string& note);
  [[nodiscard]] bool is_news(const engine::MemberText& member, const api::Condition& wanted) const;
  void on_pod_ended(JobAt job, const PodStatusStep& step);
  void on_part_ended(JobAt job, bool failed);

  Channel& channel_;
  PacedQueue& queue_;
  GroupWriter& groups_;
  EventSink& events_;
  const std::function<void(const engine::GangRef&)> failed_;
  std::list<Job> jobs_;
  std::map<cluster::GangId, JobAt> newest_;  ///< the job of a gang that is not superseded
  /// Pod uid: hash of the condition last written, for pods whose state does not show it yet.
  std::unordered_map<api::Uid, std::uint64_t> written_;
  Lifeline lifeline_;
};

}  // namespace gang::binder
