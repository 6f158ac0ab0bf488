// Reflector: the list and watch of one kind as a state machine, without threads, clock or sockets.
//
// Problem: keep a sink exactly as current as the API server, whatever the network and the server
// do. Idea: hold one resume point (the resourceVersion of the last complete event, bookmark or
// list).
//   no resume point   WatchList where the server has it, else a paged LIST; told as ListBegin,
//                     Added*, ListEnd; broken in the middle: begin again, pages are never mixed
//   resume point      watch from there; a clean end, a time-out or a lost connection resumes
//   410, lost trust   drop the resume point (410 in any place, a line that cannot be decoded, a
//                     resourceVersion that goes back)
// Every other answer keeps the resume point and waits: Retry-After, else backoff with full jitter.
// Limits: one object twice undecodable is counted and passed over; held deletions of an initial
// stream are bounded by the set itself.
// Source: the commit and recovery contract, chapters 8 and 9.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "gang/api/json.h"
#include "gang/kube/informer.h"
#include "kube/backoff.h"
#include "kube/http.h"
#include "kube/resource_path.h"
#include "kube/watch_stream.h"

namespace gang::kube {

/// Limits of a Reflector, all with their defaults.
struct ReflectorOptions {
  Duration watch_idle_limit = std::chrono::seconds(150);
  Duration list_idle_limit = std::chrono::seconds(60);  ///< also until the head of any answer
  Duration unserved_interval = std::chrono::seconds(60);
  Duration absence_confirmed = std::chrono::seconds(60);  ///< for a kind that was served before
  Duration short_stream = std::chrono::seconds(1);
  Duration watch_list_pause = std::chrono::minutes(10);  ///< after the server refused WatchList
  Duration watch_timeout_min = std::chrono::minutes(5);
  Duration watch_timeout_max = std::chrono::minutes(10);
  BackoffLimits backoff;
  BackoffLimits backoff_unauthorized{.first = std::chrono::seconds(1)};
  /// Pauses of half to the whole of 1 s, 2 s, ... 60 s after the kind was told forbidden.
  Duration forbidden_first = std::chrono::seconds(1);
  Duration forbidden_max = std::chrono::seconds(60);
  int page_limit = 500;
};

/// Owned by one informer thread, which feeds it what its request told and carries out its commands.
///
/// Single thread; calls the sink from every on_...(). Always: at most one request is open, and the
/// next one is asked for only after on_end(). Time is the caller's monotonic clock, >= 0.
class Reflector {
 public:
  Reflector(const InformerScope& scope, const ReflectorOptions& options, std::uint64_t seed,
            DeltaSink sink);

  void on_time(Duration now);
  void on_head(Duration now, const HttpHead& head);
  void on_data(Duration now, std::string_view bytes);
  void on_end(Duration now, const HttpEnd& end);

  /// What is to be done now; each wish is handed out once.
  struct Command {
    std::optional<HttpRequest> start;
    bool cancel = false;        ///< the open request; its on_end() still has to come
    bool refuse_token = false;  ///< the bearer token was refused
  };
  [[nodiscard]] Command take_command();

  /// When on_time() is next needed; Duration::max() = only after on_end().
  [[nodiscard]] Duration next_wake() const;
  [[nodiscard]] const InformerStats& stats() const { return stats_; }
  /// The sink wants no more.
  [[nodiscard]] bool stopped() const { return stopped_; }

 private:
  enum class Mode { kWatchList, kList, kWatch };
  enum class Told { kNothing, kSynced, kUnserved, kForbidden };
  /// How to go on after the open request.
  struct Verdict {
    bool relist = false;
    Duration delay{0};
    std::string error;
    bool is_repeated = false;  ///< told by another request already
  };

  void begin_request();
  void begin_list();
  void finish_list(const api::ResourceVersion& version);
  bool on_item(std::string_view item);
  bool on_line(std::string_view line);
  void on_object(api::WatchEvent event);
  void on_bookmark(const api::WatchEvent& event);
  bool on_undecodable(std::string_view object, const Error& error);
  void check_fed(const Result<void>& fed);

  [[nodiscard]] Verdict verdict_of_end(const HttpEnd& end);
  [[nodiscard]] Verdict end_of_page(const HttpEnd& end);
  [[nodiscard]] Verdict end_of_watch(const HttpEnd& end);
  [[nodiscard]] Verdict judge(const api::Status& status, std::optional<Duration> retry_after);
  [[nodiscard]] Verdict judge_absent(std::string error, bool is_own);
  [[nodiscard]] Verdict judge_forbidden(std::string error);
  [[nodiscard]] Verdict judge_expired(std::string error);
  [[nodiscard]] Verdict judge_too_large(std::string error);
  [[nodiscard]] Verdict after_backoff(std::string error);
  [[nodiscard]] Duration forbidden_pause();

  void give_up(Verdict verdict);
  void apply(const Verdict& verdict);
  void tell(api::Delta delta);
  void tell_state(Told told);
  void tell_object(api::DeltaType type, api::ResourceVersion version, api::Object object);
  [[nodiscard]] Duration deadline() const;

  // Constant after construction.
  const api::Kind kind_;
  const ListWatchPaths paths_;
  const ReflectorOptions options_;
  const DeltaSink sink_;

  // The resume point, and what the sink knows.
  api::ResourceVersion version_;
  std::string continue_token_;
  bool list_open_ = false;  ///< ListBegin was told, ListEnd was not
  Told told_ = Told::kNothing;
  std::vector<api::Delta> held_deletes_;  ///< told by an initial stream before its end
  std::map<std::size_t, int> undecodable_;

  // The open request.
  bool running_ = false;
  Mode mode_ = Mode::kWatchList;
  int status_ = 0;  ///< of its head; 0 = no head yet
  std::string retry_after_;
  std::string error_body_;
  LineSplitter lines_{kBodyBytesMax};
  ListSplitter list_{kBodyBytesMax};
  bool stream_advanced_ = false;    ///< it told something new
  std::optional<Verdict> verdict_;  ///< given up: its end is waited for
  Duration started_at_{0};
  Duration last_byte_at_{0};

  // Waiting and counting.
  Duration now_{0};
  Duration wake_at_{0};
  Jitter jitter_;
  Backoff backoff_;
  Backoff backoff_unauthorized_;
  Duration no_watch_list_until_{0};
  std::optional<Duration> expired_at_;
  std::optional<Duration> absent_since_;
  int forbidden_count_ = 0;
  int unauthorized_count_ = 0;
  int too_large_count_ = 0;

  Command command_;
  bool stopped_ = false;
  InformerStats stats_;
};

}  // namespace gang::kube
