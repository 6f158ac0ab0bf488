#include "device_fixture.h"

#include <sstream>

namespace gang::cluster {
namespace {

std::vector<const PoolDevice*> devices_of(const DevicePool& pool) {
  std::vector<const PoolDevice*> devices;
  for (const PartPtr& part : pool.parts()) {
    for (const PoolDevice& device : part->devices) devices.push_back(&device);
  }
  return devices;
}

const PoolDevice* find_device(const DeviceView& view, const std::string& pool,
                              const std::string& device) {
  for (const PoolIndex index : view.by_name()) {
    if (view.pool(index).name() != pool) continue;
    for (const PoolDevice* one : devices_of(view.pool(index))) {
      if (one->device->name == device) return one;
    }
  }
  return nullptr;
}

std::string text_of(const DeviceTaken* taken) {
  if (taken == nullptr) return {};
  std::string text = std::to_string(taken->whole) + "+" + std::to_string(taken->shares);
  for (const auto& [name, amount] : taken->capacity) {
    if (!amount.is_zero()) text += " " + name + "=" + amount.text();
  }
  return text;
}

std::string text_of(const Gang& gang) {
  std::string text;
  for (const GangClaim& one : gang.claims) {
    text += (text.empty() ? "" : "; ") + (one.problem.empty() ? one.key.name + " ok" : one.problem);
    if (one.of_group) text += " (group)";
  }
  return text;
}

}  // namespace

api::ResourceSlice slice(const std::string& name, const std::string& pool,
                         const std::vector<std::string>& devices) {
  api::ResourceSlice slice;
  slice.meta.key.name = name;
  slice.meta.uid.text = "uid-" + name;
  slice.driver = "d";
  slice.pool = pool;
  slice.pool_slice_count = 1;
  slice.place.node_name = pool;
  for (const std::string& device : devices) slice.devices.emplace_back().name = device;
  return slice;
}

api::DeviceResult result(const std::string& pool, const std::string& device) {
  api::DeviceResult result;
  result.request = "r";
  result.driver = "d";
  result.pool = pool;
  result.device = device;
  return result;
}

api::DeviceResult share(const std::string& pool, const std::string& device,
                        const std::string& amount) {
  api::DeviceResult shared = result(pool, device);
  shared.share_id = "share";
  shared.consumed_capacity = {{"memory", *api::Quantity::parse(amount)}};
  return shared;
}

api::ResourceClaim claim(const std::string& name, const std::vector<api::DeviceResult>& results) {
  api::ResourceClaim claim;
  claim.meta.key = {"default", name};
  claim.meta.uid.text = "uid-" + name;
  if (!results.empty()) claim.allocation = api::Allocation{.results = results};
  return claim;
}

api::ResourceClaim owned(api::ResourceClaim claim, const std::string& kind, const std::string& name,
                         const std::string& uid) {
  claim.meta.controller = api::ControllerRef{kind, name, {uid}};
  if (kind == "PodGroup") claim.meta.controller->api_group = "scheduling.k8s.io";
  return claim;
}

api::ResourceClaimTemplate form(const std::string& name) {
  api::ResourceClaimTemplate form;
  form.meta.key = {"default", name};
  form.meta.uid.text = "uid-" + name;
  return form;
}

api::DeviceClass device_class(const std::string& name) {
  api::DeviceClass device_class;
  device_class.meta.key.name = name;
  device_class.meta.uid.text = "uid-" + name;
  return device_class;
}

api::DeviceTaintRule rule(const std::string& name, const std::string& pool,
                          const std::string& device) {
  api::DeviceTaintRule rule;
  rule.meta.key.name = name;
  rule.meta.uid.text = "uid-" + name;
  rule.selector = api::DeviceTaintSelector{.driver = "d"};
  if (!pool.empty()) rule.selector->pool = pool;
  if (!device.empty()) rule.selector->device = device;
  rule.taint = {.key = name, .effect = api::DeviceTaintEffect::kNoSchedule};
  return rule;
}

api::Pod with_claims(api::Pod pod, std::vector<api::ClaimEntry> entries,
                     std::vector<api::ClaimEntryStatus> statuses) {
  pod.claims = std::move(entries);
  pod.claim_statuses = std::move(statuses);
  return pod;
}

api::PodGroup with_claims(api::PodGroup group, std::vector<api::ClaimEntry> entries,
                          std::vector<api::ClaimEntryStatus> statuses) {
  group.claims = std::move(entries);
  group.claim_statuses = std::move(statuses);
  return group;
}

std::string text_of(const DeviceView& view) {
  std::ostringstream out;
  for (const PoolIndex index : view.by_name()) {
    const DevicePool& pool = view.pool(index);
    out << "pool " << pool.driver() << "/" << pool.name() << " " << static_cast<int>(pool.state())
        << " " << pool.problem() << ":";
    for (const PoolDevice* device : devices_of(pool)) {
      out << " " << device->device->name << "[" << text_of(view.usage().find(device->id));
      for (const api::DeviceTaint& taint : device->rule_taints) out << " " << taint.key;
      for (const CounterUse& use : device->counters) {
        const PoolCounter& counter = pool.counters()[use.counter];
        out << " " << pool.counter_sets()[counter.set] << "/" << counter.name << "="
            << use.amount.text() << "of" << counter.declared.text();
      }
      out << "]";
    }
    if (!pool.has_unique_names()) out << " names are not unique";
    for (const UnseenDevice& one : pool.unseen()) {
      out << " unseen " << one.name << " of " << one.claim.name;
    }
    out << "\n";
  }
  out << "shared:";
  for (const PoolIndex index : view.shared_pools()) out << " " << view.pool(index).name();
  out << "\nclasses:";
  for (const auto& [name, one] : view.classes()) out << " " << name;
  const ExtendedResources& extended = *view.extended_resources();
  if (!extended.empty()) out << "\nextended:";
  for (const auto& [resource, name] : extended) out << " " << resource << "=" << name;
  out << "\ntaken: " << view.usage().size() << "\n";
  return out.str();
}

std::string DeviceStateTest::seen_by(const std::string& node_name) {
  const auto seen = view();
  std::string text;
  for (const DevicePool* pool : seen->pools_of(node_name)) {
    for (const PoolDevice* device : devices_of(*pool)) {
      text += (text.empty() ? "" : " ") + pool->name() + "/" + device->device->name;
    }
  }
  return text;
}

std::string DeviceStateTest::taken(const std::string& pool, const std::string& device) {
  const auto seen = view();
  const PoolDevice* found = find_device(*seen, pool, device);
  return found == nullptr ? "unknown" : text_of(seen->usage().find(found->id));
}

std::string DeviceStateTest::claims_of(const std::string& group) {
  return text_of(gang(group).value());
}

std::string DeviceStateTest::claims_of(const api::Pod& pod) {
  return text_of(gang_of(pod).value());
}

}  // namespace gang::cluster
