// A small cluster with a planner, for tests of the engine: add objects, plan a gang by its name.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "gang/cluster/cluster_state.h"
#include "gang/engine/planner.h"
#include "support/builders.h"

namespace gang::engine {

/// Owned by one test. Gangs are named as their PodGroup or lone pod, namespace "default".
class TestCluster {
 public:
  explicit TestCluster(Options options = {});

  TestCluster& add(api::Object object);
  TestCluster& add(const std::vector<api::Pod>& pods);
  TestCluster& update(api::Object object);
  TestCluster& remove(api::Object object);

  /// A node with 16 CPUs and the devices g0 .. of driver "d", in a pool of its name.
  TestCluster& add_device_node(const std::string& name, int devices);
  /// The slice of such a node.
  [[nodiscard]] static api::ResourceSlice slice_of(const std::string& name, int devices);

  [[nodiscard]] cluster::Gang gang(const std::string& name) const;
  [[nodiscard]] Decision decide(const std::string& name);
  /// The plan as "pod=node pod=node", in the order of the plan; fails the test when there is none.
  [[nodiscard]] std::string placed(const std::string& name);
  /// The same sorted by pod.
  [[nodiscard]] std::string placed_by_pod(const std::string& name);
  [[nodiscard]] Plan plan(const std::string& name);
  /// Fails the test when there is a plan.
  [[nodiscard]] Explanation refused(const std::string& name);
  [[nodiscard]] bool could_hold(const std::string& name);
  /// Books a plan in the state.
  void assume(const Plan& plan);

  cluster::ClusterState state;
  Planner planner;
};

/// What a member is like, as a change of the default pod.
using Shape = std::function<void(test::PodBuilder&)>;

/// `count` pods of a group named <group>-0, <group>-1, ..., created in this order.
[[nodiscard]] std::vector<api::Pod> members(const std::string& group, int count,
                                            const Shape& shape);

/// The text of a member, "" when it is told nothing.
[[nodiscard]] std::string text_of(const Explanation& explanation, const std::string& pod);

}  // namespace gang::engine
