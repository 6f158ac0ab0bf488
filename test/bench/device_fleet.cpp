#include "bench/device_fleet.h"

#include <fmt/format.h>
#include <algorithm>

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

DeviceFleet::DeviceFleet(const DeviceFleetShape& shape)
    : shape_(shape), state_(test::kOurScheduler) {
  for (const api::Delta& delta : test::empty_lists()) state_.apply(delta);
  api::DeviceClass gpu;
  gpu.meta.key.name = "gpu";
  gpu.meta.uid.text = "uid-gpu";
  gpu.selectors.push_back({.expression = R"(device.driver == "gpu.example.com")"});
  state_.apply(test::added(gpu));
  add_nodes();
  add_gang();
}

api::ResourceSlice DeviceFleet::slice(std::int32_t node, int count, std::int64_t version) const {
  api::ResourceSlice slice;
  slice.meta.key.name = node_name(node) + "-gpus";
  slice.meta.uid.text = "uid-" + slice.meta.key.name;
  slice.meta.resource_version.text = std::to_string(version);
  slice.driver = kDriver;
  slice.pool = shape_.is_one_pool ? "all" : node_name(node);
  slice.pool_generation = shape_.is_one_pool ? 1 : version;
  slice.pool_slice_count = shape_.is_one_pool ? shape_.nodes : 1;
  slice.place.node_name = node_name(node);
  for (int i = 0; i < count; ++i) {
    api::Device& device = slice.devices.emplace_back();
    device.name = shape_.is_one_pool ? fmt::format("gpu-{}-{}", node, i) : fmt::format("gpu-{}", i);
    const std::int64_t index = shape_.is_one_pool ? i + version : i;
    device.attributes = {{"index", index}, {"model", std::string("H100")}};
    device.capacity = {{"memory", {.value = *api::Quantity::parse("80Gi")}}};
  }
  return slice;
}

void DeviceFleet::add_nodes() {
  for (std::int32_t node = 0; node < shape_.nodes; ++node) {
    const api::ResourceSlice devices = slice(node, shape_.devices, 1);
    state_.apply(test::added(test::node(node_name(node)).cpu("8")));
    state_.apply(test::added(devices));
    if (node % 2 == 0 || shape_.is_one_pool) continue;
    api::ResourceClaim held = claim_named("held-" + node_name(node));
    held.allocation.emplace();
    held.allocation->results.push_back({.request = "gpus",
                                        .driver = kDriver,
                                        .pool = devices.pool,
                                        .device = devices.devices[3].name});
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

std::vector<std::string> nodes_of(const engine::Decision& decision) {
  std::vector<std::string> nodes;
  const auto* plan = std::get_if<engine::Plan>(&decision);
  if (plan == nullptr) return nodes;
  for (const engine::Assignment& one : plan->assignments) nodes.push_back(one.node_name);
  return nodes;
}

int free_count(const cluster::DeviceUsage& usage, const cluster::PoolPart& part) {
  return static_cast<int>(std::ranges::count_if(
      part.devices, [&](const auto& device) { return usage.find(device.id) == nullptr; }));
}

namespace {

int free_on_node(const cluster::DeviceView& view, const std::string& node) {
  int free = 0;
  for (const cluster::PoolIndex pool : view.local_pools(node)) {
    for (const cluster::PartPtr& part : view.pool(pool).parts()) {
      free += free_count(view.usage(), *part);
    }
  }
  return free;
}

}  // namespace

std::vector<std::string> first_whole_nodes(const cluster::Snapshot& snapshot, std::size_t count) {
  std::vector<std::string> nodes;
  for (const cluster::NodeIndex index : snapshot.by_name()) {
    const std::string& name = snapshot.node(index)->name;
    if (free_on_node(*snapshot.devices(), name) >= kGpusPerNode) nodes.push_back(name);
    if (nodes.size() == count) break;
  }
  return nodes;
}

}  // namespace gang::bench
