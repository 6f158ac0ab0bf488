// GroupLine: the writes to the conditions of one PodGroup, one after the other.
//
// Problem: a PATCH of a group's status carries only the uid as precondition, so a late one would
// overwrite what was written after it: a delayed False the record True.
// Idea: one write at a time per group; records overtake waiting explanations; an explanation that
// is superseded is not sent again. After a PATCH of unknown outcome the next write waits until a
// read shows that it was executed, or until the server can no longer execute it (40 s).
// The conditions as last read or written are kept, so that nothing is written twice and
// lastTransitionTime moves only with the status. Source: commit protocol 5.3, gang contract 2.10.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "binder/backoff.h"
#include "binder/channel.h"
#include "binder/conditions.h"
#include "binder/lifeline.h"
#include "binder/paced_queue.h"
#include "binder/write_window.h"

namespace gang::binder {

enum class GroupWriteEnd {
  kDone,     ///< the server has every wanted condition
  kGone,     ///< deleted or replaced
  kRefused,  ///< 401, 403, 422
  kFailed,   ///< tried too often; only explanations
  kDropped,  ///< superseded before it was sent; only explanations
};

/// What became of a GroupWrite.
struct GroupWriteReport {
  GroupWriteEnd end = GroupWriteEnd::kDone;
  std::vector<api::Condition> written;  ///< those that the acknowledged PATCH changed
  std::string message;
};

/// Conditions for one group.
struct GroupWrite {
  engine::GangRef group;
  std::vector<WantedCondition> wanted;
  bool is_record = false;  ///< goes through the window's first lane; retried until definite
  /// The first members are bound: what stands there is False or absent, so every wanted True is a
  /// change and no read is needed. (A flag of an earlier life ends with the next explanation.)
  bool is_first = false;
  std::function<void(const GroupWriteReport&)> done;
};

/// See the head of the file. Owned by GroupWriter; binder's thread only.
class GroupLine {
 public:
  /// What it sends through: records by the window, explanations by the queue. All outlive it.
  struct Parts {
    Channel& channel;
    WriteWindow& window;
    PacedQueue& queue;
  };

  GroupLine(Parts parts, api::ObjectKey key, api::Uid uid);
  ~GroupLine();
  GroupLine(const GroupLine&) = delete;
  GroupLine& operator=(const GroupLine&) = delete;

  /// Ends with exactly one call of write.done, never inside this call.
  void submit(GroupWrite write);
  /// Explanations that were not sent end as kDropped; one in flight is not sent again.
  void drop_explanations();
  [[nodiscard]] bool idle() const { return !active_ && records_.empty() && !explanation_; }

 private:
  void begin_next();
  void begin();
  /// False when there was nothing to send.
  bool decide();
  void read();
  void on_read(const kube::Answer& answer, const std::optional<api::PodGroup>& group);
  void send_when_allowed();
  void send();
  void on_answer(const kube::Answer& answer);
  void on_refusal(const kube::Answer& answer);
  void on_invalid(const kube::Answer& answer);
  void retry(const kube::Answer& answer);
  void wait(Duration pause);
  void finish(GroupWriteEnd end, std::string message = "");

  Channel& channel_;
  WriteWindow& window_;
  PacedQueue& queue_;
  const api::ObjectKey key_;
  const api::Uid uid_;
  Backoff backoff_;

  std::vector<api::Condition> known_;
  bool known_is_complete_ = false;  ///< read from the server since the last doubt
  Duration unsettled_until_{};      ///< monotonic: a PATCH of unknown outcome may run until then
  std::int32_t unsettled_count_ = 0;

  std::deque<GroupWrite> records_;
  std::optional<GroupWrite> explanation_;
  std::optional<GroupWrite> active_;
  std::uint64_t run_ = 0;    ///< counts the writes that ended: tells stale timers apart
  bool is_waiting_ = false;  ///< for a token or a timer: nothing is under way
  bool superseded_ = false;  ///< the active explanation is not sent again
  std::vector<api::Condition> sending_;
  Duration sent_at_{};
  std::int32_t tries_ = 0;
  bool token_renewed_ = false;
  bool checks_uid_ = false;  ///< the next read tells why a PATCH was invalid
  bool shortened_ = false;
  std::optional<WriteWindow::Ticket> ticket_;
  bool in_window_ = false;
  Lifeline lifeline_;
};

}  // namespace gang::binder
