// RollbackRun: deletes the bound members of a gang that cannot be completed.
//
//   read every listed pod -> count the bound ones: >= minimum? leave all alone
//   then, member by member:
//     read the pod: same uid, bound, alive, carries the stamp, else leave it alone
//     PATCH DisruptionTarget=True/GangRollback, read the pod again
//     read the group: recorded? leave all that are left alone
//     DELETE with uid and resourceVersion; a 409 evaluates the member again, at most 10 times
//
// Every guard is evaluated on a read made after the last write, and the DELETE carries the version
// that was judged, so nothing that changed in between is deleted. One request at a time.
// Source: commit protocol 5.3, 5.6 rule 3.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "binder/backoff.h"
#include "binder/channel.h"
#include "binder/lifeline.h"
#include "binder/paced_queue.h"

namespace gang::binder {

/// See the head of the file. Owned by the Binder; binder's thread only. Calls `done` once.
/// The scheduler guarantees base = 0 and that the listed members may be deleted.
class RollbackRun {
 public:
  RollbackRun(Channel& channel, PacedQueue& queue, engine::Rollback rollback,
              std::function<void()> done);

  void start();

 private:
  using OnPod = void (RollbackRun::*)(const api::Pod*);

  [[nodiscard]] const engine::Assignment& member() const { return rollback_.members[index_]; }
  void read_member(OnPod next);
  void count_member(const api::Pod* pod);
  void begin_member();
  void judge_member(const api::Pod* pod);
  void mark_member();
  void read_group();
  void on_group(const kube::Answer& answer, const std::optional<api::PodGroup>& group);
  void delete_member();
  void on_written(const kube::Answer& answer, bool was_delete);
  void next_member();
  void again(const kube::Answer& answer, std::function<void()> step);
  void finish(const char* why);

  Channel& channel_;
  PacedQueue& queue_;
  const engine::Rollback rollback_;
  const std::function<void()> done_;
  Backoff backoff_;
  std::size_t index_ = 0;
  std::int32_t bound_count_ = 0;
  std::int32_t deleted_count_ = 0;
  int tries_ = 0;
  std::optional<api::Pod> pod_;  ///< the member as last read, when it may be deleted
  Lifeline lifeline_;
};

}  // namespace gang::binder
