// IntentStep: the ConfigMap that holds the intent of one round, from its first write to its end.
//
//   write()  --POST, or PUT over the one that is replaced--> kHeld
//            --another one is found in its place--> kForeign      --the replaced one is gone-->
//            kGone
//   check()  one quorum read: is it still ours?
//   remove() --DELETE with uid and version, or found gone--> kRemoved
//
// The name is made of the gang's uid, so a lost answer is resolved by a read: what stands there is
// ours when it says the same. A POST of unknown outcome may be executed after the ConfigMap was
// deleted again; then the removal waits until the server can no longer do that.
// Source: commit protocol 5.1, 5.2 P3, P7 and P10, 5.3.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "binder/backoff.h"
#include "binder/claim_port.h"
#include "binder/gate.h"
#include "binder/lifeline.h"
#include "gang/api/intent.h"

namespace gang::binder {

enum class IntentEnd {
  kOpen,
  kHeld,     ///< durable
  kForeign,  ///< found() stands in its place
  kGone,     ///< somebody else ended the one that was to be replaced
  kRefused,  ///< our rights or our request are wrong
  kStopped,
  kRemoved,
};

/// See the head of the file. Owned by a ClaimRound or a FenceRun; binder's thread only. At most one
/// request or timer of write() and remove() is outstanding. Calls `done` at the end of each.
class IntentStep {
 public:
  /// `replaced`: what is to be written over; without uid there is nothing.
  IntentStep(const ClaimPort& port, api::Intent intent, api::StoredIntent replaced,
             std::function<void()> done);

  void write();
  /// Ends write() once no request is outstanding. Nothing is sent again.
  void stop(const std::string& why);
  /// REQUIRES: write() has ended.
  void remove();
  /// Whether the round still stands as it was written: shut when somebody else has it, or nobody.
  /// May be asked at any time after write() has ended as kHeld, also several times at once.
  void check(std::function<void(GateWord)> then);
  /// Whether no round of the gang is open. May be asked at any time before write().
  void check_absent(std::function<void(GateWord)> then);

  [[nodiscard]] IntentEnd end() const { return end_; }
  /// Whether it may stand there, or come to, although write() has not ended as kHeld.
  [[nodiscard]] bool is_unknown() const { return is_unknown_; }
  [[nodiscard]] const std::string& message() const { return message_; }
  /// What the newest request of write() or remove() that failed said; empty while none has.
  [[nodiscard]] const std::string& trouble() const { return trouble_; }
  /// "ConfigMap ns/intent-uid".
  [[nodiscard]] std::string name() const { return "ConfigMap " + key().text(); }
  [[nodiscard]] const api::Intent& intent() const { return intent_; }
  /// REQUIRES: end() is kForeign.
  [[nodiscard]] const api::StoredIntent& found() const { return found_; }

 private:
  [[nodiscard]] bool replaces() const { return !replaced_.meta.uid.empty(); }
  [[nodiscard]] bool is_ours(const api::StoredIntent& stored) const;
  [[nodiscard]] api::ObjectKey key() const;
  void send();
  void on_written(const kube::Answer& answer, const std::optional<api::ConfigMap>& map);
  void on_nowhere();
  void note_unknown(const kube::Answer& answer);
  void read();
  void on_read(const kube::Answer& answer, const std::optional<api::ConfigMap>& map);
  void on_missing();
  void judge(const api::StoredIntent& stored);
  void judge_removal(const api::StoredIntent& stored);
  void hold(const api::ObjectMeta& meta);
  void send_delete();
  void on_deleted(const kube::Answer& answer);
  void on_removed();
  void again(const kube::Answer& answer);
  void finish(IntentEnd end, std::string message = "");

  const ClaimPort port_;
  const api::Intent intent_;
  const api::StoredIntent replaced_;
  const std::function<void()> done_;
  Backoff backoff_;
  api::ObjectMeta meta_;  ///< of the ConfigMap as it was seen last; without uid: none was
  IntentEnd end_ = IntentEnd::kOpen;
  std::string message_;
  std::string trouble_;
  api::StoredIntent found_;
  std::optional<std::string> stopped_;
  bool is_busy_ = false;
  bool removes_ = false;
  int refusals_ = 0;  ///< of the DELETE
  Duration sent_at_{};
  bool is_unknown_ = false;  ///< a create may have been executed, or may yet be
  std::int32_t creates_sent_ = 0;
  Duration executable_until_{};  ///< monotonic: until then a create may make it anew
  Lifeline lifeline_;
};

}  // namespace gang::binder
