#include "sim/trace_policy.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace gang::sim {
namespace {

/// Smaller is better; nothing: it does not fit.
using Cost = std::optional<std::int64_t>;

/// GPUs of the room that the request fits on, as many as it asks for, the first ones first.
std::vector<std::uint32_t> first_gpus(const TraceRoom& room, const TraceRequest& request) {
  std::vector<std::uint32_t> gpus;
  for (std::uint32_t i = 0; i < room.gpus.size(); ++i) {
    if (gpus.size() == static_cast<std::size_t>(request.gpu_count)) break;
    if (room.gpus[i] >= request.gpu_milli) gpus.push_back(i);
  }
  return gpus;
}

/// The same, but for a share the GPU with the least free.
std::vector<std::uint32_t> fullest_gpus(const TraceRoom& room, const TraceRequest& request) {
  std::vector<std::uint32_t> gpus = first_gpus(room, request);
  if (request.gpu_count != 1) return gpus;
  for (std::uint32_t i = 0; i < room.gpus.size(); ++i) {
    const bool fits = room.gpus[i] >= request.gpu_milli;
    if (fits && room.gpus[i] < room.gpus[gpus.front()]) gpus.front() = i;
  }
  return gpus;
}

TraceRoom after(TraceRoom room, const TraceRequest& request,
                const std::vector<std::uint32_t>& gpus) {
  room.cpu_milli -= request.cpu_milli;
  room.memory_mib -= request.memory_mib;
  for (const std::uint32_t gpu : gpus) room.gpus[gpu] -= request.gpu_milli;
  return room;
}

/// What a reference thinks of a node.
class Judge {
 public:
  virtual ~Judge() = default;
  /// REQUIRES: the request fits on the node.
  [[nodiscard]] virtual std::int64_t cost(const TraceRoom& room, std::uint32_t node,
                                          const TraceRequest& request) const = 0;
  [[nodiscard]] virtual std::vector<std::uint32_t> gpus(const TraceRoom& room,
                                                        const TraceRequest& request) const = 0;
};

class LeastAllocated final : public Judge {
 public:
  explicit LeastAllocated(const TraceLoad& load) : nodes_(load.nodes) {}
  std::int64_t cost(const TraceRoom& room, std::uint32_t node,
                    const TraceRequest& request) const override {
    const TraceNode& whole = nodes_[node];
    const std::int64_t cpu =
        (room.cpu_milli - request.cpu_milli) * 100 / std::max<std::int64_t>(1, whole.cpu_milli);
    const std::int64_t memory =
        (room.memory_mib - request.memory_mib) * 100 / std::max<std::int64_t>(1, whole.memory_mib);
    return -(cpu + memory) / 2;
  }
  std::vector<std::uint32_t> gpus(const TraceRoom& room,
                                  const TraceRequest& request) const override {
    return first_gpus(room, request);
  }

 private:
  const std::vector<TraceNode>& nodes_;
};

class BestFit final : public Judge {
 public:
  explicit BestFit(const TraceLoad& load) {
    for (const TraceNode& node : load.nodes) {
      cpu_most_ = std::max(cpu_most_, node.cpu_milli);
      gpu_most_ = std::max(gpu_most_, std::int64_t{node.gpu_count} * kWholeGpu);
    }
  }
  std::int64_t cost(const TraceRoom& room, std::uint32_t,
                    const TraceRequest& request) const override {
    return (room.cpu_milli - request.cpu_milli) * gpu_most_ +
           (room.gpu_total() - request.gpu_total()) * cpu_most_;
  }
  std::vector<std::uint32_t> gpus(const TraceRoom& room,
                                  const TraceRequest& request) const override {
    return fullest_gpus(room, request);
  }

 private:
  std::int64_t cpu_most_ = 1;
  std::int64_t gpu_most_ = 1;
};

class LeastFragments final : public Judge {
 public:
  explicit LeastFragments(const TraceLoad& load) : fragments_(load) {}
  std::int64_t cost(const TraceRoom& room, std::uint32_t,
                    const TraceRequest& request) const override {
    return fragments_.of(after(room, request, gpus(room, request))) - fragments_.of(room);
  }
  std::vector<std::uint32_t> gpus(const TraceRoom& room,
                                  const TraceRequest& request) const override {
    if (request.gpu_count != 1 || request.gpu_milli == kWholeGpu) return first_gpus(room, request);
    std::vector<std::uint32_t> best;
    std::int64_t least = std::numeric_limits<std::int64_t>::max();
    for (std::uint32_t i = 0; i < room.gpus.size(); ++i) {
      const auto same = std::find(room.gpus.begin(), room.gpus.begin() + i, room.gpus[i]);
      if (room.gpus[i] < request.gpu_milli || same != room.gpus.begin() + i) continue;
      const std::int64_t there = fragments_.of(after(room, request, {i}));
      if (there < least) best = {i};
      least = std::min(least, there);
    }
    return best;
  }

 private:
  const TraceFragments fragments_;
};

std::unique_ptr<Judge> judge_named(const std::string& name, const TraceLoad& load) {
  if (name == "FGD") return std::make_unique<LeastFragments>(load);
  if (name == "best fit") return std::make_unique<BestFit>(load);
  return std::make_unique<LeastAllocated>(load);
}

/// A node changes its cost only with what is free on it: costs are kept by request and node.
class ReferencePlacer final : public TracePlacer {
 public:
  ReferencePlacer(const std::string& name, const TraceLoad& load)
      : load_(load),
        fleet_(load),
        judge_(judge_named(name, load)),
        changes_(load.nodes.size(), 1),
        known_(load.requests.size()) {}

  std::optional<TraceSpot> place(std::uint32_t request) override {
    const TraceRequest& wanted = load_.requests[request];
    std::vector<Known>& known = known_[request];
    known.resize(changes_.size());
    std::optional<std::uint32_t> best;
    for (std::uint32_t node = 0; node < known.size(); ++node) {
      if (known[node].change != changes_[node]) known[node] = judged(node, wanted);
      if (known[node].cost && (!best || *known[node].cost < *known[*best].cost)) best = node;
    }
    if (!best) return std::nullopt;
    TraceSpot spot{.node = *best, .gpus = judge_->gpus(fleet_.nodes()[*best], wanted)};
    fleet_.take(wanted, spot);
    ++changes_[*best];
    return spot;
  }

 private:
  /// The cost of a node as it was at that change.
  struct Known {
    Cost cost;
    std::uint32_t change = 0;
  };

  [[nodiscard]] Known judged(std::uint32_t node, const TraceRequest& request) const {
    const TraceRoom& room = fleet_.nodes()[node];
    if (!room.fits(request)) return {.cost = std::nullopt, .change = changes_[node]};
    return {.cost = judge_->cost(room, node, request), .change = changes_[node]};
  }

  const TraceLoad& load_;
  TraceFleet fleet_;
  const std::unique_ptr<Judge> judge_;
  std::vector<std::uint32_t> changes_;     ///< by node
  std::vector<std::vector<Known>> known_;  ///< by request
};

}  // namespace

const std::vector<std::string>& reference_policies() {
  static const std::vector<std::string> names = {"upstream-like", "best fit", "FGD"};
  return names;
}

std::unique_ptr<TracePlacer> reference_policy(const std::string& name, const TraceLoad& load) {
  return std::make_unique<ReferencePlacer>(name, load);
}

}  // namespace gang::sim
