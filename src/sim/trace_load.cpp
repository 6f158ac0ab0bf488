#include "sim/trace_load.h"

#include <algorithm>
#include <map>
#include <random>
#include <utility>

#include "sim/trace_csv.h"

namespace gang::sim {
namespace {

constexpr std::size_t kModelsMax = 64;

/// The position of the model, which is added when it is new.
Result<std::uint32_t> model_of(std::vector<std::string>& models, std::string_view name) {
  const auto known = std::ranges::find(models, name);
  if (known != models.end()) return static_cast<std::uint32_t>(known - models.begin());
  if (models.size() == kModelsMax) {
    return fail(Code::kResourceExhausted, "there are more than 64 models");
  }
  models.emplace_back(name);
  return static_cast<std::uint32_t>(models.size() - 1);
}

Result<std::uint64_t> models_of(std::vector<std::string>& models, std::string_view names) {
  std::uint64_t set = 0;
  while (!names.empty()) {
    const std::size_t bar = std::min(names.find('|'), names.size());
    GANG_TRY(const std::uint32_t model, model_of(models, names.substr(0, bar)));
    set |= std::uint64_t{1} << model;
    names.remove_prefix(std::min(names.size(), bar + 1));
  }
  return set;
}

Result<void> read_nodes(std::string_view text, TraceLoad& load) {
  GANG_TRY(const CsvTable table, CsvTable::parse(text));
  GANG_TRY(const std::size_t name, table.column("sn"));
  GANG_TRY(const std::size_t cpu, table.column("cpu_milli"));
  GANG_TRY(const std::size_t memory, table.column("memory_mib"));
  GANG_TRY(const std::size_t gpus, table.column("gpu"));
  GANG_TRY(const std::size_t model, table.column("model"));
  for (std::size_t row = 0; row < table.row_count(); ++row) {
    TraceNode node{.name = std::string(table.cell(row, name))};
    GANG_TRY(node.cpu_milli, table.number(row, cpu));
    GANG_TRY(node.memory_mib, table.number(row, memory));
    GANG_TRY(const std::int64_t count, table.number(row, gpus));
    node.gpu_count = static_cast<std::int32_t>(std::min<std::int64_t>(count, 128));
    GANG_TRY(node.model, model_of(load.models, table.cell(row, model)));
    load.nodes.push_back(std::move(node));
  }
  return {};
}

Result<void> read_pods(std::string_view text, TraceLoad& load) {
  GANG_TRY(const CsvTable table, CsvTable::parse(text));
  GANG_TRY(const std::size_t cpu, table.column("cpu_milli"));
  GANG_TRY(const std::size_t memory, table.column("memory_mib"));
  GANG_TRY(const std::size_t gpus, table.column("num_gpu"));
  GANG_TRY(const std::size_t milli, table.column("gpu_milli"));
  // Lists without wishes for models leave the column out.
  const std::size_t spec = table.has("gpu_spec") ? *table.column("gpu_spec") : milli;
  std::map<TraceRequest, std::uint32_t> known;
  for (std::size_t row = 0; row < table.row_count(); ++row) {
    TraceRequest request;
    GANG_TRY(request.cpu_milli, table.number(row, cpu));
    GANG_TRY(request.memory_mib, table.number(row, memory));
    GANG_TRY(const std::int64_t count, table.number(row, gpus));
    GANG_TRY(const std::int64_t share, table.number(row, milli));
    request.gpu_count = static_cast<std::int32_t>(std::min<std::int64_t>(count, 128));
    const bool is_share = request.gpu_count == 1 && share < kWholeGpu;
    if (count > 0) request.gpu_milli = is_share ? static_cast<std::int32_t>(share) : kWholeGpu;
    if (spec != milli) {
      GANG_TRY(request.models, models_of(load.models, table.cell(row, spec)));
    }
    const auto next = static_cast<std::uint32_t>(load.requests.size());
    const auto [at, is_new] = known.try_emplace(request, next);
    if (is_new) load.requests.push_back(request);
    load.pods.push_back(at->second);
  }
  return {};
}

}  // namespace

std::int64_t TraceLoad::gpu_total() const {
  std::int64_t total = 0;
  for (const TraceNode& node : nodes) total += std::int64_t{node.gpu_count} * kWholeGpu;
  return total;
}

Result<TraceLoad> read_trace_load(std::string_view nodes, std::string_view pods) {
  TraceLoad load;
  GANG_TRY_VOID(read_nodes(nodes, load));
  GANG_TRY_VOID(read_pods(pods, load));
  return load;
}

std::vector<std::uint32_t> arrivals(const TraceLoad& load, std::uint64_t seed,
                                    std::int32_t percent) {
  std::mt19937_64 random(seed);
  std::vector<std::uint32_t> order = load.pods;
  // The library's shuffle is another one on every platform.
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random() % i]);
  const std::int64_t wanted = load.gpu_total() / 100 * percent;
  std::int64_t asked = 0;
  bool asks_some = false;
  for (const std::uint32_t pod : order) asked += load.requests[pod].gpu_total();
  asks_some = asked > 0;
  while (asks_some && asked < wanted) {
    order.push_back(load.pods[random() % load.pods.size()]);
    asked += load.requests[order.back()].gpu_total();
  }
  return order;
}

}  // namespace gang::sim
