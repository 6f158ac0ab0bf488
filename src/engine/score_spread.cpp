// Terms of plain pods: the emptier node, and cpu and memory used to the same degree.
//
// BalancedAllocation is upstream's trunc((1 - std) * 100) with std = |f1 - f2| / 2 as one exact
// fraction: floor((100 a1 a2 - 50 |r1 a2 - r2 a1|) / (a1 a2)), in 128 bits.
#include <algorithm>

#include "engine/score.h"

namespace gang::engine {

namespace {

// NOLINTNEXTLINE(bugprone-reserved-identifier): the compiler's name of the type
__extension__ using Wide = __int128;

/// Requested and allocatable of one resource.
struct Share {
  std::int64_t requested = 0;
  std::int64_t allocatable = 0;
};

bool is_plain(const ClassRules& rules) {
  return rules.accelerators.empty();
}

std::int32_t least_allocated(const ClassRules& rules, const NodeUse& use) {
  const api::NonZeroRequests& pod = rules.pod_class->nonzero;
  const Share shares[] = {
      {use.nonzero_cpu() + pod.cpu_milli, use.allocatable(cluster::kCpu)},
      {use.nonzero_memory() + pod.memory_bytes, use.allocatable(cluster::kMemory)}};
  std::int64_t sum = 0;
  std::int64_t count = 0;
  for (const Share& share : shares) {
    if (share.allocatable <= 0) continue;
    ++count;
    const std::int64_t free = std::max<std::int64_t>(0, share.allocatable - share.requested);
    sum += static_cast<std::int64_t>(Wide{free} * 100 / share.allocatable);
  }
  return count == 0 ? 0 : static_cast<std::int32_t>(sum / count);
}

/// 0..100; 100 when both are used to the same degree, or one of them is not there.
std::int64_t balance(Share cpu, Share memory) {
  if (cpu.allocatable <= 0 || memory.allocatable <= 0) return 100;
  const Wide cpu_used = std::min(cpu.requested, cpu.allocatable);
  const Wide memory_used = std::min(memory.requested, memory.allocatable);
  const Wide whole = Wide{cpu.allocatable} * memory.allocatable;
  const Wide skew = cpu_used * memory.allocatable - memory_used * cpu.allocatable;
  return static_cast<std::int64_t>((100 * whole - 50 * (skew < 0 ? -skew : skew)) / whole);
}

std::int64_t amount_of(const ClassRules& rules, cluster::ResourceId resource) {
  for (const cluster::ResourceAmount& request : rules.pod_class->requests) {
    if (request.resource == resource) return request.amount;
  }
  return 0;
}

std::int32_t balanced_allocation(const ClassRules& rules, const NodeUse& use) {
  Share cpu = {use.requested(cluster::kCpu), use.allocatable(cluster::kCpu)};
  Share memory = {use.requested(cluster::kMemory), use.allocatable(cluster::kMemory)};
  const std::int64_t before = balance(cpu, memory);
  cpu.requested += amount_of(rules, cluster::kCpu);
  memory.requested += amount_of(rules, cluster::kMemory);
  return static_cast<std::int32_t>(50 + (50 + balance(cpu, memory) - before) / 2);
}

}  // namespace

const UsageTerm kLeastAllocated = {
    .name = "LeastAllocated",
    .weight = &Options::weight_least_allocated,
    .applies = is_plain,
    .score = least_allocated,
};

const UsageTerm kBalancedAllocation = {
    .name = "BalancedAllocation",
    .weight = &Options::weight_balanced,
    .applies =
        [](const ClassRules& rules) { return is_plain(rules) && rules.requests_cpu_or_memory; },
    .score = balanced_allocation,
};

}  // namespace gang::engine
