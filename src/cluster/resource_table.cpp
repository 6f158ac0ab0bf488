#include "cluster/resource_table.h"

#include <algorithm>

#include "cluster/flat_index.h"

namespace gang::cluster {

ResourceTable::ResourceTable() : names_(std::make_shared<const ResourceNames>()) {
  for (const char* name : {"cpu", "memory", "ephemeral-storage", "pods"}) intern(name);
}

ResourceId ResourceTable::intern(std::string_view name) {
  const auto known = ids_.find(name);
  if (known != ids_.end()) return known->second;
  const ResourceId id{static_cast<std::uint16_t>(names_->size())};
  if (id.value > kResourcesMax) return ResourceId{kResourcesMax};
  ResourceNames names = *names_;
  names.emplace_back(name);
  names_ = std::make_shared<const ResourceNames>(std::move(names));
  ids_.emplace(name, id);
  return id;
}

void ResourceTable::amounts_of(const api::Pod& pod, api::RequestBasis basis,
                               std::vector<ResourceAmount>& out) {
  out.clear();
  out.push_back({kPods, 1});
  const api::ResourceList requests = api::effective_requests(pod, basis);
  for (const auto& [name, quantity] : requests.entries()) {
    if (!api::is_accounted(name) || name == "pods") continue;
    const std::int64_t amount = api::whole(name, quantity);
    if (amount > 0) out.push_back({intern(name), amount});
  }
  std::sort(out.begin(), out.end());
}

std::uint32_t FootprintHash::operator()(const Footprint& footprint) const {
  HashFold fold;
  for (const ResourceAmount& request : footprint.requests) {
    fold.add(request.resource.value).add(static_cast<std::uint64_t>(request.amount));
  }
  fold.add(static_cast<std::uint64_t>(footprint.nonzero.cpu_milli));
  fold.add(static_cast<std::uint64_t>(footprint.nonzero.memory_bytes));
  for (const api::HostPort& port : footprint.host_ports) {
    fold.add(port.ip).add(port.protocol).add(static_cast<std::uint64_t>(port.port));
  }
  return fold.value();
}

}  // namespace gang::cluster
