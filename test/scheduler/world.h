// World: a scheduler with a cluster around it, in virtual time, for tests.
//
// tell() posts deltas, run() answers every WakeAt that is due, pass() lets time go by and answers
// those on the way. Whatever the scheduler asks for is kept in lists that a test reads and clears.
// With `binds` on, rounds succeed at once and the watch tells it; with it off the test answers.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "gang/scheduler/scheduler.h"
#include "support/builders.h"

namespace gang::test {

/// See the head of the file.
class World {
 public:
  /// Whether the core knows at the beginning that no round of before is open.
  enum class Start { kInformed, kUninformed };

  explicit World(scheduler::Options options = {}, Start start = Start::kInformed);

  bool binds = true;

  World& post(const scheduler::Input& input);
  World& tell(const api::Delta& delta) { return post(delta); }
  /// Added or updated; pods and groups are remembered by name for the verbs below.
  World& add(api::Object object);
  World& remove_pod(const std::string& name);
  World& remove_node(const std::string& name);
  World& remove_group(const std::string& name);
  /// `count` pods <prefix>0 .. of the group, one GPU each, created one second apart.
  World& add_pods(const std::string& group, int count, const std::string& prefix);
  World& add_nodes(int count, int gpus);
  /// Deletes the pod from the pod watch and tells the other watch that it succeeded.
  World& finish_pod(const std::string& name);
  /// The same, failed with that status.reason.
  World& fail_pod(const std::string& name, const std::string& reason);
  /// Lets the watch show what a pending pod was told last.
  World& show_told(const std::string& name);
  World& add_condition(const std::string& group, api::Condition condition);
  /// Gives the group a deletion time.
  World& delete_group(const std::string& name);

  /// Handles Ticks until no WakeAt is due. Aborts after 10,000, which is a loop.
  World& run();
  World& pass(Duration time);

  /// Answers the oldest open round: `lost` members are lost, all others bound (and seen bound).
  World& end_round(engine::RoundEnd end, const std::vector<std::string>& lost = {},
                   engine::MemberEnd how = engine::MemberEnd::kLost);
  World& end_rollback();

  [[nodiscard]] std::vector<std::string> bound() const;  ///< pod names with a node, by name
  [[nodiscard]] bool is_true(const std::string& group) const;
  [[nodiscard]] const engine::Explanation& told() const;   ///< the newest; aborts without one
  [[nodiscard]] std::vector<std::string> planned() const;  ///< pods of the newest plan
  [[nodiscard]] const api::Pod& pod_named(const std::string& name) const;
  [[nodiscard]] int wake_ups() const { return wake_ups_; }
  World& clear();  ///< forgets what was asked for so far

  scheduler::Scheduler core;
  TimePoint now = at_second(1000);
  std::vector<engine::Plan> plans;
  std::vector<engine::Explanation> explanations;
  std::vector<TimePoint> explained_at;
  std::vector<engine::Rollback> rollbacks;
  std::vector<engine::RoundCheck> checks;
  std::vector<api::StoredIntent> fences;
  std::vector<scheduler::AttemptDone> attempts;
  std::vector<std::string> notices;
  std::vector<std::string> troubles;    ///< of devices that were to be told
  std::vector<std::string> told_bound;  ///< pods of which it was to be said, with their nodes
  int looks = 0;                        ///< how often open rounds were asked for

 private:
  void take(scheduler::Effect effect);
  World& end_pod(const std::string& name, api::PodPhase phase, const std::string& reason);
  void show_bound(const engine::Assignment& assignment, const std::string& stamp);
  void show_true(const engine::Plan& plan);
  void commit_open();

  std::map<std::string, api::Pod> pods_;
  std::map<std::string, api::PodGroup> groups_;
  std::map<std::string, api::Node> nodes_;
  std::vector<engine::Plan> open_;
  std::vector<engine::Rollback> open_rollbacks_;
  std::optional<TimePoint> alarm_;
  int wake_ups_ = 0;
};

/// A pod of the group with one GPU.
[[nodiscard]] PodBuilder member(const std::string& name, const std::string& group);
[[nodiscard]] api::Condition initially_scheduled();

}  // namespace gang::test
