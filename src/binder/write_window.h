// WriteWindow: how many writes of the commit path are under way at once, and whose turn it is.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <utility>

#include "gang/kube/client.h"

namespace gang::binder {

/// Order of service; inside a lane first come, first served.
enum class Lane {
  kRecord,  ///< ends a round: one request per gang
  kNeed,    ///< members that a gang needs for its minimum
  kExtra,   ///< members above it
};

/// Congestion window over the writes of all rounds: additive increase, multiplicative decrease.
///
/// At most `limit()` requests are in flight. `limit` starts at the maximum, is halved (not below 1)
/// by a 429 or 5xx, at most once per window of requests, and grows by 1 with every `limit`
/// successes. Owned by the Binder; binder's thread only. Sends nothing itself and knows no
/// deadline.
class WriteWindow {
 public:
  using Ticket = std::pair<Lane, std::uint64_t>;

  explicit WriteWindow(std::int32_t max) : max_(max < 1 ? 1 : max), limit_(max_) {}

  /// Calls `send` as soon as there is a place, maybe inside this call. The place is taken until
  /// finished() is called with the ticket that `send` is given.
  Ticket submit(Lane lane, std::function<void(Ticket)> send);
  /// Takes back a submit() whose `send` has not been called. Others are ignored.
  void cancel(Ticket ticket);
  /// Gives the place back and learns from the answer.
  void finished(Ticket ticket, const kube::Answer& answer);
  /// Gives the place back and learns nothing.
  void give_back(Ticket ticket);

  /// Called whenever the last waiting request got its place.
  void on_drained(std::function<void()> callback) { drained_ = std::move(callback); }
  /// Says whether Bindings are to come that cannot be submitted yet: they count as waiting, so that
  /// nothing of less weight is sent before them.
  void expect(bool expected);
  [[nodiscard]] bool has_waiting() const { return expected_ || !waiting_.empty(); }
  [[nodiscard]] std::int32_t in_flight() const { return in_flight_; }
  [[nodiscard]] std::int32_t limit() const { return limit_; }

 private:
  std::uint64_t take_place(Ticket ticket);
  void grant();

  const std::int32_t max_;
  std::int32_t limit_;
  std::int32_t in_flight_ = 0;
  std::int32_t successes_ = 0;
  std::uint64_t next_number_ = 0;
  std::uint64_t granted_count_ = 0;
  std::uint64_t halved_at_ = 0;  ///< grants before this one do not halve again
  bool granting_ = false;
  bool expected_ = false;
  std::map<Ticket, std::function<void(Ticket)>> waiting_;
  std::map<Ticket, std::uint64_t> granted_;
  std::function<void()> drained_;
};

}  // namespace gang::binder
