// Plays lists of pods, and tells what came of it as lines of one table.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <utility>

#include "gang/sim/trace.h"
#include "sim/trace_csv.h"
#include "sim/trace_engine.h"
#include "sim/trace_fleet.h"
#include "sim/trace_load.h"
#include "sim/trace_policy.h"

namespace gang::sim {
namespace {

constexpr const char* kEngine = "engine";
constexpr std::array<std::int32_t, 2> kMoments = {100, 130};  ///< % of GPUs asked for

/// What is told of one moment, in millionths of the fleet's GPUs.
struct Moment {
  std::int64_t taken = 0;
  std::optional<std::int64_t> fragments = 0;
};
using Moments = std::array<Moment, kMoments.size()>;

/// One order of arrivals.
Moments play(const TraceLoad& load, const std::vector<std::uint32_t>& order, TracePlacer& placer) {
  const TraceFragments fragments(load);
  const std::int64_t total = load.gpu_total();
  TraceFleet fleet(load);
  Moments moments;
  std::int64_t asked = 0;
  std::size_t next = 0;
  for (const std::uint32_t request : order) {
    const std::optional<TraceSpot> spot = placer.place(request);
    if (spot) fleet.take(load.requests[request], *spot);
    asked += load.requests[request].gpu_total();
    for (; next < kMoments.size() && asked >= total / 100 * kMoments[next]; ++next) {
      moments[next] = {.taken = fleet.gpu_taken() * 1'000'000 / total,
                       .fragments = fragments.share_of(fleet, load)};
    }
  }
  return moments;
}

std::string percent(std::int64_t millionths) {
  const std::int64_t hundredths = (millionths + 50) / 100;
  return fmt::format("{}.{:02}", hundredths / 100, hundredths % 100);
}

std::string line_of(const std::string& name, const std::string& policy, const Moments& moments) {
  const auto fragments = [&moments](std::size_t i) {
    return moments[i].fragments ? percent(*moments[i].fragments) : std::string("-");
  };
  return fmt::format("{:<28} {:<20} {:>8} {:>8} {:>10} {:>8}\n", name, policy,
                     percent(moments[0].taken), percent(moments[1].taken), fragments(0),
                     fragments(1));
}

std::unique_ptr<TracePlacer> placer_named(const std::string& policy, const TraceLoad& load) {
  if (policy == kEngine) return engine_policy(load, {});
  return reference_policy(policy, load);
}

/// The mean over all orders.
Moments mean_of(const TraceLoad& load, const std::string& policy, const TraceOptions& options) {
  Moments mean;
  for (std::int32_t i = 0; i < options.seeds; ++i) {
    const std::uint64_t seed = options.first_seed + static_cast<std::uint64_t>(i);
    const std::vector<std::uint32_t> order = arrivals(load, seed, kMoments.back());
    const Moments one = play(load, order, *placer_named(policy, load));
    for (std::size_t m = 0; m < mean.size(); ++m) {
      mean[m].taken += one[m].taken;
      *mean[m].fragments += *one[m].fragments;
    }
  }
  for (Moment& moment : mean) {
    moment.taken /= options.seeds;
    *moment.fragments /= options.seeds;
  }
  return mean;
}

/// The mean of the published seeds of a policy; nothing where the list is not in the table.
Result<std::optional<Moments>> published_of(std::string_view text, const std::string& name,
                                            std::string_view policy) {
  GANG_TRY(const CsvTable table, CsvTable::parse(text));
  GANG_TRY(const std::size_t list, table.column("workload"));
  GANG_TRY(const std::size_t by, table.column("sc_policy"));
  Moments sum;
  std::int64_t count = 0;
  for (std::size_t row = 0; row < table.row_count(); ++row) {
    if (table.cell(row, list) != name || table.cell(row, by) != policy) continue;
    ++count;
    for (std::size_t m = 0; m < sum.size(); ++m) {
      GANG_TRY(const std::size_t column, table.column(std::to_string(kMoments[m])));
      GANG_TRY(const std::int64_t thousandths, table.milli(row, column));
      sum[m].taken += thousandths * 10;
    }
  }
  if (count == 0) return std::nullopt;
  for (Moment& moment : sum) moment = {.taken = moment.taken / count, .fragments = std::nullopt};
  return sum;
}

Result<std::string> published_lines(const PodTrace& trace) {
  std::string lines;
  if (trace.published.empty()) return lines;
  constexpr std::array<std::pair<const char*, const char*>, 2> kPolicies = {
      {{"05-BestFit", "best fit, published"}, {"06-FGD", "FGD, published"}}};
  for (const auto& [in_table, policy] : kPolicies) {
    GANG_TRY(const std::optional<Moments> found,
             published_of(trace.published, trace.name, in_table));
    if (found) lines += line_of(trace.name, policy, *found);
  }
  return lines;
}

}  // namespace

std::vector<std::string> pod_policies() {
  std::vector<std::string> policies = {kEngine};
  policies.insert(policies.end(), reference_policies().begin(), reference_policies().end());
  return policies;
}

Result<std::vector<std::string>> chosen_policies(const std::vector<std::string>& known,
                                                 const std::vector<std::string>& wanted) {
  for (const std::string& policy : wanted) {
    if (std::ranges::find(known, policy) != known.end()) continue;
    return fail(Code::kInvalidArgument, fmt::format("\"{}\" is no policy; write one of: {}", policy,
                                                    fmt::join(known, ", ")));
  }
  return wanted.empty() ? known : wanted;
}

std::string pod_trace_head() {
  return fmt::format("{:<28} {:<20} {:>17} {:>19}\n{:<28} {:<20} {:>8} {:>8} {:>10} {:>8}\n", "",
                     "", "GPUs allocated, %", "fragments, %", "list", "policy", "at 100 %",
                     "at 130 %", "at 100 %", "at 130 %");
}

Result<std::string> play_pods(const PodTrace& trace, const TraceOptions& options) {
  GANG_TRY(const TraceLoad load, read_trace_load(trace.nodes, trace.pods));
  if (load.gpu_total() == 0 || load.pods.empty()) {
    return fail(Code::kInvalidArgument, "there are no GPUs or no pods; give tables that have some");
  }
  GANG_TRY(const std::vector<std::string> chosen,
           chosen_policies(pod_policies(), options.policies));
  std::string lines;
  for (const std::string& policy : chosen) {
    lines += line_of(trace.name, policy, mean_of(load, policy, options));
  }
  GANG_TRY(const std::string published, published_lines(trace));
  return lines + published;
}

}  // namespace gang::sim
