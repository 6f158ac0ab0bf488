// What the tests of the model share: tell() deltas to a state and read nodes by name.
#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "gang/cluster/cluster_state.h"
#include "support/builders.h"

namespace gang::cluster {

using test::added;
using test::deleted;
using test::finished;
using test::node;
using test::pod;
using test::pod_group;
using test::updated;

/// A state that names us "gang-scheduler". Every test ends with the ledger right.
class StateTest : public ::testing::Test {
 protected:
  ~StateTest() override { EXPECT_EQ(state_.recompute(), ""); }

  /// Applies deltas in order; what the last one changed.
  Change tell(const std::vector<api::Delta>& deltas) {
    Change change;
    for (const api::Delta& delta : deltas) change = state_.apply(delta);
    return change;
  }
  Change tell(const api::Delta& delta) { return state_.apply(delta); }

  std::optional<NodeIndex> index(const std::string& name) {
    const auto snapshot = state_.snapshot();
    for (const NodeIndex i : snapshot->by_name()) {
      if (snapshot->node(i)->name == name) return i;
    }
    return std::nullopt;
  }
  static std::optional<ResourceId> resource(const Snapshot& snapshot, const std::string& name) {
    for (std::uint16_t r = 0; r < snapshot.resources().size(); ++r) {
      if (snapshot.resources()[r] == name) return ResourceId{r};
    }
    return std::nullopt;
  }
  std::int64_t requested(const std::string& node_name, const std::string& name) {
    const auto snapshot = state_.snapshot();
    const std::optional<ResourceId> id = resource(*snapshot, name);
    return id ? snapshot->requested(index(node_name).value(), *id) : 0;
  }
  std::int64_t allocatable(const std::string& node_name, const std::string& name) {
    const auto snapshot = state_.snapshot();
    const std::optional<ResourceId> id = resource(*snapshot, name);
    return id ? snapshot->allocatable(index(node_name).value(), *id) : 0;
  }
  std::int64_t free(const std::string& node_name, const std::string& name) {
    return allocatable(node_name, name) - requested(node_name, name);
  }

  std::optional<Gang> gang(const std::string& name, const std::string& name_space = "default") {
    const std::optional<GangId> id = state_.find_gang(api::ObjectKey{name_space, name});
    return id ? state_.gang(*id) : std::nullopt;
  }
  std::optional<Gang> gang_of(const api::Pod& p) {
    const std::optional<GangId> id = state_.find_gang(p.meta.uid);
    return id ? state_.gang(*id) : std::nullopt;
  }
  void assume(const api::Pod& p, const std::string& node_name) {
    state_.assume({{p.meta.uid, index(node_name).value()}});
  }
  static const Member* member(const Gang& gang, const std::string& name) {
    for (const Member& m : gang.members) {
      if (m.key.name == name) return &m;
    }
    return nullptr;
  }
  /// Effective request of an unassigned pod of ours, as its class has it.
  std::int64_t class_request(const api::Pod& p, const std::string& name) {
    tell(added(p));
    const std::optional<ResourceId> id = resource(*state_.snapshot(), name);
    for (const ResourceAmount& amount : gang_of(p).value().classes.at(0)->requests) {
      if (id && amount.resource == *id) return amount.amount;
    }
    return 0;
  }

  ClusterState state_{test::kOurScheduler};
};

}  // namespace gang::cluster
