#include "engine/node_types.h"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "engine/filter.h"
#include "gang/base/check.h"

namespace gang::engine {

namespace {

/// What a node is compared by.
using Signature = std::vector<std::int64_t>;

/// What the gang would take of each resource if all members were on one node, in order.
using Totals = std::map<cluster::ResourceId, std::int64_t>;

Totals totals_of(const Draft& draft) {
  Totals totals;
  for (const DraftClass& demand : draft.classes()) {
    for (const cluster::ResourceAmount& request : demand.table->rules().pod_class->requests) {
      std::int64_t& total = totals[request.resource];
      std::int64_t more = 0;
      if (__builtin_mul_overflow(request.amount, std::int64_t{demand.member_count}, &more) ||
          __builtin_add_overflow(total, more, &total)) {
        total = std::numeric_limits<std::int64_t>::max();
      }
    }
  }
  return totals;
}

Signature signature_of(const Draft& draft, const Totals& totals, std::uint32_t rank) {
  const NodeUse use(draft.snapshot(), draft.snapshot().by_name()[rank], nullptr);
  Signature signature;
  for (const DraftClass& demand : draft.classes()) {
    const ClassRules& rules = demand.table->rules();
    const bool refused = (demand.table->entry(rank).reasons & rules.facts_lines) != 0;
    const bool port_taken =
        std::ranges::any_of(rules.pod_class->host_ports,
                            [&use](const api::HostPort& port) { return use.port_taken(port); });
    const bool closed = refused || port_taken || is_repelled(rules, use);
    signature.push_back(closed ? 0 : 1);
  }
  for (const auto& [resource, total] : totals) {
    const std::int64_t free = use.allocatable(resource) - use.requested(resource);
    signature.push_back(std::clamp<std::int64_t>(free, 0, total));
  }
  return signature;
}

bool takes_any(const Draft& draft, std::uint32_t rank) {
  return std::ranges::any_of(draft.classes(), [rank](const DraftClass& demand) {
    return demand.table->entry(rank).capacity > 0;
  });
}

/// The least that `need` members ask for; saturates.
std::int64_t least_demand(const Draft& draft, cluster::ResourceId resource, std::int64_t need) {
  std::vector<std::pair<std::int64_t, std::int64_t>> amounts;  // of one member, and how many
  for (const DraftClass& demand : draft.classes()) {
    std::int64_t amount = 0;
    for (const auto& request : demand.table->rules().pod_class->requests) {
      if (request.resource == resource) amount = request.amount;
    }
    amounts.emplace_back(amount, demand.member_count);
  }
  std::ranges::sort(amounts);
  std::int64_t total = 0;
  for (const auto& [amount, count] : amounts) {
    const std::int64_t taken = std::min(need, count);
    std::int64_t more = 0;
    if (__builtin_mul_overflow(amount, taken, &more) ||
        __builtin_add_overflow(total, more, &total)) {
      return std::numeric_limits<std::int64_t>::max();
    }
    need -= taken;
  }
  return total;
}

}  // namespace

bool resources_allow(const Draft& draft, std::int32_t need) {
  CHECK(draft.picks().empty());
  const auto count = static_cast<std::uint32_t>(draft.snapshot().by_name().size());
  for (const auto& [resource, total] : totals_of(draft)) {
    std::int64_t lacking = least_demand(draft, resource, need);
    for (std::uint32_t rank = 0; rank < count && lacking > 0; ++rank) {
      if (!takes_any(draft, rank)) continue;
      const NodeUse use(draft.snapshot(), draft.snapshot().by_name()[rank], nullptr);
      const std::int64_t free = use.allocatable(resource) - use.requested(resource);
      lacking -= std::clamp<std::int64_t>(free, 0, lacking);
    }
    if (lacking > 0) return false;
  }
  return true;
}

std::vector<NodeType> node_types(const Draft& draft) {
  CHECK(draft.picks().empty());
  const Totals totals = totals_of(draft);
  std::map<Signature, NodeType> by_signature;
  const auto count = static_cast<std::uint32_t>(draft.snapshot().by_name().size());
  for (std::uint32_t rank = 0; rank < count; ++rank) {
    if (takes_any(draft, rank)) by_signature[signature_of(draft, totals, rank)].push_back(rank);
  }
  std::vector<NodeType> types;
  for (auto& [signature, ranks] : by_signature) types.push_back(std::move(ranks));
  return types;
}

}  // namespace gang::engine
