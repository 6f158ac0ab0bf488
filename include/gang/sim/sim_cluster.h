// SimCluster: an in-memory API server that is a kube::Client, with watches and faults on demand.
//
// One revision counter; objects are values; preconditions, graceful deletion and the rules of
// Binding are those of the real server (commit protocol, chapter 4; scheduling contract 12.1).
// Where it differs from a real kube-apiserver, it is wrong. Requests of the Client are queued and
// executed one by one by execute_next(), so that the order is the caller's and a run is repeatable.
// One thread. Knows nothing of gangs or plans.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "gang/api/delta.h"
#include "gang/base/clock.h"
#include "gang/kube/client.h"

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
class SimCluster final : public kube::Client {
 public:
  template <class Object>
  using Objects = std::map<api::ObjectKey, Object>;

  explicit SimCluster(const Clock& clock) : clock_(clock) {}

  // --- what other actors do; each call is one write at the current time -------------------------
  /// Creates, or replaces under the same name and UID. Fills what the server fills.
  void put_pod(api::Pod pod);
  void put_node(api::Node node);
  void put_pod_group(api::PodGroup group);
  void put_composite_pod_group(api::CompositePodGroup group);
  void put_priority_class(api::PriorityClass priority_class);
  bool remove(api::Kind kind, const api::ObjectKey& key);  ///< at once; false when it is not there
  /// Deletes as a user does: unassigned pods go at once, assigned ones terminate for `grace`.
  bool delete_gracefully(const api::ObjectKey& pod, Duration grace);

  [[nodiscard]] bool contains(api::Kind kind, const api::ObjectKey& key) const;
  [[nodiscard]] const api::Pod* pod(const api::ObjectKey& key) const;
  [[nodiscard]] const api::Node* node(const std::string& name) const;
  [[nodiscard]] const api::PodGroup* pod_group(const api::ObjectKey& key) const;
  [[nodiscard]] const Objects<api::Pod>& pods() const { return pods_; }
  [[nodiscard]] const Objects<api::Node>& nodes() const { return nodes_; }
  [[nodiscard]] const Objects<api::PodGroup>& pod_groups() const { return groups_; }
  [[nodiscard]] const std::vector<api::Event>& events() const { return events_; }
  [[nodiscard]] const std::vector<WriteRecord>& writes() const { return writes_; }

  // --- watches ----------------------------------------------------------------------------------
  /// The lists of every kind, as a daemon that starts now would be told them.
  [[nodiscard]] std::vector<api::Delta> list_all(const std::string& scheduler_name);
  /// What the watches that are up have told since the last call, in order.
  [[nodiscard]] std::vector<api::Delta> take_deltas();
  [[nodiscard]] bool has_deltas() const;
  void drop_watch(api::Kind kind);
  [[nodiscard]] bool is_dropped(api::Kind kind) const { return dropped_.contains(kind); }
  /// `expired`: the watch cannot resume (410) and lists anew; else it tells what was held back.
  void restore_watch(api::Kind kind, bool expired);
  void set_served(api::Kind kind, bool served);  ///< not any more, or again
  [[nodiscard]] bool is_served(api::Kind kind) const { return !unserved_.contains(kind); }

  // --- faults and execution ---------------------------------------------------------------------
  void fail_bind(const api::ObjectKey& pod, BindFault fault, int count);  ///< the next `count`
  [[nodiscard]] bool has_requests() const { return !requests_.empty(); }
  void execute_next();             ///< the oldest request, and answers it
  void execute_next_unanswered();  ///< the same, and its answer is lost
  void drop_requests() { requests_.clear(); }
  [[nodiscard]] bool next_is_bind() const;  ///< the oldest request is a Binding
  [[nodiscard]] std::optional<TimePoint> next_termination() const;  ///< of the next pod, if any
  void end_terminations();  ///< removes those whose grace period is over

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

  void stamp(api::ObjectMeta& meta);
  void tell(api::DeltaType type, api::Kind kind, api::Object object);
  void tell_pod(const api::Pod* before, const api::Pod& after);
  void store_pod(api::Pod pod);
  void erase_pod(const api::ObjectKey& key);
  void append_list(api::Kind kind, std::vector<api::Delta>& out);
  void record(std::string verb, std::string object, std::string detail, int status);
  kube::Answer bind_now(const api::Binding& binding);
  kube::Answer bind_checked(const api::Binding& binding);
  kube::Answer patch_pod_now(const api::PodStatusPatch& patch);
  kube::Answer patch_group_now(const api::PodGroupStatusPatch& patch);
  kube::Answer delete_pod_now(const kube::PodDelete& request);
  void enqueue(bool is_bind, std::function<kube::Answer()> execute, kube::Done done);

  const Clock& clock_;
  std::string scheduler_name_;
  std::int64_t revision_ = 100;
  std::int64_t uid_count_ = 0;
  Objects<api::Pod> pods_;
  Objects<api::Node> nodes_;
  Objects<api::PodGroup> groups_;
  Objects<api::CompositePodGroup> composites_;
  Objects<api::PriorityClass> priority_classes_;
  Objects<TimePoint> terminations_;
  std::vector<api::Event> events_;
  std::vector<WriteRecord> writes_;
  std::deque<api::Delta> deltas_;
  std::set<api::Kind> dropped_;
  std::set<api::Kind> unserved_;
  std::map<api::Kind, std::vector<api::Delta>> held_;
  Objects<ArmedFault> faults_;
  std::deque<Request> requests_;
};

}  // namespace gang::sim
