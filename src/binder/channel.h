// Channel: the Client, the clock and the timers as the steps of the binder see them.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "binder/lifeline.h"
#include "gang/binder/binder.h"

namespace gang::binder {

/// Sends requests and brings every answer back to the binder's thread; keeps the books of what is
/// in flight, counts, and logs a missing right at most once a minute.
/// Owned by the Binder and outlives every step. Binder's thread only; the Client may answer from
/// any thread. After destruction late answers are dropped. Does not retry and judges no answer.
class Channel {
 public:
  Channel(kube::Client& client, const Clock& clock, const Options& options, Executor executor);

  void bind(const api::Binding& binding, kube::Done done);
  /// A dry run: no write, for the watcher of writes neither.
  void try_bind(const api::Binding& binding, kube::Done done);
  void patch_pod(const api::PodStatusPatch& patch, kube::Done done);
  /// The same to take something back: the watcher of writes does not hear it, since one object
  /// whose writes fail for ever says nothing of the server.
  void patch_pod_to_undo(const api::PodStatusPatch& patch, kube::Done done);
  void patch_group(const api::PodGroupStatusPatch& patch, kube::Done done);
  void delete_pod(const kube::PodDelete& request, kube::Done done);
  void create_event(const api::Event& event, kube::Done done);
  void read_pod(const api::ObjectKey& pod, kube::PodDone done);
  void read_group(const api::ObjectKey& group, kube::PodGroupDone done);

  /// Brings the answer of a request that is sent now back to the binder's thread. `request` names
  /// verb and resource, for the log.
  template <class... Object>
  [[nodiscard]] std::function<void(const kube::Answer&, Object...)> returning(
      const char* request, std::function<void(const kube::Answer&, Object...)> done);
  /// Lets the watcher of writes hear an answer.
  void note_write(const kube::Answer& answer) {
    if (write_watcher_) write_watcher_(answer);
  }

  /// Hears the answer to every write but events, before the one who sent it.
  void watch_writes(kube::Done watcher) { write_watcher_ = std::move(watcher); }
  void note_target(const api::ObjectKey& object) { last_written_ = object; }
  /// The namespaced object that was written last.
  [[nodiscard]] const api::ObjectKey& last_written() const { return last_written_; }

  /// Runs `function` on the binder's thread after `pause`; guard it with a Lifeline.
  void after(Duration pause, std::function<void()> function);
  /// Runs `function` on the binder's thread, not inside the current call.
  void later(std::function<void()> function);

  [[nodiscard]] TimePoint now() const { return clock_.now(); }
  [[nodiscard]] Duration monotonic() const { return clock_.monotonic(); }
  [[nodiscard]] const Options& options() const { return options_; }
  [[nodiscard]] Stats& stats() { return stats_; }
  [[nodiscard]] const Stats& stats() const { return stats_; }
  [[nodiscard]] std::int64_t in_flight() const { return in_flight_; }

 private:
  void arrived(const char* request, const kube::Answer& answer);
  kube::Done returning_write(const char* request, const api::ObjectKey& object, kube::Done done);

  kube::Client& client_;
  const Clock& clock_;
  const Options options_;
  const Executor executor_;
  Stats stats_;
  std::int64_t in_flight_ = 0;
  kube::Done write_watcher_;
  api::ObjectKey last_written_;
  Duration forbidden_logged_{-1};
  std::int64_t forbidden_unlogged_ = 0;
  Lifeline lifeline_;
};

template <class... Object>
std::function<void(const kube::Answer&, Object...)> Channel::returning(
    const char* request, std::function<void(const kube::Answer&, Object...)> done) {
  ++in_flight_;
  return [this, request, post = executor_.post, watch = lifeline_.watch(), done = std::move(done)](
             const kube::Answer& answer, Object... object) {
    post([this, request, watch, done, answer, object...] {
      if (watch.expired()) return;
      arrived(request, answer);
      done(answer, object...);
    });
  };
}

/// Whether a request that was answered like this may be executed later. Nothing was heard, somebody
/// on the way stopped waiting, or the storage did; every other 5xx is the end of the request.
[[nodiscard]] bool may_still_run(const kube::Answer& answer);

/// Whoever takes something back goes on until the server takes it, so in longer pauses than others.
[[nodiscard]] inline Duration undo_retry_max(const Options& options) {
  return 3 * options.retry_max;
}

/// "pod ns/p: connection refused": what a write meets that is tried again.
[[nodiscard]] std::string trouble_text(const std::string& object, const kube::Answer& answer);

/// Whether the server failed, or nothing was heard of it, as opposed to a refusal of this request.
[[nodiscard]] bool is_server_failure(const kube::Answer& answer);

/// The admission of a starting server answers 403 like this: no right is missing.
[[nodiscard]] bool is_starting(const kube::Answer& answer);

/// What an answer means for whoever goes on until the server answers.
enum class UndoWord {
  kDone,
  kGone,     ///< there is no such object
  kRefused,  ///< our rights or our request are wrong
  kAgain,    ///< to be read and judged anew, after a pause
};

/// Reads the answer to a write that takes something back. The first "invalid" may be that of
/// another object of that name, which the next read tells: `was_invalid` remembers it.
[[nodiscard]] UndoWord undo_word(const kube::Answer& answer, bool& was_invalid);

/// How long to wait before a request that was answered like this is sent again: what the server
/// asks for, at least `pause`.
[[nodiscard]] Duration wait_after(const kube::Answer& answer, Duration pause);

}  // namespace gang::binder
