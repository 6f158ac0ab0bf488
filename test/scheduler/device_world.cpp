#include "scheduler/device_world.h"

#include <utility>

namespace gang::test {
DeviceWorld::DeviceWorld(scheduler::Options options, Start start)
    : World(std::move(options), start) {
  api::DeviceClass device_class;
  device_class.meta.key.name = "gpu";
  device_class.meta.uid.text = "uid-class";
  add(device_class);
  binds = false;
}

DeviceWorld& DeviceWorld::add_device_node(const std::string& name, int count) {
  add(node(name).uid("uid-" + name).cpu("64").build());
  return publish(name, count);
}

DeviceWorld& DeviceWorld::publish(const std::string& node, int count, std::int64_t generation,
                                  const std::string& taint) {
  api::ResourceSlice slice;
  slice.meta.key.name = node + "-d";
  slice.meta.uid.text = "uid-slice-" + node;
  slice.meta.resource_version.text = std::to_string(++version_);
  slice.driver = "d";
  slice.pool = node;
  slice.pool_generation = generation;
  slice.pool_slice_count = 1;
  slice.place.node_name = node;
  for (int i = 0; i < count; ++i) {
    api::Device device{.name = "g" + std::to_string(i)};
    if (!taint.empty()) {
      device.taints.push_back({.key = taint, .effect = api::DeviceTaintEffect::kNoSchedule});
    }
    slice.devices.push_back(std::move(device));
  }
  add(slice);
  return *this;
}

DeviceWorld& DeviceWorld::add_device_gang(const std::string& group, int count) {
  add(pod_group(group).min(count).build());
  for (int i = 0; i < count; ++i) {
    const std::string name = group + "-" + std::to_string(i);
    put_claim(gpu_claim(name));
    api::Pod made = pod(name)
                        .group(group)
                        .cpu("1")
                        .controller("Job", group)
                        .rules({.resource_claims = true})
                        .build();
    made.claims = {{.name = "gpu", .claim_name = name}};
    add(made);
  }
  return *this;
}

DeviceWorld& DeviceWorld::put_claim(api::ResourceClaim claim) {
  claim.meta.resource_version.text = std::to_string(++version_);
  claims_[claim.meta.key.name] = claim;
  add(std::move(claim));
  return *this;
}

DeviceWorld& DeviceWorld::remove_claim(const std::string& name) {
  const auto claim = claims_.extract(name);
  tell(deleted(claim.mapped()));
  return *this;
}

DeviceWorld& DeviceWorld::show_claims() {
  for (const engine::ClaimWrite& write : plans.back().claims) {
    api::ResourceClaim claim = claims_.at(write.claim->meta.key.name);
    if (write.allocation) claim.allocation = write.allocation;
    claim.reserved_for.insert(claim.reserved_for.end(), write.consumers.begin(),
                              write.consumers.end());
    put_claim(std::move(claim));
  }
  return *this;
}

DeviceWorld& DeviceWorld::claims_written() {
  engine::ClaimsWritten written{
      .gang = plans.back().gang, .stamp = plans.back().stamp, .claims = {}};
  for (const engine::ClaimWrite& write : plans.back().claims) {
    const api::ResourceClaim& claim = claims_.at(write.claim->meta.key.name);
    written.claims.push_back({claim.meta.uid, claim.meta.resource_version});
  }
  post(scheduler::ClaimsWritten{std::move(written)});
  return *this;
}

DeviceWorld& DeviceWorld::write_claims() {
  show_claims().claims_written().run();
  return *this;
}

DeviceWorld& DeviceWorld::give_claims_back() {
  for (const engine::ClaimWrite& write : plans.back().claims) {
    const auto found = claims_.find(write.claim->meta.key.name);
    if (found == claims_.end()) continue;
    api::ResourceClaim claim = found->second;
    claim.allocation.reset();
    claim.reserved_for.clear();
    put_claim(std::move(claim));
  }
  return *this;
}

std::string DeviceWorld::problem() const {
  return checks.empty() ? "none" : checks.back().problem;
}

std::string DeviceWorld::devices() const {
  if (plans.empty()) return "";
  std::string text;
  for (const engine::ClaimWrite& write : plans.back().claims) {
    if (!write.allocation) continue;
    for (const api::DeviceResult& result : write.allocation->results) {
      text += (text.empty() ? "" : " ") + write.claim->meta.key.name + "=" + result.pool + "/" +
              result.device;
    }
  }
  return text;
}

api::ResourceClaim gpu_claim(const std::string& name) {
  api::ResourceClaim claim;
  claim.meta.key = {"default", name};
  claim.meta.uid.text = "uid-claim-" + name;
  claim.spec.requests.push_back(
      {.name = "gpu", .exactly = api::DeviceAsk{.class_name = "gpu", .count = 1}});
  return claim;
}

api::ResourceClaim holding(api::ResourceClaim claim, const std::string& device) {
  const std::size_t slash = device.find('/');
  claim.allocation.emplace();
  claim.allocation->results.push_back({.request = "gpu",
                                       .driver = "d",
                                       .pool = device.substr(0, slash),
                                       .device = device.substr(slash + 1)});
  return claim;
}

}  // namespace gang::test
