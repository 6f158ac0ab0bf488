#include "sim/trace_engine.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "sim/trace_state.h"

namespace gang::sim {
namespace {

constexpr const char* kDriver = "gpu.example.com";
constexpr const char* kClass = "gpu";
constexpr const char* kCapacity = "milli";
constexpr const char* kModel = "model";
constexpr const char* kDevicePrefix = "gpu-";
constexpr std::int64_t kPodsMax = 10'000;

api::Node node_of(const TraceNode& trace, const std::string& model) {
  api::Node node{.meta = trace_meta("", trace.name)};
  node.meta.labels = {{kModel, model}};
  node.allocatable.set("cpu", api::Quantity::from_milli(trace.cpu_milli));
  node.allocatable.set("memory", api::Quantity::from_units(trace.memory_mib << 20));
  node.allocatable.set("pods", api::Quantity::from_units(kPodsMax));
  return node;
}

api::ResourceSlice slice_of(const TraceNode& trace) {
  api::ResourceSlice slice{.meta = trace_meta("", trace.name + "-gpus")};
  slice.driver = kDriver;
  slice.pool = trace.name;
  slice.pool_generation = 1;
  slice.pool_slice_count = 1;
  slice.place.node_name = trace.name;
  for (std::int32_t i = 0; i < trace.gpu_count; ++i) {
    api::Device& device = slice.devices.emplace_back();
    device.name = kDevicePrefix + std::to_string(i);
    device.capacity = {{kCapacity, {.value = api::Quantity::from_units(kWholeGpu)}}};
    device.allow_multiple_allocations = true;
  }
  return slice;
}

/// The models that the request may have, as a term on the label of nodes.
std::optional<api::NodeSelector> affinity_of(const TraceRequest& request, const TraceLoad& load) {
  if (request.models == 0) return std::nullopt;
  api::NodeSelectorRequirement among{.key = kModel, .op = "In", .values = {}};
  for (std::size_t i = 0; i < load.models.size(); ++i) {
    if ((request.models >> i & 1) != 0) among.values.push_back(load.models[i]);
  }
  return api::NodeSelector{.terms = {{.expressions = {std::move(among)}, .fields = {}}}};
}

/// Pods are placed, and confirmed as a watch would, one after the other.
class EnginePlacer final : public TracePlacer {
 public:
  EnginePlacer(const TraceLoad& load, const engine::Options& options) : state_(options) {
    tell_lists(load);
    for (const TraceRequest& request : load.requests) add_model(request, load);
  }

  std::optional<TraceSpot> place(std::uint32_t request) override {
    const std::string name = "p" + std::to_string(next_++);
    Pending pending{.pod = pods_[request]};
    pending.pod.meta = trace_meta("default", name);
    if (claims_[request]) {
      pending.claim = *claims_[request];
      pending.claim->meta = trace_meta("default", name);
      pending.pod.claims.front().claim_name = name;
      state_.added(api::Kind::kResourceClaim, *pending.claim);
    }
    state_.added(api::Kind::kPod, pending.pod);
    state_.note(pending.pod.meta.uid);
    const std::optional<engine::Plan> plan = state_.plan(pending.pod.meta.uid);
    if (!plan) return drop(pending);
    return keep(*plan, std::move(pending));
  }

 private:
  /// A pod that has come, with its claim.
  struct Pending {
    api::Pod pod;
    std::optional<api::ResourceClaim> claim = {};
  };

  void tell_lists(const TraceLoad& load) {
    api::DeviceClass gpu{.meta = trace_meta("", kClass)};
    state_.added(api::Kind::kDeviceClass, gpu);
    for (const TraceNode& node : load.nodes) {
      node_of_.emplace(node.name, static_cast<std::uint32_t>(node_of_.size()));
      state_.added(api::Kind::kNode, node_of(node, load.models[node.model]));
      if (node.gpu_count > 0) state_.added(api::Kind::kResourceSlice, slice_of(node));
    }
    state_.end_lists();
  }

  /// What pods with the request and their claims have in common.
  void add_model(const TraceRequest& request, const TraceLoad& load) {
    api::Pod& pod = pods_.emplace_back();
    pod.scheduler_name = kTraceScheduler;
    pod.required_affinity = affinity_of(request, load);
    api::Container& container = pod.containers.emplace_back();
    container.name = "main";
    container.requests.set("cpu", api::Quantity::from_milli(request.cpu_milli));
    container.requests.set("memory", api::Quantity::from_units(request.memory_mib << 20));
    std::optional<api::ResourceClaim>& claim = claims_.emplace_back();
    if (request.gpu_count == 0) return;
    pod.rules.resource_claims = true;
    pod.claims = {{.name = "gpus"}};
    api::DeviceAsk ask{.class_name = kClass, .count = request.gpu_count};
    ask.capacity = {{kCapacity, api::Quantity::from_units(request.gpu_milli)}};
    claim.emplace().spec.requests.push_back({.name = "gpus", .exactly = std::move(ask)});
  }

  std::optional<TraceSpot> drop(Pending& pending) {
    state_.deleted(api::Kind::kPod, std::move(pending.pod));
    if (pending.claim) {
      state_.deleted(api::Kind::kResourceClaim, *std::move(pending.claim));
    }
    return std::nullopt;
  }

  TraceSpot keep(const engine::Plan& plan, Pending pending) {
    const engine::Assignment& chosen = plan.assignments.front();
    TraceSpot spot{.node = node_of_.at(chosen.node_name)};
    state_.state().assume({{.uid = chosen.uid, .node = chosen.node}});
    for (const engine::ClaimWrite& write : plan.claims) {
      state_.state().assume_allocation(write.claim->meta.uid, *write.allocation);
      pending.claim->allocation = *write.allocation;
      pending.claim->reserved_for = write.consumers;
      pending.claim->meta.resource_version.text = "2";
      for (const api::DeviceResult& one : write.allocation->results) {
        spot.gpus.push_back(gpu_number(one.device));
      }
      state_.updated(api::Kind::kResourceClaim, *std::move(pending.claim));
    }
    pending.pod.node_name = chosen.node_name;
    pending.pod.meta.resource_version.text = "2";
    state_.updated(api::Kind::kPod, std::move(pending.pod));
    std::ranges::sort(spot.gpus);
    return spot;
  }

  static std::uint32_t gpu_number(const std::string& device) {
    std::uint32_t number = 0;
    const char* first = device.data() + std::char_traits<char>::length(kDevicePrefix);
    std::from_chars(first, device.data() + device.size(), number);
    return number;
  }

  TraceState state_;
  std::map<std::string, std::uint32_t> node_of_;  ///< by name
  std::vector<api::Pod> pods_;                    ///< by request
  std::vector<std::optional<api::ResourceClaim>> claims_;
  std::uint64_t next_ = 0;
};

}  // namespace

std::unique_ptr<TracePlacer> engine_policy(const TraceLoad& load, const engine::Options& options) {
  return std::make_unique<EnginePlacer>(load, options);
}

}  // namespace gang::sim
