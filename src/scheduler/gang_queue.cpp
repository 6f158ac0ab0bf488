#include "scheduler/gang_queue.h"

namespace gang::scheduler {

QueueOrder queue_order(const cluster::Gang& gang, std::int32_t minimum) {
  const std::int32_t base = gang.counts.base();
  return QueueOrder{.priority_negated = -std::int64_t{gang.priority},
                    .is_not_started = base == 0 || base >= minimum,
                    .creation_time = gang.creation_time,
                    .uid = gang.uid,
                    .id = gang.id};
}

void GangQueue::activate(const QueueOrder& order) {
  take_out(order.id);
  active_.insert(order);
  places_.emplace(order.id, order);
}

void GangQueue::park(cluster::GangId id) {
  take_out(id);
  parked_.insert(id);
}

void GangQueue::take_out(cluster::GangId id) {
  parked_.erase(id);
  const auto place = places_.find(id);
  if (place == places_.end()) return;
  active_.erase(place->second);
  places_.erase(place);
}

void GangQueue::erase(cluster::GangId id) {
  take_out(id);
  set_timer(id, std::nullopt);
}

void GangQueue::set_timer(cluster::GangId id, std::optional<TimePoint> time) {
  if (const auto old = timer_of_.find(id); old != timer_of_.end()) {
    timers_.erase({old->second, id});
    timer_of_.erase(old);
  }
  if (!time) return;
  timers_.emplace(*time, id);
  timer_of_.emplace(id, *time);
}

std::vector<cluster::GangId> GangQueue::take_due(TimePoint now) {
  std::vector<cluster::GangId> due;
  while (!timers_.empty() && timers_.begin()->first <= now) {
    due.push_back(timers_.begin()->second);
    set_timer(due.back(), std::nullopt);
  }
  return due;
}

std::optional<TimePoint> GangQueue::next_timer() const {
  if (timers_.empty()) return std::nullopt;
  return timers_.begin()->first;
}

std::optional<cluster::GangId> GangQueue::first_active() const {
  if (active_.empty()) return std::nullopt;
  return active_.begin()->id;
}

}  // namespace gang::scheduler
