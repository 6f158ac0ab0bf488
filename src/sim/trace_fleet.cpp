#include "sim/trace_fleet.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "gang/base/check.h"

namespace gang::sim {

std::int64_t TraceRoom::gpu_total() const {
  return std::accumulate(gpus.begin(), gpus.end(), std::int64_t{0});
}

std::int32_t TraceRoom::gpu_count(std::int32_t milli) const {
  return static_cast<std::int32_t>(
      std::ranges::count_if(gpus, [milli](std::int32_t free) { return free >= milli; }));
}

bool TraceRoom::could_feed(const TraceRequest& request) const {
  return request.cpu_milli <= cpu_milli && request.memory_mib <= memory_mib &&
         (request.models == 0 || (request.models & model) != 0);
}

bool TraceRoom::fits(const TraceRequest& request) const {
  return could_feed(request) &&
         (request.gpu_count == 0 || gpu_count(request.gpu_milli) >= request.gpu_count);
}

TraceFleet::TraceFleet(const TraceLoad& load) {
  for (const TraceNode& node : load.nodes) {
    nodes_.push_back(
        {.cpu_milli = node.cpu_milli,
         .memory_mib = node.memory_mib,
         .gpus = std::vector<std::int32_t>(static_cast<std::size_t>(node.gpu_count), kWholeGpu),
         .model = std::uint64_t{1} << node.model});
  }
}

void TraceFleet::take(const TraceRequest& request, const TraceSpot& spot) {
  TraceRoom& room = nodes_[spot.node];
  CHECK(room.could_feed(request));
  CHECK(spot.gpus.size() == static_cast<std::size_t>(request.gpu_count));
  room.cpu_milli -= request.cpu_milli;
  room.memory_mib -= request.memory_mib;
  for (const std::uint32_t gpu : spot.gpus) {
    CHECK(room.gpus[gpu] >= request.gpu_milli);
    room.gpus[gpu] -= request.gpu_milli;
  }
  gpu_taken_ += request.gpu_total();
}

TraceFragments::TraceFragments(const TraceLoad& load)
    : pod_count_(static_cast<std::int64_t>(load.pods.size())) {
  std::vector<std::int64_t> counts(load.requests.size(), 0);
  for (const std::uint32_t pod : load.pods) ++counts[pod];
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const TraceRequest& request = load.requests[i];
    if (request.gpu_count == 0) continue;
    const auto like = std::ranges::find_if(wants_, [&request](const Want& want) {
      return want.count == request.gpu_count && want.milli == request.gpu_milli;
    });
    Want& want = like != wants_.end() ? *like : wants_.emplace_back();
    want.count = request.gpu_count;
    want.milli = request.gpu_milli;
    want.requests.emplace_back(request, counts[i]);
  }
}

std::int64_t TraceFragments::of(const TraceRoom& room) const {
  const std::int64_t total = room.gpu_total();
  std::int64_t usable = 0;
  for (const Want& want : wants_) {
    std::int64_t free = 0;
    std::int32_t count = 0;
    for (const std::int32_t gpu : room.gpus) {
      if (gpu < want.milli) continue;
      free += gpu;
      ++count;
    }
    if (count < want.count) continue;
    for (const auto& [request, number] : want.requests) {
      if (room.could_feed(request)) usable += number * free;
    }
  }
  return total * pod_count_ - usable;
}

std::int64_t TraceFragments::share_of(const TraceFleet& fleet, const TraceLoad& load) const {
  std::int64_t sum = 0;
  for (const TraceRoom& room : fleet.nodes()) sum += of(room) / pod_count_;
  return sum * 1'000'000 / std::max<std::int64_t>(1, load.gpu_total());
}

}  // namespace gang::sim
