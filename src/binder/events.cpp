#include "binder/events.h"

#include <algorithm>
#include <string_view>

#include "binder/backoff.h"

namespace gang::binder {
namespace {

constexpr Duration kEqualWindow = std::chrono::minutes(6);
constexpr Duration kGroupWindow = std::chrono::seconds(10);
constexpr int kTriesMax = 3;

std::string hex(std::uint64_t rest) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (; rest != 0; rest >>= 4) {
    text.insert(text.begin(), kDigits[rest & 15]);
  }
  return text;
}

}  // namespace

api::EventTarget event_target(const engine::Assignment& pod) {
  return {.api_version = "v1",
          .kind = "Pod",
          .key = pod.pod,
          .uid = pod.uid,
          .resource_version = pod.resource_version};
}

api::EventTarget event_target(const engine::MemberText& pod) {
  return {.api_version = "v1",
          .kind = "Pod",
          .key = pod.pod,
          .uid = pod.uid,
          .resource_version = pod.resource_version};
}

api::EventTarget event_target(const api::ResourceClaim& claim) {
  return {.api_version = "resource.k8s.io/v1",
          .kind = "ResourceClaim",
          .key = claim.meta.key,
          .uid = claim.meta.uid,
          .resource_version = claim.meta.resource_version};
}

api::EventTarget event_target(const engine::GangRef& group) {
  return {.api_version = "scheduling.k8s.io/v1beta1",
          .kind = "PodGroup",
          .key = group.key,
          .uid = group.uid};
}

EventText bound_text(const engine::Assignment& pod) {
  return {.type = "Normal",
          .reason = "Scheduled",
          .action = "Binding",
          .note = "Successfully assigned " + pod.pod.text() + " to " + pod.node_name,
          .is_unique = true};
}

EventSink::EventSink(Channel& channel, const WriteWindow& window)
    : channel_(channel),
      queue_(channel, window, channel.options().events_per_second,
             channel.options().events_per_second) {}

void EventSink::submit(api::EventTarget regarding, EventText text) {
  if (is_repeated(regarding, text)) return;
  // Names of others hold the time in nanoseconds; two events of one instant get two.
  const std::uint64_t content = seed_of(regarding.uid.text + '\n' + text.reason + '\n' + text.note);
  last_name_ = std::max(last_name_ + 1, channel_.now().time_since_epoch().count());
  api::Event event{.regarding = std::move(regarding),
                   .type = text.type,
                   .reason = text.reason,
                   .action = text.action,
                   .note = std::move(text.note),
                   .reporting_controller = channel_.options().scheduler_name,
                   .reporting_instance = channel_.options().instance,
                   .time = channel_.now()};
  const auto number = text.is_unique ? content : static_cast<std::uint64_t>(last_name_);
  event.name = event.regarding.key.name + "." + hex(number);
  enqueue({.event = std::move(event)});
}

bool EventSink::is_repeated(const api::EventTarget& regarding, const EventText& text) {
  const std::string about = regarding.uid.text + '\n' + text.reason + '\n';
  if (regarding.kind == "PodGroup" && seen_within(seed_of(about), kGroupWindow)) return true;
  return seen_within(seed_of(about + text.note), kEqualWindow);
}

/// Remembers `what` as sent now, unless it was within `window`.
bool EventSink::seen_within(std::uint64_t what, Duration window) {
  const Duration now = channel_.monotonic();
  while (!sent_by_time_.empty() && now - sent_by_time_.front().first > kEqualWindow) {
    const auto oldest = sent_.find(sent_by_time_.front().second);
    if (oldest != sent_.end() && oldest->second == sent_by_time_.front().first) sent_.erase(oldest);
    sent_by_time_.pop_front();
  }
  const auto known = sent_.find(what);
  if (known != sent_.end() && now - known->second < window) return true;
  sent_[what] = now;
  sent_by_time_.emplace_back(now, what);
  return false;
}

void EventSink::enqueue(Pending pending) {
  if (queue_.size() >= static_cast<std::size_t>(channel_.options().event_queue_max)) {
    return drop();
  }
  queue_.submit([this, pending = std::move(pending)] {
    send(pending);
    return true;
  });
}

void EventSink::send(Pending pending) {
  ++pending.tries;
  const api::Event event = pending.event;
  channel_.create_event(
      event, lifeline_.guard([this, pending = std::move(pending)](const kube::Answer& answer) {
        on_answer(pending, answer);
      }));
}

void EventSink::on_answer(Pending pending, const kube::Answer& answer) {
  if (answer.ok()) {
    ++channel_.stats().events_sent;
    return;
  }
  const bool was_not_executed =
      answer.outcome == kube::Outcome::kThrottled || answer.outcome == kube::Outcome::kNotSent;
  if (!was_not_executed || pending.tries >= kTriesMax) return drop();
  channel_.after(wait_after(answer, channel_.options().retry_max),
                 lifeline_.guard([this, pending = std::move(pending)] { enqueue(pending); }));
}

}  // namespace gang::binder
