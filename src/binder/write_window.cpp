#include "binder/write_window.h"

#include <algorithm>

#include "gang/base/check.h"

namespace gang::binder {
namespace {

bool says_overloaded(const kube::Answer& answer) {
  return answer.outcome == kube::Outcome::kThrottled || answer.http_status >= 500;
}

}  // namespace

WriteWindow::Ticket WriteWindow::submit(Lane lane, std::function<void(Ticket)> send) {
  const Ticket ticket{lane, next_number_++};
  waiting_.emplace(ticket, std::move(send));
  grant();
  return ticket;
}

void WriteWindow::cancel(Ticket ticket) {
  if (waiting_.erase(ticket) == 0) return;
  if (waiting_.empty() && drained_) drained_();
}

/// Returns the number of the grant.
std::uint64_t WriteWindow::take_place(Ticket ticket) {
  const auto place = granted_.find(ticket);
  CHECK(place != granted_.end());
  const std::uint64_t number = place->second;
  granted_.erase(place);
  --in_flight_;
  return number;
}

void WriteWindow::give_back(Ticket ticket) {
  take_place(ticket);
  grant();
}

void WriteWindow::finished(Ticket ticket, const kube::Answer& answer) {
  const std::uint64_t number = take_place(ticket);
  if (says_overloaded(answer) && number >= halved_at_) {
    limit_ = std::max(1, limit_ / 2);
    halved_at_ = granted_count_;
    successes_ = 0;
  } else if (answer.ok() && ++successes_ >= limit_) {
    limit_ = std::min(max_, limit_ + 1);
    successes_ = 0;
  }
  grant();
}

void WriteWindow::grant() {
  if (granting_) return;  // a send() may submit again: the loop below sees it
  granting_ = true;
  const bool had_waiting = !waiting_.empty();
  while (in_flight_ < limit_ && !waiting_.empty()) {
    const auto first = waiting_.begin();
    const Ticket ticket = first->first;
    const auto send = std::move(first->second);
    waiting_.erase(first);
    granted_.emplace(ticket, granted_count_++);
    ++in_flight_;
    send(ticket);
  }
  granting_ = false;
  if (had_waiting && waiting_.empty() && drained_) drained_();
}

void WriteWindow::expect(bool expected) {
  expected_ = expected;
  if (!has_waiting() && drained_) drained_();
}

}  // namespace gang::binder
