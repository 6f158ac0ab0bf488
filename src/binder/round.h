// Round: one run of the commit protocol for one gang.
//
//   need members --all bound--> record and extras --both done--> round_done(kCommitted)
//        |                          (an extra that is lost changes nothing)
//        +--one lost, refused, or deadline--> send nothing more, wait until every bind is definite
//                                          --> round_done(kRefused | kMembersLost | kUnavailable)
//
// A round never ends with an open bind, and a record is never taken back: it is written again until
// the server says yes or that the group is gone. Source: commit protocol 5.2 P8 to P10, 5.3, 5.9.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "binder/bind_step.h"
#include "binder/channel.h"
#include "binder/events.h"
#include "binder/group_writer.h"
#include "binder/lifeline.h"
#include "binder/status_writer.h"
#include "binder/write_window.h"

namespace gang::binder {

/// See the head of the file. Owned by the Binder; binder's thread only. Calls `done` once, maybe
/// inside start().
class Round {
 public:
  /// What it works with; all outlive it.
  struct Parts {
    Channel& channel;
    WriteWindow& window;
    GroupWriter& groups;
    StatusWriter& status;
    EventSink& events;
    std::function<void(engine::RoundProgress)> slow;  ///< hears of a round that lacks members
    Gate gate;                                        ///< of a round with an intent
  };

  Round(Parts parts, engine::Plan plan, std::function<void(engine::RoundOutcome)> done);

  void start();
  /// Sends no further Binding.
  void stop(const std::string& why);
  /// From now on the gang is whole; only the record and extras are open.
  [[nodiscard]] bool need_is_met() const { return need_is_met_; }

 private:
  enum class Record { kNotWanted, kWanted, kWriting, kDone, kRefused, kGroupGone };

  void make_steps();
  void start_steps(std::size_t first, std::size_t last);
  void advance();
  void on_step_ended(std::size_t index);
  void on_need_met();
  void write_record();
  void write_satisfied();
  void on_recorded(const GroupWriteReport& report);
  void tell_slow();
  void finish();
  [[nodiscard]] GroupWrite group_write() const;
  [[nodiscard]] std::int32_t bound() const { return plan_.base + bound_in_round_; }
  [[nodiscard]] bool is_whole() const { return bound() >= plan_.minimum; }
  [[nodiscard]] bool is_group() const { return plan_.gang.kind == cluster::GangKind::kPodGroup; }
  [[nodiscard]] engine::RoundEnd end_of_round() const;
  [[nodiscard]] std::string reason_of_end() const;
  [[nodiscard]] bool is_answered() const;
  void tell_group();
  void tell_passed_over();

  const Parts parts_;
  const engine::Plan plan_;
  const std::function<void(engine::RoundOutcome)> done_;
  std::size_t need_count_ = 0;
  std::vector<std::unique_ptr<BindStep>> steps_;  ///< as plan_.assignments
  std::size_t ended_count_ = 0;
  std::size_t need_bound_count_ = 0;
  std::int32_t bound_in_round_ = 0;
  bool need_is_met_ = false;
  bool stopped_ = false;
  bool finished_ = false;
  Record record_ = Record::kNotWanted;
  std::string message_;  ///< why the members were stopped or the record was not written
  Lifeline lifeline_;
};

inline constexpr const char* kCommitDeadline = "the commit deadline passed";

/// 30 s and 10 ms for each write.
[[nodiscard]] Duration deadline_of(const Options& options, std::size_t writes);

/// The end of a round that bound nothing.
[[nodiscard]] engine::RoundOutcome unbound_outcome(const engine::Plan& plan, engine::RoundEnd end,
                                                   const std::string& why);

}  // namespace gang::binder
