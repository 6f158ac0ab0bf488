// The production engine as one of those who start the jobs of a trace.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "sim/resource_words.h"
#include "sim/trace_gang_policy.h"
#include "sim/trace_state.h"

namespace gang::sim {
namespace {

constexpr std::int64_t kCpusPerGpu = 8;
constexpr std::int64_t kBytesPerGpu = std::int64_t{64} << 30;

void ask(api::ResourceList& list, std::int64_t gpus) {
  list.set("cpu", api::Quantity::from_units(gpus * kCpusPerGpu));
  list.set("memory", api::Quantity::from_units(gpus * kBytesPerGpu));
  list.set(kGpuResource, api::Quantity::from_units(gpus));
}

api::Node node_of(std::uint32_t number) {
  api::Node node{.meta = trace_meta("", fmt::format("node-{:06}", number))};
  ask(node.allocatable, kGpusPerNode);
  node.allocatable.set("pods", api::Quantity::from_units(110));
  return node;
}

class EngineStarter final : public TraceStarter {
 public:
  EngineStarter(const std::vector<TraceJob>& jobs, std::uint32_t node_count)
      : jobs_(jobs), state_({}), gangs_(jobs.size()) {
    for (std::uint32_t i = 0; i < node_count; ++i) state_.added(api::Kind::kNode, node_of(i));
    state_.end_lists();
  }

  std::optional<std::vector<std::uint32_t>> start(std::size_t job) override {
    if (gangs_[job].pods.empty()) submit(job);
    const std::optional<engine::Plan> plan = state_.plan(gangs_[job].pods.front().meta.uid);
    if (!plan) return std::nullopt;
    return bind(gangs_[job], *plan);
  }

  void end(std::size_t job) override {
    for (api::Pod& pod : gangs_[job].pods) state_.deleted(api::Kind::kPod, std::move(pod));
    state_.deleted(api::Kind::kPodGroup, std::move(gangs_[job].group));
    gangs_[job] = {};
  }

 private:
  /// What the job has on the server.
  struct Submitted {
    api::PodGroup group;
    std::vector<api::Pod> pods;
  };

  void submit(std::size_t job) {
    const std::vector<std::int32_t> sizes = pods_of_job(jobs_[job].gpus);
    Submitted& gang = gangs_[job];
    gang.group.meta = trace_meta("default", fmt::format("job-{}", job));
    gang.group.spec.policy = api::GroupPolicy::kGang;
    gang.group.spec.min_count = static_cast<std::int32_t>(sizes.size());
    state_.added(api::Kind::kPodGroup, gang.group);
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      api::Pod& pod = gang.pods.emplace_back();
      pod.meta = trace_meta("default", fmt::format("job-{}-{}", job, i));
      pod.scheduler_name = kTraceScheduler;
      pod.pod_group_name = gang.group.meta.key.name;
      ask(pod.containers.emplace_back().requests, sizes[i]);
      state_.added(api::Kind::kPod, pod);
    }
    state_.note(gang.pods.front().meta.uid);
  }

  std::vector<std::uint32_t> bind(Submitted& gang, const engine::Plan& plan) {
    std::vector<cluster::AssumedPod> assumed;
    for (const engine::Assignment& one : plan.assignments) assumed.push_back({one.uid, one.node});
    state_.state().assume(assumed);
    std::vector<std::uint32_t> nodes;
    for (api::Pod& pod : gang.pods) {
      const auto& chosen =
          *std::ranges::find(plan.assignments, pod.meta.uid, &engine::Assignment::uid);
      pod.node_name = chosen.node_name;
      pod.meta.resource_version.text = "2";
      nodes.push_back(chosen.node.value);
      state_.updated(api::Kind::kPod, pod);
    }
    return nodes;
  }

  const std::vector<TraceJob>& jobs_;
  TraceState state_;
  std::vector<Submitted> gangs_;  ///< by job
};

}  // namespace

std::unique_ptr<TraceStarter> engine_starter(const std::vector<TraceJob>& jobs,
                                             std::uint32_t node_count) {
  return std::make_unique<EngineStarter>(jobs, node_count);
}

}  // namespace gang::sim
