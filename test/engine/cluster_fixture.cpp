#include "engine/cluster_fixture.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace gang::engine {

namespace {

std::string text_of_assignments(const std::vector<Assignment>& assignments) {
  std::string text;
  for (const Assignment& assignment : assignments) {
    text += (text.empty() ? "" : " ") + assignment.pod.name + "=" + assignment.node_name;
  }
  return text;
}

}  // namespace

TestCluster::TestCluster(Options options)
    : state(test::kOurScheduler), planner(std::move(options)) {
  for (const api::Delta& delta : test::empty_lists()) state.apply(delta);
}

TestCluster& TestCluster::add(api::Object object) {
  state.apply(test::added(std::move(object)));
  return *this;
}

TestCluster& TestCluster::add(const std::vector<api::Pod>& pods) {
  for (const api::Pod& pod : pods) add(api::Object(pod));
  return *this;
}

api::ResourceSlice TestCluster::slice_of(const std::string& name, int devices) {
  api::ResourceSlice slice;
  slice.meta.key.name = name + "-d";
  slice.meta.uid.text = "uid-slice-" + name;
  slice.driver = "d";
  slice.pool = name;
  slice.pool_slice_count = 1;
  slice.place.node_name = name;
  for (int i = 0; i < devices; ++i) slice.devices.push_back({.name = "g" + std::to_string(i)});
  return slice;
}

TestCluster& TestCluster::add_device_node(const std::string& name, int devices) {
  return add(test::node(name).cpu("16")).add(slice_of(name, devices));
}

TestCluster& TestCluster::update(api::Object object) {
  state.apply(test::updated(std::move(object)));
  return *this;
}

TestCluster& TestCluster::remove(api::Object object) {
  state.apply(test::deleted(std::move(object)));
  return *this;
}

cluster::Gang TestCluster::gang(const std::string& name) const {
  for (const cluster::GangId id : state.gangs()) {
    std::optional<cluster::Gang> gang = state.gang(id);
    if (gang && gang->key.name == name) return *std::move(gang);
  }
  ADD_FAILURE() << "no gang " << name;
  return {};
}

Decision TestCluster::decide(const std::string& name) {
  const cluster::Gang wanted = gang(name);
  return planner.plan(*state.snapshot(), wanted);
}

Plan TestCluster::plan(const std::string& name) {
  Decision decision = decide(name);
  if (Plan* plan = std::get_if<Plan>(&decision)) return std::move(*plan);
  ADD_FAILURE() << name << " has no plan: " << std::get<Explanation>(decision).message;
  return {};
}

std::string TestCluster::placed(const std::string& name) {
  return text_of_assignments(plan(name).assignments);
}

std::string TestCluster::placed_by_pod(const std::string& name) {
  std::vector<Assignment> assignments = plan(name).assignments;
  std::ranges::sort(assignments, {}, [](const Assignment& one) { return one.pod; });
  return text_of_assignments(assignments);
}

Explanation TestCluster::refused(const std::string& name) {
  Decision decision = decide(name);
  if (Explanation* explanation = std::get_if<Explanation>(&decision)) {
    return std::move(*explanation);
  }
  ADD_FAILURE() << name
                << " has a plan: " << text_of_assignments(std::get<Plan>(decision).assignments);
  return {};
}

bool TestCluster::could_hold(const std::string& name) {
  return planner.outlook(*state.snapshot(), demand_of(gang(name))).could_hold;
}

void TestCluster::assume(const Plan& plan) {
  std::vector<cluster::AssumedPod> pods;
  for (const Assignment& one : plan.assignments) pods.push_back({.uid = one.uid, .node = one.node});
  state.assume(pods);
}

std::vector<api::Pod> members(const std::string& group, int count, const Shape& shape) {
  std::vector<api::Pod> pods;
  for (int i = 0; i < count; ++i) {
    test::PodBuilder pod = test::pod(group + "-" + std::to_string(i));
    pod.group(group).created(i);
    shape(pod);
    pods.push_back(pod);
  }
  return pods;
}

std::string text_of(const Explanation& explanation, const std::string& pod) {
  for (const MemberText& member : explanation.members) {
    if (member.pod.name == pod) return member.message;
  }
  return "";
}

}  // namespace gang::engine
