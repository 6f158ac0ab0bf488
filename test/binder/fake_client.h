// FakeClient: a kube::Client over a handful of objects in memory, with faults on demand.
//
// It keeps the server's rules that writers depend on: preconditions on uid and resourceVersion,
// refusal of binds for pods that are bound, deleting or gated, a new version with every change.
// Faults are told beforehand, per verb and object name, and used up one by one.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gang/kube/client.h"

namespace gang::test {

/// What happens to one request instead of the ordinary thing.
struct Fault {
  enum class Execution {
    kNone,  ///< only answered
    kDone,  ///< executed, then answered like this
    kLate,  ///< executed when run_late() is called, if its preconditions hold by then
  };
  kube::Answer answer;
  Execution execution = Execution::kNone;
  bool held = false;  ///< executed and answered as usual, but only when release() is called
};

/// Answers by the outcome; http status and message as a server would give.
[[nodiscard]] kube::Answer answer(kube::Outcome outcome, int http_status = 0,
                                  std::string message = "");

/// A request that was seen.
struct Request {
  std::string
      verb;  ///< "bind", "try", "patch", "patch-group", "delete", "event", "get", "get-group"
  std::string name;  ///< of the object, without namespace
  std::string text;  ///< "bind a n1 v1 stamp", "patch a Unschedulable v1", "delete a v3", ...
};

/// See the head of the file. Owned by the test; one thread; answers inside the call.
class FakeClient final : public kube::Client {
 public:
  /// Adds or replaces an object; a version is given to it.
  void put(api::Pod pod);
  void put(api::PodGroup group);
  void remove_pod(const std::string& name);
  /// Changes a stored pod; its version moves.
  void change(const std::string& name, const std::function<void(api::Pod&)>& change);

  /// The next request of that verb for that name meets `fault`; several are used in order.
  void fail_next(const std::string& verb, const std::string& name, Fault fault);
  void fail_next(const std::string& verb, const std::string& name, kube::Answer answer);
  /// Asked for every request without a fault of its own: what it meets, if anything.
  void intercept(std::function<std::optional<Fault>(const Request&)> judge) {
    judge_ = std::move(judge);
  }
  /// Every request of that verb is answered like this until allow(verb).
  void fail_all(const std::string& verb, kube::Answer answer);
  void allow(const std::string& verb);
  /// The next request of that verb and name waits for release(); then it is executed and answered.
  void hold_next(const std::string& verb, const std::string& name);
  /// Requests of that verb wait until release_all().
  void hold_all(const std::string& verb);
  void release(const std::string& verb, const std::string& name);
  void release_all();
  /// Answers everything that waits like this, without executing it.
  void fail_held(const kube::Answer& answer);
  /// Executes what was answered as late. Their senders have given up.
  void run_late();

  [[nodiscard]] const api::Pod* pod(const std::string& name) const;
  [[nodiscard]] const api::PodGroup* group(const std::string& name) const;
  /// A condition of the stored pod or group; an empty one when absent.
  [[nodiscard]] api::Condition pod_condition(const std::string& name, std::string_view type) const;
  [[nodiscard]] api::Condition group_condition(const std::string& name,
                                               std::string_view type) const;
  [[nodiscard]] const std::vector<Request>& requests() const { return requests_; }
  /// Texts of the requests with that verb, in order.
  [[nodiscard]] std::vector<std::string> texts(const std::string& verb) const;
  [[nodiscard]] std::size_t count(const std::string& verb, const std::string& name = "") const;
  [[nodiscard]] const std::vector<api::Event>& events() const { return events_; }
  [[nodiscard]] const std::vector<api::PodGroupStatusPatch>& group_patches() const {
    return group_patches_;
  }
  [[nodiscard]] std::size_t held_count() const { return held_.size(); }
  [[nodiscard]] std::size_t binds_in_flight_max() const { return binds_in_flight_max_; }
  void forget_requests() { requests_.clear(); }

  void bind(const api::Binding& binding, kube::Done done) override;
  void try_bind(const api::Binding& binding, kube::Done done) override;
  void patch_pod_status(const api::PodStatusPatch& patch, kube::Done done) override;
  void patch_pod_group_status(const api::PodGroupStatusPatch& patch, kube::Done done) override;
  void delete_pod(const kube::PodDelete& request, kube::Done done) override;
  void create_event(const api::Event& event, kube::Done done) override;
  void get_pod(const api::ObjectKey& pod, kube::PodDone done) override;
  void get_pod_group(const api::ObjectKey& group, kube::PodGroupDone done) override;

 private:
  /// A request that waits for release().
  struct Held {
    std::string verb;
    std::string name;
    std::function<void()> run;
    std::function<void(const kube::Answer&)> reply;
  };
  using Execute = std::function<kube::Answer()>;
  using Reply = std::function<void(const kube::Answer&)>;

  void handle(const Request& request, const Execute& execute, const Reply& reply);
  [[nodiscard]] std::string next_version();
  [[nodiscard]] kube::Answer check_bind(const api::Binding& binding) const;
  [[nodiscard]] kube::Answer execute_bind(const api::Binding& binding);
  [[nodiscard]] kube::Answer execute_patch(const api::PodStatusPatch& patch);
  [[nodiscard]] kube::Answer execute_group_patch(const api::PodGroupStatusPatch& patch);
  [[nodiscard]] kube::Answer execute_delete(const kube::PodDelete& request);

  std::map<std::string, api::Pod> pods_;
  std::map<std::string, api::PodGroup> groups_;
  std::map<std::string, std::deque<Fault>> faults_;  ///< by "verb name"
  std::function<std::optional<Fault>(const Request&)> judge_;
  std::map<std::string, kube::Answer> failing_verbs_;
  std::map<std::string, bool> held_verbs_;
  std::vector<Held> held_;
  std::vector<Execute> late_;
  std::vector<Request> requests_;
  std::vector<api::Event> events_;
  std::vector<api::PodGroupStatusPatch> group_patches_;
  std::size_t binds_in_flight_max_ = 0;
  int version_ = 0;
};

}  // namespace gang::test
