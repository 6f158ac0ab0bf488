#include "gang/api/pod.h"

#include <algorithm>
#include <array>

namespace gang::api {
namespace {

constexpr std::int64_t kDefaultCpuMilli = 100;
constexpr std::int64_t kDefaultMemoryBytes = 200 * 1024 * 1024;

/// The request lists that one aggregate is made of.
enum class Source {
  kSpec,
  kAllocated,             ///< falls back to spec
  kActuated,              ///< falls back to allocated, then spec
  kAllocatedWithoutSpec,  ///< the same, but a refused resize takes spec out of the fallbacks
  kActuatedWithoutSpec,
};

const ResourceList& requests_from(const Container& container, Source source) {
  static const ResourceList kNone;
  const bool spec_counts =
      source != Source::kAllocatedWithoutSpec && source != Source::kActuatedWithoutSpec;
  const bool actuated = source == Source::kActuated || source == Source::kActuatedWithoutSpec;
  if (source == Source::kSpec) return container.requests;
  if (actuated && container.actuated) return *container.actuated;
  if (container.allocated) return *container.allocated;
  return spec_counts ? container.requests : kNone;
}

/// What a container without a request of its own counts; empty = nothing.
using Defaults = ResourceList;

ResourceList with_defaults(ResourceList requests, const Defaults& defaults) {
  for (const auto& [name, quantity] : defaults.entries()) {
    if (requests.find(name) == nullptr) requests.set(name, quantity);
  }
  return requests;
}

/// Steps 1 to 3 of effective requests: max(sum of containers and sidecars, peak while starting).
ResourceList aggregate(const Pod& pod, Source source, const Defaults& defaults) {
  ResourceList sum;
  ResourceList sidecars;
  ResourceList peak;
  for (const Container& container : pod.containers) {
    ResourceList requests = with_defaults(requests_from(container, source), defaults);
    switch (container.kind) {
      case ContainerKind::kMain:
        sum.add(requests);
        break;
      case ContainerKind::kSidecar:
        sum.add(requests);
        sidecars.add(requests);
        peak.max_with(sidecars);
        break;
      case ContainerKind::kInit:
        requests.add(sidecars);
        peak.max_with(requests);
        break;
    }
  }
  sum.max_with(peak);
  return sum;
}

bool is_resize_infeasible(const Pod& pod) {
  const Condition* pending = find_condition(pod.conditions, "PodResizePending");
  return pending != nullptr && pending->reason == "Infeasible";
}

/// Component-wise maximum of what spec, allocation and kubelet say.
ResourceList aggregate_with_status(const Pod& pod, const Defaults& defaults) {
  const bool infeasible = is_resize_infeasible(pod);
  const bool pod_level_status =
      pod.pod_level && pod.pod_level->allocated && pod.pod_level->actuated;
  ResourceList total;
  if (!infeasible) total = aggregate(pod, Source::kSpec, defaults);
  if (pod_level_status) {
    total.max_with(*pod.pod_level->allocated);
    total.max_with(*pod.pod_level->actuated);
    return total;
  }
  total.max_with(
      aggregate(pod, infeasible ? Source::kAllocatedWithoutSpec : Source::kAllocated, defaults));
  total.max_with(
      aggregate(pod, infeasible ? Source::kActuatedWithoutSpec : Source::kActuated, defaults));
  return total;
}

bool is_pod_level_name(std::string_view name) {
  return name == "cpu" || name == "memory" || name.starts_with("hugepages-");
}

bool has_pod_level_requests(const Pod& pod) {
  if (!pod.pod_level) return false;
  const auto& entries = pod.pod_level->requests.entries();
  return std::any_of(entries.begin(), entries.end(),
                     [](const auto& entry) { return is_pod_level_name(entry.first); });
}

ResourceList pod_level_requests(const Pod& pod, RequestBasis basis) {
  const PodLevelResources& level = *pod.pod_level;
  if (basis == RequestBasis::kSpec || !level.actuated) return level.requests;
  ResourceList requests;
  if (!is_resize_infeasible(pod)) requests = level.requests;
  requests.max_with(*level.actuated);
  if (level.allocated) requests.max_with(*level.allocated);
  return requests;
}

/// Step 4: pod-level values replace the aggregate.
void apply_pod_level(const Pod& pod, RequestBasis basis, ResourceList& requests) {
  if (!has_pod_level_requests(pod)) return;
  const ResourceList level = pod_level_requests(pod, basis);
  for (const auto& [name, quantity] : level.entries()) {
    if (is_pod_level_name(name)) requests.set(name, quantity);
  }
}

Defaults nonzero_defaults(const Pod& pod, RequestBasis basis) {
  Defaults defaults({{"cpu", Quantity::from_milli(kDefaultCpuMilli)},
                     {"memory", Quantity::from_units(kDefaultMemoryBytes)}});
  if (basis == RequestBasis::kSpec || !has_pod_level_requests(pod)) return defaults;
  const ResourceList total = effective_requests(pod, basis);
  Defaults missing;
  for (const auto& [name, quantity] : defaults.entries()) {
    if (total.find(name) == nullptr) missing.set(name, quantity);
  }
  return missing;
}

std::int64_t whole_or_zero(const ResourceList& requests, std::string_view name) {
  const Quantity* quantity = requests.find(name);
  return quantity == nullptr ? 0 : whole(name, *quantity);
}

}  // namespace

bool conflicts(const HostPort& a, const HostPort& b) {
  constexpr std::string_view kAnyAddress = "0.0.0.0";
  if (a.protocol != b.protocol || a.port != b.port) return false;
  return a.ip == b.ip || a.ip == kAnyAddress || b.ip == kAnyAddress;
}

ResourceList effective_requests(const Pod& pod, RequestBasis basis) {
  ResourceList requests = basis == RequestBasis::kSpec ? aggregate(pod, Source::kSpec, {})
                                                       : aggregate_with_status(pod, {});
  apply_pod_level(pod, basis, requests);
  requests.add(pod.overhead);
  return requests;
}

NonZeroRequests nonzero_requests(const Pod& pod, RequestBasis basis) {
  const Defaults defaults = nonzero_defaults(pod, basis);
  ResourceList requests;
  if (basis == RequestBasis::kSpec) {
    requests = aggregate(pod, Source::kSpec, defaults);
  } else {
    requests = aggregate_with_status(pod, defaults);
    apply_pod_level(pod, basis, requests);
  }
  requests.add(pod.overhead);
  return {whole_or_zero(requests, "cpu"), whole_or_zero(requests, "memory")};
}

}  // namespace gang::api
