// Plays lists of jobs in virtual time, and tells what came of it as lines of one table.
#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>
#include <queue>
#include <utility>

#include "gang/base/check.h"
#include "gang/sim/trace.h"
#include "sim/trace_gang_policy.h"
#include "sim/trace_jobs.h"

namespace gang::sim {
namespace {

constexpr const char* kEngine = "engine";

/// What came of one run.
struct GangRun {
  std::vector<std::int64_t> waits;  ///< of each job that was started, in milliseconds
  std::int64_t idle = 0;            ///< GPUs x milliseconds free while somebody waits
  std::int64_t saturated = 0;       ///< milliseconds in which somebody waits
  std::int64_t refused = 0;         ///< jobs that never fit
};

/// The jobs in virtual time. A job waits in order of arrival; whoever fits starts, so a small job
/// may pass a large one, as in the queue of the daemon. Jobs of a size are asked about again only
/// when some job has ended since one of them did not fit.
class GangPlay {
 public:
  GangPlay(const std::vector<TraceJob>& jobs, std::uint32_t node_count, TraceStarter& starter)
      : jobs_(jobs),
        starter_(starter),
        node_free_(node_count, kGpusPerNode),
        nodes_(jobs.size()),
        free_(std::int64_t{node_count} * kGpusPerNode) {}

  GangRun run() {
    std::size_t next = 0;
    while (next < jobs_.size() || !ends_.empty()) {
      const bool is_arrival =
          ends_.empty() || (next < jobs_.size() && jobs_[next].arrival < ends_.top().first);
      pass_to(is_arrival ? jobs_[next].arrival : ends_.top().first);
      if (is_arrival) {
        waiting_[jobs_[next].gpus].push_back(next);
        ++next;
      } else {
        end_job(ends_.top().second);
        ends_.pop();
        full_.clear();
      }
      start_all();
    }
    for (const auto& [gpus, jobs] : waiting_) {
      result_.refused += static_cast<std::int64_t>(jobs.size());
    }
    return std::move(result_);
  }

 private:
  using End = std::pair<std::int64_t, std::size_t>;  ///< time and job

  void pass_to(std::int64_t time) {
    const bool waits =
        std::ranges::any_of(waiting_, [](const auto& of_size) { return !of_size.second.empty(); });
    if (waits) result_.saturated += time - now_;
    if (waits) result_.idle += (time - now_) * free_;
    now_ = time;
  }

  void start_all() {
    while (const auto job = first_to_try()) {
      std::deque<std::size_t>& of_size = waiting_[jobs_[*job].gpus];
      if (start_job(*job)) {
        of_size.pop_front();
      } else {
        full_.push_back(jobs_[*job].gpus);
      }
    }
  }

  /// Of the sizes that may fit the job that came first.
  [[nodiscard]] std::optional<std::size_t> first_to_try() const {
    std::optional<std::size_t> first;
    for (const auto& [gpus, jobs] : waiting_) {
      if (jobs.empty() || std::ranges::find(full_, gpus) != full_.end()) continue;
      if (!first || jobs.front() < *first) first = jobs.front();
    }
    return first;
  }

  bool start_job(std::size_t job) {
    const auto nodes = starter_.start(job);
    if (!nodes) return false;
    book(job, *nodes, -1);
    nodes_[job] = *nodes;
    result_.waits.push_back(now_ - jobs_[job].arrival);
    ends_.emplace(now_ + jobs_[job].duration, job);
    return true;
  }

  void end_job(std::size_t job) {
    starter_.end(job);
    book(job, nodes_[job], 1);
  }

  /// Without nodes the job runs on the fleet as a whole.
  void book(std::size_t job, const std::vector<std::uint32_t>& nodes, std::int32_t sign) {
    const std::vector<std::int32_t> pods = pods_of_job(jobs_[job].gpus);
    free_ += std::int64_t{sign} * jobs_[job].gpus;
    CHECK(free_ >= 0);
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      node_free_[nodes[i]] += sign * pods[i];
      CHECK(node_free_[nodes[i]] >= 0);
    }
  }

  const std::vector<TraceJob>& jobs_;
  TraceStarter& starter_;
  std::map<std::int32_t, std::deque<std::size_t>> waiting_;  ///< by size, in order of arrival
  std::vector<std::int32_t> full_;                           ///< sizes that do not fit now
  std::priority_queue<End, std::vector<End>, std::greater<>> ends_;
  std::vector<std::int32_t> node_free_;            ///< GPUs by node
  std::vector<std::vector<std::uint32_t>> nodes_;  ///< of pods, by job
  std::int64_t free_ = 0;
  std::int64_t now_ = 0;
  GangRun result_;
};

/// Seconds that so many thousandths of the jobs wait at most.
std::int64_t seconds_at(const std::vector<std::int64_t>& sorted, std::size_t thousandths) {
  if (sorted.empty()) return 0;
  return sorted[(sorted.size() - 1) * thousandths / 1'000] / 1'000;
}

std::string line_of(const GangTrace& trace, const std::string& policy, GangRun run) {
  std::ranges::sort(run.waits);
  // Hundredths of per cent of the fleet, as long as somebody waits.
  const std::int64_t gpus = std::int64_t{trace.node_count} * kGpusPerNode;
  const std::int64_t whole = std::max<std::int64_t>(1, run.saturated * gpus / 10'000);
  const std::int64_t idle = run.idle / whole;
  return fmt::format("{:>5} {:>5} % {:<20} {:>10} {:>10} {:>10} {:>10} {:>8}.{:02}\n",
                     trace.node_count, trace.load_percent, policy, run.waits.size(), run.refused,
                     seconds_at(run.waits, 500), seconds_at(run.waits, 990), idle / 100,
                     idle % 100);
}

}  // namespace

std::vector<std::string> gang_policies() {
  std::vector<std::string> policies = {kEngine};
  policies.insert(policies.end(), reference_starters().begin(), reference_starters().end());
  return policies;
}

std::string gang_trace_head() {
  return fmt::format(
      "{:>5} {:>7} {:<20} {:>10} {:>10} {:>21} {:>11}\n{:>5} {:>7} {:<20} {:>10} "
      "{:>10} {:>10} {:>10} {:>11}\n",
      "", "", "", "", "", "waiting, seconds", "idle while", "nodes", "load", "policy", "started",
      "never", "p50", "p99", "some wait %");
}

Result<std::string> play_gangs(const GangTrace& trace, const std::vector<std::string>& policies) {
  const auto gpus = std::int64_t{trace.node_count} * kGpusPerNode;
  GANG_TRY(const std::vector<TraceJob> jobs, read_trace_jobs(trace.jobs, gpus, trace.load_percent));
  GANG_TRY(const std::vector<std::string> chosen, chosen_policies(gang_policies(), policies));
  std::string lines;
  for (const std::string& policy : chosen) {
    const auto starter = policy == kEngine ? engine_starter(jobs, trace.node_count)
                                           : reference_starter(policy, jobs, trace.node_count);
    lines += line_of(trace, policy, GangPlay(jobs, trace.node_count, *starter).run());
  }
  return lines;
}

}  // namespace gang::sim
