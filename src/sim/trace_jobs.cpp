#include "sim/trace_jobs.h"

#include <algorithm>

#include "sim/trace_csv.h"

namespace gang::sim {
namespace {

// NOLINTNEXTLINE(bugprone-reserved-identifier): the compiler's name of the type
__extension__ using Wide = __int128;

constexpr std::int64_t kGpusMax = 4'096;
constexpr std::int64_t kSecondsMax = 100'000'000;
constexpr std::int64_t kStepsMax = 1'000'000'000'000;

}  // namespace

Result<std::vector<TraceJob>> read_trace_jobs(std::string_view text, std::int64_t gpu_count,
                                              std::int32_t percent) {
  GANG_TRY(const CsvTable table, CsvTable::parse(text));
  GANG_TRY(const std::size_t arrival, table.column("arrival_s"));
  GANG_TRY(const std::size_t gpus, table.column("gang_gpus"));
  GANG_TRY(const std::size_t steps, table.column("total_steps"));
  std::vector<TraceJob> jobs;
  Wide work = 0;
  for (std::size_t row = 0; row < table.row_count(); ++row) {
    TraceJob job;
    GANG_TRY(const std::int64_t second, table.number(row, arrival));
    GANG_TRY(const std::int64_t count, table.number(row, gpus));
    GANG_TRY(const std::int64_t length, table.number(row, steps));
    job.arrival = std::min(second, kSecondsMax) * 1'000;
    job.gpus = static_cast<std::int32_t>(std::clamp<std::int64_t>(count, 1, kGpusMax));
    job.duration = std::clamp<std::int64_t>(length, 1, kStepsMax);
    work += Wide{job.gpus} * job.duration;
    jobs.push_back(job);
  }
  if (jobs.empty()) {
    return fail(Code::kInvalidArgument, "there are no jobs; give a table that has some");
  }
  std::ranges::stable_sort(jobs, {}, &TraceJob::arrival);
  const std::int64_t span = std::max<std::int64_t>(1, jobs.back().arrival - jobs.front().arrival);
  for (TraceJob& job : jobs) {
    job.duration =
        static_cast<std::int64_t>(Wide{job.duration} * gpu_count * percent * span / (work * 100)) +
        1;
  }
  return jobs;
}

std::vector<std::int32_t> pods_of_job(std::int32_t gpus) {
  std::vector<std::int32_t> pods(static_cast<std::size_t>(gpus / kGpusPerNode), kGpusPerNode);
  if (gpus % kGpusPerNode != 0) pods.push_back(gpus % kGpusPerNode);
  return pods;
}

}  // namespace gang::sim
