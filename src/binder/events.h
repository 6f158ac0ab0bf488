// Events: what happened to pods and groups, as Kubernetes Events. Best effort, lowest priority.
//
// events.k8s.io/v1; reasons and notes as the scheduling contract 8.4 and the gang contract 8.1.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <unordered_map>
#include <utility>

#include "binder/channel.h"
#include "binder/lifeline.h"
#include "binder/paced_queue.h"

namespace gang::binder {

/// What an event says. Reasons and actions are constants of ours.
struct EventText {
  const char* type = "Normal";
  const char* reason = "";
  const char* action = "";
  std::string note;
  /// Named by what it says of whom: of a second one, maybe of another process, the server says that
  /// it is there.
  bool is_unique = false;
};

[[nodiscard]] api::EventTarget event_target(const engine::Assignment& pod);
[[nodiscard]] api::EventTarget event_target(const engine::MemberText& pod);
/// That the pod is bound to its node.
[[nodiscard]] EventText bound_text(const engine::Assignment& pod);
[[nodiscard]] api::EventTarget event_target(const api::ResourceClaim& claim);
/// The PodGroup of a gang. REQUIRES: the gang is one.
[[nodiscard]] api::EventTarget event_target(const engine::GangRef& group);

/// Sends events at `events_per_second`, only while no Binding waits; at most `event_queue_max`
/// wait, further ones are dropped and counted. An event equal to one of the last 6 minutes (object,
/// reason, note) is not sent again, nor a second one of a group and reason within 10 s.
/// Owned by the Binder; binder's thread only.
class EventSink {
 public:
  EventSink(Channel& channel, const WriteWindow& window);

  void submit(api::EventTarget regarding, EventText text);
  void pump() { queue_.pump(); }

 private:
  /// One event on its way.
  struct Pending {
    api::Event event;
    int tries = 0;
  };

  [[nodiscard]] bool is_repeated(const api::EventTarget& regarding, const EventText& text);
  [[nodiscard]] bool seen_within(std::uint64_t what, Duration window);
  void enqueue(Pending pending);
  void send(Pending pending);
  void on_answer(Pending pending, const kube::Answer& answer);
  void drop() { ++channel_.stats().events_dropped; }

  Channel& channel_;
  PacedQueue queue_;
  std::int64_t last_name_ = 0;  ///< nanoseconds in the newest name: names are unique
  std::unordered_map<std::uint64_t, Duration> sent_;  ///< hash of the event: when
  std::deque<std::pair<Duration, std::uint64_t>> sent_by_time_;
  Lifeline lifeline_;
};

}  // namespace gang::binder
