#include "bench/device_fleet.h"

#include <fmt/format.h>

#include "support/builders.h"

namespace gang::bench {

namespace {

constexpr const char* kDriver = "gpu.example.com";
constexpr int kMembers = 8;

std::string node_name(std::int32_t node) {
  return fmt::format("node-{:05}", node);
}

api::ResourceClaim claim_named(const std::string& name) {
  api::ResourceClaim claim;
  claim.meta.key = {"default", name};
  claim.meta.uid.text = "uid-" + name;
  api::DeviceAsk ask{.class_name = "gpu", .count = kGpusPerNode};
  ask.selectors.push_back({.expression = kGpuSelector});
  claim.spec.requests.push_back({.name = "gpus", .exactly = ask});
  return claim;
}

}  // namespace

DeviceFleet::DeviceFleet(std::int32_t nodes) : state_(test::kOurScheduler) {
  for (const api::Delta& delta : test::empty_lists()) state_.apply(delta);
  api::DeviceClass gpu;
  gpu.meta.key.name = "gpu";
  gpu.meta.uid.text = "uid-gpu";
  gpu.selectors.push_back({.expression = R"(device.driver == "gpu.example.com")"});
  state_.apply(test::added(gpu));
  add_nodes(nodes);
  add_gang();
}

api::ResourceSlice DeviceFleet::slice(std::int32_t node, int count, std::int64_t version) {
  api::ResourceSlice slice;
  slice.meta.key.name = node_name(node) + "-gpus";
  slice.meta.uid.text = "uid-" + slice.meta.key.name;
  slice.meta.resource_version.text = std::to_string(version);
  slice.driver = kDriver;
  slice.pool = node_name(node);
  slice.pool_generation = version;
  slice.pool_slice_count = 1;
  slice.place.node_name = node_name(node);
  for (int i = 0; i < count; ++i) {
    api::Device& device = slice.devices.emplace_back();
    device.name = fmt::format("gpu-{}", i);
    device.attributes = {{"index", std::int64_t{i}}, {"model", std::string("H100")}};
    device.capacity = {{"memory", {.value = *api::Quantity::parse("80Gi")}}};
  }
  return slice;
}

void DeviceFleet::add_nodes(std::int32_t nodes) {
  for (std::int32_t node = 0; node < nodes; ++node) {
    state_.apply(test::added(test::node(node_name(node)).cpu("96")));
    state_.apply(test::added(slice(node, kGpusPerNode, 1)));
    if (node % 2 == 0) continue;
    api::ResourceClaim held = claim_named("held-" + node_name(node));
    held.allocation.emplace();
    held.allocation->results.push_back(
        {.request = "gpus", .driver = kDriver, .pool = node_name(node), .device = "gpu-3"});
    state_.apply(test::added(held));
  }
}

void DeviceFleet::add_gang() {
  state_.apply(test::added(test::pod_group("train").min(kMembers)));
  for (int i = 0; i < kMembers; ++i) {
    const std::string name = fmt::format("train-{}", i);
    state_.apply(test::added(claim_named(name)));
    api::Pod pod = test::pod(name).group("train").cpu("8").rules({.resource_claims = true}).build();
    pod.claims = {{.name = "gpus", .claim_name = name}};
    state_.apply(test::added(pod));
  }
}

cluster::Gang DeviceFleet::gang() const {
  return *state_.gang(*state_.find_gang({"default", "train"}));
}

void DeviceFleet::assume(const engine::Plan& plan) {
  for (const engine::ClaimWrite& write : plan.claims) {
    state_.assume_allocation(write.claim->meta.uid, *write.allocation);
  }
}

void DeviceFleet::forget(const engine::Plan& plan) {
  for (const engine::ClaimWrite& write : plan.claims) {
    state_.forget_allocation(write.claim->meta.uid);
  }
}

namespace {

int free_count(const cluster::DeviceView& view, const std::string& node) {
  int free = 0;
  for (const cluster::PoolIndex pool : view.local_pools(node)) {
    for (const cluster::PoolDevice& device : view.pool(pool).devices()) {
      free += view.usage().find(device.id) == nullptr ? 1 : 0;
    }
  }
  return free;
}

}  // namespace

std::vector<std::string> first_whole_nodes(const cluster::Snapshot& snapshot, std::size_t count) {
  std::vector<std::string> nodes;
  for (const cluster::NodeIndex index : snapshot.by_name()) {
    const std::string& name = snapshot.node(index)->name;
    if (free_count(*snapshot.devices(), name) >= kGpusPerNode) nodes.push_back(name);
    if (nodes.size() == count) break;
  }
  return nodes;
}

}  // namespace gang::bench
