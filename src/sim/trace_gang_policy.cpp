#include "sim/trace_gang_policy.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <utility>

namespace gang::sim {
namespace {

/// Where the gangs that run have their pods.
using Started = std::map<std::size_t, std::vector<std::uint32_t>>;

/// All GPUs in one place.
class Pool final : public TraceStarter {
 public:
  Pool(const std::vector<TraceJob>& jobs, std::uint32_t node_count)
      : jobs_(jobs), free_(std::int64_t{node_count} * kGpusPerNode) {}

  std::optional<std::vector<std::uint32_t>> start(std::size_t job) override {
    if (jobs_[job].gpus > free_) return std::nullopt;
    free_ -= jobs_[job].gpus;
    return std::vector<std::uint32_t>{};
  }
  void end(std::size_t job) override { free_ += jobs_[job].gpus; }

 private:
  const std::vector<TraceJob>& jobs_;
  std::int64_t free_;
};

/// Pod after pod by what is free on nodes; gives back what it took where the gang does not fit.
class PodAfterPod final : public TraceStarter {
 public:
  enum class Order { kMostFree, kLeastFree };

  PodAfterPod(Order order, const std::vector<TraceJob>& jobs, std::uint32_t node_count)
      : order_(order), jobs_(jobs), free_(node_count, 0), by_free_(kGpusPerNode + 1) {
    for (std::uint32_t node = 0; node < node_count; ++node) {
      by_free_[0].insert(node);
      change(node, kGpusPerNode);
    }
  }

  std::optional<std::vector<std::uint32_t>> start(std::size_t job) override {
    const std::vector<std::int32_t> pods = pods_of_job(jobs_[job].gpus);
    std::vector<std::uint32_t> nodes;
    for (const std::int32_t gpus : pods) {
      const std::optional<std::uint32_t> node = choose(gpus);
      if (!node) break;
      change(*node, -gpus);
      nodes.push_back(*node);
    }
    if (nodes.size() == pods.size()) return started_[job] = nodes;
    for (std::size_t i = 0; i < nodes.size(); ++i) change(nodes[i], pods[i]);
    return std::nullopt;
  }

  void end(std::size_t job) override {
    const std::vector<std::int32_t> pods = pods_of_job(jobs_[job].gpus);
    for (std::size_t i = 0; i < pods.size(); ++i) change(started_[job][i], pods[i]);
    started_.erase(job);
  }

 private:
  [[nodiscard]] std::optional<std::uint32_t> choose(std::int32_t gpus) const {
    for (std::int32_t i = gpus; i <= kGpusPerNode; ++i) {
      const std::int32_t free = order_ == Order::kLeastFree ? i : kGpusPerNode + gpus - i;
      const std::set<std::uint32_t>& nodes = by_free_[static_cast<std::size_t>(free)];
      if (!nodes.empty()) return *nodes.begin();
    }
    return std::nullopt;
  }

  void change(std::uint32_t node, std::int32_t by) {
    by_free_[static_cast<std::size_t>(free_[node])].erase(node);
    free_[node] += by;
    by_free_[static_cast<std::size_t>(free_[node])].insert(node);
  }

  const Order order_;
  const std::vector<TraceJob>& jobs_;
  std::vector<std::int32_t> free_;                ///< by node
  std::vector<std::set<std::uint32_t>> by_free_;  ///< nodes by number of free GPUs
  Started started_;
};

}  // namespace

const std::vector<std::string>& reference_starters() {
  static const std::vector<std::string> names = {"pool", "upstream-like", "best fit"};
  return names;
}

std::unique_ptr<TraceStarter> reference_starter(const std::string& name,
                                                const std::vector<TraceJob>& jobs,
                                                std::uint32_t node_count) {
  if (name == "pool") return std::make_unique<Pool>(jobs, node_count);
  const bool is_best_fit = name == "best fit";
  const auto order = is_best_fit ? PodAfterPod::Order::kLeastFree : PodAfterPod::Order::kMostFree;
  return std::make_unique<PodAfterPod>(order, jobs, node_count);
}

}  // namespace gang::sim
