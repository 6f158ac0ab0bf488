#include "bench/fleet.h"

#include <algorithm>

#include "support/builders.h"

namespace gang::bench {

namespace {

constexpr const char* kRackLabel = "example.com/rack";

std::string node_name(std::int32_t index) {
  const std::string digits = std::to_string(index);
  return "node-" + std::string(6 - std::min<std::size_t>(6, digits.size()), '0') + digits;
}

api::Pod running(std::int32_t node, std::int32_t index, std::int64_t gpus) {
  test::PodBuilder built =
      test::pod("running-" + std::to_string(node) + "-" + std::to_string(index));
  built.on(node_name(node)).cpu("2").memory("4Gi");
  if (gpus > 0) built.gpu(gpus);
  return built.build();
}

}  // namespace

Fleet::Fleet(const FleetSize& size) : state_(test::kOurScheduler), nodes_(size.nodes) {
  for (const api::Delta& delta : test::empty_lists()) state_.apply(delta);
  add_nodes(size);
  add_gangs(size);
}

void Fleet::add_nodes(const FleetSize& size) {
  for (std::int32_t i = 0; i < size.nodes; ++i) {
    test::NodeBuilder built = test::node(node_name(i));
    built.cpu("96").memory("1Ti").pods(110).gpu(8);
    built.label("topology.kubernetes.io/zone", "zone-" + std::to_string(i % 3));
    built.label(kRackLabel, "rack-" + std::to_string(i / size.nodes_per_rack));
    state_.apply(test::added(built.build()));
    for (std::int32_t pod = 0; pod < size.pods_per_node; ++pod) {
      const std::int64_t used = i < size.nodes_with_room ? i % 7 : 8;
      state_.apply(test::added(running(i, pod, pod == 0 ? used : 0)));
    }
  }
}

void Fleet::add_gangs(const FleetSize& size) {
  for (std::int32_t g = 0; g < size.gangs; ++g) {
    const std::string name = "train-" + std::to_string(g);
    test::PodGroupBuilder group = test::pod_group(name).min(size.gang_members);
    if (size.in_one_rack) group.topology(kRackLabel);
    state_.apply(test::added(group.build()));
    for (std::int32_t m = 0; m < size.gang_members; ++m) {
      test::PodBuilder built = test::pod(name + "-worker-" + std::to_string(m));
      built.group(name).created(m).cpu("4").memory("16Gi").gpu(1);
      state_.apply(test::added(built.build()));
    }
    gangs_.push_back(*state_.find_gang({.name_space = "default", .name = name}));
  }
}

cluster::Gang Fleet::gang(std::size_t index) const {
  return *state_.gang(gangs_[index]);
}

void Fleet::assume(const engine::Plan& plan) {
  std::vector<cluster::AssumedPod> pods;
  pods.reserve(plan.assignments.size());
  for (const engine::Assignment& one : plan.assignments) {
    pods.push_back({.uid = one.uid, .node = one.node});
  }
  state_.assume(pods);
}

void Fleet::forget(const engine::Plan& plan) {
  for (const engine::Assignment& one : plan.assignments) state_.forget(one.uid);
}

void Fleet::touch(std::int32_t node_count) {
  for (std::int32_t i = 0; i < node_count; ++i) {
    touched_ = (touched_ + 977) % nodes_;
    const api::Pod pod = running(touched_, 999, 0);
    state_.apply(test::added(pod));
    state_.apply(test::deleted(pod));
  }
}

}  // namespace gang::bench
