// PodClaimStep: writes which claim serves the extended resources of a pod.
//
//   PATCH of the pod's status with uid and version --> read: it says so --> kWritten, with the
//   version that a Binding must name
//                                                       it does not --> PATCH with that version
//
// A pod that is bound before this starts without its devices: the kubelet finds them only through
// this field. It is never taken back, since the server keeps what was written when it is sent null:
// a pod that names a claim gets a new one in its place before it is bound, see
// PodClass::names_claim. Source: the devices contract, 1.10 and 6.4.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "binder/claim_step.h"

namespace gang::binder {

/// See the head of the file. Owned by a round; binder's thread only. At most one request or timer
/// is outstanding. Calls `done` once.
class PodClaimStep {
 public:
  /// What is to be written.
  struct Task {
    api::ObjectKey pod;
    api::Uid uid;
    api::ResourceVersion resource_version;
    api::ExtendedClaimStatus status;
  };

  PodClaimStep(const ClaimPort& port, Task task, std::function<void()> done);

  void start() { send(); }
  /// Sends nothing further. Ends once no request is outstanding.
  void stop(const std::string& why);

  [[nodiscard]] ClaimEnd end() const { return end_; }
  [[nodiscard]] std::string name() const { return "pod " + task_.pod.text(); }
  /// Why, for people; empty for kWritten.
  [[nodiscard]] const std::string& message() const { return message_; }
  /// What the newest request that failed said; empty while none has.
  [[nodiscard]] const std::string& trouble() const { return trouble_; }
  /// With the version that the pod had last.
  [[nodiscard]] const Task& task() const { return task_; }

 private:
  void send();
  void on_sent(const kube::Answer& answer);
  void read();
  void on_read(const kube::Answer& answer, const std::optional<api::Pod>& pod);
  void judge(const api::Pod& pod);
  void again(const kube::Answer& answer);
  void finish(ClaimEnd end, const std::string& message = "");

  const ClaimPort port_;
  Task task_;
  const std::function<void()> done_;
  Backoff backoff_;
  ClaimEnd end_ = ClaimEnd::kOpen;
  std::string message_;
  std::string trouble_;
  bool is_busy_ = false;  ///< a request or a timer is outstanding
  bool was_invalid_ = false;
  std::optional<std::string> stopped_;
  Lifeline lifeline_;
};

}  // namespace gang::binder
