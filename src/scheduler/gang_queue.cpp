#include "scheduler/gang_queue.h"

#include <algorithm>

namespace gang::scheduler {

QueueOrder queue_order(const cluster::Gang& gang, std::int32_t minimum) {
  const std::int32_t base = gang.counts.base();
  return QueueOrder{.priority_negated = -std::int64_t{gang.priority},
                    .is_not_started = base == 0 || base >= minimum,
                    .since = gang.creation_time,
                    .uid = gang.uid,
                    .id = gang.id};
}

void GangQueue::activate(QueuePlace place) {
  const cluster::GangId id = place.order.id;
  take_out(id);
  open_line(place.name_space).insert(order_in_line(place));
  close_line(place.name_space);
  places_.emplace(id, std::move(place));
}

void GangQueue::park(cluster::GangId id) {
  take_out(id);
  parked_.insert(id);
}

void GangQueue::take_out(cluster::GangId id) {
  parked_.erase(id);
  const auto place = places_.find(id);
  if (place == places_.end()) return;
  const std::string& name_space = place->second.name_space;
  open_line(name_space).erase(order_in_line(place->second));
  close_line(name_space);
  places_.erase(place);
}

void GangQueue::erase(cluster::GangId id) {
  take_out(id);
  set_timer(id, std::nullopt);
}

void GangQueue::set_behind(const std::string& name_space, bool is_behind) {
  if (behind_.contains(name_space) == is_behind) return;
  Line& line = open_line(name_space);
  if (is_behind) {
    behind_.insert(name_space);
  } else {
    behind_.erase(name_space);
  }
  Line ordered;
  for (const QueueOrder& order : line) ordered.insert(order_in_line(places_.at(order.id)));
  line = std::move(ordered);
  close_line(name_space);
}

QueueOrder GangQueue::order_in_line(const QueuePlace& place) const {
  QueueOrder order = place.order;
  if (behind_.contains(place.name_space)) order.since = std::max(order.since, place.attempted_at);
  return order;
}

GangQueue::Line& GangQueue::open_line(const std::string& name_space) {
  Line& line = lines_[name_space];
  if (!line.empty()) heads_.erase({behind_.contains(name_space), *line.begin()});
  return line;
}

void GangQueue::close_line(const std::string& name_space) {
  const auto line = lines_.find(name_space);
  if (line->second.empty()) {
    lines_.erase(line);
  } else {
    heads_.insert({behind_.contains(name_space), *line->second.begin()});
  }
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
  if (heads_.empty()) return std::nullopt;
  return heads_.begin()->order.id;
}

}  // namespace gang::scheduler
