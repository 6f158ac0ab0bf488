// Who places the pods of a trace: the references, each in plain code over the books of the fleet.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/trace_fleet.h"

namespace gang::sim {

/// Places one pod after the other and keeps them where they are. One thread.
class TracePlacer {
 public:
  virtual ~TracePlacer() = default;
  /// Where a pod with this request of the load goes; nothing when it fits nowhere.
  [[nodiscard]] virtual std::optional<TraceSpot> place(std::uint32_t request) = 0;
};

/// Names of the references, in the order in which they are told.
[[nodiscard]] const std::vector<std::string>& reference_policies();

/// REQUIRES: a name of reference_policies(); the load outlives it. Ties go by node, then by GPU.
///   upstream-like  as LeastAllocated: most free cpu and memory; the first GPUs that fit
///   best fit       least cpu and GPU left over, each as a part of the largest node; the fullest
///                  GPU that fits
///   FGD            least growth of fragments (TraceFragments); the GPU with the least growth
[[nodiscard]] std::unique_ptr<TracePlacer> reference_policy(const std::string& name,
                                                            const TraceLoad& load);

}  // namespace gang::sim
