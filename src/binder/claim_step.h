// ClaimStep: one claim from its plan to a definite end, forward or back.
//
// Problem: a claim is written in two steps (finalizer, then allocation and reservation at once),
// the answers may be lost, others write it meanwhile, and devices must neither be given twice nor
// stay with a claim that nobody uses. Idea: every write carries uid and version, so at most one of
// several writers succeeds; after any answer that is not definite the claim is read and judged
// anew: ours already, still to be written, or lost. Going back judges in the same way. A write of
// unknown outcome can only succeed while the version stands still: before the claim is left without
// devices its version is moved. Source: the devices contract, 7; the commit protocol, 5.3 and 5.5.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "binder/backoff.h"
#include "binder/channel.h"
#include "binder/lifeline.h"
#include "gang/engine/plan.h"
#include "gang/kube/claim_client.h"

namespace gang::binder {

enum class ClaimEnd {
  kOpen,
  kWritten,   ///< it has the planned devices and names every consumer
  kLost,      ///< gone, replaced, being deleted, or without the devices that it had
  kTaken,     ///< it has other devices than planned
  kRefused,   ///< our rights or our request are wrong
  kStopped,   ///< told to stop
  kReleased,  ///< nothing of this round is left in it
};

/// What a step works with; all outlive it.
struct ClaimPort {
  kube::ClaimClient& client;
  Channel& channel;
};

/// See the head of the file. Owned by a round; binder's thread only. At most one request or timer
/// is outstanding. Calls `done` at each end: of start(), and of release().
class ClaimStep {
 public:
  ClaimStep(const ClaimPort& port, engine::ClaimWrite write, std::string stamp,
            std::function<void()> done);

  void start();
  /// Sends nothing further of start(). Ends once no request is outstanding.
  void stop(const std::string& why);
  /// Takes out of the claim what start() wrote: the consumers, and the devices where nobody else
  /// uses them. REQUIRES: start() has ended, or was never called.
  void release();

  [[nodiscard]] ClaimEnd end() const { return end_; }
  /// Why, for people; empty for kWritten and kReleased.
  [[nodiscard]] const std::string& message() const { return message_; }
  [[nodiscard]] const engine::ClaimWrite& write() const { return write_; }
  /// As it was seen last.
  [[nodiscard]] const api::ResourceClaim& claim() const { return claim_; }

 private:
  enum class Way { kForward, kBack };

  void proceed();
  void write_forward();
  void write_back();
  void add_finalizer();
  void write_status(api::ClaimStatusPatch::Part part, std::vector<api::ClaimConsumer> consumers);
  void move_version();
  void on_written(const kube::Answer& answer, const std::optional<api::ResourceClaim>& claim);
  void read();
  void on_read(const kube::Answer& answer, const std::optional<api::ResourceClaim>& claim);
  void again(const kube::Answer& answer);
  void finish(ClaimEnd end, std::string message = {});
  [[nodiscard]] std::optional<ClaimEnd> judge() const;
  [[nodiscard]] bool has_planned_devices() const;
  [[nodiscard]] bool names_consumers() const;
  [[nodiscard]] api::Allocation allocation_to_write() const;
  [[nodiscard]] kube::ClaimDone returning(
      const char* request,
      void (ClaimStep::*then)(const kube::Answer&, const std::optional<api::ResourceClaim>&));

  const ClaimPort port_;
  const engine::ClaimWrite write_;
  const std::string stamp_;
  const std::function<void()> done_;
  Backoff backoff_;
  api::ResourceClaim claim_;
  Way way_ = Way::kForward;
  ClaimEnd end_ = ClaimEnd::kOpen;
  std::string message_;
  bool is_busy_ = false;     ///< a request or a timer is outstanding
  bool has_sent_ = false;    ///< a status was sent forward, whatever became of it
  bool is_unknown_ = false;  ///< one of them may still be executed
  bool token_renewed_ = false;
  std::optional<std::string> stopped_;
  std::int32_t conflicts_ = 0;
  Lifeline lifeline_;
};

/// Whether both give the same devices on the same terms; share ids and times aside, in any order.
[[nodiscard]] bool same_devices(const api::Allocation& a, const api::Allocation& b);

}  // namespace gang::binder
