// SimCluster: an in-memory API server that is a kube::Client, with faults on demand.
//
// An ObjectStore with requests: preconditions and the rules of Binding are those of the real server
// (commit protocol, chapter 4; scheduling contract 12.1). Where it differs from a real
// kube-apiserver, it is wrong. Requests of the Client are queued and executed one by one by
// execute_next(), so that the order is the caller's and a run is repeatable. One thread. Knows
// nothing of gangs or plans.
#pragma once

#include <deque>
#include <functional>
#include <string>
#include <vector>

#include "gang/base/clock.h"
#include "gang/kube/client.h"
#include "gang/sim/object_store.h"

namespace gang::sim {

/// What happens to one Binding instead of the ordinary course.
enum class BindFault {
  kConflict,         ///< 409 although nothing changed
  kServerError,      ///< 500, not executed
  kLostNotExecuted,  ///< time-out, not executed
  kLostExecuted,     ///< time-out, executed
  kThrottled,        ///< 429, not executed
  kForbidden,        ///< 403
};

/// One write that changed an object, in order: the true history for checkers and `show writes`.
struct WriteRecord {
  std::string verb;  ///< "bind", "patch pod", "patch group", "delete pod", "event"
  std::string object;
  std::string detail;
  int status = 200;
};

/// See the head of the file.
class SimCluster final : public ObjectStore, public kube::Client {
 public:
  explicit SimCluster(const Clock& clock) : ObjectStore(clock) {}

  [[nodiscard]] const std::vector<api::Event>& events() const { return events_; }
  [[nodiscard]] const std::vector<WriteRecord>& writes() const { return writes_; }

  // --- faults and execution ---------------------------------------------------------------------
  void fail_bind(const api::ObjectKey& pod, BindFault fault, int count);  ///< the next `count`
  [[nodiscard]] bool has_requests() const { return !requests_.empty(); }
  void execute_next();             ///< the oldest request, and answers it
  void execute_next_unanswered();  ///< the same, and its answer is lost
  void drop_requests() { requests_.clear(); }
  [[nodiscard]] bool next_is_bind() const;  ///< the oldest request is a Binding

  // --- kube::Client -----------------------------------------------------------------------------
  void bind(const api::Binding& binding, kube::Done done) override;
  void try_bind(const api::Binding& binding, kube::Done done) override;
  void patch_pod_status(const api::PodStatusPatch& patch, kube::Done done) override;
  void patch_pod_group_status(const api::PodGroupStatusPatch& patch, kube::Done done) override;
  void delete_pod(const kube::PodDelete& request, kube::Done done) override;
  void create_event(const api::Event& event, kube::Done done) override;
  void get_pod(const api::ObjectKey& pod, kube::PodDone done) override;
  void get_pod_group(const api::ObjectKey& group, kube::PodGroupDone done) override;

 private:
  /// A queued request: executing returns the function that delivers its answer.
  struct Request {
    bool is_bind = false;
    std::function<std::function<void()>()> execute;
  };
  /// Faults armed for one pod.
  struct ArmedFault {
    BindFault fault;
    int count = 0;
  };

  void record(std::string verb, std::string object, std::string detail, int status);
  kube::Answer bind_now(const api::Binding& binding);
  kube::Answer bind_checked(const api::Binding& binding);
  kube::Answer patch_pod_now(const api::PodStatusPatch& patch);
  kube::Answer patch_group_now(const api::PodGroupStatusPatch& patch);
  kube::Answer delete_pod_now(const kube::PodDelete& request);
  void enqueue(bool is_bind, std::function<kube::Answer()> execute, kube::Done done);

  std::vector<api::Event> events_;
  std::vector<WriteRecord> writes_;
  Objects<ArmedFault> faults_;
  std::deque<Request> requests_;
};

}  // namespace gang::sim
