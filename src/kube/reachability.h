// Reachability: says once that the API server cannot be reached or is not the right one, and once
// that this is over. A layer of Http, so that lists, watches and writes are judged alike.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "gang/base/clock.h"
#include "kube/http.h"
#include "kube/server_words.h"

namespace gang::kube {

/// A line for the log.
struct ServerNote {
  bool is_good = false;
  std::string message;  ///< follows the server's name
};

/// Decides when a trouble is told. Owned by a ReachabilityHttp; one thread; pure: time is the
/// caller's monotonic clock.
///
/// A trouble is told when for kPatience nothing but trouble was heard, in at least two requests:
/// a server that restarts or a lost request is no news. Each trouble is told once until an answer
/// comes, at most kTroublesMax of them.
class Reachability {
 public:
  /// What to make of a request that met with trouble.
  struct Heard {
    bool is_repeated = false;  ///< the same was heard since the last answer
    std::optional<ServerNote> note;
  };
  /// `begun` is when the request was started.
  [[nodiscard]] Heard failed(Duration begun, Duration now, const Trouble& trouble);
  [[nodiscard]] std::optional<ServerNote> answered(Duration now);
  /// Whether `what` was heard since the last answer; hears it.
  [[nodiscard]] bool is_known(const std::string& what);
  /// What was told and is not over; empty = nothing.
  [[nodiscard]] const std::string& trouble() const { return trouble_; }

  static constexpr Duration kPatience = std::chrono::seconds(3);
  static constexpr std::size_t kTroublesMax = 16;

 private:
  std::optional<Duration> answered_at_;
  std::optional<Duration> failing_since_;
  int failures_ = 0;
  std::set<std::string> heard_;
  std::set<std::string> told_;
  std::string trouble_;
  std::string again_;
};

/// Http that rewords how requests end and writes the notes of a Reachability into the log.
///
/// Owned by a Connection, which outlives it with `clock`. Threads as Http; what it knows belongs
/// to the transport's thread, but for trouble(). A request that its owner gave up without an
/// answer after kGivenUpMin counts as one that was not answered.
class ReachabilityHttp final : public Http {
 public:
  ReachabilityHttp(std::unique_ptr<Http> transport, ServerWords words, const Clock& clock);
  ~ReachabilityHttp() override;
  ReachabilityHttp(const ReachabilityHttp&) = delete;
  ReachabilityHttp& operator=(const ReachabilityHttp&) = delete;

  HttpHandle start(HttpRequest request, std::unique_ptr<HttpReceiver> receiver) override;
  void cancel(HttpHandle handle) override { transport_->cancel(handle); }
  void resume(HttpHandle handle) override { transport_->resume(handle); }

  /// "API server https://host:port cannot be reached: ..." while that is so, else empty. Any
  /// thread.
  [[nodiscard]] std::string trouble() const;

  static constexpr Duration kGivenUpMin = std::chrono::seconds(5);

 private:
  class Receiver;
  bool failed(Duration begun, const Trouble& trouble);
  void answered();
  void tell(const std::optional<ServerNote>& note);

  const ServerWords words_;
  const Clock& clock_;
  Reachability reachability_;
  std::atomic<std::shared_ptr<const std::string>> trouble_;
  std::unique_ptr<Http> transport_;  ///< last: its end still tells the others
};

}  // namespace gang::kube
