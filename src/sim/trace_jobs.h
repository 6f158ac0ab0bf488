// Jobs of a trace: gangs of GPUs that come, run for a while and go. Values only, any thread.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "gang/base/result.h"

namespace gang::sim {

inline constexpr std::int32_t kGpusPerNode = 8;

/// One job. Times in milliseconds since the first arrival.
struct TraceJob {
  std::int64_t arrival = 0;
  std::int64_t duration = 0;
  std::int32_t gpus = 0;
};

/// Reads `arrival_s`, `gang_gpus` and `total_steps`, in order of arrival. A step takes as long as
/// makes all jobs together fill `percent` of the GPUs from the first arrival to the last.
[[nodiscard]] Result<std::vector<TraceJob>> read_trace_jobs(std::string_view text,
                                                            std::int64_t gpu_count,
                                                            std::int32_t percent);

/// GPUs of each pod of a gang: as many whole nodes as it fills, then the rest.
[[nodiscard]] std::vector<std::int32_t> pods_of_job(std::int32_t gpus);

}  // namespace gang::sim
