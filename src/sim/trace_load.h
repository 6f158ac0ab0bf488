// What a trace asks of a fleet: nodes with whole GPUs, and pods that want some of them or a share
// of one. Values only, any thread.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "gang/base/result.h"

namespace gang::sim {

inline constexpr std::int32_t kWholeGpu = 1'000;

/// A node of the trace.
struct TraceNode {
  std::string name;
  std::int64_t cpu_milli = 0;
  std::int64_t memory_mib = 0;
  std::int32_t gpu_count = 0;
  std::uint32_t model = 0;  ///< into TraceLoad::models
};

/// What a pod asks for. Pods that ask for the same share one.
struct TraceRequest {
  std::int64_t cpu_milli = 0;
  std::int64_t memory_mib = 0;
  std::int32_t gpu_count = 0;
  std::int32_t gpu_milli = 0;  ///< of each; below kWholeGpu a share of one
  std::uint64_t models = 0;    ///< bit by bit which may be used; 0: any
  [[nodiscard]] std::int64_t gpu_total() const { return std::int64_t{gpu_count} * gpu_milli; }
  friend auto operator<=>(const TraceRequest&, const TraceRequest&) = default;
};

/// A fleet and the pods that come.
struct TraceLoad {
  std::vector<std::string> models;
  std::vector<TraceNode> nodes;
  std::vector<TraceRequest> requests;
  std::vector<std::uint32_t> pods;               ///< of each pod its request
  [[nodiscard]] std::int64_t gpu_total() const;  ///< milli-GPU of the fleet
};

/// The nodes and the pods of a trace, from its tables. Fails with row and column.
[[nodiscard]] Result<TraceLoad> read_trace_load(std::string_view nodes, std::string_view pods);

/// The pods in the order in which they come: those of the list in random order, then more of them
/// with replacement until `percent` of the GPUs of the fleet were asked for. Equal for equal seeds.
[[nodiscard]] std::vector<std::uint32_t> arrivals(const TraceLoad& load, std::uint64_t seed,
                                                  std::int32_t percent);

}  // namespace gang::sim
